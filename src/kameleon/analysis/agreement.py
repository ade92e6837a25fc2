"""Symbolic dimensions that a graph takes as equal, in groups: what dimension guards compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.sizes import Root, Sizes
from ..prims.movement import kept_axes

# A size of an input, as (input, axis), and what it must be equal to: another one, or a number.
Equality = tuple[tuple[Node, int], Any]


def equalities(graph: Graph, sizes: Sizes) -> Iterator[Equality]:
    """What has to hold of the inputs' sizes: elementwise operations and broadcasts take it so.

    Args:
        graph: a closed graph.
        sizes: what is known of the graph; it learns that this holds.
    """
    inputs = frozenset(graph.inputs)
    for node in graph.nodes[len(graph.inputs) :]:
        for roots in _taken_as_equal(node, sizes):
            given: list[Any] = [r for r in roots if isinstance(r, tuple) and r[0] in inputs]
            base = next((r for r in roots if isinstance(r, int)), given[0] if given else None)
            for root in given:
                if root != base:
                    yield root, base
                    sizes.state(root, base)


def _taken_as_equal(node: Node, sizes: Sizes) -> Iterator[list[Root]]:
    """Groups of sizes, without repetition."""
    if node.primitive.elementwise:
        for axis in range(len(node.shape)):
            yield list(dict.fromkeys(sizes.of(x, axis) for x in node.operands))
    elif node.primitive.name == "broadcast_to":
        for i, _, asked in kept_axes(node):
            yield list(dict.fromkeys((sizes.of(node.operands[0], i), sizes.of_scalar(asked))))
