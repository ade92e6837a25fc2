"""Large buffers kept for reuse: a fresh one costs a page fault for each 4 KiB of it."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, insort
from collections import deque
from functools import lru_cache
from typing import Any

# Arrays of fewer bytes come quickly from the allocator.
SMALLEST = 64 * 1024
# At most this many bytes are kept for each library.
LIMIT = 256 * 1024 * 1024


@lru_cache(1 << 12)
def is_large(shape: tuple[int | None, ...], itemsize: int, smallest: int = SMALLEST) -> bool:
    """Whether an array is worth a buffer that is kept; unknown sizes count as 32."""
    return math.prod(32 if d is None else d for d in shape) * itemsize >= smallest


class Buffers:
    """Buffers by their size in bytes, shared by all programs and threads of the process.

    Where there's no room for another buffer, those that were given longest ago are freed. There's
    no lock: a thread that works with the store takes it away meanwhile, and other threads do
    without it. An exception from a signal handler loses the store, with all that it keeps; a store
    that is half changed is never seen.
    """

    def __init__(self) -> None:
        self._there: deque[_Store] = deque(maxlen=1)

    @property
    def held(self) -> int:
        """How many bytes are kept."""
        return sum(store.held for store in list(self._there))

    def take(self, size: int) -> Any:
        """A kept buffer of that many bytes, or of up to a fifth more; None if there's none."""
        store = self._away()
        buffer = store.take(size)
        self._there.append(store)
        return buffer

    def keep(self, size: int, buffer: Any) -> None:
        """Keep a buffer of `size` bytes, unless it alone is too large."""
        if size <= LIMIT:
            store = self._away()
            store.keep(size, buffer)
            self._there.append(store)

    def clear(self) -> None:
        """Free all that is kept."""
        self._there.clear()

    def _away(self) -> _Store:
        """The store; an empty one, where another thread has it."""
        try:
            return self._there.pop()
        except IndexError:
            return _Store()


class _Store:
    """Buffers in the order in which they were given; and where those of each size are."""

    def __init__(self) -> None:
        self.held = 0
        self._buffers: dict[int, tuple[int, Any]] = {}  # by number, oldest first
        self._numbers = itertools.count()
        self._by_size: dict[int, deque[int]] = {}
        self._sizes: list[int] = []  # those of which there are buffers, sorted

    def take(self, size: int) -> Any:
        place = bisect_left(self._sizes, size)
        if place == len(self._sizes) or self._sizes[place] > size * 6 // 5:
            return None
        return self._remove(self._by_size[self._sizes[place]][-1])

    def keep(self, size: int, buffer: Any) -> None:
        while self.held + size > LIMIT:
            self._remove(next(iter(self._buffers)))
        if size not in self._by_size:
            self._by_size[size] = deque()
            insort(self._sizes, size)
        number = next(self._numbers)
        self._by_size[size].append(number)
        self._buffers[number] = size, buffer
        self.held += size

    def _remove(self, number: int) -> Any:
        """The buffer of that number: the first or the last of its size."""
        size, buffer = self._buffers.pop(number)
        numbers = self._by_size[size]
        (numbers.popleft if numbers[0] == number else numbers.pop)()
        if not numbers:
            del self._by_size[size], self._sizes[bisect_left(self._sizes, size)]
        self.held -= size
        return buffer
