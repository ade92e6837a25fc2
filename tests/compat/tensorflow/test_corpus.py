"""Expressions and programs that TensorFlow 1.15 recorded, on its own Python files above K: values,
dtypes, gradients, static shapes. Expressions are over what is fed, and over constants, too. What
differs still is listed, by case, with the reason; what differs on some engines only, with a reason
for each.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "recorded"
# By folder of records, what compares.
SCRIPTS = {"tf1": "corpus.py", "types": "corpus.py", "around": "around.py"}
ENGINES = frozenset({"numpy", "torch", "tensorflow", "jax"})
# By folder and subject (`tf1.arrays`) and by case, what isn't as recorded yet.
DIFFERENCES: dict[str, dict[str, str | dict[str, str]]] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((HERE / "differences").glob("*.json"))
}
OVER_CONSTANTS = [f"{name}.constants" for name in DIFFERENCES if not name.startswith("around.")]
pytestmark = needs_tensorflows_files


def compared(engine: str, name: str) -> dict[str, Any]:
    """What differs from the records of a subject on an engine."""
    folder, subject, *way = name.split(".")
    script = str(HERE / SCRIPTS[folder])
    line = ["run", "--engine", engine, script, str(RECORDED / folder), subject, *way]
    with tempfile.TemporaryDirectory() as elsewhere:
        ended = run(["-W", "ignore", "-c", COMMAND, *line], Path(elsewhere), ANYWHERE, seconds=3600)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout)[subject]
    return found


def listed(engine: str, name: str) -> set[str]:
    """The cases of a subject that aren't as recorded on an engine, or over constants."""
    folder, subject, *way = name.split(".")
    reasons, where = DIFFERENCES[f"{folder}.{subject}"].items(), {*(way or [engine])}
    return {case for case, why in reasons if isinstance(why, str) or where & why.keys()}


def check(engine: str, name: str) -> None:
    found, known = compared(engine, name), listed(engine, name)
    assert found["cases"] > 0
    assert {case: told for case, told in found["failed"].items() if case not in known} == {}
    mended = known - found["failed"].keys()
    assert not mended, "these are as recorded now: take them off the list"


@pytest.mark.parametrize("name", [*DIFFERENCES, *OVER_CONSTANTS])
def test_cases_give_what_was_recorded(name: str) -> None:
    check("numpy", name)


@pytest.mark.nightly
@pytest.mark.parametrize("name", DIFFERENCES)
def test_cases_give_what_was_recorded_on_all_engines(engine_name: str, name: str) -> None:
    if engine_name not in ENGINES:
        pytest.skip("a few engines stand for all: programs beside this one run on each")
    check(engine_name, name)
