"""Where two engines begin to differ: the first node that differs though its operands are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engines._base import Engine
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import ITEM, Node
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import closed, substitute
from ...graph.ir.types import TensorType
from ...runtime.compiler import compiled_anew
from .problem import Problem
from .result import FirstDifference, difference, summary, worst_place

Array = Any

# How many nodes are computed at a time, as all their values are held in memory.
CHUNK = 200


def evaluate(engine: Engine, graph: Graph, values: Sequence[Array]) -> list[Array]:
    """The outputs of a graph on an engine, as NumPy arrays."""
    results = compiled_anew(graph, engine)([np.array(x) for x in values])
    return [engine.to_numpy(x) for x in results]


class Search:
    """Looks for the first node at which an engine differs from the reference.

    Args:
        problem: the graph, and the values of its inputs.
        reference, engine: the two engines.
    """

    def __init__(self, problem: Problem, reference: Engine, engine: Engine):
        self.engines = (reference, engine)
        self.arguments = problem.values
        self.graph = _branches(problem.graph, lambda g: evaluate(reference, g, problem.values))
        # Values of nodes on the reference, and those nodes whose values differ on the engine.
        self.values: dict[Node, Array] = dict(zip(self.graph.inputs, problem.values, strict=True))
        self.differing: set[Node] = set()

    def first(self) -> FirstDifference | None:
        """The first node that differs though it's given equal operands; where there's none, the
        first node that makes small differences of its operands a large one; None where no node
        differs."""
        amplifier: FirstDifference | None = None
        for node, got in self._differing_nodes():
            found = self._alone(node)
            if found is not None:
                return found
            if amplifier is None:
                amplifier = self._described(node, node, got, self.values[node], alone=False)
        return amplifier

    def _differing_nodes(self) -> Iterator[tuple[Node, Array]]:
        """Nodes whose value differs and whose operands' values don't, in order."""
        inputs = set(self.graph.inputs)
        nodes = [n for n in self.graph.nodes if n not in inputs and _has_value(n)]
        for start in range(0, len(nodes), CHUNK):
            chunk = nodes[start : start + CHUNK]
            graph = Graph(self.graph.inputs, chunk)
            both = [evaluate(engine, graph, self.arguments) for engine in self.engines]
            for node, want, got in zip(chunk, *both, strict=True):
                self.values[node] = want
                if not difference(node.primitive.name, got, want).within():
                    self.differing.add(node)
                    if self.differing.isdisjoint(_producer(node).operands):
                        yield node, got

    def _alone(self, node: Node) -> FirstDifference | None:
        """How the engines differ on the node alone, given the reference's values of its operands;
        None where they agree.
        """
        operands = dict.fromkeys(x for x in _producer(node).operands if x.primitive is not CONSTANT)
        graph = closed(list(operands), [node])
        given = [self.values[x] for x in operands]
        want, got = (evaluate(engine, graph, given)[0] for engine in self.engines)
        if difference(node.primitive.name, got, want).within():
            return None
        return self._described(node, _producer(node), got, want, alone=True)

    def _described(
        self, node: Node, producer: Node, got: Array, want: Array, alone: bool
    ) -> FirstDifference:
        at = worst_place(got, want) if np.shape(got) == np.shape(want) else None
        lines = [
            f"{engine.name}: shape {np.shape(value)}" if at is None
            else summary(engine.name, value, at)
            for engine, value in zip(self.engines, (want, got), strict=True)
        ]  # fmt: skip
        return FirstDifference(
            producer.primitive.name,
            tuple(str(x.type) for x in producer.operands),
            str(node.type),
            node.name,
            str(producer.source),
            (lines[0], lines[1]),
            alone,
        )


def _has_value(node: Node) -> bool:
    return isinstance(node.type, TensorType) and node.primitive is not CONSTANT


def _producer(node: Node) -> Node:
    """The node itself; for an item, the node with several results that the item is taken from."""
    return node.operands[0] if node.primitive is ITEM else node


def _branches(graph: Graph, evaluate: Callable[[Graph], list[Array]]) -> Graph:
    """The graph with each `cond` replaced by the nodes of the branch that is taken.

    The conditions become outputs beside the graph's own.
    """
    outputs = list(graph.outputs)
    while found := [n for n in graph.nodes if n.primitive.name == "cond"]:
        conditions = list(dict.fromkeys(n.operands[0] for n in found))
        values = evaluate(Graph(graph.inputs, conditions))
        taken = dict(zip(conditions, values, strict=True))
        parts: dict[Node, Node] = {}
        for node in found:
            branch: Graph = node.attrs["then" if taken[node.operands[0]] else "otherwise"]
            given = dict(zip(branch.inputs, node.operands[1:], strict=True))
            parts |= zip(node.results, substitute(branch.outputs, given), strict=True)
        outputs = substitute([*outputs, *conditions], parts)
        graph = Graph(graph.inputs, outputs)
    return graph
