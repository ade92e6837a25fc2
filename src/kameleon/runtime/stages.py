"""Graphs that an engine can't compile in one piece, cut into parts that it can compile.

There are two reasons for a cut. What the engine refuses (`Engine.refusal`: a primitive that it
declines, a function of Python) is done by the embedded engine, and so is a whole loop or condition
that holds such a thing, or more loops and conditions within one another than the engine takes
(`Engine.deepest`), or sizes that change from step to step where shapes are static. And an
engine with static shapes needs numbers where sizes follow from data: that data is computed first.
So each node gets a level. What is on one level is compiled together; on each level, the embedded
engine's nodes run before the engine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..engines._base import Engine, Executable, Timing
from ..graph.ir.node import ITEM, Node
from ..graph.ir.program import Graph, bodies, depth
from ..graph.ir.rewrite import closed
from ..graph.ir.types import TensorType
from ..graph.passes.pipeline import prepared
from ..graph.primitives.shaping import follows_from_sizes, shape_operands, unchanging
from .assisted import compiled_for_any_size
from .engines import embedded


def build(graph: Graph, engine: Engine) -> Executable:
    """Code for a graph behind all passes (`graph.passes.pipeline`)."""
    levels = Levels(graph, engine)
    return compiled_for_any_size(graph, engine) if levels.are_one else _Staged(levels)


class Levels:
    """Which part of a graph each node belongs to."""

    def __init__(self, graph: Graph, engine: Engine):
        self.graph, self.engine = graph, engine
        self.of: dict[Node, int] = {}
        self.declined: set[Node] = set()
        known = follows_from_sizes(graph) if engine.static_shapes else set()
        for node in graph.nodes:
            self.of[node] = self._level(node, known)
        self.top = max((self.of[n] for n in graph.nodes), default=0)

    @property
    def are_one(self) -> bool:
        """Whether the engine takes the graph with all its inputs, those that nothing uses, too."""
        bits = self.engine.bits
        return not (self.top or self.declined or any(x.dtype in bits for x in self.graph.inputs))

    def _level(self, node: Node, known: set[Node]) -> int:
        level = max([self.of[n] for n in node.operands], default=0)
        if node.primitive is ITEM:
            if node.operands[0] in self.declined:
                self.declined.add(node)
            return level
        if self.engine.static_shapes:
            waits = [self.of[n] + 1 for n in shape_operands(node) if n not in known]
            level = max([level, *waits])
        if self._is_declined(node, known):
            self.declined.add(node)
            level += 1
        return level

    def _is_declined(self, node: Node, known: set[Node]) -> bool:
        """Whether the embedded engine computes a node."""
        deepest = self.engine.deepest
        if self.engine.refusal(node) is not None or (deepest and depth(node) > deepest):
            return True
        return not all(self._can_do(body, node, known) for body in bodies(node))

    def _can_do(self, body: Graph, outer: Node, around: set[Node]) -> bool:
        """Whether the engine can do all that's in a body of a loop or a condition."""
        static = self.engine.static_shapes
        known = follows_from_sizes(body, unchanging(outer, body, around)) if static else set()
        for node in body.nodes:
            if self.engine.refusal(node, inside=True) is not None:
                return False
            if static and not known.issuperset(shape_operands(node, outer=False)):
                return False
            if not all(self._can_do(inner, node, known) for inner in bodies(node)):
                return False
        return True


class _Part:
    """Some nodes of a graph, as a graph of their own."""

    def __init__(self, nodes: Sequence[Node], wanted: Sequence[Node], engine: Engine):
        inside = set(nodes)
        used = (x for n in nodes for x in n.operands if x not in inside)
        outer = [x for x in dict.fromkeys((*used, *wanted)) if x not in inside]
        self.inputs = sorted(outer, key=lambda n: n.serial)
        self.outputs = list(wanted)
        self.engine = engine
        self.executable = compiled_for_any_size(_closed(self.inputs, self.outputs, engine), engine)

    def given(self, values: dict[Node, Any], sources: dict[Node, Engine]) -> list[Any]:
        """The values of the inputs, as the part's engine takes them."""
        return [_as_numpy(values[x], sources[x], self.engine) for x in self.inputs]

    def run(self, values: dict[Node, Any], sources: dict[Node, Engine]) -> None:
        """Compute the part; `values` holds what was computed before, and gets the results."""
        results = self.executable(self.given(values, sources))
        for node, value in zip(self.outputs, results, strict=True):
            values[node], sources[node] = value, self.engine


def _closed(inputs: Sequence[Node], outputs: Sequence[Node], engine: Engine) -> Graph:
    """A part; loops and conditions made for another engine may hold what the embedded one lacks."""
    graph = closed(inputs, outputs)
    return prepared(graph, engine) if engine is embedded() else graph


def _as_numpy(value: Any, source: Engine, target: Engine) -> Any:
    """A value as an engine takes it: its own, or an array; a scalar, where shapes are static."""
    if source is target:
        return value
    given = source.to_numpy(value, copy=False)
    return given if target.static_shapes else np.asarray(given)


class _Staged(Executable):
    """The parts of a graph, run one after the other."""

    def __init__(self, levels: Levels):
        self.graph, self.engine = levels.graph, levels.engine
        self.parts = list(_parts(levels))
        self._fresh = {x for part in self.parts for x in part.outputs}

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        values, sources = self._begun(arguments)
        for part in self.parts:
            part.run(values, sources)
        return self._own(values, sources)

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable`."""
        return {n: text for p in self.parts for n, text in p.executable.made_of().items()}

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable`."""
        values, sources = self._begun(arguments)
        runs = list[Iterator[list[Timing]]]()
        for part in self.parts:
            runs.append(part.executable.timings(part.given(values, sources)))
            part.run(values, sources)
        while True:
            yield [timing for each in runs for timing in next(each)]

    def _begun(self, arguments: Sequence[Any]) -> tuple[dict[Node, Any], dict[Node, Engine]]:
        """The values of the inputs, and the engines whose arrays these are."""
        values: dict[Node, Any] = {}
        sources: dict[Node, Engine] = {}
        for node, value in zip(self.graph.inputs, arguments, strict=True):
            values[node] = value
            sources[node] = embedded() if embedded().type_of(value) else self.engine
        return values, sources

    def _own(self, values: dict[Node, Any], sources: dict[Node, Engine]) -> list[Any]:
        """The outputs as fresh arrays of the engine."""
        results, given = [], set[Node]()
        for node in self.graph.outputs:
            value, source = values[node], sources[node]
            if source is self.engine and node in self._fresh and node not in given:
                results.append(value)
            else:
                results.append(self.engine.from_numpy(source.to_numpy(value)))
            given.add(node)
        return results

    def culprit(self, error: BaseException) -> Node | None:
        """See `Executable.culprit`."""
        found = (part.executable.culprit(error) for part in self.parts)
        return next((node for node in found if node is not None), None)

    @property
    def compilations(self) -> int:  # type: ignore[override]
        """How often that part was compiled that was compiled most often."""
        return max((p.executable.compilations for p in self.parts), default=1)

    @property
    def source(self) -> str:
        """The parts' sources."""
        titles = (f"# part {i}, on {p.engine.title}\n" for i, p in enumerate(self.parts))
        return "\n".join(t + p.executable.source for t, p in zip(titles, self.parts, strict=True))


def _parts(levels: Levels) -> Sequence[_Part]:
    """For each level, the part of the embedded engine, then that of the engine itself."""
    graph, inputs = levels.graph, set(levels.graph.inputs)
    outputs = set(graph.outputs)
    rest = [n for n in graph.nodes if n not in inputs and (n.operands or n in outputs)]
    parts = []
    for level in range(levels.top + 1):
        here = [n for n in rest if levels.of[n] == level]
        for done_by, declined in ((embedded(), True), (levels.engine, False)):
            nodes = [n for n in here if (n in levels.declined) == declined]
            wanted = _wanted(graph, nodes)
            if wanted:
                parts.append(_Part([*_leaves(nodes, inputs), *nodes], wanted, done_by))
    return parts


def _leaves(nodes: Sequence[Node], inputs: Container[Node]) -> list[Node]:
    """Nodes without operands (constants, ranges): each part that uses them computes its own."""
    used = dict.fromkeys(x for n in nodes for x in n.operands if not x.operands)
    return [x for x in used if x not in inputs]


def _wanted(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """What a part gives: nodes that other parts use, and outputs."""
    inside = set(nodes)
    used = {x for n in graph.nodes if n not in inside for x in n.operands}
    used.update(graph.outputs)
    single: Callable[[Node], bool] = lambda n: isinstance(n.type, TensorType)  # noqa: E731
    return [n for n in nodes if n in used and single(n)]
