"""Tests that take long run on one day in so many; none is forgotten."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _support import selection
from _support.selection import DAYS, ROOT, in_turn, table, turns


class Case:
    """A case of a test."""

    def __init__(self, nodeid: str):
        self.nodeid = nodeid

    def get_closest_marker(self, name: str) -> None: ...


SHORT = "tests/test_words.py::test_nothing_of_the_kind"


def test_every_test_has_its_turn() -> None:
    names = [SHORT, *(f"{name}[{i}]" for name in table() for i in range(5)), *table()]
    items: list[Any] = [Case(name) for name in names]
    for first in (0, 20_785):
        days = [list(in_turn(items, first + day)) for day in range(DAYS)]
        count = Counter(item.nodeid for day in days for item in day)
        assert count.keys() == set(names)
        assert count[SHORT] == DAYS
        assert all(count[n] <= -(-DAYS // turns(table()[n.partition("[")[0]])) for n in names[1:])


class Dealt:
    """A case of a test that is marked dealt, on an engine."""

    def __init__(self, function: str, case: int, engine: str):
        self.name = f"{function}[{engine}-{case}]"
        self.nodeid = f"tests/test_it.py::{self.name}"
        self.callspec = SimpleNamespace(params={"engine_name": engine})

    def get_closest_marker(self, name: str) -> Any:
        return SimpleNamespace(args=()) if name == "dealt" else None


def test_what_is_dealt_has_its_turn_on_every_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = ("a", "b", "c", "d", "e", "f")
    known = {f"tests/test_it.py::test_{days}": days / 2 for days in range(1, DAYS + 1)}
    monkeypatch.setattr(selection, "engine_names", lambda: engines)
    monkeypatch.setattr(selection, "table", lambda: known)
    names = [name.partition("::")[2] for name in known]
    items: list[Any] = [Dealt(n, case, e) for n in names for e in engines for case in range(9)]
    found = set[str]()
    for day in range(DAYS * len(engines)):
        found.update(item.nodeid for item in selection.chosen(items, day))
    assert found == {item.nodeid for item in items}


class Prepared:
    """A case of a test whose cases of a topic share a preparation."""

    def __init__(self, topic: str, case: int, *marks: str):
        self.nodeid = f"tests/test_it.py::test_it[{topic}-{case}]"
        self.path, self.marks = Path("test_it.py"), {"together", *marks}
        self.callspec = SimpleNamespace(params={"engine_name": "a", "topic": topic, "case": case})

    def get_closest_marker(self, name: str) -> Any:
        return SimpleNamespace(args=("topic",)) if name in self.marks else None


@pytest.mark.parametrize(("marks", "days"), [((), 1), (("dealt",), DAYS)], ids=["", "dealt"])
def test_what_shares_a_preparation_has_its_turn_together(
    monkeypatch: pytest.MonkeyPatch, marks: tuple[str, ...], days: int
) -> None:
    monkeypatch.setattr(selection, "table", lambda: {"tests/test_it.py::test_it": 9.0})
    items: list[Any] = [Prepared(t, case, *marks) for t in "xyz" for case in range(3)]
    for topic in "xyz":
        group = [item.nodeid for item in items if item.callspec.params["topic"] == topic]
        found = [
            [x.nodeid for x in in_turn(items, day) if x.nodeid in group] for day in range(DAYS)
        ]
        assert [day for day in found if day] == [group] * days


@pytest.mark.parametrize("file", sorted({name.partition("::")[0] for name in table()}))
def test_the_table_tells_of_tests_that_are_there(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    names = [name.partition("::")[2] for name in table() if name.startswith(f"{file}::")]
    gone = [name for name in names if f"def {name.rpartition('::')[2]}(" not in text]
    assert not gone, "take these lines out of tests/seconds.json, or give them the new names"
