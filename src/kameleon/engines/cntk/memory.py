"""The file in memory in which arrays lie that the driver and the worker give each other.

This module runs in both.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Any

import numpy as np

NUMBER = struct.Struct("<Q")
HEAD = 64  # bytes at the beginning: the number of what is being computed
LINES = 1  # that of a program's own lines, those of NumPy; segments have larger ones
ALIGNED = 64

Place = Any  # a list: where an array is, its shape, its dtype


class Memory:
    """The file, which may grow on either side.

    Attributes:
        used: where the free part begins.
    """

    def __init__(self, descriptor: int):
        self.descriptor, self.used = descriptor, HEAD
        self._map = mmap.mmap(descriptor, 0)

    def array(self, place: Place) -> Any:
        """The array at a place; a view."""
        offset, shape, dtype = place
        kind = np.dtype(dtype)
        end = offset + kind.itemsize * int(np.prod(shape, dtype=np.int64))
        if end > len(self._map):
            if end > os.fstat(self.descriptor).st_size:
                os.ftruncate(self.descriptor, end * 5 // 4)
            self._map = mmap.mmap(self.descriptor, 0)
        return np.ndarray(shape, kind, self._map, offset)

    def put(self, array: Any) -> Place:
        """Copy an array to the next free place; gives the place."""
        place = [self.used, array.shape, array.dtype.name]
        self.used = -(-(self.used + array.nbytes) // ALIGNED) * ALIGNED
        self.array(place)[...] = array
        return place

    def set_number(self, number: int = LINES) -> None:
        """Say what is being computed, 0 for nothing: it's read if the worker dies."""
        NUMBER.pack_into(self._map, 0, number)

    @property
    def number(self) -> int:
        """What was being computed last."""
        return int(NUMBER.unpack_from(self._map, 0)[0])
