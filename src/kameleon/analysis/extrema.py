"""Tensors whose elements are compared with their own extremum.

The gradient of an extremum asks which elements are equal to the extremum, and so do users:
`K.equal(x, K.max(x))`. A compiler that computes x anew for each of its uses may round x differently
in each, so that no element is the largest.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.node import Node
from ..ir.program import Graph

COMPARISONS = frozenset("eq ne lt le gt ge".split())
EXTREMA = frozenset(("reduce_max", "reduce_min"))
# Primitives that bring an extremum to the shape of the tensor without changing its value.
MOVES = frozenset("broadcast_to reshape transpose stop_gradient identity".split())


def compared_with_their_extrema(graph: Graph) -> set[Node]:
    """The nodes x of a graph (not of its bodies) with a comparison of x and its extremum."""
    return {x for node in graph.nodes for x in _compared(node)}


def _compared(node: Node) -> Iterator[Node]:
    if node.primitive.name in COMPARISONS:
        a, b = node.operands
        for x, other in ((a, b), (b, a)):
            while other.primitive.name in MOVES:
                other = other.operands[0]
            if other.primitive.name in EXTREMA and other.operands[0] is x:
                yield x
