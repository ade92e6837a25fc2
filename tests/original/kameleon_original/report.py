"""Tables of what came out, with Rich where it's installed; what isn't as expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .groups import GROUPS
from .running import Result, Test
from .tables import NEVER_RUN, Ground

EXPECTED = Path(__file__).with_name("expected.json")
COLUMNS = ("group", "passed", "failed", "excluded", "skipped", "seconds", "TF 1.15")


def recorded() -> dict[str, dict[str, int]]:
    """For each ground and group how many tests passed when that was last recorded."""
    kept: dict[str, dict[str, int]] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return kept


def expected(ground: Ground) -> dict[str, int]:
    """For each recorded group how many tests have to pass."""
    return recorded().get(ground.name, {})


def record(ground: Ground, found: Mapping[str, Result]) -> None:
    """Expect from now on as many passed tests as there are now."""
    kept = recorded()
    counts = {**kept.get(ground.name, {}), **{name: r.count("passed") for name, r in found.items()}}
    kept[ground.name] = {group.name: counts[group.name] for group in GROUPS if group.name in counts}
    EXPECTED.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def faults(ground: Ground, found: Mapping[str, Result]) -> list[str]:
    """What isn't as expected; nothing, where all is well."""
    said = []
    counts = expected(ground)
    for name, result in found.items():
        said += [f"failed: {test.name}\n    {_first(test)}" for test in result.those("failed")]
        said += [
            f"passed, though excluded ({test.message}): {test.name}"
            for test in result.tests
            if test.stale
        ]
        if result.count("passed") < counts.get(name, 0) and not result.lacking:
            passed = f"{result.count('passed')} passed on {ground.name}"
            said.append(f"{name}: {passed}, {counts[name]} were expected")
    return said


def _first(test: Test) -> str:
    """The first lines of a message."""
    lines = [line for line in test.message.splitlines() if line.strip()]
    return "\n    ".join(lines[:4] if len(lines) < 20 else lines[-15:])


def table(ground: Ground, found: Mapping[str, Result]) -> None:
    """Print a row for each group, and their sum."""
    original = {group.name: group.on_tensorflow for group in GROUPS}
    rows = [_row(name, result, original[name]) for name, result in found.items()]
    whole = Result()
    for result in found.values():
        whole.add(result)
    total = sum(original[name] for name in found)
    show(f"The original's tests on {ground.name}", COLUMNS, [*rows, _row("all", whole, total)])


def _row(name: str, result: Result, original: int) -> list[str]:
    counts = [result.count(kind) for kind in ("passed", "failed", "excluded", "skipped")]
    return [name, *map(str, counts), f"{result.seconds:.0f}", str(original)]


def reasons(found: Mapping[str, Result]) -> None:
    """Print why tests were excluded or skipped themselves."""
    count: dict[tuple[str, str, str], int] = {}
    for name, result in found.items():
        for test in (*result.those("excluded"), *result.those("skipped")):
            key = (name, test.outcome, test.message)
            count[key] = count.get(key, 0) + 1
    rows = [[name, str(n), kind, why] for (name, kind, why), n in count.items()]
    if rows:
        show("Not expected to pass, or skipped by itself", ("group", "tests", "", "reason"), rows)
    if len(found) == len(GROUPS):
        show("Files left out", ("file", "reason"), NEVER_RUN)


def slowest(found: Mapping[str, Result], count: int) -> None:
    """Print the tests that took longest."""
    tests = sorted((t for r in found.values() for t in r.tests), key=lambda t: -t.seconds)
    rows = [[f"{test.seconds:.2f}", test.name] for test in tests[:count]]
    show("What took longest", ("seconds", "test"), rows)


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, with numbers aligned at the right."""
    rows = list(rows)
    right = [all(row[i].isdigit() or not row[i] for row in rows) for i in range(len(columns))]
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        _plain(title, columns, rows, right)
        return
    made = Table(title=title, title_justify="left")
    for name, is_right in zip(columns, right, strict=True):
        made.add_column(name, justify="right" if is_right else "left", no_wrap=name != "reason")
    for row in rows:
        made.add_row(*map(escape, row))
    Console().print(made)


def _plain(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> None:
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    print(title)
    for line in lines:
        cells = zip(line, widths, right, strict=True)
        print("  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in cells).rstrip())
    print()
