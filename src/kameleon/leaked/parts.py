"""What stands for a library that a program reaches through the backend module: `K.tf`, `K.T`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import MissingNameError


class LeakedModule:
    """Some of a library's names over K functions; any other name is an error that says so.

    Args:
        path: what the program calls the library.
        names: the names that there are, and their values.
        hints: for other names, what to use instead.

    >>> hints = {"svd": "numpy.linalg.svd, outside of the graph"}
    >>> part = LeakedModule("K.tf.linalg", {"one": 1}, hints)
    >>> part.one
    1
    >>> part.svd
    Traceback (most recent call last):
      ...
    kameleon.errors.MissingNameError: K.tf.linalg.svd: that's the library itself, which isn't \
behind Kameleon; use numpy.linalg.svd, outside of the graph
    """

    def __init__(self, path: str, names: Mapping[str, Any], hints: Mapping[str, str] | None = None):
        self.__dict__.update(names)
        self.__dict__["_path"], self.__dict__["_hints"] = path, dict(hints or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy, pickle and inspect, not by a program
            raise AttributeError(name)
        use = self._hints.get(name, "K functions (such as K.sum, K.dot, K.switch) instead")
        what = f"{self._path}.{name}: that's the library itself, which isn't behind Kameleon"
        raise MissingNameError(f"{what}; use {use}")

    def __dir__(self) -> Iterable[str]:
        return [name for name in self.__dict__ if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<{self._path} over kameleon.backend>"
