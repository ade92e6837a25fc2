"""The page: what is in it, as one file of HTML that needs nothing else.

What the script of the page reads is JSON:

    title, engine, code    texts; the code is what the engine runs
    looks                  by kind of node: colours and form; "gradient" for what gradients made
    places                 the user's lines: [file, line, function, the line's text]
    stages                 [{title, boxes}]: the graph as it was built, and behind each pass; no
                           boxes where the pass has changed nothing
    profile                {key: {seconds, bytes}} of boxes of the last stage; either may be missing
    made                   {key: text}: what the engine makes of boxes of the last stage

A box is what `graph.pictures.boxes` says, with its scope and lines, and the number of its place for
the source. Its key is `%3`, or `%3.body.%1` in a body: the numbers that nodes have in the graph's
text.
"""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..._utils.files import checked, replace
from ...engines._base import Engine
from ...graph.ir.program import Graph
from ...graph.pictures.boxes import Box, Sheet, sheet_of
from ...graph.pictures.looks import GRADIENT, LOOKS
from ..compiler import prepared, stages
from ..inspection.profiling import Profile, keyed
from ..stages import build

if TYPE_CHECKING:
    from ..function import Function

Numbers = Mapping[str, Mapping[str, float]]
# The user's lines and their numbers.
Places = dict[tuple[str, int, str], int]
# Letters that are shown of an engine's code, and of what it makes of a node.
LONGEST, LONG = 200_000, 600


def file_name(number: int, function: Function) -> str:
    """The name of a function's page among others, without an extension."""
    return f"{number:03}-{re.sub(r'[^a-zA-Z0-9]+', '-', function.name).strip('-')}"


def write(function: Function, path: Any, profile: Profile | Numbers | None = None) -> None:
    """Write a function's page.

    Args:
        function: any function.
        path: of the file.
        profile: of a call, whose graph is shown then; or, by the keys of boxes of the last stage,
            `seconds` and `bytes`.
    """
    name = checked("explore", path)
    replace(name, page(function, profile).encode())


def page(function: Function, profile: Profile | Numbers | None = None) -> str:
    """The page as text; see `write`."""
    data = content(function, profile)
    parts = {
        "title": escape(data["title"]),
        "engine": escape(data["engine"]),
        "dagre": _file("dagre.js"),
        "script": _file("page.js"),
        # Within HTML no text may end the script that holds it.
        "data": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def content(function: Function, profile: Profile | Numbers | None = None) -> dict[str, Any]:
    """What the page's script reads."""
    engine, places = function.engine, Places()
    code, graph = function.source(), function.graph()
    if isinstance(profile, Profile):
        graph, profile = profile.graph, profile.by_key
    return {
        "title": f"{function.name}: {_count(function.inputs, 'input')},"
        f" {_count(function.outputs, 'output')}",
        "engine": engine.title,
        "code": code if len(code) <= LONGEST else f"{code[:LONGEST]}\n…",
        "looks": {kind: look._asdict() for kind, look in {**LOOKS, "gradient": GRADIENT}.items()},
        "stages": list(_stages(function, graph, places)),
        "places": [[*at, linecache.getline(at[0], at[1]).strip()] for at in places],
        "profile": {key: dict(numbers) for key, numbers in (profile or {}).items()},
        "made": dict(_made(graph, engine)),
    }


def _made(graph: Graph, engine: Engine) -> Iterator[tuple[str, str]]:
    last = prepared(graph, engine)
    made = build(last, engine).made_of()
    for node, key in keyed(last):
        if node in made:
            yield key, made[node] if len(made[node]) <= LONG else f"{made[node][:LONG]}…"


def _count(things: Sequence[object], what: str) -> str:
    return f"{len(things)} {what}{'s' * (len(things) != 1)}"


def _stages(function: Function, graph: Graph, places: Places) -> Iterator[dict[str, Any]]:
    yield {"title": "as it was built", "boxes": _boxes(sheet_of(function.program), places)}
    before = None
    for title, found in stages(graph, function.engine):
        if found.key == before:
            yield {"title": f"{title} (unchanged)"}
        else:
            yield {"title": title, "boxes": _boxes(sheet_of(found), places)}
        before = found.key


def _boxes(sheet: Sheet, places: Places) -> list[dict[str, Any]]:
    return [_box(box, places) for box in sheet.boxes]


def _box(box: Box, places: Places) -> dict[str, Any]:
    place = (box.source.filename, box.source.line, box.source.function)
    row = {
        **box._asdict(),
        "scope": box.scope,
        "lines": box.lines,
        "source": places.setdefault(place, len(places)),
        "bodies": {name: _boxes(body, places) for name, body in box.bodies.items()},
    }
    return {key: value for key, value in row.items() if value or key == "source"}


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
