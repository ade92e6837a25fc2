"""The parts of the package as a picture: what each is for, and which ones it imports."""

from __future__ import annotations

import sys
from graphlib import TopologicalSorter

from docs.building.places import TESTS

if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from _support.import_graph import inner

BEGIN, END = "<!-- packages, by `python docs/make.py` -->\n", "<!-- end of packages -->\n"

ABOUT = {
    "errors": "what goes wrong, and what to do",
    "_utils": "locks, files, tracebacks",
    "config": "settings, choice of the engine",
    "graph": "nodes, primitives, gradients, passes",
    "engines": "a table of rules each",
    "runtime": "calls, state, saved functions",
    "backend": "the K surface",
    "distributed": "many devices, checkpoints",
    "testing": "the kit for engines, comparisons",
    "compat": "what old programs meet",
    "as_keras": "`import keras` on Kameleon",
    "cli": "the commands",
}


def parts() -> dict[str, set[str]]:
    """By part of the package the parts that it imports, anywhere in its code."""
    found: dict[str, set[str]] = {part: set() for part in ABOUT}
    for each in inner():
        part, other = (f"{name}.".split(".")[1] for name in (each.importer, each.imported))
        if part in ABOUT and other in ABOUT and part != other:
            found[part].add(other)
    return found


def shortest(graph: dict[str, set[str]]) -> dict[str, list[str]]:
    """Without arrows that others make up for.

    >>> shortest({"c": {"a", "b"}, "b": {"a"}, "a": set()})
    {'a': [], 'b': ['a'], 'c': ['b']}
    """
    order = list(TopologicalSorter(graph).static_order())
    below: dict[str, set[str]] = {}
    for part in order:
        below[part] = graph[part].union(*(below[other] for other in graph[part]))
    return {
        part: sorted(
            other
            for other in graph[part]
            if not any(other in below[between] for between in graph[part] - {other})
        )
        for part in order
    }


def picture() -> str:
    """The picture, in Mermaid's words."""
    lines = ["```mermaid", "flowchart TD"]
    arrows = shortest(parts())
    for part in reversed(arrows):
        # Not by its name alone: `graph` is a word of Mermaid's.
        lines.append(f'    {part}_["<b>{part}</b><br>{ABOUT[part]}"]')
    for part in reversed(arrows):
        lines += [f"    {part}_ --> {other}_" for other in arrows[part]]
    return "\n".join([*lines, "```", ""])


def placed(text: str) -> str:
    """A page with the picture in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{picture()}{END}{after}"
