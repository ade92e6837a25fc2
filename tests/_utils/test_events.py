"""Event files: TensorBoard reads what is written."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from _support.common import read_events, run_python

from kameleon._utils import events
from kameleon.errors import MissingLibraryError

needs_tensorboard = pytest.mark.skipif(not events.is_there(), reason="TensorBoard writes events")


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


@needs_tensorboard
def test_two_files_of_a_second_have_two_names(tmp_path: Path) -> None:
    assert written(tmp_path) != written(tmp_path)


@needs_tensorboard
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_are_png_files(channels: int) -> None:
    pixels = np.arange(6 * channels, dtype=np.uint8).reshape(2, 3, channels)
    [value] = events.messages().Summary.FromString(events.image("a", pixels)).value
    image = pytest.importorskip("PIL.Image")
    with image.open(io.BytesIO(value.image.encoded_image_string), formats=["PNG"]) as shown:
        np.testing.assert_array_equal(np.asarray(shown).reshape(pixels.shape), pixels)


@needs_tensorboard
def test_what_is_written_is_read(tmp_path: Path) -> None:
    first, *others = read_events(written(tmp_path))
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
    nodes = events.messages("graph").GraphDef.FromString(graph.graph_def).node
    assert [(node.name, node.op, list(node.input)) for node in nodes] == [
        ("a", "In", []),
        ("b", "F", ["a"]),
    ]


@needs_tensorboard
def test_no_engine_is_loaded_for_them(tmp_path: Path) -> None:
    code = (
        "import sys; from kameleon._utils import events;"
        f"f = events.EventFile({str(tmp_path / 'logs')!r});"
        "f.write([events.scalar('a', 1.0), events.image('b', [[[1]]])], 1); f.close();"
        "print(*{'torch', 'jax', 'tensorflow'} & set(sys.modules))"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 0 and not done.stdout.strip(), done.stderr


def test_without_tensorboard_it_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for call in (
        lambda: events.EventFile(tmp_path / "logs"),
        lambda: events.scalar("a", 1.0),
        lambda: events.graph([]),
    ):
        with pytest.raises(MissingLibraryError, match="pip install tensorboard"):
            call()
    assert not list(tmp_path.iterdir())
