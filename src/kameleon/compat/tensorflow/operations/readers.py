"""Readers: they take names of files from a queue, and give what is in these."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import numpy as np

from ..checkpoints import reported
from ..formats import parts
from ..formats.records import Reader as Records
from ..graph import Operation
from ..resources.base import Resource
from ..resources.queues import Queue
from ..resources.waiting import Attempt
from .files import contents
from .keeping import keeps, on_handles
from .table import host
from .values import objects, scalar, text

Pairs = Iterator[tuple[bytes, bytes]]  # keys and values
Waits = Generator[Attempt, None, Any]


def _whole(operation: Operation, path: str) -> Pairs:
    yield path.encode(), contents(path)


def _lines(operation: Operation, path: str) -> Pairs:
    skipped = operation.attribute("skip_header_lines") or 0
    for number, line in enumerate(parts.lines(path), 1):
        if number > skipped:
            yield f"{path}:{number}".encode(), line


def _fixed(operation: Operation, path: str) -> Pairs:
    sizes = [operation.attribute(f"{name}_bytes") for name in ("record", "header", "footer", "hop")]
    packing = (operation.attribute("encoding") or b"").decode()
    size, header, footer, hop = sizes
    for number, record in enumerate(parts.fixed(path, size, header, footer, hop or size, packing)):
        yield f"{path}:{number}".encode(), record


def _records(operation: Operation, path: str) -> Pairs:
    packing = operation.attribute("compression_type").decode()
    with closing(Records(path, packing)) as reader:
        start = 0
        for record in reader:
            yield f"{path}:{start}".encode(), record
            start = reader.offset


READERS = {
    "WholeFileReader": _whole,
    "IdentityReader": lambda operation, path: iter([(path.encode(), path.encode())]),
    "TextLineReader": _lines,
    "FixedLengthRecordReader": _fixed,
    "TFRecordReader": _records,
}


class Reader(Resource):
    """What is in files, one after the other.

    Attributes:
        produced: how many values it gave.
        finished: how many files are done.
    """

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._kind = READERS[operation.type.removesuffix("V2")]
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.produced = self.finished = 0
        self._path = ""
        self._pairs: Pairs | None = None

    def begin(self, path: str) -> None:
        """Go on with a file."""
        self._path, self._pairs = path, self._kind(self._operation, path)

    def next(self) -> tuple[bytes, bytes] | None:
        """The next key and value; None, if a file must begin first."""
        if self._pairs is None:
            return None
        with reported(self._path):
            found = next(self._pairs, None)
        if found is None:
            self._pairs = None
            self.finished += 1
        else:
            self.produced += 1
        return found


keeps("reader", *READERS, *(f"{kind}V2" for kind in READERS))(lambda store, made: Reader(made))


def _pairs(reader: Reader, queue: Queue, count: int) -> Waits:
    """Keys and values, so many; fewer at the end of a file, but one at least."""
    found: list[tuple[bytes, bytes]] = []
    while len(found) < count:
        pair = reader.next()
        if pair is not None:
            found.append(pair)
        elif found:
            break
        else:
            attempt = queue.dequeue(1)
            yield attempt
            reader.begin(text(attempt.outcome()[0][0]))
    return found


@host("ReaderRead ReaderReadV2")
def _read(reader: Reader, queue: Queue) -> Waits:
    [pair] = yield from _pairs(reader, queue, 1)
    return [*map(scalar, pair)]


@host("ReaderReadUpTo ReaderReadUpToV2")
def _read_many(reader: Reader, queue: Queue, count: int) -> Waits:
    found = yield from _pairs(reader, queue, count)
    return [objects(column) for column in [*zip(*found, strict=True)] or [(), ()]]


on_handles({
    "ReaderNumRecordsProduced ReaderNumRecordsProducedV2":
        lambda reader: np.int64(reader.produced),
    "ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2":
        lambda reader: np.int64(reader.finished),
    "ReaderReset ReaderResetV2": Reader.reset,
})  # fmt: skip
