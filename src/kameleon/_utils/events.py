"""Event files, which TensorBoard shows: scalars, histograms, images and graphs over steps.

TensorBoard's own library has the formats: records with checksums, and protocol buffers in them.
It's loaded when the first of these is made.
"""

from __future__ import annotations

import importlib
import io
import os
import socket
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..errors import MissingLibraryError

_files = count()  # distinguishes the files that a process begins within one second


def messages(kind: str = "summary") -> Any:
    """TensorBoard's module of a kind of protocol buffers.

    Raises:
        MissingLibraryError: TensorBoard isn't installed.
    """
    return _library(f"compat.proto.{kind}_pb2")


@cache
def is_there() -> bool:
    """Whether TensorBoard is installed."""
    return find_spec("tensorboard") is not None


def _library(part: str) -> Any:
    try:
        return importlib.import_module(f"tensorboard.{part}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tensorboard":
            raise
        raise MissingLibraryError(
            "what TensorBoard shows is written by its own library: pip install tensorboard"
        ) from None


# --- what a summary holds: each is a summary of one value; those of several, joined, are one ------


def _summary(tag: str, **content: Any) -> bytes:
    made = messages().Summary()
    made.value.add(tag=tag, **content)
    serialized: bytes = made.SerializeToString()
    return serialized


def scalar(tag: str, value: float) -> bytes:
    """A number, as one value of a summary."""
    return _summary(tag, simple_value=float(value))


def histogram(tag: str, values: Any) -> bytes:
    """How values are distributed, over 30 equal bins, as one value of a summary.

    Values that aren't finite are left out.
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    counts, edges = np.histogram(numbers, bins=30)
    low, high = (numbers.min(), numbers.max()) if numbers.size else (0.0, 0.0)
    found = messages().HistogramProto(
        min=low,
        max=high,
        num=numbers.size,
        sum=numbers.sum(),
        sum_squares=np.square(numbers).sum(),
        bucket_limit=edges[1:].tolist(),
        bucket=counts.tolist(),
    )
    return _summary(tag, histo=found)


def image(tag: str, pixels: Any) -> bytes:
    """An image, as one value of a summary.

    Args:
        tag: its name.
        pixels: bytes of shape (height, width, channels), with 1, 3 or 4 channels.
    """
    from PIL import Image  # TensorBoard brings it

    pixels = np.asarray(pixels, dtype=np.uint8)
    height, width, channels = pixels.shape
    encoded = io.BytesIO()
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(encoded, "PNG")
    found = messages().Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=encoded.getvalue()
    )
    return _summary(tag, image=found)


class GraphNode(NamedTuple):
    """A node of a graph that TensorBoard draws."""

    name: str
    kind: str
    inputs: Sequence[str] = ()


def graph(nodes: Iterable[GraphNode]) -> bytes:
    """A graph, as a `GraphDef`."""
    made = messages("graph").GraphDef()
    for node in nodes:
        made.node.add(name=node.name, op=node.kind, input=node.inputs)
    serialized: bytes = made.SerializeToString()
    return serialized


# --- files ----------------------------------------------------------------------------------------


class EventFile:
    """An event file in a folder, which is made if it isn't there.

    Args:
        folder: what TensorBoard is told as `--logdir`.
        suffix: an end of the file's name.

    Raises:
        MissingLibraryError: TensorBoard isn't installed.

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
        messages("event")  # before anything is made
        os.makedirs(folder, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}"
        name += f".{os.getpid()}.{next(_files)}{suffix}"
        self.path = os.path.join(os.fspath(folder), name)
        self._records = _library("summary.writer.record_writer").RecordWriter(
            file := open(self.path, "wb")  # noqa: SIM115 (closed by `close`)
        )
        # Programs leave writers behind, not only where they fail: the file is whole all the same.
        weakref.finalize(self, file.close)
        self._event(file_version="brain.Event:2")

    def write(self, values: Iterable[bytes], step: int) -> None:
        """Write a summary: what `scalar`, `histogram` and `image` give."""
        summary = messages().Summary.FromString(b"".join(values))
        self._event(step=int(step), summary=summary)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary of TensorFlow 1 (`tf.Summary`), or the bytes of one, for a step."""
        content = summary if isinstance(summary, bytes) else summary.SerializeToString()
        self.write([content], 0 if global_step is None else int(global_step))

    def write_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write numbers by their names."""
        self.write([scalar(tag, value) for tag, value in values.items()], step)

    def write_graph(self, definition: bytes) -> None:
        """Write a graph: what `graph` gives."""
        self._event(graph_def=definition)

    def flush(self) -> None:
        """See that others can read what has been written."""
        self._records.flush()

    def close(self) -> None:
        """Close the file; a second call changes nothing."""
        self._records.close()

    def _event(self, **content: Any) -> None:
        event = messages("event").Event(wall_time=time.time(), **content)
        self._records.write(event.SerializeToString())
