"""Interval analysis: the least and the largest value that elements of a tensor can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..ir.leaves import CONSTANT
from ..ir.node import ITEM, Node

Range = tuple[float, float]
ALL: Range = (-math.inf, math.inf)
UNIT: Range = (0.0, 1.0)
SIGNED_UNIT: Range = (-1.0, 1.0)

# How many operations the analysis looks back.
DEPTH = 12


def range_of(node: Node, given: Mapping[Node, Node]) -> Range:
    """The least and the largest value that elements of `node` can have, NaN aside.

    Args:
        node: a tensor.
        given: for parameters of a loop's body, the sequences that their slices are taken from.
    """
    return _range(node, given, DEPTH, {})


def _range(
    node: Node, given: Mapping[Node, Node], depth: int, found: dict[tuple[Node, int], Range]
) -> Range:
    """`range_of`, looking `depth` operations back; `found` keeps what was found on other paths."""
    if not depth:
        return ALL
    node = given.get(node, node)
    key = node, depth
    if key not in found:
        found[key] = _by_making(node, given, depth - 1, found)
    return found[key]


def _by_making(
    node: Node, given: Mapping[Node, Node], depth: int, found: dict[tuple[Node, int], Range]
) -> Range:
    name = node.primitive.name
    if name in KNOWN:
        return KNOWN[name]
    if name in RULES:
        return RULES[name](node, lambda n: _range(n, given, depth, found))
    if node.primitive is ITEM and node.operands[0].primitive.name == "scan":
        loop, index = node.operands[0], node.attrs["index"]
        if index >= loop.attrs["carry"]:
            return _range(loop.attrs["body"].outputs[index], {}, depth, {})
    return ALL


def is_within_one(node: Node, given: Mapping[Node, Node]) -> bool:
    """Whether all elements lie between -1 and 1: see `range_of`."""
    low, high = range_of(node, given)
    return low >= -1 and high <= 1


Of = Callable[[Node], Range]


def _constant(node: Node, of: Of) -> Range:
    array = node.attrs["value"].array
    if array.size != 1 or not node.dtype.is_float:
        return ALL
    value = float(array.item())
    return (value, value) if math.isfinite(value) else ALL


def _same(node: Node, of: Of) -> Range:
    return of(node.operands[0])


def _difference(node: Node, of: Of) -> Range:
    (low, high), (least, most) = map(of, node.operands)
    return low - most, high - least


def _product(node: Node, of: Of) -> Range:
    a, b = map(of, node.operands)
    if not all(map(math.isfinite, (*a, *b))):
        return ALL
    ends = [x * y for x in a for y in b]
    if node.operands[0] is node.operands[1]:
        return (0.0 if a[0] < 0 < a[1] else min(ends), max(ends))
    return min(ends), max(ends)


KNOWN: dict[str, Range] = {
    "sigmoid": UNIT,
    "softmax": UNIT,
    "tanh": SIGNED_UNIT,
    "sin": SIGNED_UNIT,
    "cos": SIGNED_UNIT,
    "sign": SIGNED_UNIT,
}
RULES: dict[str, Callable[[Node, Of], Range]] = {
    CONSTANT.name: _constant,
    "sub": _difference,
    "mul": _product,
    **dict.fromkeys(("broadcast_to", "reshape", "transpose", "slice", "reverse"), _same),
}
