"""The libraries whose functions can be called: how each gets arrays, and what it tells of types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .results import Results

Function = Callable[..., Any]


class Library(ABC):
    """What `call` needs of a library.

    Attributes:
        name: the name of the engine that runs such functions as part of compiled code.
        title: how its name is written.
    """

    name: str
    title: str

    @abstractmethod
    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """Call a function on NumPy arrays, which are left as they are; check what it gives."""
        ...


class NumpyLibrary(Library):
    """Functions of NumPy arrays: nothing is known of them but what the caller declares."""

    name, title = "numpy", "NumPy"

    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """See `Library.run`. The arrays can't be written to; a function with effects may keep
        those that it's given, so it gets copies.
        """
        given = [_locked(x if pure else x.copy()) for x in arrays]
        return results.arrays(function(*given))


def _locked(array: np.ndarray) -> np.ndarray:
    """A view that can't be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


LIBRARIES: dict[str, Callable[[], Library]] = {"numpy": NumpyLibrary}
ALIASES = {"tf": "tensorflow", "pytorch": "torch", "np": "numpy"}
_made: dict[str, Library] = {}


def library_named(name: str) -> Library:
    """The library of this name.

    Raises:
        ArgumentError: there's no such library.
    """
    name = ALIASES.get(name, name)
    if name not in LIBRARIES:
        raise ArgumentError(f"call: library must be one of {sorted(LIBRARIES)}, not {name!r}")
    return _made.setdefault(name, LIBRARIES[name]())


def library_of(function: Any) -> Library:
    """The library that a function comes from, as far as its module tells; else NumPy."""
    owner = getattr(function, "__self__", None)
    for x in (function, owner, type(function)):
        root = str(getattr(x, "__module__", None) or "").partition(".")[0]
        if root in LIBRARIES:
            return library_named(root)
    return library_named("numpy")
