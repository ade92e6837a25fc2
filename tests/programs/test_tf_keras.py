"""Programs of `tf.keras`, unchanged, by `kameleon run`: TensorFlow 1.15's numbers.

What the programs of `tf_keras/` give was recorded by `many.py` on TensorFlow 1.15; those of
`tf_keras_2/` by `record.py`, with the behaviour of TensorFlow 2. They draw first weights and data
by NumPy, don't shuffle, and drop nothing out, so that every run is alike.
"""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, NO_TENSORFLOW, run
from numpy.testing import assert_allclose
from _support.common import engines_under_test

HERE = Path(__file__).parent
WHOLE = HERE / "tf_keras"
RECORDED: dict[str, dict[str, Any]] = json.loads(
    (HERE / "recorded_tf_keras.json").read_text("utf-8")
)
SECOND: dict[str, dict[str, Any]] = json.loads(
    (HERE / "recorded_tf_keras_2.json").read_text("utf-8")
)
CLOSE = {"rtol": 3e-4, "atol": 3e-5}  # of float32, after some twenty steps, in up to thirty layers
# Results are kept in the process that ran the programs.
pytestmark = [needs_tensorflows_files, pytest.mark.together]
ENGINES = [e for e in engines_under_test() if e not in ("cntk", "theano")]


@functools.cache
def results(engine: str, hidden: bool) -> dict[str, Any]:
    """What each program gives on an engine; they share a process, as imports take seconds."""
    prelude = NO_TENSORFLOW if hidden else ""
    many = ["--engine", engine, str(WHOLE / "many.py")]
    found: dict[str, Any] = {}
    for options in ([*many, *RECORDED],
                    ["--tf-keras=2", *many, "../tf_keras_2", *SECOND]):  # fmt: skip
        found |= _results(prelude, options)
    return found


def _results(prelude: str, options: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        ended = run(["-c", prelude + COMMAND, "run", *options], Path(folder), ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


def assert_as_recorded(engine: str, program: str, hidden: bool) -> None:
    if program == "watched":
        pytest.importorskip("tensorboard", reason="one of its callbacks is TensorBoard")
    found = results(engine, hidden)[program]
    recorded = (RECORDED | SECOND)[program]
    assert isinstance(found, dict), found
    assert found.keys() == recorded.keys()
    for key, expected in recorded.items():
        assert_allclose(found[key], expected, err_msg=f"{program}: {key}", **CLOSE)


def test_every_program_is_recorded() -> None:
    names = {path.stem for path in WHOLE.glob("*.py")} - {"many", "drawing"}
    assert names == RECORDED.keys()
    names = {path.stem for path in (HERE / "tf_keras_2").glob("*.py")} - {"record"}
    assert names == SECOND.keys()


@pytest.mark.parametrize("program", [*RECORDED, *SECOND])
def test_gives_tensorflows_numbers_without_tensorflow(program: str) -> None:
    assert_as_recorded("numpy", program, hidden=True)


@pytest.mark.nightly
@pytest.mark.parametrize("program", [*RECORDED, *SECOND])
@pytest.mark.parametrize("engine", ENGINES)
def test_gives_tensorflows_numbers(engine: str, program: str) -> None:
    assert_as_recorded(engine, program, hidden=False)
