"""Single operations, by their types alone, of inputs drawn at random: what TensorFlow 1.15 does."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

from .single.arrays import unpacked

FOLDER = Path(__file__).parent / "single"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "cases.jsonl").read_text("utf-8").splitlines()
]
GROUPS = 4  # so many processes run a part of the cases each
# By type, why some of its cases aren't as the original has them.
DIFFERENCES: dict[str, str] = json.loads((FOLDER / "differences.json").read_text("utf-8"))
OF_ENGINES = {"torch": {"Prod": "products that overflow have other slopes, which needn't be NaN"}}
OF_GRAPHS = {"LoopCond": "a part of loops in graphs"}
REFUSALS = ("InvalidArgumentError", "UnimplementedError", "NotFoundError", "OutOfRangeError",
            "FailedPreconditionError", "TypeError", "ValueError")  # fmt: skip
CLOSE = {"float16": 4e-3, "float32": 2e-4, "complex64": 2e-4}  # else 1e-7
pytestmark = needs_tensorflows_files


def of_group(group: int) -> list[dict[str, Any]]:
    """The cases of a process."""
    return CASES[group::GROUPS]


def computed(engine: str, group: int, *mode: str) -> list[Any]:
    """What the cases of a group do here, all in one process."""
    running = ["run", "--engine", engine, str(FOLDER / "running.py"), *mode]
    line = ["-W", "ignore", "-c", COMMAND, *running]
    cases = "\n".join(map(json.dumps, of_group(group)))
    with tempfile.TemporaryDirectory() as folder:
        ended = run(line, Path(folder), ANYWHERE, cases)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = (line for line in ended.stdout.splitlines() if line.startswith(("{", "null")))
    return [json.loads(each) for each in found]


@pytest.mark.parametrize("group", range(GROUPS))
def test_operations_are_tensorflows(group: int) -> None:
    _check("numpy", group, DIFFERENCES)


@pytest.mark.nightly
@pytest.mark.parametrize("group", range(GROUPS))
def test_operations_are_tensorflows_on_all_engines(engine_name: str, group: int) -> None:
    _check(engine_name, group, DIFFERENCES | OF_ENGINES.get(engine_name, {}))


def _check(engine_name: str, group: int, differences: Mapping[str, str]) -> None:
    cases, found = of_group(group), computed(engine_name, group)
    assert len(cases) == len(found)
    wrong = [
        f"{case['type']} {case['attributes']}: {told}"
        for case, ours in zip(cases, found, strict=True)
        if case["type"] not in differences and (told := _difference(case["found"], ours))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("group", range(GROUPS))
def test_operations_are_the_same_in_eager_mode(group: int) -> None:
    cases, found = of_group(group), computed("numpy", group, "eagerly")
    assert len(cases) == len(found)
    wrong, tried = [], 0
    for case, ours in zip(cases, found, strict=True):
        theirs = case["found"]
        if ours is None or case["type"] in DIFFERENCES | OF_GRAPHS:
            continue
        tried += 1
        if "failed" in ours:  # as an error of TensorFlow's; for attributes, one of Python's
            fit = not ({"values", "slopes"} & theirs.keys()) and ours["failed"][0] in REFUSALS
            told = None if fit else f"fails: {ours['failed']}"
        else:  # what is refused of shapes when a graph is built, kernels may take
            told = _other_numbers(theirs, ours)
        if told:
            wrong.append(f"{case['type']} {case['attributes']}: {told}")
    assert not wrong, "\n".join(wrong)
    assert tried > 0.8 * len(cases)


def _difference(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """In what two runs differ: at which stage they fail, with what, or what they give."""
    for stage in ("not built", "failed", "no slopes"):
        errors = [found.get(stage, [None])[0] for found in (theirs, ours)]
        if errors[0] != errors[1]:
            return f"{stage}: {theirs.get(stage)}, here {ours.get(stage)}"
    for about in ("static", "types", "connected"):
        if theirs.get(about) != ours.get(about):
            return f"{about}: {theirs.get(about)}, here {ours.get(about)}"
    return _other_numbers(theirs, ours)


def _other_numbers(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """In which numbers two runs differ that both have them."""
    for about in ("values", "slopes"):
        if about in theirs and about in ours:
            for one, other in zip(theirs[about], ours[about], strict=True):
                if not _is_close(one, other):
                    return f"{about}: {unpacked(one).tolist()}, here {unpacked(other).tolist()}"
    return None


def _is_close(one: dict[str, Any], other: dict[str, Any]) -> bool:
    theirs, ours = unpacked(one), unpacked(other)
    if theirs.shape != ours.shape or theirs.dtype != ours.dtype:
        return False
    if theirs.dtype.kind not in "fc":
        return theirs.tolist() == ours.tolist()
    accuracy = CLOSE.get(theirs.dtype.name, 1e-7)
    return np.allclose(ours, theirs, rtol=accuracy, atol=accuracy * 0.1, equal_nan=True)


def test_differences_are_of_types_that_are_tried() -> None:
    assert set(DIFFERENCES) <= {case["type"] for case in CASES}
