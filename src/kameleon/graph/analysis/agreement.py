"""Symbolic dimensions that a graph takes as equal, in groups: what dimension guards compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.sizes import Root, Sizes
from ..primitives.constants import bare
from ..primitives.movement import kept_axes
from ..primitives.sizes import size_origin
from .broadcasts import AxisSize, Read, bare_operands, size_operand, stretches

# A size of an input, as (input, axis), and what it must be equal to: another size, or a number.
Equality = tuple[tuple[Node, int], Any]


def sizes_of(graph: Graph) -> Sizes:
    """What is known of a graph's sizes before it runs, with what a guard has compared."""
    sizes = Sizes(size_origin)
    sizes.state_equal(graph.inputs, graph.equal)
    return sizes


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


def agreed_sizes(graph: Graph) -> Sizes:
    """What is known of a graph's sizes once a guard has compared those of inputs that meet."""
    sizes = sizes_of(graph)
    for _ in equalities(graph, sizes):
        pass
    return sizes


def _taken_as_equal(node: Node, sizes: Sizes) -> Iterator[list[Root]]:
    """Groups of sizes that a node takes as equal, each without repetition."""
    if node.primitive.elementwise:
        for axis in range(len(node.shape)):
            yield list(dict.fromkeys(sizes.of(x, axis) for x in node.operands))
    elif node.primitive.name == "broadcast_to":
        for i, _, asked in kept_axes(node):
            yield list(dict.fromkeys((sizes.of(node.operands[0], i), sizes.of_scalar(asked))))


# What a node takes as equal ------------------------------------------------------------------


def unproven(node: Node, sizes: Sizes) -> tuple[Sequence[Node], Iterator[list[Read]]]:
    """Sizes that a node takes as equal, and that might not be.

    Args:
        node: any node.
        sizes: what is known of the graph; it learns of each group that it holds once the next one
            is asked for.

    Returns:
        Nodes, and groups of sizes to compare: an `AxisSize` is one of those nodes'. They are the
        operands; without broadcasts, where an engine's own broadcasting takes their place.
    """
    if node.primitive.elementwise:
        operands = bare_operands(node)
        is_known = all(x.type.is_static for x in node.operands)
        return operands, iter(()) if is_known else _stretched(node, operands, sizes)
    if node.primitive.name == "broadcast_to":
        return [bare(node)], _broadcast(node, sizes)
    steps = IN_STEP.get(node.primitive.name)
    return node.operands, _in_step(node, steps(node), sizes) if steps else iter(())


def _stretched(node: Node, operands: list[Node], sizes: Sizes) -> Iterator[list[Read]]:
    """The axes of an elementwise node, whose operands are stretched by the engine."""
    for axis in range(len(node.shape)):
        roots = dict.fromkeys(sizes.of(x, axis) for x in node.operands)
        if len(roots) < 2:
            continue
        reads: list[Read] = []
        for i, (x, b) in enumerate(zip(node.operands, operands, strict=True)):
            known = x.shape[axis]
            if known is not None:
                reads.append(known)
            elif stretches(b, axis, node):
                reads.append(size_operand(x, axis))
            else:
                reads.append(AxisSize(i, axis - len(node.shape)))
        distinct = list(dict.fromkeys(reads))
        if len(distinct) > 1:
            yield distinct
        base = next(iter(roots))
        for root in roots:
            sizes.state(root, base)


def _broadcast(node: Node, sizes: Sizes) -> Iterator[list[Read]]:
    """The axes that a broadcast keeps, and the sizes that it was asked for."""
    x, b = node.operands[0], bare(node)
    for i, _, asked in kept_axes(node):
        own, wanted = sizes.of(x, i), sizes.of_scalar(asked)
        if own == wanted:
            continue
        if isinstance(own, int):
            yield [own, asked]
        elif stretches(b, i, x):
            yield [size_operand(x, i), asked]
        else:
            yield [AxisSize(0, i - len(x.shape)), asked]
        sizes.state(own, wanted)


def _in_step(
    node: Node, steps: Iterable[tuple[AxisSize, AxisSize]], sizes: Sizes
) -> Iterator[list[Read]]:
    """The axes of different operands that run in step."""
    for first, second in steps:
        one, other = (sizes.of(node.operands[x.operand], x.axis) for x in (first, second))
        if one != other:
            yield [first, second]
            sizes.state(one, other)


# Axes in step ------------------------------------------------------------------------------

Steps = Callable[[Node], Iterable[tuple[AxisSize, AxisSize]]]
# Given the attribute `axis` and the ranks of two operands, the axes of each that run in step.
Paired = Callable[[int, int, int], tuple[Iterable[int], Iterable[int]]]


def _along_axis(first: int, second: int, paired: Paired) -> Steps:
    """The steps of two operands of a primitive that works along an axis."""

    def steps(node: Node) -> Iterator[tuple[AxisSize, AxisSize]]:
        ranks = (len(node.operands[x].shape) for x in (first, second))
        for i, j in zip(*paired(node.attrs["axis"], *ranks), strict=True):
            yield AxisSize(first, i), AxisSize(second, j)

    return steps


def _all(axis: int, a: int, b: int) -> tuple[Iterable[int], Iterable[int]]:
    return range(a), range(b)


def _all_but(axis: int, rank: int) -> list[int]:
    return [i for i in range(rank) if i != axis]


def _batches(node: Node) -> Iterator[tuple[AxisSize, AxisSize]]:
    for i, j in zip(*node.attrs["batch"], strict=True):
        yield AxisSize(0, i), AxisSize(1, j)


def _lengths(node: Node) -> Iterator[tuple[AxisSize, AxisSize]]:
    first = node.attrs["consts"] + node.attrs["carry"]
    for other in range(first + 1, len(node.operands)):
        yield AxisSize(first, 0), AxisSize(other, 0)


def _channels(node: Node) -> Iterator[tuple[AxisSize, AxisSize]]:
    rank = node.attrs["window"].rank
    yield AxisSize(0, rank + 1), AxisSize(1, rank)


# By name of a primitive that isn't elementwise. Axes that are summed in pairs, and those of parts
# that are joined, aren't here: every library compares their sizes itself, and stretches none.
IN_STEP: dict[str, Steps] = {
    **dict.fromkeys(("cumprod_slope", "linear_scan", "put_along"), _along_axis(0, 1, _all)),
    "softmax_crossentropy": _along_axis(1, 2, _all),
    "take_along": _along_axis(0, 1, lambda axis, a, b: (_all_but(axis, a),) * 2),
    "minus_one_hot": _along_axis(0, 1, lambda axis, a, b: (_all_but(axis, a), range(b))),
    "sparse_softmax_crossentropy": _along_axis(
        1, 2, lambda axis, a, b: (_all_but(axis, a), range(b))
    ),
    "scatter_add": _along_axis(0, 1, lambda axis, a, b: (range(axis, axis + b), range(b))),
    "contract": _batches,
    "scan": _lengths,
    "conv": _channels,
}
