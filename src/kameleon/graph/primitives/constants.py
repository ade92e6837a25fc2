"""Which constant a node is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.leaves import CONSTANT
from ..ir.node import Node


def bare(x: Node) -> Node:
    """The node that a chain of broadcasts stretches."""
    while x.primitive.name == "broadcast_to":
        x = x.operands[0]
    return x


def known_array(node: Node) -> Any:
    """The array of a constant, also of one that is broadcast; None for any other node."""
    node = bare(node)
    return node.attrs["value"].array if node.primitive is CONSTANT else None


def has_no_reciprocal(array: Any) -> bool:
    """Whether compilers that multiply by 1 / x in place of a division by x would multiply by 0."""
    if array.dtype.kind != "f" or array.size != 1:
        return False
    least = np.finfo(array.dtype).tiny
    return bool(np.isfinite(array).all() and (np.abs(array) * least > 1).all())


def known_number(node: Node) -> Any:
    """The number that a constant holds in all places, as Python's own; else None."""
    array = known_array(node)
    return array.item() if array is not None and array.size == 1 else None


def is_zero(node: Node) -> bool:
    """Whether all bits are 0 for sure, the sign bit among them."""
    known = known_array(node)
    return known is not None and known.size == 1 and not any(known.tobytes())


def beside_zero(node: Node) -> Node | None:
    """x, where a node is x + 0, 0 + x or 0 - x of floats, with the type of x; else None.

    Of -0.0 or 0.0 these are 0.0. Optimisers that take them for x or -x get the sign wrong.
    """
    if not node.dtype.is_float:
        return None
    a, b = node.operands
    pairs = [(a, b), (b, a)] if node.primitive.name == "add" else [(b, a)]
    return next((x for x, zero in pairs if is_zero(zero) and x.type == node.type), None)


def has_no_zero(node: Node) -> bool:
    """Whether a sum or a difference isn't one of those; see `beside_zero`."""
    return beside_zero(node) is None
