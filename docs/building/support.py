"""How engines do primitives: read off the page that `docs/make.py` writes with all engines."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from docs.building.places import DOCS
from kameleon.graph.gradients import GRADIENTS, ZERO

GRAPH = "PyTensor's graph"  # a column of the table that is no engine

# What a cell of the table begins with, and the column that its primitive gets on a function's page.
WAYS = {
    "native": "native",
    "native:": "native in part",
    "native in part": "native in part",
    "kernel": "kernel",
    "own Op": "own operation",
    "expanded": "expanded",
    "declined": "host",
    "host": "host",
    "host; called back": "host",
}


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """By engine's title and primitive the words of the table."""
    lines = (DOCS / "support.md").read_text(encoding="utf-8").splitlines()
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    head, _, *body = rows
    return {
        title: {row[0].strip("`"): row[at] for row in body} for at, title in enumerate(head) if at
    }


def way(cell: str) -> str:
    """The column of a cell's words."""
    return WAYS[cell] if cell in WAYS else WAYS[cell.split(" ")[0]]


def ways(primitives: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """By engine's title and column those of the primitives that it does so."""
    found: dict[str, dict[str, list[str]]] = {}
    for title, cells in table().items():
        if title == GRAPH:
            continue
        columns = found.setdefault(title, {})
        for name in sorted(primitives):
            columns.setdefault(way(cells[name]), []).append(name)
    return found


def slope(primitive: str) -> str:
    """What the table of gradients says: `rule`, `flat`, or why there is none."""
    rule = GRADIENTS[primitive]
    if rule is ZERO:
        return "flat"
    return rule if isinstance(rule, str) else "rule"
