"""Broadcast elision: elementwise operations of engines stretch their operands themselves.

A broadcast is a node of its own in the graph. Where another operand has the full size, the
engine's own broadcasting suffices, and the node is never computed; what is left is to compare the
sizes that aren't provably equal (`agreement.unproven`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir.node import Node
from ..primitives.constants import bare


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
    if any(b.shape == node.shape for b in found):
        return found
    for axis in range(len(node.shape)):
        if all(stretches(b, axis, node) for b in found):
            found[0] = operands[0]
    return found


def stretches(b: Node, axis: int, node: Node) -> bool:
    """Whether `b` has to be stretched along an axis of `node`."""
    at = axis - len(node.shape) + len(b.shape)
    return at < 0 or (b.shape[at] == 1 and node.shape[axis] != 1)


def size_operand(x: Node, axis: int) -> Node:
    """The scalar that says how far a chain of broadcasts stretches an axis."""
    shape = x.attrs["shape"]
    if shape[axis] is None:
        return x.operands[len(x.operands) - sum(d is None for d in shape[axis:])]
    inner = x.operands[0]
    return size_operand(inner, axis - len(shape) + len(inner.shape))
