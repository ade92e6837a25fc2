"""The values of all nodes of a graph, for given values of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engines._base import Engine, Executable
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import substitute
from ...graph.ir.types import TensorType
from ..compiler import compiled_anew

Array = Any
Evaluate = Callable[[Graph, Sequence[Array]], list[Array]]

# How many nodes are computed at a time, as all their values are held in memory.
CHUNK = 200


def evaluator(engine: Engine) -> Evaluate:
    """What gives the outputs of graphs on an engine, as NumPy arrays; it keeps their code."""
    made: dict[Graph, Executable] = {}

    def evaluate(graph: Graph, values: Sequence[Array]) -> list[Array]:
        executable = made.get(graph)
        if executable is None:
            executable = made[graph] = compiled_anew(graph, engine)
        return [engine.to_numpy(x) for x in executable([np.array(x) for x in values])]

    return evaluate


def in_chunks(graph: Graph) -> Iterator[Graph]:
    """The nodes that have a value, but inputs and constants, in order: as outputs of graphs."""
    inputs = set(graph.inputs)
    nodes = [n for n in graph.nodes if n not in inputs and _has_value(n)]
    for start in range(0, len(nodes), CHUNK):
        yield graph.to(nodes[start : start + CHUNK])


def without_conditions(graph: Graph, evaluate: Evaluate, values: Sequence[Array]) -> Graph:
    """The graph with each `cond` replaced by the nodes of the branch that is taken.

    The conditions become outputs beside the graph's own.
    """
    outputs = list(graph.outputs)
    while found := [n for n in graph.nodes if n.primitive.name == "cond"]:
        conditions = list(dict.fromkeys(n.operands[0] for n in found))
        taken = dict(zip(conditions, evaluate(graph.to(conditions), values), strict=True))
        parts: dict[Node, Node] = {}
        for node in found:
            branch: Graph = node.attrs["then" if taken[node.operands[0]] else "otherwise"]
            given = dict(zip(branch.inputs, node.operands[1:], strict=True))
            parts |= zip(node.results, substitute(branch.outputs, given), strict=True)
        outputs = substitute([*outputs, *conditions], parts)
        graph = graph.to(outputs)
    return graph


def _has_value(node: Node) -> bool:
    return isinstance(node.type, TensorType) and node.primitive is not CONSTANT
