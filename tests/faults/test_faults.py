"""The deliberate faults: each still applies to the sources, and finding them is worth something."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from _support.common import TESTS

sys.path.insert(0, str(TESTS / "faults"))

import run
from table import FAULTS, Fault

ENGINES = ("numpy", "tensorflow", "theano", "cntk", "jax", "torch", "onnxruntime")
CAUGHT = run.recorded()


def test_all_still_apply() -> None:
    gone = {fault.name: found for fault in FAULTS if (found := run.problem(fault))}
    assert not gone, "rows of tests/faults/table.py must follow the sources"


def test_they_are_many_and_of_all_kinds() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 60
    engines = Counter(name for fault in FAULTS for name in fault.engines.split(","))
    assert all(engines[name] >= 3 for name in ENGINES), engines
    for fault in FAULTS:
        assert fault.old != fault.new
        assert all((TESTS.parent / path).exists() for path in fault.tests.split()), fault.name


def test_the_record_tells_of_all_that_each_is_caught() -> None:
    """Above all those that the suite caught before it was made to run in half the time."""
    assert set(CAUGHT) == {fault.name for fault in FAULTS}
    results = {suite: Counter(row.get(suite) for row in CAUGHT.values()) for suite in run.SUITES}
    assert results["now"] == {"caught": len(FAULTS)}, "see tests/faults/run.py --record"
    # What its sources didn't have yet couldn't be planted there.
    assert set(results["before"]) <= {"caught", "missed", "gone"}
    assert results["before"]["caught"] >= 75


SOURCE = 'def one() -> int:\n    """>>> one()\n    1\n    """\n    return 1\n'
TEST = "from kameleon.sources import one\n\n\ndef test_one():\n    assert one() == 1\n"


@pytest.mark.parametrize(
    ("new", "words", "says"),
    [
        ("return 2", "", "caught"),
        ("return 1 * 1", "", "missed"),
        ("return 2", "no_such_test", "broken"),
        ("import os; os.abort()", "", "caught"),
    ],
)
def test_the_runner(
    tmp_path: Path, monkeypatch: Any, capsys: Any, new: str, words: str, says: str
) -> None:
    (tmp_path / "src" / "kameleon").mkdir(parents=True)
    (tmp_path / "src" / "kameleon" / "__init__.py").touch()
    (tmp_path / "src" / "kameleon" / "sources.py").write_text(SOURCE)
    (tmp_path / "test_one.py").write_text(TEST)
    monkeypatch.setattr(run, "PARTS", ("src", "test_one.py"))
    fault = Fault("one is two", "sources.py", "return 1", new, "test_one.py", words)
    assert run.outcome(fault, tmp_path) == says
    assert (tmp_path / "src" / "kameleon" / "sources.py").read_text() == SOURCE
    gone = fault._replace(old="return 3")
    assert run.outcome(gone, tmp_path) == "gone"
    assert "occurs 0 times" in str(run.problem(gone, tmp_path))


def test_what_needs_an_engine_that_is_not_there_is_skipped(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setenv("KAMELEON_CNTK", str(tmp_path / "nothing"))
    fault = FAULTS[0]._replace(engines="numpy,cntk")
    monkeypatch.setattr(run, "FAULTS", [fault])
    monkeypatch.setattr(run, "CAUGHT", tmp_path / "caught.json")
    run.CAUGHT.write_text(f'{{"{fault.name}": {{"now": "caught"}}}}')
    assert run.outcome(fault, run.TREE) == "skipped"
    assert run.compared({fault.name: "skipped"}, run.TREE) == 0
    assert f"skipped: {fault.name}: not installed: cntk" in capsys.readouterr().out


def test_what_is_recorded(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    one, two = FAULTS[:2]
    monkeypatch.setattr(run, "CAUGHT", tmp_path / "caught.json")
    monkeypatch.setattr(run, "FAULTS", [one, two])
    run.CAUGHT.write_text('{"a fault that is no more": {"now": "caught"}}')
    for name, suite, result in [
        (one.name, "now", "caught"), (one.name, "before", "missed"), (two.name, "now", "missed"),
    ]:  # fmt: skip
        run.record(name, suite, result)
    assert run.recorded() == {
        one.name: {"now": "caught", "before": "missed"}, two.name: {"now": "missed"},
    }  # fmt: skip
    assert run.compared({one.name: "caught", two.name: "missed"}, run.TREE) == 0
    assert run.compared({one.name: "missed"}, run.TREE) == 1
    assert f"not caught any more: {one.name}" in capsys.readouterr().out
    assert run.compared({two.name: "gone"}, run.TREE) == 2
