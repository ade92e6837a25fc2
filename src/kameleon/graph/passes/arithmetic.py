"""Division, powers, negation and extrema for engines whose own rules would fail, or are missing.

The docstring of each rule is its equation. A rule is applied where an engine says that its own
rule doesn't hold for a node (`Engine.where`).
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.leaves import input_node
from ..ir.node import Node, Primitive
from ..ir.program import Graph
from ..ir.types import FLOAT32
from ..primitives import elementwise as ew
from ..primitives.constants import beside_zero, known_number
from ..primitives.control import while_
from ..primitives.division import divides_safely, harmful
from ..primitives.filling import full_like
from ..primitives.reduce import reduce_any

Rule = Callable[[Node], Node | None]


def floor_div(node: Node) -> Node | None:
    """a // b -> q, or -q where the signs of a and b differ, less 1 where r isn't 0, of floats;
    r: |a| mod |b|; q: (|a| - r) / |b|. The quotient is a / b where a or b is 0.

    a // b -> select(h, a * b, a // select(h, 1, b)), of integers; h: b is 0 or -1.
    """
    a, b = node.operands
    if not node.dtype.is_float:
        return None if divides_safely(node) else _guarded(a, b)
    if node.dtype.itemsize < FLOAT32.itemsize:
        wide = ew.floor_div(ew.cast(a, FLOAT32), ew.cast(b, FLOAT32))
        return ew.cast(wide, node.dtype)
    return _whole_quotient(a, b)


def _whole_quotient(a: Node, b: Node) -> Node:
    """a // b of floats: floor(a / b) would be too large where a / b is rounded up to a whole."""
    zero, sizes = full_like(a, 0), (ew.abs(a), ew.abs(b))
    rest = ew.mod(*sizes)
    # It is |b|; compilers that know it as a number would multiply by its reciprocal.
    divisor = ew.maximum(sizes[1], rest)
    whole = ew.round(ew.div(ew.sub(sizes[0], rest), divisor))
    differ = ew.ne(ew.lt(a, zero), ew.lt(b, zero))
    lower = ew.sub(ew.neg(whole), ew.cast(ew.ne(rest, zero), a.dtype))
    either = ew.logical_or(ew.eq(a, zero), ew.eq(b, zero))
    return ew.select(either, ew.div(a, b), ew.select(differ, lower, whole))


def _guarded(a: Node, b: Node) -> Node:
    quotient = ew.floor_div(a, ew.select(harmful(b), full_like(b, 1), b))
    return ew.select(harmful(b), ew.mul(a, b), quotient)


def mod(node: Node) -> Node | None:
    """a mod b -> a mod select(h, 1, b), of integers; h: b is 0 or -1."""
    a, b = node.operands
    if divides_safely(node):
        return None
    return ew.mod(a, ew.select(harmful(b), full_like(b, 1), b))


def power(node: Node) -> Node | None:
    """x ** a -> the product of those x ** (2 ** i) whose bit in a is set, of integers."""
    x, a = node.operands
    if node.dtype.is_float:
        return None
    exponent = known_number(a)
    if exponent is None or exponent < 0:
        return _squared_in_step(x, a)
    product: Node | None = None
    while exponent:
        if exponent & 1:
            product = x if product is None else ew.mul(product, x)
        exponent >>= 1
        x = ew.mul(x, x) if exponent else x
    return full_like(x, 1) if product is None else product


def _squared_in_step(x: Node, a: Node) -> Node:
    """x ** a, of tensors of integers: squaring goes on while some exponent has bits left."""
    start = (full_like(x, 1), x, a)
    product, base, rest = inputs = [input_node(s.type) for s in start]
    more = reduce_any(ew.gt(rest, full_like(rest, 0)), range(len(rest.shape)))
    one = full_like(rest, 1)
    odd = ew.eq(ew.bit_and(rest, one), one)
    after = [ew.select(odd, ew.mul(product, base), product), ew.mul(base, base)]
    after.append(ew.shift_right(rest, one))
    loop = while_(*start, condition=Graph(inputs, [more]), body=Graph(inputs, after), consts=0)
    return loop.results[0]


def neg(node: Node) -> Node | None:
    """-x -> ~x + 1, of unsigned integers"""
    (x,) = node.operands
    if node.dtype.kind != "unsigned":
        return None
    return ew.add(ew.bit_not(x), full_like(x, 1))


def sub(node: Node) -> Node | None:
    """a - b -> a + -b, of unsigned integers

    0 - x -> select(x = 0, 0, -x), of floats
    """
    a, b = node.operands
    if node.dtype.kind == "unsigned":
        return ew.add(a, ew.neg(b))
    x = beside_zero(node)
    return None if x is None else _with_plain_zeros(x, ew.neg(x))


def add(node: Node) -> Node | None:
    """x + 0 -> select(x = 0, 0, x), of floats: of -0.0, too, that's 0.0"""
    x = beside_zero(node)
    return None if x is None else _with_plain_zeros(x, x)


def chosen(comparison: Primitive) -> Rule:
    """max(a, b) -> select(a > b, a, b), of integers; min likewise"""

    def rule(node: Node) -> Node | None:
        a, b = node.operands
        return None if node.dtype.is_float else ew.select(comparison(a, b), a, b)

    return rule


def _with_plain_zeros(x: Node, other: Node) -> Node:
    zero = full_like(x, 0)
    return ew.select(ew.eq(x, zero), zero, other)


RULES: dict[str, Rule] = {
    "add": add,
    "floor_div": floor_div,
    "mod": mod,
    "pow": power,
    "neg": neg,
    "sub": sub,
    "maximum": chosen(ew.gt),
    "minimum": chosen(ew.lt),
}
