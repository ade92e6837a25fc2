"""Programs and libraries that say `import tensorflow as tf`, unchanged, by `kameleon run`.

What the programs of `whole/` give was recorded on Keras 2.3.1 with TensorFlow 1.15
(`recorded.json`, by `many.py`); the libraries have tests of their own, which pass there. Programs
draw weights and data by NumPy, and none depends on the order in which a step reads and updates a
variable, which TensorFlow 1 leaves open (Keras's Adam does, by its number of steps).
"""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_original, needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, NO_TENSORFLOW, run
from numpy.testing import assert_allclose
from _support.common import engines_under_test

HERE = Path(__file__).parent
RECORDED: dict[str, dict[str, Any]] = json.loads((HERE / "recorded.json").read_text("utf-8"))
LIBRARIES = sorted(path.name for path in (HERE / "libraries").iterdir() if path.is_dir())

# Weights are of float32: some ten steps of training make differences of rounding larger.
CLOSE = {"rtol": 2e-5, "atol": 2e-5}


@functools.cache
def results(engine: str, hidden: bool) -> dict[str, Any]:
    """What each program gives on an engine; they share a process, as imports take seconds."""
    prelude = NO_TENSORFLOW if hidden else ""
    many = ["--engine", engine, str(HERE / "whole" / "many.py")]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-c", prelude + COMMAND, "run", *many, *RECORDED]
        ended = run(arguments, Path(folder), ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


def assert_as_recorded(engine: str, program: str, hidden: bool) -> None:
    found = results(engine, hidden)[program]
    assert isinstance(found, dict), found
    assert found.keys() == RECORDED[program].keys()
    for key, expected in RECORDED[program].items():
        assert_allclose(found[key], expected, err_msg=f"{program}: {key}", **CLOSE)


def test_every_program_is_recorded() -> None:
    names = {path.stem for path in (HERE / "whole").glob("*.py")} - {"many"}
    assert names == RECORDED.keys()


# Keras's Adam reads how many steps there were while the step counts on: TensorFlow may do either
# first. Here it counts first, as TensorFlow does in most programs; when this one was recorded, it
# read first.
READ_FIRST = {"capsules"}
PROGRAMS = sorted(RECORDED.keys() - READ_FIRST)
# Results are kept in the process that ran the programs.
pytestmark = [needs_original, needs_tensorflows_files, pytest.mark.together]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gives_the_originals_numbers_without_tensorflow(program: str) -> None:
    assert_as_recorded("numpy", program, hidden=True)


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("engine", [e for e in engines_under_test() if e not in ("cntk", "theano")])
def test_gives_the_originals_numbers(engine: str, program: str) -> None:
    assert_as_recorded(engine, program, hidden=False)


def passes_its_tests(library: str, engine: str, hidden: bool, tmp_path: Path) -> None:
    prelude = NO_TENSORFLOW if hidden else ""
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "files")]
    ended = run(
        ["-c", prelude + COMMAND, "run", "--engine", engine, "-m", "pytest", *options],
        HERE / "libraries" / library,
        ANYWHERE | {"KERAS_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    assert " passed" in ended.stdout


@pytest.mark.parametrize("library", LIBRARIES)
def test_passes_its_own_tests_without_tensorflow(library: str, tmp_path: Path) -> None:
    passes_its_tests(library, "numpy", True, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("engine", [e for e in engines_under_test() if e not in ("cntk", "theano")])
def test_passes_its_own_tests(engine: str, library: str, tmp_path: Path) -> None:
    passes_its_tests(library, engine, False, tmp_path)
