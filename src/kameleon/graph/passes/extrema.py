"""Extrema over axes that may have no elements, for engines whose kernels need one.

The docstring of the rule is its equation. It's applied where an engine says that its own rule holds
for nodes that are `of_some` alone (`Engine.where`).
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.node import Node
from ..ir.types import DType
from ..primitives.filling import greatest, least
from ..primitives.movement import pad

Rule = Callable[[Node], Node | None]


def of_some(node: Node) -> bool:
    """Whether a reduction is over one element at least, whatever the sizes are."""
    (x,) = node.operands
    margins = x.attrs["margins"] if x.primitive.name == "pad" else [(0, 0)] * len(x.shape)
    return all(x.shape[axis] or sum(margins[axis]) > 0 for axis in node.attrs["axes"])


def padded(node: Node, x: Node) -> Node:
    """max(pad(x, 1, the least value)), or min likewise: x may be the operand in a wider dtype."""
    axes, dtype = node.attrs["axes"], node.operands[0].dtype
    margins = [(0, int(i in axes and not d)) for i, d in enumerate(x.shape)]
    return node.primitive(pad(x, margins, EXTREMES[node.primitive.name](dtype)), axes=axes)


def _of_nothing_as_well(node: Node) -> Node | None:
    """max(x) -> max(pad(x, 1, the least value)); min likewise"""
    return None if of_some(node) else padded(node, node.operands[0])


EXTREMES: dict[str, Callable[[DType], float]] = {"reduce_max": least, "reduce_min": greatest}
"""What each is of no elements."""

RULES: dict[str, Rule] = dict.fromkeys(EXTREMES, _of_nothing_as_well)
