"""Messages of protocol buffers, field by field."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number: int) -> bytes:
    """A number, seven bits in each byte.

    >>> varint(300).hex()
    'ac02'
    """
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7


def signed(number: int) -> int:
    """A number of 64 bits that may be negative."""
    return number - (1 << 64) if number >> 63 else number


def field(number: int, value: int | float | bytes, kind: int | None = None) -> bytes:
    """A field: bytes, a double, or a varint; or of the kind that is said."""
    if isinstance(value, bytes):
        return varint(number << 3 | BYTES) + varint(len(value)) + value
    if isinstance(value, float):
        if kind == FIXED32:
            return varint(number << 3 | FIXED32) + struct.pack("<f", value)
        return varint(number << 3 | FIXED64) + struct.pack("<d", value)
    if kind == FIXED32:
        return varint(number << 3 | FIXED32) + struct.pack("<I", value)
    return varint(number << 3 | VARINT) + varint(value)


def optional(number: int, value: int | bytes) -> bytes:
    """A field that isn't written when it's 0, or empty."""
    return field(number, value) if value else b""


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers as integers, all else as bytes.

    >>> list(fields(field(1, 5) + field(3, b"x")))
    [(1, 5), (3, b'x')]
    """
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
            yield tag >> 3, value
        elif kind == BYTES:
            size, at = read_varint(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            size = 4 if kind == FIXED32 else 8
            yield tag >> 3, int.from_bytes(data[at : at + size], "little")
            at += size
