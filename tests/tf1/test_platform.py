"""Flags, files, tests and coordinators as programs of TensorFlow 1 use them."""

from __future__ import annotations

import functools
import threading
import unittest
from pathlib import Path
from typing import Any

import pytest

from kameleon.errors import MissingNameError
from kameleon.tf1 import platform
from kameleon.tf1.modules import module
from kameleon.tf1.refusals import REFUSED

tf: Any = module("tensorflow")


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> Any:
    fresh = platform.Flags()
    monkeypatch.setattr(platform, "FLAGS", fresh)
    tf.flags.DEFINE_integer("steps", 10, "How many.")
    tf.flags.DEFINE_float(name="rate", default=0.5, help="How fast.", lower_bound=0.0)
    tf.app.flags.DEFINE_string(flag_name="folder", default_value=None, docstring="Where to.")
    tf.app.flags.DEFINE_boolean("quick", True, "Whether to be quick.")
    return fresh


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ([], (10, 0.5, None, True)),
        (["--steps=3", "--rate", "2", "--folder", "a"], (3, 2.0, "a", True)),
        (["--quick=false"], (10, 0.5, None, False)),
        (["--noquick"], (10, 0.5, None, False)),
        (["--quick", "rest"], (10, 0.5, None, True)),
    ],
)
def test_flags_are_read_from_the_command_line(flags: Any, line: list[str], wanted: Any) -> None:
    flags(["program", *line])
    assert (flags.steps, flags.rate, flags.folder, flags.quick) == wanted


def test_main_gets_what_is_no_option(flags: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["program", "--steps", "4", "more"])
    with pytest.raises(SystemExit) as left:
        tf.app.run(lambda rest: (rest, flags.steps))
    assert left.value.code == (["program", "more"], 4)
    flags.steps = 7
    assert flags.steps == 7
    with pytest.raises(AttributeError, match="no option 'other'"):
        _ = flags.other


def test_files_are_made_found_read_and_removed(tmp_path: Path) -> None:
    folder = str(tmp_path / "a" / "b")
    tf.gfile.MakeDirs(folder)
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(folder + "/x.txt", "w") as file:
        file.write("one\ntwo\n")
    assert list(tf.gfile.Open(folder + "/x.txt")) == ["one\n", "two\n"]
    known = tf.gfile.Stat(folder + "/x.txt")
    assert known.length == 8 and not known.is_directory
    with tf.io.gfile.GFile(folder + "/x.txt", "rb") as file:
        assert file.read() == b"one\ntwo\n" and file.size() == 8
    assert tf.gfile.Glob(folder + "/*.txt") == [folder + "/x.txt"]
    tf.gfile.Copy(folder + "/x.txt", folder + "/y.txt")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(folder + "/x.txt", folder + "/y.txt")
    assert sorted(tf.gfile.ListDirectory(folder)) == ["x.txt", "y.txt"]
    tf.gfile.DeleteRecursively(folder)
    assert not tf.gfile.Exists(folder)
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.GFile(folder + "/x.txt").read()
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.ListDirectory(folder)


def test_a_test_case_compares_tensors_and_has_a_session() -> None:
    class Own(tf.test.TestCase):  # type: ignore[misc, name-defined]
        def test_sums(self) -> None:
            x = tf.constant([1.0, 2.0])
            with self.test_session() as session:
                self.assertAllClose(session.run(x + x), [2, 4])
            self.assertAllEqual(self.evaluate(x), [1, 2])
            self.assertAllClose({"a": x}, {"a": [1.0, 2.0]})

        def test_fails(self) -> None:
            self.assertAllClose([1.0], [1.1])

    found = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Own).run(found)
    assert (found.testsRun, len(found.failures), len(found.errors)) == (3, 1, 0)
    assert len(found.skipped) == 1


def test_a_coordinator_stops_threads_and_reports_their_errors() -> None:
    coordinator = tf.train.Coordinator()

    def work() -> None:
        with coordinator.stop_on_exception():
            raise ValueError("in a thread")

    threads = [threading.Thread(target=work)]
    threads[0].start()
    assert coordinator.wait_for_stop(60)
    with pytest.raises(ValueError, match="in a thread"):
        coordinator.join(threads)
    assert tf.train.start_queue_runners(coord=coordinator) == []


def test_the_end_of_data_is_no_error() -> None:
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    assert coordinator.should_stop()
    coordinator.join()


@pytest.mark.parametrize(
    ("path", "use"),
    [
        ("estimator.DNNClassifier", "a model of Keras"),
        ("train.SessionManager", "tf.train.Saver"),
        ("contrib.tpu.initialize_system", "runs on TPUs where JAX does"),
    ],
)
def test_what_is_not_there_says_what_to_use(path: str, use: str) -> None:
    found, *names = tf, *path.split(".")
    with pytest.raises(MissingNameError, match=use):
        for name in names:
            found = getattr(found, name)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_use(name: str) -> None:
    for root in (tf, tf.compat.v1):
        function = functools.reduce(getattr, name.split("."), root)
        with pytest.raises(tf.errors.UnimplementedError, match=f"{REFUSED[name]}; use .* "):
            function()
