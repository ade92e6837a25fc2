"""Symbolic dimensions that a graph takes as equal, in groups: what dimension guards compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.sizes import Root, Sizes
from ..prims.movement import kept_axes
from .broadcasts import AxisSize, Read

# A size of an input, as (input, axis), and what it must be equal to: another size, or a number.
Equality = tuple[tuple[Node, int], Any]


def equalities(graph: Graph, sizes: Sizes) -> Iterator[Equality]:
    """Equalities of the inputs' sizes that elementwise operations and broadcasts take for granted.

    Args:
        graph: a closed graph.
        sizes: what is known of the graph's sizes; these equalities are added.
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
    """Groups of sizes that a node takes as equal, each without repetition."""
    if node.primitive.elementwise:
        for axis in range(len(node.shape)):
            yield list(dict.fromkeys(sizes.of(x, axis) for x in node.operands))
    elif node.primitive.name == "broadcast_to":
        for i, _, asked in kept_axes(node):
            yield list(dict.fromkeys((sizes.of(node.operands[0], i), sizes.of_scalar(asked))))


# Axes in step ------------------------------------------------------------------------------

# Given the attribute `axis` and the ranks of two operands, the axes of each that run in step.
Paired = Callable[[int, int, int], tuple[Sequence[int], Sequence[int]]]


def _all_but(axis: int, rank: int) -> list[int]:
    return [i for i in range(rank) if i != axis]


# By name of a primitive, two of its operands and what pairs their axes.
IN_STEP: dict[str, tuple[int, int, Paired]] = {
    **dict.fromkeys(
        ("cumprod_slope", "linear_scan", "put_along"), (0, 1, lambda axis, a, b: (range(a),) * 2)
    ),
    "softmax_crossentropy": (1, 2, lambda axis, a, b: (range(a),) * 2),
    "take_along": (0, 1, lambda axis, a, b: (_all_but(axis, a),) * 2),
    "minus_one_hot": (0, 1, lambda axis, a, b: (_all_but(axis, a), range(b))),
    "sparse_softmax_crossentropy": (1, 2, lambda axis, a, b: (_all_but(axis, a), range(b))),
    "scatter_add": (0, 1, lambda axis, a, b: (range(axis, axis + b), range(b))),
}


def unproven_steps(node: Node, sizes: Sizes) -> Iterator[list[Read]]:
    """Sizes of a node's operands that run in step and might not be equal.

    Args:
        node: any node.
        sizes: what is known of the graph's sizes; these equalities are added.
    """
    if node.primitive.name not in IN_STEP:
        return
    first, second, paired = IN_STEP[node.primitive.name]
    a, b = node.operands[first], node.operands[second]
    for i, j in zip(*paired(node.attrs["axis"], len(a.shape), len(b.shape)), strict=True):
        one, other = sizes.of(a, i), sizes.of(b, j)
        if one != other:
            sizes.state(one, other)
            yield [AxisSize(first, i), AxisSize(second, j)]
