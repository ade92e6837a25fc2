"""The deliberate faults: each still applies to the sources, and finding them is worth something."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support import TESTS

sys.path.insert(0, str(TESTS / "faults"))

import run
from table import FAULTS, Fault

ENGINES = ("numpy", "tensorflow", "theano", "jax", "torch", "onnxruntime")
CAUGHT = json.loads(run.CAUGHT.read_text(encoding="utf-8"))


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


def test_the_record_is_of_these() -> None:
    names = {fault.name for fault in FAULTS}
    assert set(CAUGHT) <= names
    assert sum(result == "caught" for result in CAUGHT.values()) >= 0.9 * len(CAUGHT)


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
