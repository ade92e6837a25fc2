"""Large buffers kept for reuse: a fresh one costs a page fault for each 4 KiB of it."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

# Smaller arrays come quickly from the allocator.
SMALLEST = 64 * 1024
# As many bytes are kept at most, by each library.
LIMIT = 256 * 1024 * 1024


def is_large(shape: Iterable[int | None], itemsize: int, smallest: int = SMALLEST) -> bool:
    """Whether an array is worth a buffer that is kept; unknown sizes count 32."""
    return math.prod(32 if d is None else d for d in shape) * itemsize >= smallest


class Buffers:
    """Buffers by their size in bytes, shared by all programs and threads of the process."""

    def __init__(self) -> None:
        self._free: defaultdict[int, list[Any]] = defaultdict(list)
        self._lock = threading.Lock()
        self.held = 0

    def take(self, size: int) -> Any:
        """A kept buffer of that many bytes, or of up to a fifth more; None if there's none."""
        with self._lock:
            fitting = [s for s, stack in self._free.items() if stack and size <= s <= size * 6 // 5]
            if not fitting:
                return None
            best = min(fitting)
            self.held -= best
            return self._free[best].pop()

    def keep(self, size: int, buffer: Any) -> None:
        """Keep a buffer of `size` bytes, if there's room for it."""
        with self._lock:
            if self.held + size <= LIMIT:
                self.held += size
                self._free[size].append(buffer)

    def clear(self) -> None:
        """Free all that is kept."""
        with self._lock:
            self._free.clear()
            self.held = 0
