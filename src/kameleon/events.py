"""Event files, which TensorBoard shows: scalars, histograms, images and graphs over steps.

A file is a row of records (a length, the content, and a masked CRC-32C of either); a record is a
protocol buffer `Event`. Both formats are small and fixed, so they're written here as they are.
"""

from __future__ import annotations

import os
import socket
import struct
import time
import weakref
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np

_files = count()  # distinguishes the files that a process begins within one second


# --- protocol buffers: a field is a key (its number and wire type), then the content -----------


def _number(value: int) -> bytes:
    """An integer as base-128 digits, the lowest first; negative ones as 64-bit complements."""
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def _integer(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value)


def _double(field: int, value: float) -> bytes:
    return _number(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _number(field << 3 | 5) + struct.pack("<f", value)


def _content(field: int, content: bytes | str) -> bytes:
    content = content.encode("utf-8") if isinstance(content, str) else content
    return _number(field << 3 | 2) + _number(len(content)) + content


# --- records ----------------------------------------------------------------------------------


@cache
def _crc_table() -> tuple[int, ...]:
    """CRC-32C's remainders of all bytes: the reversed polynomial is 0x82F63B78."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


def crc32c(content: bytes) -> int:
    """The CRC-32C (Castagnoli) of some bytes, as RFC 3720 has it.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    table, crc = _crc_table(), 0xFFFFFFFF
    for byte in content:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(content: bytes) -> bytes:
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(content: bytes) -> bytes:
    """A record of a TFRecord file.

    >>> len(record(b"abc"))
    19
    """
    length = struct.pack("<Q", len(content))
    return length + _masked(length) + content + _masked(content)


# --- what a summary holds -----------------------------------------------------------------------


def scalar(tag: str, value: float) -> bytes:
    """A number, as one value of a summary."""
    return _content(1, _content(1, tag) + _float(2, float(value)))


def histogram(tag: str, values: Any) -> bytes:
    """How values are distributed, over 30 equal bins, as one value of a summary.

    Values that aren't finite are left out.
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    counts, edges = np.histogram(numbers, bins=30)
    low, high = (numbers.min(), numbers.max()) if numbers.size else (0.0, 0.0)
    moments = (low, high, numbers.size, numbers.sum(), np.square(numbers).sum())
    return counted(tag, moments, edges[1:], counts)


def counted(tag: str, moments: Iterable[float], limits: Any, counts: Any) -> bytes:
    """A distribution whose bins are counted, as one value of a summary.

    Args:
        tag: its name.
        moments: least and largest value, their number, their sum, and that of their squares.
        limits, counts: the upper end of each bin, and how many values it holds.
    """
    body = b"".join(_double(field, float(x)) for field, x in enumerate(moments, start=1))
    for field, row in ((6, limits), (7, counts)):
        body += _content(field, np.asarray(row, dtype="<f8").tobytes())
    return _content(1, _content(1, tag) + _content(5, body))


def image(tag: str, pixels: Any) -> bytes:
    """An image, as one value of a summary.

    Args:
        tag: its name.
        pixels: bytes of shape (height, width, channels), with 1, 3 or 4 channels.
    """
    pixels = np.asarray(pixels, dtype=np.uint8)
    return encoded_image(tag, png(pixels), pixels.shape)


def encoded_image(tag: str, encoded: bytes, sizes: Iterable[int]) -> bytes:
    """An image that is the content of a file, with height, width and channels."""
    body = b"".join(_integer(field, size) for field, size in enumerate(sizes, start=1))
    return _content(1, _content(1, tag) + _content(4, body + _content(4, encoded)))


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A PNG file of some bytes of shape (height, width, 1, 3 or 4)."""
    height, width, channels = pixels.shape
    kind = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


class GraphNode(NamedTuple):
    """A node of a graph that TensorBoard draws."""

    name: str
    kind: str
    inputs: Sequence[str] = ()


def graph(nodes: Iterable[GraphNode]) -> bytes:
    """A graph, as a `GraphDef`."""
    return b"".join(
        _content(
            1,
            _content(1, node.name)
            + _content(2, node.kind)
            + b"".join(_content(3, name) for name in node.inputs),
        )
        for node in nodes
    )


# --- files ----------------------------------------------------------------------------------------


class EventFile:
    """An event file in a folder, which is made if it isn't there.

    Args:
        folder: what TensorBoard is told as `--logdir`.
        suffix: an end of the file's name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = EventFile(folder)
    ...     file.write([scalar("loss", 0.5)], step=1)
    ...     file.close()
    ...     [name] = os.listdir(folder)
    >>> name.startswith("events.out.tfevents.")
    True
    """

    def __init__(self, folder: str | os.PathLike[str], suffix: str = "") -> None:
        os.makedirs(folder, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}"
        name += f".{os.getpid()}.{next(_files)}{suffix}"
        self.path = os.path.join(os.fspath(folder), name)
        self._file = open(self.path, "wb")  # noqa: SIM115 (closed by `close`)
        # Programs leave writers behind, not only where they fail: the file is whole all the same.
        weakref.finalize(self, self._file.close)
        self._event(_content(3, "brain.Event:2"))

    def write(self, values: Iterable[bytes], step: int) -> None:
        """Write a summary: what `scalar`, `histogram` and `image` give."""
        self._event(_integer(2, int(step)) + _content(5, b"".join(values)))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary of TensorFlow 1 (`tf.Summary`), or the bytes of one, for a step."""
        content = summary if isinstance(summary, bytes) else summary.SerializeToString()
        self.write([content], 0 if global_step is None else int(global_step))

    def write_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write numbers by their names."""
        self.write([scalar(tag, value) for tag, value in values.items()], step)

    def write_graph(self, definition: bytes) -> None:
        """Write a graph: what `graph` gives."""
        self._event(_content(4, definition))

    def flush(self) -> None:
        """See that others can read what has been written."""
        self._file.flush()

    def close(self) -> None:
        """Close the file; a second call changes nothing."""
        self._file.close()

    def _event(self, body: bytes) -> None:
        self._file.write(record(_double(1, time.time()) + body))
