"""Choices without a branch: for engines whose own take longest where conditions are random.

Floats are chosen as bits: products of floats would keep infinities and NaN that aren't chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.node import Node
from ..ir.types import FLOAT32, FLOAT64, INT32, INT64
from ..prims.constants import known_array
from ..prims.division import is_guarded
from ..prims.elementwise import add, bitcast, cast, logical_not, mul, sub

# Integers of the size of floats.
BITS = {FLOAT32: INT32, FLOAT64: INT64}
# Of fewer elements it isn't worth three more nodes.
LARGE = 1024


def needs_no_branch(node: Node) -> bool:
    """Whether a choice, of many elements, is between integers of 8 bits or a float and 0. (What
    guards a divisor stays: it's known by its form.)
    """
    _, a, b = node.operands
    if node.type.is_static and np.prod(np.array(node.shape)) < LARGE:
        return False
    if node.dtype.is_integer:
        return node.dtype.itemsize == 1 and not is_guarded(node)
    return node.dtype in BITS and (_is_zero(a) or _is_zero(b))


def _is_zero(x: Node) -> bool:
    """Whether all bits are 0 for sure, also that of the sign."""
    known = known_array(x)
    return known is not None and known.size == 1 and not any(known.tobytes())


def select(node: Node) -> Node | None:
    """select(c, a, b) -> b + (a - b) * c, of integers

    select(c, x, 0) -> float(bits(x) * c), and select(c, 0, x) -> select(not c, x, 0), of floats
    """
    condition, a, b = node.operands
    if not needs_no_branch(node):
        return None
    if node.dtype.is_integer:
        return add(b, mul(sub(a, b), cast(condition, node.dtype)))
    if not _is_zero(b):
        condition, a = logical_not(condition), b
    bits = _bits(a)
    return bitcast(mul(bits, cast(condition, bits.dtype)), dtype=node.dtype)


def _bits(x: Node) -> Node:
    """The bits of floats as integers; broadcasts stay outermost, for engines to elide."""
    if x.primitive.name == "broadcast_to":
        return x.primitive(_bits(x.operands[0]), *x.operands[1:], **x.attrs)
    return bitcast(x, dtype=BITS[x.dtype])


RULES: dict[str, Callable[[Node], Node | None]] = {"select": select}
