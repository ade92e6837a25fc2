"""CRC-32C, of long data many bytes at a time."""

from __future__ import annotations

from functools import cache

import numpy as np

_POLYNOMIAL, _LANES = 0x82F63B78, 4096
_MASK, _ALL = 0xA282EAD8, 0xFFFFFFFF


def _table() -> np.ndarray:
    found = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        found = np.where(found & 1, found >> 1 ^ np.uint32(_POLYNOMIAL), found >> 1)
    return found.astype(np.uint32)


_TABLE = _table()
_NUMBERS = _TABLE.tolist()
_BITS = np.arange(32, dtype=np.uint32)


def crc(data: bytes | memoryview, before: int = 0) -> int:
    """The checksum of data; of what lies before it, too, whose checksum is given.

    >>> hex(crc(b"123456789"))
    '0xe3069283'
    """
    state, at = before ^ _ALL, 0
    if len(data) >= 2 * _LANES:
        state, at = _of_lanes(data, state)
    for byte in bytes(data[at:]):
        state = _NUMBERS[(state ^ byte) & 255] ^ state >> 8
    return state ^ _ALL


def masked(value: int) -> int:
    """A checksum as files hold it."""
    return ((value >> 15 | value << 17) + _MASK) & _ALL


@cache
def _pairs() -> np.ndarray:
    """The table of two bytes."""
    both = np.arange(65536, dtype=np.uint32)
    once = _TABLE[both & 255] ^ both >> np.uint32(8)
    found: np.ndarray = _TABLE[once & 255] ^ once >> np.uint32(8)
    return found


def _of_lanes(data: bytes | memoryview, state: int) -> tuple[int, int]:
    """The state behind as much of the data as fits into lanes, and how much that is."""
    length, table = len(data) // _LANES // 2, _pairs()
    size = length * _LANES * 2
    rows = np.frombuffer(data, "<u2", size // 2).reshape(_LANES, length)
    states, found = np.zeros(_LANES, np.uint32), np.empty(_LANES, np.uint32)
    places = np.empty(_LANES, np.intp)
    states[0] = state
    for column in np.ascontiguousarray(rows.T):
        np.bitwise_xor(states, column, out=places, casting="unsafe")
        np.bitwise_and(places, 65535, out=places)
        np.take(table, places, out=found, mode="clip")
        np.right_shift(states, 16, out=states)
        np.bitwise_xor(states, found, out=states)
    step = _power(2 * length)
    while len(states) > 1:
        states = _applied(step, states[::2]) ^ states[1::2]
        step = _applied(step, step)
    return int(states[0]), size


def _applied(step: np.ndarray, states: np.ndarray) -> np.ndarray:
    """States after a step: bit by bit, the sum of what the step makes of each."""
    bits = (states[:, None] >> _BITS & 1).astype(bool)
    found: np.ndarray = np.bitwise_xor.reduce(np.where(bits, step, np.uint32(0)), axis=1)
    return found


def _power(length: int) -> np.ndarray:
    """What so many bytes of 0 make of each bit of a state."""
    found = np.uint32(1) << _BITS
    step = _TABLE[found & 255] ^ found >> np.uint32(8)
    while length:
        if length & 1:
            found = _applied(step, found)
        step = _applied(step, step)
        length >>= 1
    return found
