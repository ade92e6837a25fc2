"""`tf.train.Saver` keeps variables in files, and what finds and reads these files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError, FileFormatError
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


@pytest.fixture
def two() -> tuple[Any, Any]:
    return tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, trainable=False, name="n")


def test_restored_variables_have_the_saved_values(tmp_path: Path, two: tuple[Any, Any]) -> None:
    saver = tf.train.Saver()
    with tf.Session() as session:
        path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
        assert path == str(tmp_path / "model.ckpt-7")
        K.batch_set_value([(two[0], [0.0, 0.0]), (two[1], 0)])
        saver.restore(session, path)
    assert [x.tolist() for x in K.batch_get_value(list(two))] == [[1.0, 2.0], 3]
    assert os.path.exists(path + ".index") and os.path.exists(path + ".meta")


def test_a_dict_gives_names_of_its_own(tmp_path: Path, two: tuple[Any, Any]) -> None:
    path = tf.train.Saver({"other": two[0]}).save(None, str(tmp_path / "model"))
    assert tf.train.list_variables(path) == [("other", [2])]
    np.testing.assert_array_equal(tf.train.load_variable(path, "other"), [1, 2])
    reader = tf.train.NewCheckpointReader(path)
    assert reader.has_tensor("other") and not reader.has_tensor("v")
    assert reader.get_variable_to_dtype_map() == {"other": tf.float32}


def test_only_the_newest_stay(tmp_path: Path, two: tuple[Any, Any]) -> None:
    saver = tf.train.Saver(max_to_keep=2)
    paths = [saver.save(None, str(tmp_path / "m"), global_step=i) for i in range(4)]
    assert saver.last_checkpoints == paths[2:]
    assert [tf.train.checkpoint_exists(p) for p in paths] == [False, False, True, True]
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[3]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == paths[3]
    assert list(state.all_model_checkpoint_paths) == paths[2:]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint", "m-2.index", "m-2.meta", "m-3.index", "m-3.meta",
    ]  # fmt: skip


def test_a_folder_that_moves_keeps_its_checkpoints(
    tmp_path: Path, two: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    tf.train.Saver().save(None, "a/m", global_step=tf.train.get_or_create_global_step())
    (tmp_path / "a").rename(tmp_path / "b")
    assert tf.train.latest_checkpoint("b") == os.path.join("b", "m-0")
    assert tf.train.latest_checkpoint("a") is None


def test_what_cannot_be_restored_changes_nothing(tmp_path: Path, two: tuple[Any, Any]) -> None:
    path = tf.train.Saver([two[0]]).save(None, str(tmp_path / "m"))
    K.set_value(two[0], [5.0, 6.0])
    with pytest.raises(tf.errors.NotFoundError, match="Key n not found in checkpoint"):
        tf.train.Saver().restore(None, path)
    larger = tf.Variable(np.zeros(3, "float32"), name="larger")
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors to match"):
        tf.train.Saver({"v": larger}).restore(None, path)
    assert K.get_value(two[0]).tolist() == [5, 6]
    for none in (None, str(tmp_path / "nothing")):
        with pytest.raises(ValueError, match=r"None|not a valid checkpoint"):
            tf.train.Saver().restore(None, none)
    with pytest.raises(ArgumentError, match="No variables to save"):
        tf.train.Saver([])


def test_variables_begin_with_what_a_checkpoint_has(tmp_path: Path) -> None:
    with tf.variable_scope("old"):
        tf.get_variable("w", initializer=np.float32([1, 2]))
    path = tf.train.Saver().save(None, str(tmp_path / "m"))
    with tf.variable_scope("new"):
        w = tf.get_variable("w", [2])
    tf.train.init_from_checkpoint(path, {"old/": "new/"})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(w).tolist() == [1, 2]


def test_averages_take_the_places_of_variables(tmp_path: Path, two: tuple[Any, Any]) -> None:
    average = tf.train.ExponentialMovingAverage(0.5)
    keep = average.apply([two[0]])
    with tf.Session() as session:
        session.run(tf.assign(two[0], [3.0, 4.0]))
        session.run(keep)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
        tf.train.Saver(average.variables_to_restore()).restore(session, path)
        assert session.run(two[0]).tolist() == [2, 3]


@pytest.mark.slow
def test_damage_is_told_with_the_file(tmp_path: Path, two: tuple[Any, Any]) -> None:
    """TensorFlow, which may know the file, says of it what it says."""
    pytest.importorskip("tensorflow", reason="it tries to read what Kameleon can't")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    index = tmp_path / "m.index"
    whole = index.read_bytes()
    flipped = [whole[:i] + bytes([whole[i] ^ 8]) + whole[i + 1 :] for i in range(0, len(whole), 9)]
    for content in (b"", b"PK" * 99, whole[:-1], whole[: len(whole) // 2], *flipped):
        index.write_bytes(content)
        with pytest.raises(FileFormatError, match=rf"{path} is no checkpoint, or it's damaged"):
            tf.train.Saver(list(two)).restore(None, path)


def test_what_is_no_checkpoint_is_said_to_be_none(
    tmp_path: Path, two: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kameleon.tf1.train.checkpoints.find_spec", lambda name: None)
    (tmp_path / "m.index").write_bytes(b"anything")
    with pytest.raises(FileFormatError, match="install TensorFlow, which reads it"):
        tf.train.load_checkpoint(str(tmp_path / "m"))
    with pytest.raises(tf.errors.UnimplementedError, match=r"model\.save of Keras"):
        tf.train.Saver([two[0]]).export_meta_graph()
