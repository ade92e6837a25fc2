"""Classes written in C, which are closed: a name is put into one all the same.

`setattr` refuses such a class because of a flag in it. The flag is lifted for that moment, and
`setattr` then does what it does for any class, to the slots of subclasses and all caches.
"""

from __future__ import annotations

import array
import ctypes
import sys
from functools import cache
from typing import Any

from ..._utils.locks import lock
from ..._utils.private import Private

IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_lock = lock()


@cache
def _place() -> int:
    """How far into a class its flags lie: the first place where known classes have their own."""
    kinds = (int, dict, object, type, array.array, Private)
    return next(
        at
        for at in range(0, sys.getsizeof(int), ctypes.sizeof(ctypes.c_ulong))
        if all(ctypes.c_ulong.from_address(id(k) + at).value == k.__flags__ for k in kinds)
    )


def _opens() -> bool:
    if sys.implementation.name != "cpython":
        return False
    closed = array.array
    _set(closed, "_kameleon_tries", 1)
    has = getattr(closed("b"), "_kameleon_tries", None) == 1
    _set(closed, "_kameleon_tries", None, remove=True)
    gone = not hasattr(closed("b"), "_kameleon_tries")
    return has and gone and bool(closed.__flags__ & IMMUTABLE)


OPENING = Private("Python", "the flag of classes that take no names", _opens)


def _set(kind: type, name: str, value: Any, remove: bool = False) -> None:
    with _lock:
        flags = ctypes.c_ulong.from_address(id(kind) + _place())
        closed = flags.value & IMMUTABLE
        flags.value &= ~IMMUTABLE
        try:
            delattr(kind, name) if remove else setattr(kind, name, value)
        finally:
            flags.value |= closed


def put(kind: type, name: str, value: Any) -> None:
    """Put a name into a class, whether it's written in Python or in C.

    Where a class in C can't be opened, it stays as it is.
    """
    if not kind.__flags__ & IMMUTABLE:
        setattr(kind, name, value)
    elif OPENING.holds:
        _set(kind, name, value)
