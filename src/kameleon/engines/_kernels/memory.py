"""Large NumPy arrays over buffers that are used again: see `buffers` and `pool`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from .buffers import SMALLEST
from .pool import Pool


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array with any content, like `numpy.empty`; over a buffer given before, if one fits."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size < SMALLEST:
        return np.empty(shape, kind)
    raw = POOL.take(size)
    return np.ndarray(shape, kind, np.empty(size, np.uint8) if raw is None else raw)


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array of zeros, like `numpy.zeros`; over a buffer given before, if one fits."""
    array = empty(shape, dtype)
    array.fill(0)
    return array


def _is_own(array: Any, owner: Any) -> bool:
    """Whether `empty` made the array."""
    return type(owner) is np.ndarray and owner.dtype == np.uint8 and owner.base is None


POOL = Pool(
    ("Python", "`sys.getrefcount` of arrays"),
    sample=lambda: np.ndarray((4,), np.float32, np.empty(16, np.uint8)),
    owner=attrgetter("base"),
    size=attrgetter("nbytes"),
    is_own=_is_own,
    holders=(
        *(lambda x: x[1:], lambda x: x.reshape(2, 2), lambda x: x.base, memoryview, np.from_dlpack),
        *(lambda x: [x], lambda x: iter([x]), lambda x: lambda: x),
    ),
)
give = POOL.give
COUNTS = POOL.counts
