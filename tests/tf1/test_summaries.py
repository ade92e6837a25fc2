"""`tf.summary` gives bytes of protocol buffers, and `FileWriter` writes them for TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_events import needs_tensorboard, read

from kameleon import events
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


def _written(folder: Path) -> list[Any]:
    """The summaries of a file, by step and tag."""
    (path,) = folder.iterdir()
    return [
        (event.step, [(value.tag, value) for value in event.summary.value])
        for event in read(str(path))[1:]
    ]


@needs_tensorboard
def test_merged_summaries_have_all_values() -> None:
    x = tf.placeholder(tf.float32, [2])
    tf.summary.scalar("loss", tf.reduce_sum(x))
    with tf.name_scope("layer"):
        tf.summary.histogram("weights", x)
    assert tf.summary.merge_all("others") is None
    with tf.Session() as session:
        found = session.run(tf.summary.merge_all(), {x: [1.0, 2.5]})
    wanted = np.float32([1, 2.5])
    assert found == events.scalar("loss", 3.5) + events.histogram("layer/weights", wanted)


def test_names_are_unique() -> None:
    names = [tf.summary.scalar("a b", 1.0).name for _ in range(2)]
    assert names == ["a_b:0", "a_b_1:0"]


@needs_tensorboard
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (np.float32([[0.5, 1.0]]), [[127, 255]]),
        (np.float32([[-1.0, 0.5]]), [[1, 191]]),
        (np.uint8([[3, 200]]), [[3, 200]]),
        (np.float32([[0.0, 0.0]]), [[0, 0]]),
    ],
)
def test_images_are_stretched_to_bytes(given: Any, shown: Any) -> None:
    summary = tf.summary.image("i", given[np.newaxis, ..., np.newaxis], max_outputs=1)
    with tf.Session() as session:
        found = session.run(summary)
    assert found == events.image("i/image", np.uint8(shown)[..., np.newaxis])


@needs_tensorboard
def test_summaries_filled_in_by_hand_and_of_sessions_are_written(tmp_path: Path) -> None:
    by_hand = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=0.5)])
    value = by_hand.value.add()
    value.tag, value.simple_value = "b", 2
    picture = tf.Summary.Image(encoded_image_string=b"png", height=2, width=3)
    by_hand.value.add(tag="c", image=picture)
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()) as writer, tf.Session() as s:
        writer.add_summary(by_hand, 3)
        writer.add_summary(s.run(tf.summary.scalar("d", tf.constant(1.0))), global_step=4)
        writer.flush()
    (three, first), (four, second) = _written(tmp_path)
    assert (three, four) == (3, 4)
    assert [tag for tag, _ in first] == ["a", "b", "c"] and [tag for tag, _ in second] == ["d"]
    assert [value.simple_value for _, value in first[:2]] == [0.5, 2.0]
    image = first[2][1].image
    assert (image.encoded_image_string, image.height, image.width) == (b"png", 2, 3)


@needs_tensorboard
def test_a_writer_goes_on_after_it_was_closed(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]))
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2
    assert writer.get_logdir() == str(tmp_path)


@needs_tensorboard
def test_summaries_are_read_from_their_bytes() -> None:
    x = tf.placeholder(tf.float32, [3])
    both = tf.summary.merge([tf.summary.scalar("mean", x[0]), tf.summary.histogram("all", x)])
    written = tf.Session().run(both, {x: [1.5, 2.0, 3.0]})
    found = tf.Summary()
    found.ParseFromString(written)
    assert [(value.tag, value.WhichOneof("value")) for value in found.value] == [
        ("mean", "simple_value"), ("all", "histo"),
    ]  # fmt: skip
    assert found.value[0].simple_value == 1.5 and isinstance(found, tf.Summary)
    assert found.SerializeToString() == written
    found.value.add(tag="more", simple_value=2.0)
    again = tf.Summary.FromString(found.SerializeToString())
    assert [value.tag for value in again.value] == ["mean", "all", "more"]


@needs_tensorboard
def test_a_slash_behind_a_name_makes_it_the_tag() -> None:
    with tf.name_scope("outer"):
        found = tf.Session().run(tf.summary.scalar("Loss/", tf.constant(1.0)))
    assert tf.Summary.FromString(found).value[0].tag == "Loss"


def test_without_tensorboard_trainings_go_on_and_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "is_there", lambda: False)
    with pytest.warns(RuntimeWarning, match="no summaries are written: pip install tensorboard"):
        writer = tf.summary.FileWriter(str(tmp_path))
    with writer, tf.Session() as session:
        writer.add_summary(session.run(tf.summary.scalar("a", tf.constant(1.0))), 1)
        writer.flush()
    assert not list(tmp_path.iterdir())
