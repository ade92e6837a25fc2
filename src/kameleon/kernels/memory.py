"""Large buffers used again: a fresh one costs a page fault for each 4 KiB of it.

`empty` makes arrays over buffers of bytes; `give` takes such an array back, if nobody else holds
it. It counts references, so a mistake can't do harm; where counts don't tell, it takes nothing.
Shared by all programs and threads of the process; what is kept is bounded, and freed by `clear`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._private import Private
from .buffers import SMALLEST, Buffers

_buffers = Buffers()


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array with any content, like `numpy.empty`; of a buffer given before, if one fits."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size < SMALLEST:
        return np.empty(shape, kind)
    raw = _buffers.take(size)
    return np.ndarray(shape, kind, np.empty(size, np.uint8) if raw is None else raw)


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array of zeros, like `numpy.zeros`; of a buffer given before, if one fits."""
    array = empty(shape, dtype)
    array.fill(0)
    return array


def give(array: Any) -> None:
    """Keep the buffer of `array` for reuse, if the caller's variable is the only one left."""
    if type(array) is not np.ndarray or array.nbytes < SMALLEST or not COUNTS.holds:
        return
    if _is_alone(array):
        owner: Any = array.base
        _buffers.keep(owner.nbytes, owner)


def _is_alone(array: Any) -> bool:
    """Whether a caller's caller's variable is the only one to hold an array of `empty`."""
    owner = array.base
    return (
        sys.getrefcount(array) == _REFERENCES
        and sys.getrefcount(owner) == _REFERENCES_OF_OWNER
        and type(owner) is np.ndarray
        and owner.dtype == np.uint8
        and owner.base is None
    )


def give_all(arrays: list[Any]) -> None:
    """`give` each of a list that is the only one to hold them; the list is emptied."""
    while arrays:
        array = arrays.pop()
        give(array)


def clear() -> None:
    """Free all that is kept."""
    _buffers.clear()


def held() -> int:
    """How many bytes are kept."""
    return _buffers.held


# Counting references ---------------------------------------------------------------------------


def _count_references() -> tuple[int, int]:
    """What `_is_alone` counts for an array in one variable, and for the owner of its memory."""
    counts = []

    def given(array: Any) -> None:
        counted(array)

    def counted(array: Any) -> None:
        owner = array.base
        counts.append((sys.getrefcount(array), sys.getrefcount(owner)))

    array = np.ndarray((1,), np.uint8, np.empty(1, np.uint8))
    given(array)
    return counts[0]


_REFERENCES, _REFERENCES_OF_OWNER = _count_references()


def _counts_tell() -> bool:
    """Whether an array is known to be alone where it is, and only there."""

    def is_taken(array: Any) -> bool:
        return _is_alone(array)

    def is_taken_beside(holder: Callable[[Any], Any]) -> bool:
        array = np.ndarray((4,), np.float32, np.empty(16, np.uint8))
        held = holder(array)
        return is_taken(array) and held is not None

    holders: list[Callable[[Any], Any]] = [lambda x: x[1:], lambda x: x.reshape(2, 2)]
    holders += [lambda x: x.base, memoryview, np.from_dlpack]
    holders += [lambda x: [x], lambda x: iter([x]), lambda x: lambda: x]
    return is_taken_beside(str) and not any(map(is_taken_beside, holders))


COUNTS = Private("Python", "`sys.getrefcount` of arrays", _counts_tell)
