"""Float type, fuzz factor and image layout of a hosted Keras: one value for Keras and Kameleon.

Keras keeps these settings in globals of `keras.backend.common` and has setters of its own, which
can't be replaced. So Kameleon, too, keeps in those globals what calls have set.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import ModuleType
from typing import Any

GLOBALS = {
    "floatx": "_FLOATX",
    "epsilon": "_EPSILON",
    "image_data_format": "_IMAGE_DATA_FORMAT",
}


class SharedGlobals(MutableMapping[str, Any]):
    """A view of a module's globals as settings; settings without such a global are kept here.

    Args:
        module: `keras.backend.common`.

    >>> module = ModuleType("common")
    >>> module._FLOATX = "float32"
    >>> shared = SharedGlobals(module)
    >>> shared["floatx"] = "float64"
    >>> module._FLOATX, dict(shared)
    ('float64', {'floatx': 'float64'})
    """

    __slots__ = ("_own", "_theirs")

    def __init__(self, module: ModuleType) -> None:
        self._theirs = vars(module)
        self._own: dict[str, Any] = {}

    def _place(self, key: str) -> tuple[dict[str, Any], str]:
        name = GLOBALS.get(key)
        return (self._own, key) if name is None else (self._theirs, name)

    def __getitem__(self, key: str) -> Any:
        place, name = self._place(key)
        return place[name]

    def __setitem__(self, key: str, value: Any) -> None:
        place, name = self._place(key)
        place[name] = value

    def __delitem__(self, key: str) -> None:
        place, name = self._place(key)
        del place[name]

    def __iter__(self) -> Iterator[str]:
        return (key for key in (*GLOBALS, *self._own) if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
