"""The libraries whose functions can be called, by name; each is loaded when it's asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...config import require
from ...errors import ArgumentError
from .library import Library

NAMES = ("numpy", "tensorflow", "torch", "jax")
ALIASES = {"tf": "tensorflow", "pytorch": "torch", "np": "numpy"}
# By the first part of a module's name: the library, where that has another name.
ROOTS = {**{name: name for name in NAMES}, "keras": "tensorflow", "jaxlib": "jax"}


def library_named(name: str) -> Library:
    """The library of this name.

    Raises:
        ArgumentError: there's no such library.
        MissingLibraryError: it isn't installed.
    """
    name = ALIASES.get(name, name)
    if name not in NAMES:
        raise ArgumentError(f"call: library must be one of {', '.join(NAMES)}, not {name!r}")
    require(name, "call")
    found: Library = import_module(f"{__package__}.of_{name}").library
    return found


def library_of(function: Any) -> Library:
    """The library that a function comes from, as far as its module tells; else NumPy."""
    owner = getattr(function, "__self__", None)
    for x in (function, owner, type(function)):
        root = str(getattr(x, "__module__", None) or "").partition(".")[0]
        if root in ROOTS:
            return library_named(ROOTS[root])
    return library_named("numpy")
