"""`select` without a branch, for engines whose own is slowest where conditions are random.

Floats are chosen as bits: products of floats would keep infinities and NaN that aren't chosen.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.node import Node
from ..primitives.choices import SAME_WIDTH, needs_no_branch
from ..primitives.constants import is_zero
from ..primitives.elementwise import add, bitcast, cast, logical_not, mul, sub


def select(node: Node) -> Node | None:
    """select(c, a, b) -> b + (a - b) * c, of integers

    select(c, x, 0) -> float(bits(x) * c), and select(c, 0, x) -> select(not c, x, 0), of floats
    """
    condition, a, b = node.operands
    if not needs_no_branch(node):
        return None
    if node.dtype.is_integer:
        return add(b, mul(sub(a, b), cast(condition, node.dtype)))
    if not is_zero(b):
        condition, a = logical_not(condition), b
    bits = bitcast(a, dtype=SAME_WIDTH[a.dtype])
    return bitcast(mul(bits, cast(condition, bits.dtype)), dtype=node.dtype)


RULES: dict[str, Callable[[Node], Node | None]] = {"select": select}
