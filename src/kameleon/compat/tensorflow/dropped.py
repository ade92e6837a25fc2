"""What Python's library has dropped: `getargspec` of `inspect`, and of `imp` what is used. And what
NumPy made of tensors: an array of objects, where it now asks them for their arrays. Its functions
were functions of Python's.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import operator
import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import numpy as np

__all__ = [
    "ArgSpec", "find_module", "getargspec", "load_source", "new_module", "product", "referable",
]  # fmt: skip

new_module = ModuleType


class ArgSpec(NamedTuple):
    """The parameters of a function: their names, those of `*` and `**`, the defaults."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """The parameters of a function.

    >>> getargspec(lambda x, y=1, *rest: None).defaults
    (1,)
    """
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def load_source(name: str, path: str) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def find_module(name: str, path: Any = None) -> NoReturn:
    """No library in C is found."""
    raise ImportError(name)


def product(sizes: Any) -> Any:
    """`numpy.prod` of sizes. Where some are tensors, it's an operation: programs go on without it,
    but it counts among those that were made, by which seeds are chosen.

    >>> int(product([2, 3]))
    6
    """
    try:
        return np.prod(sizes)
    except NotImplementedError:  # a tensor has no array yet
        several = isinstance(sizes, list | tuple)
        return functools.reduce(operator.mul, sizes) if several else sizes


def referable(function: Any) -> Any:
    """A function that weak references can be made to, as to NumPy's before its version 1.25.

    >>> kept = referable(np.sum)
    >>> int(weakref.ref(kept)()([1, 2]))
    3
    """
    try:
        weakref.ref(function)
    except TypeError:
        return lambda *args: function(*args)
    return function
