"""The parts of files: lines, records of one length; maybe packed."""

from __future__ import annotations

from collections.abc import Iterator

from .records import opened
from .tables import DamagedError


def lines(path: str, packing: str = "") -> Iterator[bytes]:
    """The lines of a file, without what ends them."""
    file = opened(path, packing)
    rest = b""
    try:
        while data := file.read(1 << 18):
            *whole, rest = (rest + data).split(b"\n")
            yield from map(_without_return, whole)
        if rest:
            yield _without_return(rest)
    finally:
        file.close()


def _without_return(line: bytes) -> bytes:
    return line[:-1] if line.endswith(b"\r") else line


def fixed(
    path: str, size: int, header: int = 0, footer: int = 0, hop: int = 0, packing: str = ""
) -> Iterator[bytes]:
    """Records of one length between a header and a footer; each begins a hop behind the last one.

    Raises:
        DamagedError: what's between header and footer isn't a number of records.
    """
    file = opened(path, packing)
    try:
        content = file.read()
    finally:
        file.close()
    content = content[header : len(content) - footer]
    if not hop and len(content) % size:
        raise DamagedError(
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file"
            f' "{path}" has body length {len(content)} bytes, which is not an exact multiple of'
            f" the record length ({size} bytes)."
        )
    for start in range(0, len(content) - size + 1, hop or size):
        yield content[start : start + size]
