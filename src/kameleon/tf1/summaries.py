"""`tf.summary` and `tf.Summary`: numbers, distributions and images in files for TensorBoard.

There are no strings among tensors, so that a summary is a thing of its own: a session gives its
bytes, a protocol buffer `Summary`, made from the values of tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import events
from ..backend._tensors import as_tensor
from ..ir.context import context, unique_name
from ..ir.node import Node
from .graph import GraphKeys, get_collection, get_default_graph
from .operations import Derived

# Protocol buffers ---------------------------------------------------------------------------------


class HistogramProto:
    """How values are distributed, as programs fill it in: sums, limits of bins, and counts."""

    def __init__(self, **fields: Any):
        self.min = self.max = self.num = self.sum = self.sum_squares = 0.0
        self.bucket_limit: list[float] = []
        self.bucket: list[float] = []
        vars(self).update(fields)


class Image:
    """An encoded image, with its size."""

    def __init__(self, **fields: Any):
        self.encoded_image_string, self.height, self.width, self.colorspace = b"", 0, 0, 3
        vars(self).update(fields)


class Value:
    """One value of a summary: a number, an image or a distribution under a name."""

    def __init__(
        self,
        tag: str = "",
        simple_value: float | None = None,
        image: Image | None = None,
        histo: HistogramProto | None = None,
        node_name: str = "",
        metadata: Any = None,
    ):
        self.tag, self.simple_value, self.image, self.histo = tag, simple_value, image, histo
        self.node_name, self.metadata = node_name, metadata
        self.parsed: bytes | None = None  # as it came, where it isn't a number

    def to_bytes(self) -> bytes:
        """The value as a summary that holds it alone."""
        if self.parsed is not None:
            return self.parsed
        if self.image is not None:
            sizes = (self.image.height, self.image.width, self.image.colorspace)
            return events.encoded_image(self.tag, self.image.encoded_image_string, sizes)
        if self.histo is not None:
            h = self.histo
            moments = (h.min, h.max, h.num, h.sum, h.sum_squares)
            return events.counted(self.tag, moments, h.bucket_limit, h.bucket)
        return events.scalar(self.tag, float(self.simple_value or 0.0))


class _Values(list[Value]):
    """The values of a summary."""

    def add(self, **fields: Any) -> Value:
        """A new value, which the program fills in."""
        self.append(Value(**fields))
        return self[-1]


class Summary:
    """Values under names, which a `FileWriter` writes for a step.

    >>> summary = Summary(value=[Summary.Value(tag="loss", simple_value=0.5)])
    >>> summary.value.add(tag="accuracy", simple_value=0.75).tag
    'accuracy'
    """

    Value: Any = Value
    Image: Any = Image

    def __init__(self, value: Sequence[Any] = ()):
        self.value = _Values(value)

    def SerializeToString(self) -> bytes:  # noqa: N802 - TensorFlow's name
        """The summary as bytes."""
        return b"".join(value.to_bytes() for value in self.value)

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802 - TensorFlow's name
        """Take over the values that bytes hold; numbers can be read, others be written again."""
        self.value = _Values()
        for _, whole, found in _fields(serialized):
            parts = {number: part for number, _, part in _fields(found)}
            self.value.add(tag=parts.get(1, b"").decode())
            if 2 in parts:
                self.value[-1].simple_value = float(np.frombuffer(parts[2], "<f4")[0])
            else:
                self.value[-1].parsed = whole
        return len(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Summary:  # noqa: N802 - TensorFlow's name
        """The summary that bytes hold.

        >>> Summary.FromString(events.scalar("loss", 0.5)).value[0].simple_value
        0.5
        """
        made = cls()
        made.ParseFromString(serialized)
        return made


def _fields(serialized: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The fields of a protocol buffer: the number, all of it, and its content."""
    at = 0
    while at < len(serialized):
        start = at
        key, at = _number(serialized, at)
        if key & 7 == 2:  # with a length before the content
            size, at = _number(serialized, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7, 0)
        end = at + size if key & 7 else _number(serialized, at)[1]
        yield key >> 3, serialized[start:end], serialized[at:end]
        at = end


def _number(serialized: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    found = shift = 0
    while True:
        byte = serialized[at]
        found, shift, at = found | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return found, at


# Of tensors ---------------------------------------------------------------------------------------


def _summary(
    name: str, tensor: Any, collections: Any, family: str | None,
    made: Callable[[str, Any], bytes],
) -> Derived:  # fmt: skip
    """What has the bytes that `made` gives for a name and the tensor's value."""
    wanted = (f"{family}/{name}" if family else name).replace(" ", "_")
    # A name with a slash behind it is that of a scope as it is, as in TensorFlow.
    full = wanted[:-1] if wanted.endswith("/") else unique_name(context.scope + wanted)
    tag = f"{family}/{full}" if family else full
    x = tensor if isinstance(tensor, Node) else as_tensor(tensor, "tf.summary")
    summary = Derived(full, [x], lambda values: made(tag, values[0]))
    keys = [GraphKeys.SUMMARIES] if collections is None else collections
    get_default_graph().add_to_collections(keys, summary)
    return summary


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Derived:
    return _summary(name, tensor, collections, family, events.scalar)


def histogram(
    name: str, values: Any, collections: Any = None, family: str | None = None
) -> Derived:
    return _summary(name, values, collections, family, events.histogram)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None
) -> Derived:
    """Images (batch, height, width, channels): bytes as they are, floats stretched to bytes."""

    def made(tag: str, batch: Any) -> bytes:
        shown = [_pixels(x) for x in batch[:max_outputs]]
        tags = [f"{tag}/image"] if max_outputs == 1 else [f"{tag}/image/{i}" for i in range(3)]
        tags += [f"{tag}/image/{i}" for i in range(3, len(shown))]
        return b"".join(map(events.image, tags[: len(shown)], shown))

    return _summary(name, tensor, collections, family, made)


def _pixels(x: Any) -> Any:
    """An image as bytes: if nothing is negative, the largest becomes 255; else 0 becomes 127."""
    if x.dtype == np.uint8:
        return x
    finite = np.where(np.isfinite(x), x, 0.0)
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    if low < 0:
        largest = max(abs(low), abs(high))
        return (finite * (127.0 / largest) + 128.0).clip(0, 255).astype(np.uint8)
    return (finite * (255.0 / high if high > 0 else 0.0)).astype(np.uint8)


def merge(inputs: Sequence[Any], collections: Any = None, name: str | None = None) -> Derived:
    """One summary with the values of several."""
    parts = list(inputs)
    nodes = [x for part in parts for x in part.tensors]
    merged = Derived(name or "Merge", nodes, lambda values: _joined(parts, values))
    if collections:
        get_default_graph().add_to_collections(collections, merged)
    return merged


def _joined(parts: Sequence[Derived], values: Sequence[Any]) -> bytes:
    rest, found = list(values), b""
    for part in parts:
        own, rest = rest[: len(part.tensors)], rest[len(part.tensors) :]
        found += part.value(own)
    return found


def merge_all(
    key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Derived | None:
    """All summaries of a collection in one; None where there's none."""
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


# Files --------------------------------------------------------------------------------------------


class FileWriter:
    """Writes summaries to an event file in a folder, which TensorBoard shows.

    Args:
        logdir: the folder; it's made if it isn't there.
        graph: accepted; graphs are written by the callback `TensorBoard` of Keras.
        filename_suffix: an end of the file's name.
    """

    def __init__(
        self,
        logdir: str,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ):
        self._folder, self._suffix = os.fspath(logdir), filename_suffix or ""
        self._file: events.EventFile | None = events.EventFile(self._folder, self._suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self._folder

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary, or the bytes of one, for a step."""
        self.reopen()
        assert self._file is not None
        self._file.add_summary(summary, global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Nothing: see the class."""

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Nothing: see the class."""

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Nothing: there are no traces of runs."""

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Nothing."""

    def flush(self) -> None:
        """See that others can read what has been written."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def reopen(self) -> None:
        """Begin another file, if the last one was closed."""
        if self._file is None:
            self._file = events.EventFile(self._folder, self._suffix)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "Summary": Summary,
    "summary.Summary": Summary,
    "HistogramProto": HistogramProto,
    "summary.FileWriter": FileWriter,
    "train.SummaryWriter": FileWriter,
    **{
        f"summary.{function.__name__}": function
        for function in (scalar, histogram, image, merge, merge_all)
    },
}
