"""Choices without a branch: for engines whose own take longest where conditions are random.

A product of floats would keep infinities and NaN that aren't chosen; one of their bits drops them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.node import Node
from ..ir.types import FLOAT32, FLOAT64, INT32, INT64
from ..prims.constants import known_array
from ..prims.elementwise import bitcast, cast, logical_not, mul

# Floats, and integers of their size.
BITS = {FLOAT32: INT32, FLOAT64: INT64}
# Of fewer elements it isn't worth three more nodes.
LARGE = 1024


def keeps_or_drops(node: Node) -> bool:
    """Whether a choice is between a float and 0, of many elements."""
    _, *options = node.operands
    few = node.type.is_static and np.prod(np.array(node.shape)) < LARGE
    return node.dtype in BITS and not few and any(map(_is_zero, options))


def _is_zero(x: Node) -> bool:
    """Whether all bits are 0 for sure, also that of the sign."""
    known = known_array(x)
    return known is not None and known.size == 1 and not any(known.tobytes())


def select(node: Node) -> Node | None:
    """select(c, x, 0) -> float(bits(x) * c), and select(c, 0, x) -> select(not c, x, 0)"""
    if not keeps_or_drops(node):
        return None
    condition, x, other = node.operands
    if not _is_zero(other):
        condition, x = logical_not(condition), other
    bits = _bits(x)
    return bitcast(mul(bits, cast(condition, bits.dtype)), dtype=node.dtype)


def _bits(x: Node) -> Node:
    """The bits of floats as integers; broadcasts stay outermost, for engines to elide."""
    if x.primitive.name == "broadcast_to":
        return x.primitive(_bits(x.operands[0]), *x.operands[1:], **x.attrs)
    return bitcast(x, dtype=BITS[x.dtype])


RULES: dict[str, Callable[[Node], Node | None]] = {"select": select}
