"""Which tests run: with every change, on a day's turn, a share of them."""

from __future__ import annotations

import argparse
import json
import math
import xml.etree.ElementTree as ElementTree
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from .common import engines_under_test

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = ROOT / "tests" / "seconds.json"
"""Test functions whose units take more than a quarter of a second in the mean: the seconds."""
DAYS = 7
"""Each test runs with every change on one of so many days, at least."""


def add_options(parser: pytest.Parser) -> None:
    """The options `--nightly`, `--turn` and `--share`."""
    parser.addoption("--nightly", action="store_true", help="run the tests marked nightly, too")
    parser.addoption(
        "--turn", type=int, help="a day's number: run those of the long tests whose turn it is"
    )
    parser.addoption("--share", default="0/1", help="i/n: every n-th test, from the i-th")


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that aren't asked for."""
    turn, nightly = config.getoption("--turn"), config.getoption("--nightly")
    kept = chosen(items, turn, nightly)
    number, shares = map(int, config.getoption("--share").split("/"))
    kept = kept[number::shares]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def chosen(items: list[pytest.Item], turn: int | None, nightly: bool = False) -> list[pytest.Item]:
    """The tests of a day, or, without one, all; with those marked nightly or left out as dealt."""
    kept = items if nightly else [x for x in items if _runs_with_every_change(x, turn or 0)]
    return kept if turn is None else list(in_turn(kept, turn))


# Groups -----------------------------------------------------------------------------------------


def group_of(item: pytest.Item) -> str | None:
    """The group of tests that share costly preparations, if it's marked `together`: those of one
    file on one engine, with the same values of the parameters that the mark names.
    """
    mark, parameters = item.get_closest_marker("together"), getattr(item, "callspec", None)
    if mark is None:
        return None
    values = parameters.params if parameters else {}
    return "-".join([item.path.name, *(str(values.get(x)) for x in ("engine_name", *mark.args))])


def _unit(item: pytest.Item) -> str | None:
    """What takes a turn as a whole: a case, or a group; but a group that is dealt has no turns."""
    group = group_of(item)
    return None if group and item.get_closest_marker("dealt") else group or item.nodeid


# Marks ------------------------------------------------------------------------------------------


def _runs_with_every_change(item: pytest.Item, turn: int) -> bool:
    """Tests marked dealt run on so many engines, which they are dealt by their names, among all or
    those that are named; those that go together are dealt the same ones. Others come each week, not
    each day: then all of the week's long tests have their turn.
    """
    if item.get_closest_marker("nightly"):
        return False
    dealt, parameters = item.get_closest_marker("dealt"), getattr(item, "callspec", None)
    if dealt is None or parameters is None:
        return True
    engine = parameters.params["engine_name"]
    together = item.get_closest_marker("together")
    what = item.path.name if together else item.name.replace(engine, "")
    return _is_dealt(zlib.crc32(what.encode()) + turn // DAYS, engine, *dealt.args)


def _is_dealt(card: int, engine: str, count: int = 1, among: Sequence[str] = ()) -> bool:
    """Whether an engine is one of so many that something is dealt."""
    names = [name for name in engine_names() if name in among] or list(engine_names())
    return engine in names and (names.index(engine) - card) % len(names) < count


@cache
def engine_names() -> tuple[str, ...]:
    """Asked once: it looks through all installed packages for engines."""
    return tuple(engines_under_test())


# Turns ------------------------------------------------------------------------------------------


def turns(seconds: float) -> int:
    """Over how many days the units of a function are spread.

    >>> turns(0.25), turns(0.3), turns(1.1), turns(100.0)
    (1, 2, 5, 7)
    """
    return min(DAYS, math.ceil(4 * seconds))


def table() -> dict[str, float]:
    """By a test function's name, as pytest has it, the seconds of a unit."""
    found: dict[str, float] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def in_turn(items: Sequence[pytest.Item], turn: int) -> Iterator[pytest.Item]:
    """The items without those whose turn is on another day."""
    known = table()
    first = {name: row for row, name in enumerate(known)}  # not all functions on the same day
    units: dict[str, dict[str, int]] = defaultdict(dict)
    for item in items:
        name, unit = item.nodeid.partition("[")[0], _unit(item)
        if unit and name in known:
            number = units[name].setdefault(unit, len(units[name]))
            if (first[name] + number - turn) % turns(known[name]):
                continue
        yield item


def measured(report: Path) -> dict[str, float]:
    """The seconds of test functions, by a report that pytest has written with `--junitxml`."""
    units: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for case in ElementTree.parse(report).iter("testcase"):
        file = f"{case.attrib['classname'].replace('.', '/')}.py"
        if file.startswith("tests/") and (ROOT / file).exists() and case.find("skipped") is None:
            name, _, group = case.attrib["name"].partition("@test_")  # as pytest-xdist has it
            seconds = float(case.attrib["time"])
            units[f"{file}::{name.partition('[')[0]}"][group or name] += seconds
    means = {name: sum(times.values()) / len(times) for name, times in units.items()}
    return {name: round(s, 2) for name, s in means.items() if s > 0.25}


def main() -> None:
    """Write the table anew, or what a report of some tests tells."""
    parser = argparse.ArgumentParser(description="Write tests/seconds.json by a report.")
    parser.add_argument("report", type=Path, help="what pytest has written with --junitxml")
    parser.add_argument("--some", action="store_true", help="keep what it doesn't tell of")
    asked = parser.parse_args()
    found = {**(table() if asked.some else {}), **measured(asked.report)}
    # Those that take equally long stand side by side, and come on different days.
    longest = dict(sorted(found.items(), key=lambda pair: -pair[1]))
    TABLE.write_text(f"{json.dumps(longest, indent=0)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
