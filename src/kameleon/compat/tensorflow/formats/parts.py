"""The parts of files: lines, records of one length; maybe packed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

from .records import opened
from .tables import DamagedError


def lines(path: str, packing: str = "") -> Iterator[bytes]:
    """The lines of a file, without what ends them."""
    return map(_without_return, _between_feeds(path, packing))


def _between_feeds(path: str, packing: str) -> Iterator[bytes]:
    rest = b""
    with closing(opened(path, packing)) as file:
        while data := file.read(1 << 18):
            *whole, rest = (rest + data).split(b"\n")
            yield from whole
        if rest:
            yield rest


def rows(path: str, mark: bytes = b"", packing: str = "") -> Iterator[bytes]:
    """The rows of a file, without what ends them: a line feed, a return, or both.

    Args:
        path: of the file.
        mark: what is between fields, in which nothing between quotes ends a row; none, if quotes
            are letters as others.
        packing: how the file is packed.
    """
    open_row: bytes | None = None
    for line in _between_feeds(path, packing):
        row = line if open_row is None else open_row + b"\n" + line
        open_row = row if mark and _is_open(row, re.escape(mark)) else None
        if open_row is None:
            yield from _between_returns(_without_return(row), bool(mark))
    if open_row is not None:
        yield open_row


def _is_open(row: bytes, mark: bytes) -> bool:
    """Whether the last field begins with a quote that isn't closed."""
    if b'"' not in row:
        return False
    field = rb'(?:"[^"]*(?:""[^"]*)*"(?!")|(?!"))[^%b]*' % mark
    return re.fullmatch(b"%b(?:%b%b)*" % (field, mark, field), row) is None


def _between_returns(row: bytes, quotes: bool) -> list[bytes]:
    if not quotes or b"\r" not in row:
        return row.split(b"\r")
    return re.split(rb'\r(?=(?:[^"]*"[^"]*")*[^"]*\Z)', row)


def _without_return(line: bytes) -> bytes:
    return line[:-1] if line.endswith(b"\r") else line


def fixed(
    path: str, size: int, header: int = 0, footer: int = 0, hop: int = 0, packing: str = ""
) -> Iterator[bytes]:
    """Records of one length between a header and a footer; each begins a hop behind the last one.

    Raises:
        DamagedError: what's between header and footer isn't a number of records.
    """
    with closing(opened(path, packing)) as file:
        content = file.read()
    content = content[header : len(content) - footer]
    if not hop and len(content) % size:
        raise DamagedError(
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file"
            f' "{path}" has body length {len(content)} bytes, which is not an exact multiple of'
            f" the record length ({size} bytes)."
        )
    for start in range(0, len(content) - size + 1, hop or size):
        yield content[start : start + size]
