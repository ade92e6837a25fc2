"""Parts of tensors: in texts, in messages, and as parts of keys that are sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..protocol.messages import message

_ESCAPES = {0: b"\0\xff", 255: b"\xff\0"}

# By axis, where a part starts and how long it is; None for all of the axis.
Extents = tuple[tuple[int, int] | None, ...]


def parsed(text: str) -> tuple[tuple[int, ...], Extents]:
    """The shape of a whole tensor, and the part of it.

    >>> parsed("20 4 0,10:-")
    ((20, 4), ((0, 10), None))
    """
    *sizes, extents = text.split(" ")
    parts = extents.split(":") if extents else []
    found = []
    for part in parts:
        start, _, length = part.partition(",")
        found.append(None if part == "-" else (int(start), int(length)))
    return tuple(map(int, sizes)), tuple(found)


def is_whole(extents: Extents, shape: Sequence[int]) -> bool:
    """Whether a part is all of a tensor."""
    pairs = zip(extents, shape, strict=True)
    return all(extent is None or extent == (0, size) for extent, size in pairs)


def index_of(extents: Extents) -> Any:
    """A part, as an index of an array.

    >>> index_of(((2, 3), None))
    (slice(2, 5, None), slice(None, None, None), Ellipsis)
    """
    found = [
        slice(None) if extent is None else slice(extent[0], extent[0] + extent[1])
        for extent in extents
    ]
    return (*found, ...)


def bounds(extents: Extents, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Where a part starts and ends, by axis."""
    pairs = zip(extents, shape, strict=True)
    return [(0, size) if each is None else (each[0], sum(each)) for each, size in pairs]


# As messages ------------------------------------------------------------------------------------


def message_of(extents: Extents) -> Any:
    """A part as a message TensorSliceProto."""
    made = message("TensorSliceProto")()
    for extent in extents:
        into = made.extent.add()
        if extent is not None:
            into.start, into.length = extent
    return made


def of_message(proto: Any) -> Extents:
    """The part that a message tells."""
    return tuple(
        (each.start, each.length) if each.HasField("length") else None for each in proto.extent
    )


# As keys ----------------------------------------------------------------------------------------


def key(name: str, extents: Extents) -> bytes:
    """The key of a part of a tensor in a table."""
    text = b"".join(_ESCAPES.get(byte, bytes([byte])) for byte in name.encode())
    found = _number(0) + text + b"\0\1" + _number(len(extents))
    for extent in extents:
        start, length = extent or (0, -1)
        found += _signed(start) + _signed(length)
    return found


def _number(number: int) -> bytes:
    """A number so that those of larger ones are larger: how many bytes, and the bytes."""
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _signed(number: int) -> bytes:
    """A number, maybe negative: a header of as many bits as bytes, and the bits."""
    value = ~number if number < 0 else number
    size = next(n for n in range(1, 11) if value < 1 << 7 * n - 1)
    header = (0xFFFF << 16 - size & 0xFFFF) << 8 * size >> 16
    return ((number & (1 << 8 * size) - 1) ^ header).to_bytes(size, "big")
