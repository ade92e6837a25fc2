"""Which outputs may alias inputs, that is, share their memory: these outputs must be copied."""

from __future__ import annotations

import numpy as np

from ..ir.leaves import CONSTANT, INPUT
from ..ir.node import Node
from ..ir.program import Graph
from ..primitives.constants import bare

# By primitive: the constant y for which f(x, y) may be x, which optimisers of libraries then give.
NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "pow": 1, "floor_div": 1}
NEUTRAL |= {"bit_or": 0, "bit_xor": 0, "shift_left": 0, "shift_right": 0}


def shared_outputs(graph: Graph) -> set[int]:
    """The positions of those outputs whose tensor may hold memory of an input.

    A library may take NumPy arrays as they are, and pass on tensors that an operation leaves as
    they were: an output that is an input must not change with the caller's array.
    """
    passed: dict[Node, bool] = {}
    for node in graph.nodes:
        passed[node] = node.primitive is INPUT or any(passed[x] for x in _sources(node))
    return {i for i, node in enumerate(graph.outputs) if passed[node]}


def _sources(node: Node) -> list[Node]:
    """The operands whose memory the result of a node may hold."""
    if node.primitive.may_alias:
        return list(node.operands)
    neutral = NEUTRAL.get(node.primitive.name)
    if neutral is not None and any(_is(bare(x), neutral) for x in node.operands):
        return list(node.operands)
    return []


def _is(x: Node, value: float) -> bool:
    return x.primitive is CONSTANT and bool(np.all(x.attrs["value"].array == value))
