"""Functions of Python on K's tensors: what `call` nodes hold, and what libraries do for them."""

from .abstract import evaluated
from .callee import Callee, Comparable
from .libraries import library_named, library_of
from .library import Library
from .results import Results

__all__ = ["Callee", "Comparable", "Library", "Results", "evaluated", "library_named", "library_of"]
