"""Summaries, and event files that a graph writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..failures import failure, invalid
from ..formats import summaries
from ..formats.events import EventFile
from ..graph import Operation, shape_text
from ..paths import make_folders
from ..protocol.messages import message
from ..resources.base import Resource
from ..variables import Store
from .keeping import keeps, on_handles
from .table import host
from .values import scalar, text, texts

Maker = TypeVar("Maker", bound=Callable[..., bytes])


def _bytes(value: Any) -> bytes:
    found: bytes = texts(value).item()
    return found


def _summed(*names: str, written: str = "") -> Callable[[Maker], Maker]:
    """Decorates what makes a summary, `(operation, *values)`: types that give it, or write it."""

    def add(make: Maker) -> Maker:
        @host(*names)
        def give(operation: Operation, *values: Any) -> np.ndarray:
            return scalar(make(operation, *values))

        @host(written)
        def write(operation: Operation, writer: SummaryWriter, step: Any, *values: Any) -> None:
            writer.write(step, summary=make(operation, *values))

        return make

    return add


@_summed("ScalarSummary", written="WriteScalarSummary")
def _scalar(operation: Operation, tags: Any, values: Any) -> bytes:
    names, numbers = texts(tags), np.asarray(values)
    if names.shape != numbers.shape and not names.size == numbers.size == 1:
        shown = [shape_text(each.shape) for each in (names, numbers)]
        message = f"tags and values not the same shape: {shown[0]} != {shown[1]}"
        if names.ndim == 0:
            message += f" (tag '{text(tags)}')"
        raise invalid(message)
    pairs = zip(names.ravel(), numbers.ravel(), strict=True)
    return b"".join(summaries.scalar(name, number) for name, number in pairs)


@_summed("HistogramSummary", written="WriteHistogramSummary")
def _histogram(operation: Operation, tag: Any, values: Any) -> bytes:
    numbers = np.asarray(values)
    for what, found in (("Nan", np.isnan), ("Infinity", np.isinf)):
        if numbers.dtype.kind == "f" and found(numbers).any():
            raise invalid(f"{what} in summary histogram for: {text(tag)}")
    return summaries.histogram(_bytes(tag), numbers)


@_summed("ImageSummary", written="WriteImageSummary")
def _images(operation: Operation, tag: Any, batch: Any, bad: Any = None) -> bytes:
    found = np.asarray(batch)
    if found.ndim != 4 or found.shape[3] not in (1, 3, 4):
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape_text(found.shape)}")
    if bad is None:
        told = operation.attribute("bad_color")
        bad = list(told.int_val) or [255, 0, 0, 255]
    return summaries.images(_bytes(tag), found, operation.attribute("max_images"), [*np.ravel(bad)])


@_summed("AudioSummary AudioSummaryV2", written="WriteAudioSummary")
def _sounds(operation: Operation, tag: Any, batch: Any, rate: Any = None) -> bytes:
    found, most = np.asarray(batch), operation.attribute("max_outputs")
    told = operation.attribute("sample_rate") if rate is None else rate
    found = found[..., None] if found.ndim == 2 else found
    return summaries.sounds(_bytes(tag), found, float(told), most)


@_summed("TensorSummaryV2")
def _tensor(operation: Operation, tag: Any, value: Any, metadata: Any) -> bytes:
    return summaries.tensor(_bytes(tag), np.asarray(value), _bytes(metadata))


@_summed(written="WriteSummary")
def _value(operation: Operation, value: Any, tag: Any, metadata: Any) -> bytes:
    return _tensor(operation, tag, value, metadata)


@_summed("TensorSummary")
def _tensor_of_node(operation: Operation, value: Any) -> bytes:
    told = operation.attribute("description"), operation.attribute("display_name")
    return summaries.tensor_of_node(operation.name.encode(), np.asarray(value), *told)


@_summed("MergeSummary")
def _merged(operation: Operation, *parts: Any) -> bytes:
    seen, found = set[bytes](), b""
    for part in (each for given in parts for each in texts(given).ravel()):
        for value in message("Summary").FromString(part).value:
            if value.tag and value.tag in seen:
                raise invalid(f"Duplicate tag {value.tag.decode()} found in summary inputs")
            seen.add(value.tag)
        found += part
    return found


@_summed(written="WriteRawProtoSummary")
def _messages(operation: Operation, messages: Any) -> bytes:
    return b"".join(texts(messages).ravel())


# Event files ------------------------------------------------------------------------------------


class SummaryWriter(Resource):
    """An event file, once it was begun.

    Attributes:
        file: the file.
        most: how many events may wait to be flushed.
        seconds: how long they may.
    """

    def __init__(self) -> None:
        self.file: EventFile | None = None
        self.most, self.seconds = 0, 0.0
        self._waiting, self._flushed = 0, time.monotonic()

    def write(self, step: Any, **content: bytes) -> None:
        """Write an event of a step."""
        if self.file is None:
            raise failure("NOT_FOUND", "Resource of a summary writer does not exist.")
        event = message("Event")(wall_time=time.time(), step=int(step), **content)
        self.file.write(event.SerializeToString())
        self._waiting += 1
        if self._waiting > self.most or time.monotonic() - self._flushed > self.seconds:
            self.flush()

    def flush(self) -> None:
        """See that others can read what has been written."""
        if self.file is not None:
            self.file.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Close the file; nothing can be written then."""
        if self.file is not None:
            self.file.close()
            self.file = None


@keeps("summary writer", "SummaryWriter")
def _writer(store: Store, operation: Operation) -> SummaryWriter:
    return SummaryWriter()


@host("CreateSummaryFileWriter")
def _create(writer: SummaryWriter, folder: str, most: int, often: int, suffix: str) -> None:
    if writer.file is None:
        make_folders(folder)
        writer.file = EventFile(os.path.join(folder, "events"), suffix)
        writer.file.begin()
        writer.most, writer.seconds = most, often / 1000


on_handles({
    "FlushSummaryWriter": SummaryWriter.flush,
    "CloseSummaryWriter": SummaryWriter.close,
    "WriteGraphSummary": lambda writer, step, graph: writer.write(step, graph_def=_bytes(graph)),
})  # fmt: skip
