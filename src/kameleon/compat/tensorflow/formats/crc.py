"""CRC-32C, of long data many bytes at a time.

A checksum is linear: it's the sum of what each byte makes of it, wherever the byte is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

_POLYNOMIAL = 0x82F63B78
_MASK, _ALL = 0xA282EAD8, 0xFFFFFFFF
# So many bytes are summed at once; fewer than some are faster one by one; blocks at a time.
_BLOCK, _FEW, _BLOCKS = 512, 64, 512


def _table() -> np.ndarray:
    found = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        found = np.where(found & 1, found >> 1 ^ np.uint32(_POLYNOMIAL), found >> 1)
    return found.astype(np.uint32)


_TABLE = _table()
_NUMBERS = _TABLE.tolist()
_OFFSETS = np.arange(_BLOCK) * 256  # of the rows of `_places`


def crc(data: bytes | memoryview, before: int = 0) -> int:
    """The checksum of data; of what lies before it, too, whose checksum is given.

    >>> hex(crc(b"123456789"))
    '0xe3069283'
    """
    state = before ^ _ALL
    if len(data) < _FEW:
        for byte in bytes(data):
            state = _NUMBERS[(state ^ byte) & 255] ^ state >> 8
        return state ^ _ALL
    ahead, (first, second, third, fourth) = 0, _first_places()
    for found in _sums(data, state):
        ahead = found ^ (
            first[ahead & 255] ^ second[ahead >> 8 & 255] ^ third[ahead >> 16 & 255]
            ^ fourth[ahead >> 24]
        )  # fmt: skip
    return ahead ^ _ALL


def masked(value: int) -> int:
    """A checksum as files hold it."""
    return ((value >> 15 | value << 17) + _MASK) & _ALL


def _sums(data: bytes | memoryview, state: int) -> Iterator[int]:
    """What the bytes of each block make of the checksum; zeros before all of them make nothing."""
    table = _places().ravel()
    padded = np.zeros(-(-len(data) // _BLOCK) * _BLOCK, np.uint8)
    padded[-len(data) :] = np.frombuffer(data, np.uint8)
    padded[-len(data) :][:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
    rows = padded.reshape(-1, _BLOCK)
    for at in range(0, len(rows), _BLOCKS):
        found = table.take(rows[at : at + _BLOCKS] + _OFFSETS)
        yield from np.bitwise_xor.reduce(found, axis=1).tolist()


@cache
def _places() -> np.ndarray:
    """By place in a block, what each byte makes of the checksum at the block's end."""
    found = np.empty((_BLOCK, 256), np.uint32)
    found[-1] = _TABLE
    for place in range(_BLOCK - 1, 0, -1):
        found[place - 1] = _TABLE[found[place] & 255] ^ found[place] >> np.uint32(8)
    return found


@cache
def _first_places() -> list[list[int]]:
    """The first four rows: what a checksum becomes over a block of zeros."""
    found: list[list[int]] = _places()[:4].tolist()
    return found
