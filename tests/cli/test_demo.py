"""The demo learns, repeats itself, and leaves readable files; the command line around it works."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.commands import kameleon as command
from _support.common import TESTS, engines_under_test, run_python

pytest.importorskip("matplotlib", reason="the demo draws with Matplotlib")
pytest.importorskip("safetensors", reason="it reads what the demo saves")
pytest.importorskip("rich", reason="the command line needs Rich")

from safetensors.numpy import load_file

import kameleon
from kameleon import backend as K
from kameleon.cli.demo import command as cli
from kameleon.cli.demo import digits, report, side_by_side
from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.graph.ir.program import Graph
from kameleon.runtime import engines

EPOCHS = 3


def test_the_digits_are_those_of_their_source() -> None:
    source = pytest.importorskip("sklearn.datasets", reason="it has them, too").load_digits()
    with np.load(digits.DIGITS) as stored:
        np.testing.assert_array_equal(stored["images"], source.images)
        np.testing.assert_array_equal(stored["labels"], source.target)
    told = digits.DIGITS.with_suffix(".txt").read_text()
    for word in ("Alpaydin", "UCI Machine Learning Repository", "10.24432/C50P49", "CC BY 4.0"):
        assert word in told


# Learning --------------------------------------------------------------------------------------


def test_split_keeps_held_out_digits_apart() -> None:
    training, held_out = digits.load(np.random.default_rng(0))
    assert training.images.shape == (1797 - digits.HELD_OUT, 8, 8, 1)
    assert held_out.images.shape == (digits.HELD_OUT, 8, 8, 1)
    assert set(held_out.labels.tolist()) == set(range(10))
    assert 0 == training.images.min() < training.images.max() == 1
    shuffled = np.concatenate([training.images, held_out.images]).reshape(1797, -1)
    original, _ = digits.load(np.random.default_rng(1))
    assert not np.array_equal(training.images, original.images), "the seed decides the split"
    assert len(np.unique(shuffled, axis=0)) == 1797, "no digit lies in both parts"


def test_a_few_epochs_read_most_held_out_digits() -> None:
    reader = digits.Reader(seed=0)
    untrained = reader.evaluate()[1]
    history = list(reader.learn(EPOCHS))
    assert [epoch.number for epoch in history] == [1, 2, 3]
    assert untrained < 0.3
    assert history[-1].held_out_accuracy >= 0.95
    assert history[-1].loss < history[0].loss
    loss, accuracy = reader.evaluate()
    assert (loss, accuracy) == (history[-1].held_out_loss, history[-1].held_out_accuracy)


def test_probabilities_agree_with_the_accuracy() -> None:
    reader = digits.Reader(seed=2)
    (epoch,) = reader.learn(1)
    images, labels = reader.held_out
    probabilities = reader.predict(images)
    assert probabilities.shape == (digits.HELD_OUT, digits.CLASSES)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    right = np.mean(probabilities.argmax(axis=1) == labels)
    assert right == pytest.approx(epoch.held_out_accuracy, abs=1e-6)
    wrong = report.find_mistakes(labels, probabilities)
    assert len(wrong) == round((1 - right) * digits.HELD_OUT)


def test_equal_seeds_give_equal_results_and_others_do_not() -> None:
    def learn(seed: int) -> tuple[digits.Epoch, dict[str, np.ndarray]]:
        reader = digits.Reader(seed)
        (epoch,) = reader.learn(1)
        return epoch, reader.values()

    (first, values), (again, same), (other, _) = learn(5), learn(5), learn(6)
    assert first == again
    assert first != other
    for name, value in values.items():
        np.testing.assert_array_equal(value, same[name], err_msg=name)


def test_digits_are_moved_in_training_alone() -> None:
    images = np.arange(2 * 64, dtype="float32").reshape(2, 8, 8, 1)
    images = np.repeat(images, 300, axis=0) + 1
    state = digits.Variables(np.random.default_rng(0))
    x, phase = K.placeholder((None, 8, 8, 1)), K.learning_phase()
    f = K.function([x, phase], [K.in_train_phase(digits.move(state, x), x)])
    np.testing.assert_array_equal(f([images, 0])[0], images)
    (found,) = f([images, 1])
    left = np.concatenate([images[:, :, 1:], 0 * images[:, :, :1]], axis=2)
    right = np.concatenate([0 * images[:, :, :1], images[:, :, :-1]], axis=2)
    # What each image has become: itself, moved to the left, or moved to the right.
    became = [np.all(found == x, axis=(1, 2, 3)) for x in (images, left, right)]
    np.testing.assert_array_equal(np.sum(became, axis=0), 1)
    shares = np.mean(became, axis=1)
    expected = [1 - digits.MOVED, digits.MOVED / 2, digits.MOVED / 2]
    np.testing.assert_allclose(shares, expected, atol=0.08)


def test_the_choice_of_the_global_generator_does_not_matter() -> None:
    np.random.seed(1)
    first = digits.Reader(3).values()
    np.random.seed(2)
    second = digits.Reader(3).values()
    np.testing.assert_array_equal(first["conv1.kernel"], second["conv1.kernel"])


def test_initial_weights_have_the_documented_scale() -> None:
    kernel = digits.Reader(0).values()["conv2.kernel"]
    fan_in = 9 * digits.FILTERS[0]
    assert kernel.shape == (3, 3, *digits.FILTERS)
    assert np.std(kernel) == pytest.approx(np.sqrt(2 / fan_in), rel=0.05)
    assert np.mean(kernel) == pytest.approx(0, abs=0.01)


# The report ------------------------------------------------------------------------------------


def is_png(path: Path) -> bool:
    """Whether the file is a picture that decodes and isn't of one colour."""
    from matplotlib.image import imread

    pixels = imread(path)
    return bool(path.suffix == ".png" and pixels.ndim == 3 and pixels.std() > 0.01)


def test_report_holds_pictures_and_variables(tmp_path: Path) -> None:
    reader = digits.Reader(seed=1)
    history = list(reader.learn(2))
    files = report.write(tmp_path / "new" / "folder", reader, history)
    assert is_png(files.curves)
    assert is_png(files.mistakes)
    loaded, values = load_file(files.variables), reader.values()
    assert set(loaded) == set(values) >= {"conv1.kernel", "conv1.mean", "digit.bias"}
    for name, value in values.items():
        np.testing.assert_array_equal(loaded[name], value, err_msg=name)


@pytest.mark.parametrize("count", [0, 1, 30])
def test_any_number_of_mistakes_can_be_drawn(tmp_path: Path, count: int) -> None:
    images = np.random.default_rng(0).random((40, 8, 8, 1), dtype="float32")
    labels = np.zeros(40, "int32")
    probabilities = np.tile([0.9, 0.1], (40, 1))
    probabilities[:count] = [0.2, 0.8]
    path = tmp_path / "mistakes.png"
    report.draw_mistakes(path, digits.Data(images, labels), probabilities)
    assert is_png(path)
    assert report.find_mistakes(labels, probabilities).tolist() == list(range(count))


# Several engines ------------------------------------------------------------------------------


class Twin(NumpyEngine):
    """NumPy by another name; it loses a little of each loss, so that it can be told apart."""

    name = "twin"
    title = "Twin"

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        found = super().to_numpy(array, copy)
        return found * np.float32(1.001) if np.ndim(found) == 0 else found


class Broken(NumpyEngine):
    """An engine that can't do anything."""

    name = "broken"
    title = "Broken"

    def compile(self, graph: Graph) -> Any:
        raise OSError("it broke\nfor reasons that take long to tell")


class Absent(EntryPoint):
    """What an engine is announced by whose package can't be imported."""

    def load(self) -> Any:
        raise ImportError("libabsent.so: cannot open shared object\nadvice")


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three engines that other packages announce."""
    points = {name: Absent(name, f"package:{name}", engines.GROUP) for name in OTHERS}
    monkeypatch.setattr(engines, "third_parties", lambda: points)
    for engine in (Twin(), Broken()):
        monkeypatch.setitem(engines._loaded, engine.name, engine)


OTHERS = ("twin", "broken", "absent")


def test_a_start_can_be_had_again() -> None:
    reader = digits.Reader(seed=4)
    start = side_by_side.Start(reader)
    first = side_by_side.train("numpy", reader, 1)
    learnt = reader.values()
    start.restore()
    np.testing.assert_array_equal(reader.values()["conv1.kernel"], initial := _initial(4))
    assert not np.array_equal(learnt["conv1.kernel"], initial)
    again = side_by_side.train("numpy", reader, 1)
    assert first.losses == again.losses
    assert first.epochs == again.epochs
    assert len(first.losses) == -(-len(reader.train_set.labels) // digits.BATCH)
    assert first.compiling > 0 < first.training
    for name, value in reader.values().items():
        np.testing.assert_array_equal(value, learnt[name], err_msg=name)


def _initial(seed: int) -> np.ndarray[Any, Any]:
    return digits.Reader(seed).values()["conv1.kernel"]


def test_a_run_that_fails_says_why_and_leaves_the_reader_as_it_was(others: None) -> None:
    reader = digits.Reader(seed=4)
    step, before = reader.step, reader.values()
    run = side_by_side.train("broken", reader, 2)
    assert isinstance(run.error, OSError) and not run.epochs
    assert reader.step is step
    for name, value in reader.values().items():
        np.testing.assert_array_equal(value, before[name])


def test_differences_are_relative_to_the_reference() -> None:
    runs = [
        side_by_side.Trained("a", losses=[1.0]),
        side_by_side.Trained("numpy", losses=[4.0, 2.0]),
        side_by_side.Trained("b", losses=[4.0, 2.5], error=OSError("no")),
    ]
    reference = side_by_side.reference_of(runs)
    assert reference is runs[1]
    assert [side_by_side.difference(run, reference) for run in runs] == [0.75, 0.0, 0.25]
    assert side_by_side.reference_of(runs[::2]) is runs[0]
    assert side_by_side.reference_of(runs[2:]) is None


@pytest.mark.parametrize("count", [1, 2, 9])
def test_any_number_of_runs_can_be_drawn(tmp_path: Path, count: int) -> None:
    runs = [side_by_side.Trained(f"e{i}", losses=[2.0, 1.0 + i * 1e-6]) for i in range(count)]
    runs.append(side_by_side.Trained("failed", error=OSError("no")))
    path = report.write_comparison(tmp_path / "new", runs)
    assert is_png(path)


def test_demo_on_several_engines(tmp_path: Path, others: None) -> None:
    arguments = ["demo", "--engine", "numpy,twin", "--epochs", "1", "--out", str(tmp_path)]
    result = command(*arguments, settings={"COLUMNS": "400"})
    assert result.status == 0, result.said
    rows = rows_of(result.said)
    assert list(rows) == ["numpy", "twin"]
    assert "the reference" in rows["numpy"]
    assert "loss within 1.0e-03 of numpy" in rows["twin"]
    assert is_png(tmp_path / report.COMPARISON)
    assert report.COMPARISON in result.said.replace("\n", "")


def test_an_engine_that_fails_does_not_stop_the_others(tmp_path: Path, others: None) -> None:
    arguments = ["demo", "--engine", "broken,absent,twin,numpy", "--epochs", "1"]
    result = command(*arguments, "--out", str(tmp_path), settings={"COLUMNS": "400"})
    assert result.status == 1
    rows = rows_of(result.said)
    assert "OSError: it broke" in rows["broken"]
    assert "EngineError: the entry point 'absent" in rows["absent"]
    assert "the reference" in rows["numpy"] and "loss within" in rows["twin"]
    assert "these failed: broken, absent" in result.said
    assert is_png(tmp_path / report.COMPARISON)


def test_one_engine_that_fails(tmp_path: Path, others: None) -> None:
    for name, said in (("broken", "broken: OSError: it broke"), ("absent", "libabsent.so")):
        result = command("demo", "--engine", name, "--out", str(tmp_path))
        assert result.status == 1
        assert said in result.said
        assert "Traceback" not in result.said
    assert not list(tmp_path.iterdir())


def test_all_means_what_runs_here(monkeypatch: pytest.MonkeyPatch, others: None) -> None:
    monkeypatch.setattr(engines, "installed", lambda name: name in ("numpy", "jax"))
    assert cli._chosen_engines("all") == ["numpy", "jax", *OTHERS]
    assert cli._chosen_engines(" pytorch,numpy,,torch") == ["torch", "numpy"]


@pytest.mark.slow
def test_demo_on_all_engines_that_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(dict.fromkeys(["numpy", *engines_under_test()]))
    monkeypatch.setattr(engines, "names", lambda: names)
    arguments = ["demo", "--engine", "all", "--epochs", "1"]
    result = command(*arguments, "--out", str(tmp_path), settings={"COLUMNS": "400"})
    assert result.status == 0, result.said
    rows = rows_of(result.said)
    assert list(rows) == names
    for name, row in rows.items():
        off = re.search(r"loss within (\S+) of numpy", row)
        assert name == "numpy" or (off and float(off[1]) < 0.05), row


def rows_of(output: str) -> dict[str, str]:
    """The rows of a table in the terminal, by what is in their first cell."""
    lines = [line.strip("│ ") for line in output.splitlines() if line.startswith("│")]
    return {line.split()[0]: line for line in lines if line}


# The command line ------------------------------------------------------------------------------


def test_demo_command_says_accuracy_and_files(tmp_path: Path) -> None:
    arguments = ["demo", "--engine", "numpy", "--epochs", "2", "--seed", "7"]
    result = command(*arguments, "--out", str(tmp_path))
    assert result.status == 0, result.said
    said = re.search(
        r"Accuracy on held-out digits: ([\d.]+)% \((\d+) of 360\), on numpy", result.said
    )
    assert said, result.said
    assert float(said[1]) > 90
    assert round(3.6 * float(said[1])) == int(said[2])
    assert "training" in result.said
    for name in (report.CURVES, report.MISTAKES, report.VARIABLES):
        assert (tmp_path / name).is_file()
        assert name in result.said.replace("\n", "")
    # What was said is what was saved.
    reader = digits.Reader(7)
    last = side_by_side.train("numpy", reader, 2).epochs[-1]
    assert last.held_out_accuracy * 100 == pytest.approx(float(said[1]), abs=0.01)
    saved = load_file(tmp_path / report.VARIABLES)
    for name, value in reader.values().items():
        np.testing.assert_array_equal(saved[name], value, err_msg=name)


@pytest.mark.parametrize("named", ["nunpy", "numpy,torhc", "", ","])
def test_demo_command_declines_unknown_engines(named: str) -> None:
    result = command("demo", "--engine", named)
    assert result.status == 1
    assert (
        "there are: tensorflow, theano, cntk, numpy, jax, torch, onnxruntime, or all" in result.said
    )


@pytest.mark.parametrize("option", [["--epochs", "0"], ["--seed", "-1"], ["--epochs", "many"]])
def test_demo_command_declines_wrong_options(option: list[str]) -> None:
    result = command("demo", *option)
    assert result.status == 2
    assert option[0] in result.said


def test_demo_command_names_an_engine_that_is_not_there(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['kameleon', 'demo', '--engine', 'cntk'];"
        "from kameleon.cli import main; main()"
    )
    done = run_python(code, tmp_path, {"KAMELEON_CNTK": str(tmp_path / "nothing")})
    assert done.returncode == 1
    assert "cntk" in done.stderr
    assert "Traceback" not in done.stderr


def test_version() -> None:
    result = command("--version")
    assert (result.status, result.said) == (0, f"kameleon {kameleon.__version__}\n")


def test_python_m_kameleon_is_the_command(tmp_path: Path) -> None:
    code = (
        "import runpy, sys; sys.argv = ['kameleon', '--version'];"
        "runpy.run_module('kameleon', run_name='__main__')"
    )
    done = run_python(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, f"kameleon {kameleon.__version__}\n"), done.stderr


@pytest.mark.parametrize("library", ["rich"])
@pytest.mark.parametrize(("command", "extra"), [("demo", "demo"), ("engines", "cli")])
def test_missing_libraries_are_named_with_the_line_that_installs_them(
    tmp_path: Path, library: str, command: str, extra: str
) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None; sys.argv = ['kameleon', {command!r}];"
        "from kameleon.cli import main; main()"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"kameleon {command}: it needs {library}, which isn't installed: "
        f"pip install {' '.join(_needed(extra))}\n"
    )


def _needed(extra: str) -> list[str]:
    """The libraries that an extra brings."""
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())["project"]
    names = [need.partition(">=")[0] for need in project["optional-dependencies"][extra]]
    return [n for name in names for n in (_needed("cli") if "[cli]" in name else [name])]


def test_command_line_loads_no_engine(tmp_path: Path) -> None:
    code = (
        "import kameleon.cli.demo.command, sys;"
        "print(*[m for m in sys.modules if m.startswith(('kameleon.', 'matplotlib'))])"
    )
    loaded = run_python(code, tmp_path).stdout.split()
    assert "kameleon.cli.demo.command" in loaded
    assert not [m for m in loaded if re.match(r"kameleon\.(backend|engines\.|demo)|matpl", m)]
