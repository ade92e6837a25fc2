"""Summaries, and event files that a graph writes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..failures import failure
from ..formats import summaries
from ..formats.events import EventFile
from ..formats.wire import field, fields, optional
from ..resources.base import Resource
from .files import text
from .keeping import kept
from .table import host
from .values import texts

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store


def _bytes(value: Any) -> bytes:
    found: bytes = texts(value).item()
    return found


def _summary(data: bytes) -> np.ndarray:
    return np.array(data, object)


@host("ScalarSummary")
def _scalar(store: Store, operation: Operation, tags: Any, values: Any) -> np.ndarray:
    names, numbers = texts(tags), np.asarray(values)
    if names.shape != numbers.shape and not names.size == numbers.size == 1:
        shown = [str(list(each.shape)).replace(" ", "") for each in (names, numbers)]
        message = f"tags and values not the same shape: {shown[0]} != {shown[1]}"
        if names.ndim == 0:
            message += f" (tag '{text(tags)}')"
        raise failure("INVALID_ARGUMENT", message)
    pairs = zip(names.ravel(), numbers.ravel(), strict=True)
    return _summary(b"".join(summaries.scalar(name, number) for name, number in pairs))


def _demand_finite(tag: bytes, values: np.ndarray) -> None:
    for what, found in (("Nan", np.isnan), ("Infinity", np.isinf)):
        if values.dtype.kind == "f" and found(values).any():
            message = f"{what} in summary histogram for: {tag.decode()}"
            raise failure("INVALID_ARGUMENT", message)


@host("HistogramSummary")
def _histogram(store: Store, operation: Operation, tag: Any, values: Any) -> np.ndarray:
    numbers = np.asarray(values)
    _demand_finite(_bytes(tag), numbers)
    return _summary(summaries.histogram(_bytes(tag), numbers))


def _images_of(operation: Operation, tag: Any, batch: Any, bad: Any = None) -> bytes:
    found = np.asarray(batch)
    if found.ndim != 4 or found.shape[3] not in (1, 3, 4):
        shown = str(list(found.shape)).replace(" ", "")
        message = f"Tensor must be 4-D with last dim 1, 3, or 4, not {shown}"
        raise failure("INVALID_ARGUMENT", message)
    if bad is None:
        told = operation.attribute("bad_color")
        bad = list(told.int_val) or [255, 0, 0, 255]
    return summaries.images(_bytes(tag), found, operation.attribute("max_images"), [*np.ravel(bad)])


@host("ImageSummary")
def _images(store: Store, operation: Operation, tag: Any, batch: Any) -> np.ndarray:
    return _summary(_images_of(operation, tag, batch))


def _sounds_of(operation: Operation, tag: Any, batch: Any, rate: Any) -> bytes:
    found = np.asarray(batch)
    found = found[..., None] if found.ndim == 2 else found
    most = operation.attribute("max_outputs")
    return summaries.sounds(_bytes(tag), found, float(rate), most)


@host("AudioSummary AudioSummaryV2")
def _sounds(store: Store, operation: Operation, tag: Any, batch: Any, *rate: Any) -> np.ndarray:
    told = rate[0] if rate else operation.attribute("sample_rate")
    return _summary(_sounds_of(operation, tag, batch, told))


@host("TensorSummaryV2")
def _tensor(store: Store, operation: Operation, tag: Any, value: Any, metadata: Any) -> np.ndarray:
    return _summary(summaries.tensor(_bytes(tag), np.asarray(value), _bytes(metadata)))


@host("TensorSummary")
def _tensor_of_node(store: Store, operation: Operation, value: Any) -> np.ndarray:
    told = operation.attribute("description"), operation.attribute("display_name")
    metadata = optional(2, told[1]) + optional(3, told[0])
    name = operation.name.encode()
    return _summary(summaries.tensor_of_node(name, np.asarray(value), metadata))


@host("MergeSummary")
def _merged(store: Store, operation: Operation, *parts: Any) -> np.ndarray:
    seen, found = set[Any](), b""
    for part in (each for given in parts for each in texts(given).ravel()):
        for _, value in fields(part):
            tag = dict(fields(value)).get(1, b"")
            if tag and tag in seen:
                message = f"Duplicate tag {tag.decode()} found in summary inputs"
                raise failure("INVALID_ARGUMENT", message)
            seen.add(tag)
        found += part
    return _summary(found)


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

    def write(self, step: Any, content: bytes) -> list[Any]:
        """Write an event of a step."""
        if self.file is None:
            raise failure("NOT_FOUND", "Resource of a summary writer does not exist.")
        head = field(1, time.time()) + optional(2, int(step))
        self.file.write(head + content)
        self._waiting += 1
        if self._waiting > self.most or time.monotonic() - self._flushed > self.seconds:
            self.flush()
        return []

    def write_summary(self, step: Any, summary: bytes) -> list[Any]:
        """Write a summary of a step."""
        return self.write(step, field(5, summary))

    def flush(self) -> None:
        """See that others can read what has been written."""
        if self.file is not None:
            self.file.flush()
        self._waiting, self._flushed = 0, time.monotonic()


@host("SummaryWriter")
def _writer(store: Store, operation: Operation) -> SummaryWriter:
    return kept(store, operation, "summary writer", SummaryWriter)


@host("CreateSummaryFileWriter")
def _create(
    store: Store, operation: Operation, writer: SummaryWriter, folder: Any, most: Any, often: Any,
    suffix: Any,
) -> list[Any]:  # fmt: skip
    if writer.file is None:
        os.makedirs(text(folder), exist_ok=True)
        writer.file = EventFile(os.path.join(text(folder), "events"), text(suffix))
        writer.file.begin()
        writer.most, writer.seconds = int(most), float(often) / 1000
    return []


@host("FlushSummaryWriter")
def _flush(store: Store, operation: Operation, writer: SummaryWriter) -> list[Any]:
    writer.flush()
    return []


@host("CloseSummaryWriter")
def _close(store: Store, operation: Operation, writer: SummaryWriter) -> list[Any]:
    if writer.file is not None:
        writer.file.close()
        writer.file = None
    return []


@host("WriteSummary")
def _write(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, value: Any, tag: Any,
    metadata: Any,
) -> list[Any]:  # fmt: skip
    summary = summaries.tensor(_bytes(tag), np.asarray(value), _bytes(metadata))
    return writer.write_summary(step, summary)


@host("WriteRawProtoSummary")
def _write_messages(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, messages: Any
) -> list[Any]:
    return writer.write_summary(step, b"".join(texts(messages).ravel()))


@host("WriteScalarSummary")
def _write_scalar(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, tag: Any, value: Any
) -> list[Any]:
    return writer.write_summary(step, summaries.scalar(_bytes(tag), float(value)))


@host("WriteHistogramSummary")
def _write_histogram(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, tag: Any, values: Any
) -> list[Any]:
    _demand_finite(_bytes(tag), np.asarray(values))
    return writer.write_summary(step, summaries.histogram(_bytes(tag), np.asarray(values)))


@host("WriteImageSummary")
def _write_images(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, tag: Any, batch: Any,
    bad: Any,
) -> list[Any]:  # fmt: skip
    return writer.write_summary(step, _images_of(operation, tag, batch, bad))


@host("WriteAudioSummary")
def _write_sounds(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, tag: Any, batch: Any,
    rate: Any,
) -> list[Any]:  # fmt: skip
    return writer.write_summary(step, _sounds_of(operation, tag, batch, rate))


@host("WriteGraphSummary")
def _write_graph(
    store: Store, operation: Operation, writer: SummaryWriter, step: Any, graph: Any
) -> list[Any]:
    return writer.write(step, field(4, _bytes(graph)))
