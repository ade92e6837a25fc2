"""The random numbers of TensorFlow: Philox 4×32 in 10 rounds."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

_LOW = 0xFFFFFFFF
_CHUNK = 8192  # blocks at a time: a dozen arrays of so many numbers stay in the cache
_FEW = 8  # so many blocks Python's integers give sooner than arrays
_FACTORS, _STEPS, _ROUNDS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 10


class Philox:
    """Numbers of 32 bits, one after the other.

    Args:
        seed: the first; where both are 0, the system's.
        second: the second.
        count: how many blocks of numbers lie before the first one.

    >>> numbers = Philox(1, 2)
    >>> numbers.next() != numbers.next()
    True
    """

    def __init__(self, seed: int, second: int, count: int = 0) -> None:
        if not seed and not second:
            seed, second = (int.from_bytes(os.urandom(8), "little") for _ in range(2))
        self._key = (seed & _LOW, seed >> 32 & _LOW)
        self._second = second & (1 << 64) - 1
        self._count = count
        self._left: list[int] = []

    def reserved(self, count: int) -> Philox:
        """The next numbers, so many, rounded up to blocks; here those behind them are next."""
        made = Philox(1, self._second, self._count)
        made._key = self._key
        self._count += -(-count // 4)
        return made

    def blocks(self, places: np.ndarray) -> np.ndarray:
        """The blocks of four numbers at places counted from here, a row each; here stays here."""
        counts = places.astype(np.uint64).ravel() + np.uint64(self._count)
        if counts.size <= _FEW:
            few = [self._block(count) for count in counts.tolist()]
            return np.array(few, np.uint32).reshape(*places.shape, 4)
        found = np.empty((counts.size, 4), np.uint32)
        for start in range(0, counts.size, _CHUNK):
            part = counts[start : start + _CHUNK]
            a, b = part & np.uint64(_LOW), part >> np.uint64(32)
            c, d = (np.full_like(a, word) for word in _words(self._second))
            for column, numbers in enumerate(_rounds(a, b, c, d, self._key)):
                found[start : start + _CHUNK, column] = numbers
        return found.reshape(*places.shape, 4)

    def next(self) -> int:
        """The next number."""
        if not self._left:
            self._left = list(self.block())[::-1]
            self._count += 1
        return self._left.pop()

    def block(self) -> tuple[int, ...]:
        """The next four numbers, which stay the next."""
        return self._block(self._count)

    def _block(self, count: int) -> tuple[int, ...]:
        found: tuple[int, ...] = _rounds(*_words(count), *_words(self._second), self._key)
        return found


def _rounds(a: Any, b: Any, c: Any, d: Any, key: tuple[int, int]) -> Any:
    """Four numbers for four, or arrays of 64 bits of them."""
    first, second = key
    for _ in range(_ROUNDS):
        one, other = a * _FACTORS[0], c * _FACTORS[1]
        a, b, c, d = other >> 32 ^ b ^ first, other & _LOW, one >> 32 ^ d ^ second, one & _LOW
        first, second = first + _STEPS[0] & _LOW, second + _STEPS[1] & _LOW
    return a, b, c, d


def _words(number: int) -> tuple[int, int]:
    return number & _LOW, number >> 32 & _LOW
