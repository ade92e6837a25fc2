"""Large buffers used again: a fresh one costs a page fault for each 4 KiB of it.

`empty` makes arrays over buffers of bytes; `give` takes such an array back, if nobody else holds
it (it counts references, so a mistake can't do harm). Shared by all programs and threads of the
process; what is kept is bounded, and freed by `clear`.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

# Smaller arrays come quickly from the allocator.
SMALLEST = 64 * 1024
# As many bytes are kept at most.
LIMIT = 256 * 1024 * 1024

_free: defaultdict[int, list[np.ndarray]] = defaultdict(list)
_held = [0]
_lock = threading.Lock()


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array with any content, like `numpy.empty`; of a buffer given before, if one fits."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size < SMALLEST:
        return np.empty(shape, kind)
    raw = _kept(size)
    return np.ndarray(shape, kind, np.empty(size, np.uint8) if raw is None else raw)


def _kept(size: int) -> np.ndarray | None:
    """A kept buffer of that many bytes, or of up to a fifth more."""
    with _lock:
        fitting = [s for s, stack in _free.items() if stack and size <= s <= size + size // 5]
        if not fitting:
            return None
        best = min(fitting)
        _held[0] -= best
        return _free[best].pop()


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array of zeros, like `numpy.zeros`; of a buffer given before, if one fits."""
    array = empty(shape, dtype)
    array.fill(0)
    return array


def give(array: Any) -> None:
    """Keep the buffer of `array` for reuse, if the caller's variable is the only one left."""
    if type(array) is not np.ndarray or array.nbytes < SMALLEST:
        return
    owner = array.base
    if (
        sys.getrefcount(array) == _REFERENCES
        and sys.getrefcount(owner) == _REFERENCES_OF_OWNER
        and type(owner) is np.ndarray
        and owner.dtype == np.uint8
        and owner.base is None
    ):
        with _lock:
            if _held[0] + owner.nbytes <= LIMIT:
                _held[0] += owner.nbytes
                _free[owner.nbytes].append(owner)


def give_all(arrays: list[Any]) -> None:
    """`give` each of a list that is the only one to hold them; the list is emptied."""
    while arrays:
        array = arrays.pop()
        give(array)


def clear() -> None:
    """Free all that is kept."""
    with _lock:
        _free.clear()
        _held[0] = 0


def held() -> int:
    """How many bytes are kept."""
    return _held[0]


def _count_references() -> tuple[int, int]:
    """What `give` counts for an array in one variable, and for the owner of its memory."""
    counts = []

    def probe(array: Any) -> None:
        owner = array.base
        counts.append((sys.getrefcount(array), sys.getrefcount(owner)))

    array = np.ndarray((1,), np.uint8, np.empty(1, np.uint8))
    probe(array)
    return counts[0]


_REFERENCES, _REFERENCES_OF_OWNER = _count_references()
