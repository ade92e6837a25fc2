"""Modules that are loaded when one of their names is asked for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any


class Late(ModuleType):
    """Stands for a module until one of its names is asked for.

    >>> late = Late("colorsys")
    >>> late.rgb_to_hsv(0, 0, 0)
    (0.0, 0.0, 0)
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)

    def __dir__(self) -> Iterable[str]:
        return dir(importlib.import_module(self.__name__))


def library(name: str) -> ModuleType:
    """A library, or what stands for it until it's used.

    Raises:
        ModuleNotFoundError: it isn't installed.
    """
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return sys.modules.get(name) or Late(name)


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix of SciPy's, which is loaded where there is one."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)
