"""Hash functions of bytes, by which strings are put into buckets."""

from __future__ import annotations

import struct
from functools import lru_cache

WORD = (1 << 64) - 1


def _rotated(x: int, by: int) -> int:
    """A word of 64 bits, turned to the right."""
    return (x >> by | x << (64 - by)) & WORD


def _mixed(x: int) -> int:
    return x ^ x >> 47


# Murmur, as the oldest buckets have it -----------------------------------------------------------

MURMUR, SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def murmur(data: bytes, seed: int = SEED) -> int:
    """Appleby's hash of 64 bits (2008).

    >>> murmur(b"kameleon") == murmur(b"kameleon", 1)
    False
    """
    whole, rest = divmod(len(data), 8)
    found = seed ^ len(data) * MURMUR & WORD
    for word in struct.unpack_from(f"<{whole}Q", data):
        word = word * MURMUR & WORD
        word = _mixed(word) * MURMUR & WORD
        found = (found ^ word) * MURMUR & WORD
    if rest:
        found = (found ^ int.from_bytes(data[-rest:], "little")) * MURMUR & WORD
    return _mixed(_mixed(found) * MURMUR & WORD)


def combined(one: int, other: int) -> int:
    """The hash of two hashes, in order."""
    return one ^ other + 0x9E3779B97F4A7800 + (one << 10) + (one >> 4) & WORD


def joined(one: int, other: int) -> int:
    """The fingerprint of two fingerprints, in order."""
    found = one ^ MURMUR ^ _mixed(other * MURMUR & WORD) * MURMUR & WORD
    found = _mixed(found * MURMUR & WORD) * MURMUR & WORD
    return _mixed(found)


# Farm ---------------------------------------------------------------------------------------------

FARM = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


@lru_cache(1 << 15)  # the words of a text come again and again
def fingerprint(data: bytes) -> int:
    """Pike's FarmHash (2014), in the variant of 64 bits that never changes."""
    size = len(data)
    if size > 64:
        return _long(data)
    if size > 32:
        return _up_to_64(data)
    if size > 16:
        return _up_to_32(data)
    return _up_to_16(data)


def _at(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 8], "little")


def _pair(u: int, v: int, factor: int) -> int:
    """A hash of two words."""
    found = (u ^ v) * factor & WORD
    found = (v ^ _mixed(found)) * factor & WORD
    return _mixed(found) * factor & WORD


def _up_to_16(data: bytes) -> int:
    size = len(data)
    factor = FARM[2] + 2 * size
    if size >= 8:
        a, b = _at(data, 0) + FARM[2] & WORD, _at(data, size - 8)
        c = _rotated(b, 37) * factor + a
        d = (_rotated(a, 25) + b) * factor
        return _pair(c & WORD, d & WORD, factor)
    if size >= 4:
        first, last = (int.from_bytes(part, "little") for part in (data[:4], data[-4:]))
        return _pair(size + (first << 3) & WORD, last, factor)
    if size:
        y, z = data[0] + (data[size >> 1] << 8), size + (data[-1] << 2)
        return _mixed((y * FARM[2] ^ z * FARM[0]) & WORD) * FARM[2] & WORD
    return FARM[2]


def _up_to_32(data: bytes) -> int:
    size = len(data)
    factor = FARM[2] + 2 * size
    a, b = _at(data, 0) * FARM[1] & WORD, _at(data, 8)
    c, d = _at(data, size - 8) * factor & WORD, _at(data, size - 16) * FARM[2] & WORD
    first = _rotated(a + b & WORD, 43) + _rotated(c, 30) + d
    second = a + _rotated(b + FARM[2] & WORD, 18) + c
    return _pair(first & WORD, second & WORD, factor)


def _up_to_64(data: bytes) -> int:
    size = len(data)
    factor = FARM[2] + 2 * size
    a, b = _at(data, 0) * FARM[2] & WORD, _at(data, 8)
    c, d = _at(data, size - 8) * factor & WORD, _at(data, size - 16) * FARM[2] & WORD
    y = _rotated(a + b & WORD, 43) + _rotated(c, 30) + d & WORD
    z = _pair(y, a + _rotated(b + FARM[2] & WORD, 18) + c & WORD, factor)
    e, f = _at(data, 16) * factor & WORD, _at(data, 24)
    g = (y + _at(data, size - 32)) * factor & WORD
    h = (z + _at(data, size - 24)) * factor & WORD
    first = _rotated(e + f & WORD, 43) + _rotated(g, 30) + h
    second = e + _rotated(f + a & WORD, 18) + g
    return _pair(first & WORD, second & WORD, factor)


def _weak(data: bytes, place: int, a: int, b: int) -> tuple[int, int]:
    """A quick hash of 32 bytes, by two seeds."""
    w, x, y, z = struct.unpack_from("<4Q", data, place)
    a = a + w & WORD
    b = _rotated(b + a + z & WORD, 21)
    c = a
    a = a + x + y & WORD
    return a + z & WORD, b + _rotated(a, 44) + c & WORD


def _long(data: bytes) -> int:
    """In steps of 64 bytes; the last 64 once more, with other factors."""
    size, seed = len(data), 81
    x, y = seed * FARM[2] + _at(data, 0) & WORD, seed * FARM[1] + 113 & WORD
    z = _mixed(y * FARM[2] + 113 & WORD) * FARM[2] & WORD
    v, w = (0, 0), (0, 0)
    end = (size - 1) // 64 * 64
    for place in range(0, end, 64):
        x, y, z, v, w = _stepped(data, place, (x, y, z), v, w, (FARM[1], 1, 1))
    factor = FARM[1] + ((z & 0xFF) << 1)
    first = w[0] + ((size - 1) & 63) & WORD
    v = (v[0] + first & WORD, v[1])
    w = (first + v[0] & WORD, w[1])
    last = end + ((size - 1) & 63) - 63
    x, y, z, v, w = _stepped(data, last, (x, y, z), v, w, (factor, 9, 9))
    one = _pair(v[0], w[0], factor) + _mixed(y) * FARM[0] + z
    return _pair(one & WORD, _pair(v[1], w[1], factor) + x & WORD, factor)


Two = tuple[int, int]


def _stepped(
    data: bytes, place: int, state: tuple[int, int, int], v: Two, w: Two,
    factors: tuple[int, int, int],
) -> tuple[int, int, int, Two, Two]:  # fmt: skip
    x, y, z = state
    factor, of_w, of_v = factors
    x = _rotated(x + y + v[0] + _at(data, place + 8) & WORD, 37) * factor & WORD
    y = _rotated(y + v[1] + _at(data, place + 48) & WORD, 42) * factor & WORD
    x ^= w[1] * of_w & WORD
    y = y + v[0] * of_v + _at(data, place + 40) & WORD
    z = _rotated(z + w[0] & WORD, 33) * factor & WORD
    v = _weak(data, place, v[1] * factor & WORD, x + w[0] & WORD)
    w = _weak(data, place + 32, z + w[1] & WORD, y + _at(data, place + 16) & WORD)
    return z, y, x, v, w


# City -------------------------------------------------------------------------------------------

CITY = 0x9DDFEA08EB382D69


def fingerprint_pair(data: bytes) -> Two:
    """Pike's and Alakuijala's CityHash (2011), in the variant of 128 bits that never changes: its
    lower and its higher half.
    """
    if len(data) >= 16:
        seed = _at(data, 0), _at(data, 8) + FARM[0] & WORD
        return _city(data[16:], seed)
    return _city(data, (FARM[0], FARM[1]))


def _city(data: bytes, seed: Two) -> Two:
    return _city_long(data, seed) if len(data) >= 128 else _city_short(data, seed)


def _city_short(data: bytes, seed: Two) -> Two:
    (a, b), size = seed, len(data)
    if size <= 16:
        a = _mixed(a * FARM[1] & WORD) * FARM[1] & WORD
        c = b * FARM[1] + _up_to_16(data) & WORD
        d = _mixed(a + (_at(data, 0) if size >= 8 else c) & WORD)
    else:
        c = _pair(_at(data, size - 8) + FARM[1] & WORD, a, CITY)
        d = _pair(b + size & WORD, c + _at(data, size - 16) & WORD, CITY)
        a = a + d & WORD
        for place in range(0, size - 16, 16):
            a = (a ^ _mixed(_at(data, place) * FARM[1] & WORD) * FARM[1] & WORD) * FARM[1] & WORD
            b ^= a
            c ^= _mixed(_at(data, place + 8) * FARM[1] & WORD) * FARM[1] & WORD
            c = c * FARM[1] & WORD
            d ^= c
    a, b = _pair(a, c, CITY), _pair(d, b, CITY)
    return a ^ b, _pair(b, a, CITY)


def _city_long(data: bytes, seed: Two) -> Two:
    """In steps of 128 bytes; the rest by 32, from the end on."""
    (x, y), size, factor = seed, len(data), FARM[1]
    z = size * factor & WORD
    first = _rotated(y ^ factor, 49) * factor + _at(data, 0) & WORD
    v = first, _rotated(first, 42) * factor + _at(data, 8) & WORD
    w = (
        _rotated(y + z & WORD, 35) * factor + x & WORD,
        _rotated(x + _at(data, 88) & WORD, 53) * factor & WORD,
    )
    done = size // 128 * 128
    for place in range(0, done, 64):
        x, y, z, v, w = _stepped(data, place, (x, y, z), v, w, (factor, 1, 1))
    x = x + _rotated(v[0] + z & WORD, 49) * FARM[0] & WORD
    y = y * FARM[0] + _rotated(w[1], 37) & WORD
    z = z * FARM[0] + _rotated(w[0], 27) & WORD
    v, w = (v[0] * FARM[0] & WORD, v[1]), (w[0] * 9 & WORD, w[1])
    for place in range(size - 32, size - 32 - (size - done), -32):
        y = _rotated(x + y & WORD, 42) * FARM[0] + v[1] & WORD
        w = w[0] + _at(data, place + 16) & WORD, w[1]
        x = x * FARM[0] + w[0] & WORD
        z = z + w[1] + _at(data, place) & WORD
        w = w[0], w[1] + v[0] & WORD
        v = _weak(data, place, v[0] + z & WORD, v[1])
        v = v[0] * FARM[0] & WORD, v[1]
    x, y = _pair(x, v[0], CITY), _pair(y + z & WORD, w[0], CITY)
    low = _pair(x + v[1] & WORD, w[1], CITY) + y & WORD
    return low, _pair(x + w[1] & WORD, y + v[1] & WORD, CITY)


# Sip ----------------------------------------------------------------------------------------------


def keyed(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of Aumasson and Bernstein (2012)."""
    one, other = key
    state = [
        one ^ 0x736F6D6570736575,
        other ^ 0x646F72616E646F6D,
        one ^ 0x6C7967656E657261,
        other ^ 0x7465646279746573,
    ]
    whole = len(data) // 8
    tail = int.from_bytes(data[whole * 8 :], "little") | (len(data) & 0xFF) << 56
    for word in (*struct.unpack_from(f"<{whole}Q", data), tail):
        state[3] ^= word
        state = _sip(_sip(state))
        state[0] ^= word
    state[2] ^= 0xFF
    for _ in range(4):
        state = _sip(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip(state: list[int]) -> list[int]:
    a, b, c, d = state
    a, c = a + b & WORD, c + d & WORD
    b, d = _rotated(b, 51) ^ a, _rotated(d, 48) ^ c
    a, c = _rotated(a, 32) + d & WORD, c + b & WORD
    b, d = _rotated(b, 47) ^ c, _rotated(d, 43) ^ a
    return [a, b, _rotated(c, 32), d]
