"""Broadcast elision: elementwise operations of engines stretch their operands themselves.

A broadcast is a node of its own in the graph. Where another operand has the full size, the
engine's own broadcasting suffices, and the node is never computed; what is left is to compare the
sizes that aren't provably equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..ir.node import Node
from ..ir.sizes import Sizes
from ..prims.constants import bare
from ..prims.movement import kept_axes


class AxisSize(NamedTuple):
    """The size of an axis (negative: counted from the end) of an operand's value."""

    operand: int
    axis: int


# A size to compare: a known number, the scalar operand of a broadcast, or an operand's axis.
Read = int | Node | AxisSize


def bare_operands(node: Node, operands: Sequence[Node] | None = None) -> list[Node]:
    """The operands of an elementwise node without broadcasts; some operand has each full size.

    An engine that computes the node over other operands than the node's own gives `operands`.
    """
    operands = node.operands if operands is None else operands
    found = [bare(x) for x in operands]
    for axis in range(len(node.shape)):
        if all(_stretches(b, axis, node) for b in found):
            found[0] = operands[0]
    return found


def unproven(node: Node, operands: list[Node], sizes: Sizes) -> Iterator[list[Read]]:
    """Sizes that must be equal and might not be: a list for each axis where there are any.

    Args:
        node: an elementwise node.
        operands: its `bare_operands`.
        sizes: what is known of the graph's sizes; these equalities are added.
    """
    for axis in range(len(node.shape)):
        roots = dict.fromkeys(sizes.of(x, axis) for x in node.operands)
        if len(roots) < 2:
            continue
        reads: list[Read] = []
        for i, (x, b) in enumerate(zip(node.operands, operands, strict=True)):
            known = x.shape[axis]
            if known is not None:
                reads.append(known)
            elif _stretches(b, axis, node):
                reads.append(_size_operand(x, axis))
            else:
                reads.append(AxisSize(i, axis - len(node.shape)))
        distinct = list(dict.fromkeys(reads))
        if len(distinct) > 1:
            yield distinct
        base = next(iter(roots))
        for root in roots:
            sizes.state(root, base)


def unproven_broadcast(node: Node, sizes: Sizes) -> Iterator[list[Read]]:
    """Like `unproven`, for a broadcast; axes are those of `bare(node)`."""
    x, b = node.operands[0], bare(node)
    for i, _, asked in kept_axes(node):
        own, wanted = sizes.of(x, i), sizes.of_scalar(asked)
        if own == wanted:
            continue
        sizes.state(own, wanted)
        if isinstance(own, int):
            yield [own, asked]
        elif _stretches(b, i, x):
            yield [_size_operand(x, i), asked]
        else:
            yield [AxisSize(0, i - len(x.shape)), asked]


def _stretches(b: Node, axis: int, node: Node) -> bool:
    at = axis - len(node.shape) + len(b.shape)
    return at < 0 or (b.shape[at] == 1 and node.shape[axis] != 1)


def _size_operand(x: Node, axis: int) -> Node:
    """The scalar that says how far a chain of broadcasts stretches an axis."""
    shape = x.attrs["shape"]
    if shape[axis] is None:
        return x.operands[len(x.operands) - sum(d is None for d in shape[axis:])]
    inner = x.operands[0]
    return _size_operand(inner, axis - len(shape) + len(inner.shape))
