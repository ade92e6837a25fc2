"""Sorted tables of keys and values, in blocks, as LevelDB has them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from .crc import crc, masked

MAGIC, FOOTER, TRAILER = 0xDB4775248B80FB57, 48, 5
BLOCK, RESTART = 262144, 16  # bytes in a block; entries between whole keys
PLAIN, SNAPPY = 0, 1


class DamagedError(ValueError):
    """A file isn't what it should be."""


# Numbers, seven bits in each byte ---------------------------------------------------------------


def varint(number: int) -> bytes:
    """A number, seven bits in each byte.

    >>> varint(300).hex()
    'ac02'
    """
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


# Reading ----------------------------------------------------------------------------------------


def read(data: bytes) -> dict[bytes, bytes]:
    """All entries of a table.

    Raises:
        DamagedError: it isn't one.
    """
    footer = data[-FOOTER:]
    if len(footer) < FOOTER:
        raise DamagedError("file is too short to be an sstable")
    if int.from_bytes(footer[-8:], "little") != MAGIC:
        raise DamagedError("not an sstable (bad magic number)")
    try:
        _, at = _handle(footer, 0)
        index, _ = _handle(footer, at)
        found: dict[bytes, bytes] = {}
        for _, handle in _entries(_block(data, *index)):
            place, _ = _handle(handle, 0)
            found.update(_entries(_block(data, *place)))
    except (IndexError, struct.error) as error:
        raise DamagedError("corrupted block contents") from error
    return found


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    """Where a block is, and how large."""
    start, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (start, size), at


def _block(data: bytes, start: int, size: int) -> bytes:
    content, trailer = data[start : start + size], data[start + size : start + size + TRAILER]
    if len(trailer) < TRAILER:
        raise DamagedError("truncated block read")
    if masked(crc(content + trailer[:1])) != int.from_bytes(trailer[1:], "little"):
        raise DamagedError("block checksum mismatch")
    return unpacked(content) if trailer[0] == SNAPPY else content


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    count = int.from_bytes(block[-4:], "little")
    end, at, key = len(block) - 4 * (count + 1), 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        rest, at = read_varint(block, at)
        size, at = read_varint(block, at)
        key = key[:shared] + block[at : at + rest]
        at += rest
        yield key, block[at : at + size]
        at += size


def unpacked(data: bytes) -> bytes:
    """What Snappy packed."""
    size, at = read_varint(data, 0)
    found = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                wide = length - 59
                length = int.from_bytes(data[at : at + wide], "little")
                at += wide
            found += data[at : at + length + 1]
            at += length + 1
            continue
        wide = (0, 1, 2, 4)[tag & 3]
        back = int.from_bytes(data[at : at + wide], "little")
        at += wide
        length = (tag >> 2) + 1
        if tag & 3 == 1:
            length, back = (tag >> 2 & 7) + 4, tag >> 5 << 8 | back
        start = len(found) - back
        for place in range(start, start + length):
            found.append(found[place])
    if len(found) != size:
        raise DamagedError("corrupted compressed block contents")
    return bytes(found)


# Writing ----------------------------------------------------------------------------------------


class _Block:
    """A block while it grows."""

    def __init__(self, restart: int) -> None:
        self._restart, self._data, self._count = restart, bytearray(), 0
        self._starts: list[int] = []
        self.last = b""

    @property
    def size(self) -> int:
        return len(self._data) + 4 * len(self._starts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count % self._restart == 0:
            self._starts.append(len(self._data))
        else:
            most = min(len(key), len(self.last))
            while shared < most and key[shared] == self.last[shared]:
                shared += 1
        sizes = varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._data += sizes + key[shared:] + value
        self._count, self.last = self._count + 1, key

    def finished(self) -> bytes:
        starts = self._starts or [0]
        return bytes(self._data) + struct.pack(f"<{len(starts) + 1}I", *starts, len(starts))


def written(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of entries, whose keys are sorted.

    >>> read(written([(b"", b"1"), (b"a", b"2")]))
    {b'': b'1', b'a': b'2'}
    """
    found, index, block = bytearray(), _Block(1), _Block(RESTART)
    waiting: tuple[bytes, bytes] | None = None  # the last key of a block, and where it is
    for key, value in entries:
        if waiting is not None:
            index.add(_between(waiting[0], key), waiting[1])
            waiting = None
        block.add(key, value)
        if block.size >= BLOCK:
            waiting = block.last, _append(found, block)
            block = _Block(RESTART)
    if block.last or block.size > 8:
        waiting = block.last, _append(found, block)
    meta = _append(found, _Block(RESTART))
    if waiting is not None:
        index.add(_behind(waiting[0]), waiting[1])
    handles = meta + _append(found, index)
    return bytes(found) + handles.ljust(FOOTER - 8, b"\0") + MAGIC.to_bytes(8, "little")


def _append(found: bytearray, block: _Block) -> bytes:
    """Write a block; where it is."""
    content = block.finished()
    handle = varint(len(found)) + varint(len(content))
    kind = bytes([PLAIN])
    found += content + kind + struct.pack("<I", masked(crc(content + kind)))
    return handle


def _between(one: bytes, other: bytes) -> bytes:
    """A short key that is at least the one, and below the other."""
    most = min(len(one), len(other))
    at = next((at for at in range(most) if one[at] != other[at]), most)
    if at < most and one[at] < 255 and one[at] + 1 < other[at]:
        return one[:at] + bytes([one[at] + 1])
    return one


def _behind(key: bytes) -> bytes:
    """A short key that is at least the one."""
    at = next((at for at, byte in enumerate(key) if byte < 255), None)
    return key if at is None else key[:at] + bytes([key[at] + 1])
