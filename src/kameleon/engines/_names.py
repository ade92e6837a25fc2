"""Which functions lines may call: those of a library, by primitive, and those of our modules."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any


def names(text: str) -> dict[str, str]:
    """By primitive, the name of a library's function; the same, where no other one is said. It's
    the notation for the tables of all engines.

    >>> names("abs neg=negative")
    {'abs': 'abs', 'neg': 'negative'}
    """
    pairs = (word.partition("=") for word in text.split())
    return {primitive: name or primitive for primitive, _, name in pairs}


def functions_of(*modules: ModuleType) -> dict[str, Any]:
    """By name, the functions that modules define for others."""
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
