"""Event files: the bytes that TensorBoard reads."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from kameleon import events


def records(path: str) -> list[bytes]:
    """The contents of a file of records, whose checksums are right."""
    data, found = Path(path).read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        content = data[12 : 12 + length]
        assert data[: 16 + length] == events.record(content)
        found.append(content)
        data = data[16 + length :]
    return found


def written(folder: Path) -> str:
    """A file with something of each kind."""
    file = events.EventFile(folder / "logs", suffix=".v2")
    file.write_scalars({"loss": 0.5, "größe": -2.0}, step=3)
    file.write([events.histogram("weights", [[1.0, 2.0], [np.nan, 5.0]])], step=-1)
    file.write([events.histogram("none", [])], step=0)
    file.write([events.image("picture", np.arange(24).reshape(2, 4, 3))], step=300)
    file.write_graph(events.graph([events.GraphNode("a", "In"), events.GraphNode("b", "F", "a")]))
    file.flush()
    file.close()
    return file.path


def test_records_follow_each_other(tmp_path: Path) -> None:
    first, *others = records(written(tmp_path))
    assert first.endswith(b"brain.Event:2")
    assert len(others) == 5
    assert struct.pack("<f", 0.5) in others[0] and "größe".encode() in others[0]


def test_two_files_of_a_second_have_two_names(tmp_path: Path) -> None:
    assert written(tmp_path) != written(tmp_path)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_are_png_files(channels: int) -> None:
    pixels = np.arange(6 * channels, dtype=np.uint8).reshape(2, 3, channels)
    data = events.png(pixels)
    start = data.index(b"IDAT") + 4
    rows = zlib.decompress(data[start : data.index(b"IEND") - 8])
    assert rows == b"".join(b"\0" + row.tobytes() for row in pixels)
    assert data[16:24] == struct.pack(">II", 3, 2)


@pytest.mark.slow
def test_tensorflow_reads_them(tmp_path: Path) -> None:
    event_pb2 = pytest.importorskip("tensorflow.core.util.event_pb2", reason="needs TensorFlow")
    graph_pb2 = pytest.importorskip("tensorflow.core.framework.graph_pb2")
    first, *others = map(event_pb2.Event.FromString, records(written(tmp_path)))
    assert first.file_version == "brain.Event:2" and first.wall_time > 1e9
    scalars, weights, none, picture, graph = others
    assert [(v.tag, v.simple_value) for v in scalars.summary.value] == [
        ("loss", 0.5),
        ("größe", -2.0),
    ]
    assert [event.step for event in others] == [3, -1, 0, 300, 0]
    histogram = weights.summary.value[0].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (1, 5, 3, 8)
    assert sum(histogram.bucket) == 3 and len(histogram.bucket) == len(histogram.bucket_limit)
    assert none.summary.value[0].histo.num == 0
    image = picture.summary.value[0].image
    assert (image.height, image.width, image.colorspace) == (2, 4, 3)
    nodes = graph_pb2.GraphDef.FromString(graph.graph_def).node
    assert [(node.name, node.op, list(node.input)) for node in nodes] == [
        ("a", "In", []),
        ("b", "F", ["a"]),
    ]
