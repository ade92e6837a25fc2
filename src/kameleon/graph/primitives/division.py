"""Divisors and exponents of integers that no engine takes as another does, and their guards."""

from __future__ import annotations

import numpy as np

from ..ir.node import Node
from .constants import bare, known_array, known_number
from .control import check
from .elementwise import eq, ge, logical_or, pow
from .filling import full_like


def harmful(b: Node) -> Node:
    """Where an integer divisor is 0; or -1, for the least integer divided by -1 overflows."""
    found = eq(b, full_like(b, 0))
    return logical_or(found, eq(b, full_like(b, -1))) if b.dtype.kind == "signed" else found


def divides_safely(node: Node) -> bool:
    """Whether a division or a remainder is of floats, or its divisor is surely not `harmful`: it's
    a constant, or is guarded.
    """
    b = node.operands[1]
    if b.dtype.is_float:
        return True
    array = known_array(b)
    if array is not None:
        return not np.isin(array.astype("int64"), (0, -1)).any()
    return is_guarded(bare(b))


def checked_power(a: Node, b: Node) -> Node:
    """a ** b; an error at run time where an exponent of integers is negative."""
    known = known_array(b)
    if b.dtype.kind == "signed" and (known is None or known.min(initial=0) < 0):
        message = "Integers to negative integer powers are not allowed"
        b = check(b, ge(b, full_like(b, 0)), message=message)
    return pow(a, b)


def is_guarded(b: Node) -> bool:
    """Whether a divisor is select(harmful(x), 1, x)."""
    if b.primitive.name != "select" or known_number(b.operands[1]) != 1:
        return False
    test, _, x = map(bare, b.operands)
    return any(_is_zero_test(t, x) for t in (test, *test.operands))


def _is_zero_test(test: Node, x: Node) -> bool:
    test = bare(test)
    if test.primitive.name != "eq":
        return False
    left, right = test.operands
    return bare(left) is x and known_number(right) == 0
