"""The demo learns, repeats itself, and leaves readable files; the command line around it works."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support import run_python

pytest.importorskip("sklearn", reason="the demo's digits come with scikit-learn")
pytest.importorskip("matplotlib", reason="the demo draws with Matplotlib")
pytest.importorskip("safetensors", reason="the demo saves with safetensors")
pytest.importorskip("typer", reason="the command line needs Typer")
pytest.importorskip("rich", reason="the command line needs Rich")

from safetensors.numpy import load_file
from typer.testing import CliRunner

import kameleon
from kameleon.cli.app import app
from kameleon.config import ENGINES
from kameleon.demo import digits, report

EPOCHS = 3


@pytest.fixture
def command() -> CliRunner:
    return CliRunner()


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


# The command line ------------------------------------------------------------------------------


def test_demo_command_says_accuracy_and_files(command: CliRunner, tmp_path: Path) -> None:
    arguments = ["demo", "--engine", "numpy", "--epochs", "2", "--seed", "7"]
    result = command.invoke(app, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    said = re.search(
        r"Accuracy on held-out digits: ([\d.]+)% \((\d+) of 360\), on numpy", result.output
    )
    assert said, result.output
    assert float(said[1]) > 90
    assert round(3.6 * float(said[1])) == int(said[2])
    assert "training" in result.output
    for name in (report.CURVES, report.MISTAKES, report.VARIABLES):
        assert (tmp_path / name).is_file()
        assert name in result.output.replace("\n", "")
    # What was said is what was saved.
    reader = digits.Reader(7)
    last = list(reader.learn(2))[-1]
    assert last.held_out_accuracy * 100 == pytest.approx(float(said[1]), abs=0.01)
    saved = load_file(tmp_path / report.VARIABLES)
    for name, value in reader.values().items():
        np.testing.assert_array_equal(saved[name], value, err_msg=name)


@pytest.mark.parametrize("option", [["--epochs", "0"], ["--seed", "-1"], ["--epochs", "many"]])
def test_demo_command_declines_wrong_options(command: CliRunner, option: list[str]) -> None:
    result = command.invoke(app, ["demo", *option])
    assert result.exit_code == 2
    assert option[0] in result.output


def test_demo_command_names_an_engine_that_is_not_there(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['kameleon', 'demo', '--engine', 'cntk'];"
        "from kameleon.cli import main; main()"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 1
    assert "cntk" in done.stderr
    assert "Traceback" not in done.stderr


def test_engines_command_lists_all(command: CliRunner) -> None:
    result = command.invoke(app, ["engines"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    lines = {line.split()[1]: line for line in result.output.splitlines() if "│" in line}
    assert set(ENGINES) <= set(lines)
    assert "installed" in lines["numpy"]
    assert "not installed" not in lines["numpy"]


def test_version(command: CliRunner) -> None:
    result = command.invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"kameleon {kameleon.__version__}\n")


def test_python_m_kameleon_is_the_command(tmp_path: Path) -> None:
    code = (
        "import runpy, sys; sys.argv = ['kameleon', '--version'];"
        "runpy.run_module('kameleon', run_name='__main__')"
    )
    done = run_python(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, f"kameleon {kameleon.__version__}\n"), done.stderr


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_missing_libraries_are_named_with_the_line_that_installs_them(
    tmp_path: Path, library: str
) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from kameleon.cli import main; main()"
    done = run_python(code, tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"The command kameleon needs {library}, which isn't installed: "
        'pip install "kameleon[demo]"\n'
    )


def test_command_line_loads_no_engine(tmp_path: Path) -> None:
    code = (
        "import kameleon.cli.app, sys;"
        "print(*[m for m in sys.modules if m.startswith(('kameleon.', 'sklearn', 'matplotlib'))])"
    )
    loaded = run_python(code, tmp_path).stdout.split()
    assert "kameleon.cli.app" in loaded
    assert not [
        m for m in loaded if re.match(r"kameleon\.(backend|engines\.|demo)|sklearn|matpl", m)
    ]
