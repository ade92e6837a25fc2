"""Functions of Python on K's tensors: what `call` nodes hold, and what libraries do for them."""

from .callee import Callee
from .libraries import Library, library_named, library_of
from .results import Results

__all__ = ["Callee", "Library", "Results", "library_named", "library_of"]
