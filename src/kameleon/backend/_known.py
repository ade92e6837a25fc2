"""Integers that a graph computes from what is known before it runs.

`K.shape(x)[1] * 2` is a node, yet its value is known where the size of that axis is known: shapes
built from such nodes are as static as those written out in numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from ..graph.ir.leaves import CONSTANT
from ..graph.ir.node import Node

# Arithmetic that is nested deeper than this is left to run time.
MAX_DEPTH = 14

Found = int | None

BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floor_div": operator.floordiv,
    "mod": operator.mod,
    "maximum": max,
    "minimum": min,
}
SAME = frozenset({"reshape", "cast", "identity", "stop_gradient"})


def known_int(node: Node) -> Found:
    """The value of an integer scalar, where it doesn't depend on anything fed or stored."""
    return _element(node, 0, MAX_DEPTH) if node.dtype.is_integer else None


def _element(node: Node, index: int, depth: int) -> Found:
    """Element number `index` (row-major) of an integer tensor with at most one axis."""
    name = node.primitive.name
    if depth == 0 or not node.dtype.is_integer or len(node.shape) > 1:
        return None
    if node.primitive is CONSTANT:
        return int(node.attrs["value"].array.flat[index])
    if name == "neg":
        value = _element(node.operands[0], index, depth - 1)
        return None if value is None else -value
    if name in BINARY:
        return _of_two(node, index, depth)
    found = _copied(node, index)
    return _element(*found, depth - 1) if found else None


def scalar_behind(node: Node) -> Node | None:
    """The scalar of which an integer scalar is a copy, through vectors in between."""
    found: Node | None = None
    step: tuple[Node, int] | None = (node, 0)
    while step and step[0].dtype.is_integer and len(step[0].shape) < 2:
        found = step[0] if not step[0].shape else found
        step = _copied(*step)
    return found


def _copied(node: Node, index: int) -> tuple[Node, int] | None:
    """What an element is a copy of: a tensor, and the number of an element in it."""
    name = node.primitive.name
    if name in SAME:
        return node.operands[0], index
    if name == "broadcast_to":
        single = node.operands[0].shape in ((), (1,))
        return node.operands[0], 0 if single else index
    place = PLACES.get(name)
    return place(node, index) if place else None


def _of_two(node: Node, index: int, depth: int) -> Found:
    a, b = (_element(x, index, depth - 1) for x in node.operands)
    if a is None or b is None or (b == 0 and node.primitive.name in ("floor_div", "mod")):
        return None
    return BINARY[node.primitive.name](a, b)


def _in_slice(node: Node, index: int) -> tuple[Node, int] | None:
    (x,), (window,) = node.operands, node.attrs["windows"]
    if x.shape[0] is None:
        return None
    return x, range(*slice(*window).indices(x.shape[0]))[index]


def _in_parts(node: Node, index: int) -> tuple[Node, int] | None:
    for part in node.operands:
        size = part.shape[0]
        if size is None:
            return None
        if index < size:
            return part, index
        index -= size
    return None


def _in_gathered(node: Node, index: int) -> tuple[Node, int] | None:
    x, places = node.operands
    if len(x.shape) != 1 or (at := _element(places, index, MAX_DEPTH)) is None or at < 0:
        return None
    return x, at


# By primitive: from which operand, and from which of its elements, an element of the result comes.
PLACES: dict[str, Callable[[Node, int], tuple[Node, int] | None]] = {
    "slice": _in_slice,
    "concatenate": _in_parts,
    "gather": _in_gathered,
}
