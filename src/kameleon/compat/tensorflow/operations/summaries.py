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
from .keeping import keeps, on_handles
from .parameters import OF_VALUES, adapted
from .table import host
from .values import Texts, data_in, scalar, text

Maker = TypeVar("Maker", bound=Callable[..., bytes])
Array = np.ndarray


def _summed(*names: str, written: str = "") -> Callable[[Maker], Maker]:
    """Decorates what makes a summary: for types that give it, or write it."""

    def add(make: Maker) -> Maker:
        made = adapted(make, ("operation",), OF_VALUES)
        host(*names)(lambda operation, *values: scalar(made(operation, *values)))

        @host(written)
        def write(operation: Operation, writer: SummaryWriter, step: Any, *values: Any) -> None:
            writer.write(step, summary=made(operation, *values))

        return make

    return add


@_summed("ScalarSummary", written="WriteScalarSummary")
def _scalar(names: Texts, numbers: Array) -> bytes:
    if names.shape != numbers.shape and not names.size == numbers.size == 1:
        shown = [shape_text(each.shape) for each in (names, numbers)]
        message = f"tags and values not the same shape: {shown[0]} != {shown[1]}"
        if names.ndim == 0:
            message += f" (tag '{text(names)}')"
        raise invalid(message)
    pairs = zip(names.ravel(), numbers.ravel(), strict=True)
    return b"".join(summaries.scalar(name, number) for name, number in pairs)


@_summed("HistogramSummary", written="WriteHistogramSummary")
def _histogram(tag: bytes, numbers: Array) -> bytes:
    for what, found in (("Nan", np.isnan), ("Infinity", np.isinf)):
        if numbers.dtype.kind == "f" and found(numbers).any():
            raise invalid(f"{what} in summary histogram for: {tag.decode()}")
    return summaries.histogram(tag, numbers)


@_summed("ImageSummary", written="WriteImageSummary")
def _images(tag: bytes, batch: Array, bad: Any = None, *, max_images: int, bad_color: Any) -> bytes:
    if batch.ndim != 4 or batch.shape[3] not in (1, 3, 4):
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape_text(batch.shape)}")
    if bad is None:
        bad = list(bad_color.int_val) or [255, 0, 0, 255]
    return summaries.images(tag, batch, max_images, [*np.ravel(bad)])


@_summed("AudioSummary AudioSummaryV2", written="WriteAudioSummary")
def _sounds(
    tag: bytes, batch: Array, rate: Any = None, *, max_outputs: int, sample_rate: Any
) -> bytes:
    batch = batch[..., None] if batch.ndim == 2 else batch
    return summaries.sounds(tag, batch, float(sample_rate if rate is None else rate), max_outputs)


@_summed("TensorSummaryV2")
def _tensor(tag: bytes, value: Array, metadata: bytes) -> bytes:
    return summaries.tensor(tag, value, metadata)


@_summed(written="WriteSummary")
def _value(value: Array, tag: bytes, metadata: bytes) -> bytes:
    return summaries.tensor(tag, value, metadata)


@_summed("TensorSummary")
def _tensor_of_node(
    operation: Operation, value: Array, *, description: bytes, display_name: bytes
) -> bytes:
    return summaries.tensor_of_node(operation.name.encode(), value, description, display_name)


@_summed("MergeSummary")
def _merged(*parts: Texts) -> bytes:
    seen, found = set[bytes](), b""
    for part in (each for given in parts for each in given.ravel()):
        for value in message("Summary").FromString(part).value:
            if value.tag and value.tag in seen:
                raise invalid(f"Duplicate tag {value.tag.decode()} found in summary inputs")
            seen.add(value.tag)
        found += part
    return found


@_summed(written="WriteRawProtoSummary")
def _messages(messages: Texts) -> bytes:
    return b"".join(messages.ravel())


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


keeps("summary writer", "SummaryWriter")(lambda store, operation: SummaryWriter())


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
    "WriteGraphSummary": lambda writer, step, graph: writer.write(step, graph_def=data_in(graph)),
})  # fmt: skip
