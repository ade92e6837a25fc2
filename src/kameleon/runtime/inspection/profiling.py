"""What the parts of a function take: `function.profile(inputs)`."""

from __future__ import annotations

import json
import linecache
import math
import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..._utils.tables import Part, Shown, Table
from ...engines._base import Engine, Executable, Timing
from ...graph.ir.leaves import INPUT
from ...graph.ir.node import Node, walk
from ...graph.ir.program import Graph, all_nodes, bodies
from ..compiler import prepared
from ..stages import build
from .work import Peak, Sized, Work, limit, peak, work_of

ROWS = 15  # that a table has
# How often a call is measured, with and without clocks in turns, and for how many seconds at least;
# the quickest of each count.
LEAST, MOST, SECONDS = 3, 50, 1.0


class Entry(NamedTuple):
    """A node of the program, or something else that the engine did, in one call; last of all what
    no part tells of: Python, and waiting.

    Attributes:
        name: the primitive's, or what the engine calls it.
        type: of the results; empty, where there's no node.
        filename, line, function, scope: where the user's code made it; empty, where that's unknown.
        seconds: what it took, in all steps of the loops that it's in, without what is inside of it.
        flops, bytes: operations, and bytes read and written; NaN, where sizes aren't known.
        share: of the machine's peak that was reached; NaN, where sizes aren't known.
    """

    name: str
    type: str
    filename: str
    line: int
    function: str
    scope: str
    seconds: float
    flops: float
    bytes: float
    share: float

    @property
    def place(self) -> str:
        """The line of the user's code, with its text."""
        if not self.filename:
            return f"({self.name})"
        written = linecache.getline(self.filename, self.line).strip()
        return f"{os.path.basename(self.filename)}:{self.line}  {written}".rstrip()


@dataclass(frozen=True)
class Profile(Shown):
    """What a call takes, part by part. It prints as a table, also in a notebook.

    Attributes:
        engine: what ran.
        seconds: that a call takes, measured without clocks in it.
        clocked: that its parts took together, with clocks in it, or one beside the other in
            threads; where that's more, the entries are scaled to what a call takes.
        entries: its parts, with a last one for what no part tells of: together, what a call takes.
        peak: what the engine reaches on this machine.
        limit: the seconds that a call takes at the least, with that.
        by_key: seconds and bytes as `function.explore` takes them, by the nodes' keys.
        graph: what ran, before any pass: with the learning phase that was given.
    """

    engine: str
    seconds: float
    clocked: float
    peak: Peak
    limit: float
    entries: Sequence[Entry]
    by_key: Mapping[str, Mapping[str, float]]
    graph: Graph

    def by(self, key: Callable[[Entry], str]) -> dict[str, float]:
        """The seconds of entries by something that they have in common, most of them first."""
        found: dict[str, float] = defaultdict(float)
        for entry in self.entries:
            found[key(entry)] += entry.seconds
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def by_line(self) -> dict[str, float]:
        """Seconds by line of the user's code."""
        return self.by(lambda entry: entry.place)

    @property
    def by_scope(self) -> dict[str, float]:
        """Seconds by name scope."""
        return self.by(lambda entry: entry.scope)

    @property
    def by_primitive(self) -> dict[str, float]:
        """Seconds by primitive, or by the engine's own names."""
        return self.by(lambda entry: entry.name)

    @property
    def data(self) -> dict[str, Any]:
        """All of it as what JSON has."""
        entries = [
            {k: None if v != v else v for k, v in entry._asdict().items()} for entry in self.entries
        ]
        return {
            "engine": self.engine,
            "seconds": self.seconds,
            "clocked": self.clocked,
            "peak": self.peak._asdict(),
            "limit": self.limit,
            "entries": entries,
        }

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the entries, one behind the other, in Chrome's trace format, which
        https://ui.perfetto.dev shows.
        """
        events, at = list[dict[str, Any]](), 0.0
        for entry in sorted(self.entries, key=lambda each: -each.seconds):
            args = {"line": entry.place, "type": entry.type, "scope": entry.scope}
            length = 1e6 * entry.seconds
            events.append(
                {"ph": "X", "name": entry.name, "ts": at, "dur": length, "pid": 1, "tid": 1,
                 "args": args}
            )  # fmt: skip
            at += length
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def _parts(self) -> Iterator[Part]:
        yield f"{1e3 * self.seconds:.4g} ms for a call on {self.engine}; of these took"
        lines: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            lines[entry.place].append(entry)
        order = sorted(lines.items(), key=lambda pair: -_seconds(pair[1]))
        rows = [(*self._row(entries), place) for place, entries in order[:ROWS]]
        if order[ROWS:]:
            rest = [entry for _, entries in order[ROWS:] for entry in entries]
            rows.append((*self._row(rest), f"({len(order) - ROWS} more lines)"))
        yield Table([("ms", "part", "of peak", "line"), *rows])
        scopes = [(f"{1e3 * s:.3g}", scope or "(none)") for scope, s in self.by_scope.items()]
        if len(scopes) > 1:
            yield Table([("ms", "name scope"), *scopes[:ROWS]])
        flops, bandwidth = self.peak
        yield (
            f"peak here: {flops / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.1f} GB/s; with that, a call"
            f" takes {1e3 * self.limit:.3g} ms at the least"
        )

    def _row(self, entries: Sequence[Entry]) -> tuple[str, str, str]:
        seconds = _seconds(entries)
        known = [entry for entry in entries if not math.isnan(entry.share)]
        least = sum(entry.share * entry.seconds for entry in known)
        share = f"{least / _seconds(known):.0%}" if _seconds(known) else ""
        return f"{1e3 * seconds:.3g}", f"{seconds / self.seconds:.1%}", share


def _seconds(entries: Sequence[Entry]) -> float:
    return sum(entry.seconds for entry in entries)


def profile(graph: Graph, values: Sequence[Any], engine: Engine) -> Profile:
    """The profile of a graph, for values of its inputs: NumPy's arrays, or the engine's own."""
    lowered = prepared(graph, engine)
    code = build(lowered, engine)
    code(values)
    seconds, timings = _measured(code, values, engine)
    clocked = _total(timings)
    if clocked > seconds:  # clocks take time, and threads work side by side
        timings = [t._replace(seconds=t.seconds * seconds / clocked) for t in timings]
    timings.append(Timing(None, "the rest", max(seconds - clocked, 0.0)))
    arrays = [x if isinstance(x, np.ndarray) else engine.to_numpy(x) for x in values]
    sized, reached = _sized(graph, arrays, timings), peak(engine)
    entries = [_entry(timing, reached, sized) for timing in timings]
    by_key, key_of = dict[str, Mapping[str, float]](), dict[Node | None, str](keyed(lowered))
    for timing, entry in zip(timings, entries, strict=True):
        if timing.node in key_of:
            known = {} if math.isnan(entry.bytes) else {"bytes": entry.bytes}
            by_key[key_of[timing.node]] = {"seconds": entry.seconds, **known}
    least = limit(lowered, arrays, reached)
    return Profile(engine.title, seconds, clocked, reached, least, entries, by_key, graph)


def keyed(graph: Graph, around: str = "") -> Iterator[tuple[Node, str]]:
    """The nodes of a graph and of its bodies, with their numbers in the graph's text."""
    for number, node in enumerate(graph.nodes):
        yield node, f"{around}%{number}"
        for name in node.primitive.bodies:
            yield from keyed(node.attrs[name], f"{around}%{number}.{name}.")


def _sized(graph: Graph, arrays: Sequence[Any], timings: Sequence[Timing]) -> Sized:
    """Sizes of the nodes that were timed, as far as they're made of the graph's inputs."""
    inside, leaves = set[Node](), set(graph.inputs)
    nodes = list(dict.fromkeys(t.node for t in timings if t.node is not None))
    for node in nodes:
        inside.update(n for body in bodies(node) for n in all_nodes(body))
    whole = [n for n in nodes if n not in inside and _is_made_of(n, leaves)]
    results = [n for node in whole for n in node.results]
    return Sized(graph.to(results), arrays)


def _is_made_of(node: Node, leaves: Container[Node]) -> bool:
    nodes = walk([node], set())
    return all(n in leaves or n.primitive is not INPUT for n in nodes if not n.operands)


def _total(timings: Sequence[Timing]) -> float:
    return sum(timing.seconds for timing in timings)


def _measured(
    code: Executable, values: Sequence[Any], engine: Engine
) -> tuple[float, list[Timing]]:
    """The seconds of a call, and what its parts take."""
    best, parts, runs = math.inf, list[Timing](), code.timings(values)
    start = perf_counter()
    for count in range(MOST):
        best = min(best, _timed(code, values, engine))
        parts = min(parts or next(runs), next(runs), key=_total)
        if count + 1 >= LEAST and perf_counter() - start > SECONDS:
            break
    return best, parts


def _timed(code: Executable, values: Sequence[Any], engine: Engine) -> float:
    start = perf_counter()
    for value in code(values):
        engine.to_numpy(value, copy=False)
    return perf_counter() - start


def _entry(timing: Timing, reached: Peak, sized: Sized) -> Entry:
    node = timing.node
    if node is None:
        nothing = ("", 0, "", "")
        return Entry(timing.name, "", *nothing, timing.seconds, math.nan, math.nan, math.nan)
    times, source = sized.times.get(node, math.nan), node.source
    work = Work(*(times * amount for amount in work_of(node, sized.shapes)))
    types = ", ".join(str(x.type) for x in node.results)
    place = source.filename, source.line, source.function, source.scope
    share = reached.share(work, timing.seconds)
    return Entry(node.primitive.name, types, *place, timing.seconds, *work, share)
