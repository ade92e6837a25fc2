"""`tf.summary` and `tf.Summary`: numbers, distributions and images in files for TensorBoard.

There are no strings among tensors, so that a summary is a thing of its own: a session gives its
bytes, a protocol buffer `Summary`, made from the values of tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import events
from ..backend._tensors import as_tensor
from ..errors import warn
from ..ir.context import context, unique_name
from ..ir.node import Node
from .graph import GraphKeys, get_collection, get_default_graph
from .operations import Derived

# Protocol buffers ---------------------------------------------------------------------------------


class Message:
    """A class of protocol buffers, which TensorBoard's library has: it's loaded when it's used.

    Args:
        name: the class's.
    """

    def __init__(self, name: str):
        self._name = name

    @property
    def _theirs(self) -> Any:
        return getattr(events.messages(), self._name)

    def __call__(self, *args: Any, **fields: Any) -> Any:
        return self._theirs(*args, **fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks any object for
            raise AttributeError(name)
        return getattr(self._theirs, name)

    def __instancecheck__(self, thing: Any) -> bool:
        return isinstance(thing, self._theirs)


Summary, HistogramProto = Message("Summary"), Message("HistogramProto")

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
    summary = Derived(full, [x], lambda values: made(tag, values[0]) if events.is_there() else b"")
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

    Where TensorBoard isn't installed, it warns and writes nothing: trainings have writers without
    being asked for one.

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
        self._file: events.EventFile | None = None
        if not events.is_there():
            warn("no summaries are written: pip install tensorboard", RuntimeWarning)
        self.reopen()

    def get_logdir(self) -> str:
        """The folder."""
        return self._folder

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary, or the bytes of one, for a step."""
        self.reopen()
        if self._file is not None:
            self._file.add_summary(summary, global_step)

    def add_scalar(self, tag: str, value: Any, step: int) -> None:
        """Write a number for a step."""
        if self._file is not None:
            self._file.write_scalars({tag: float(value)}, step)

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
        if self._file is None and events.is_there():
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
