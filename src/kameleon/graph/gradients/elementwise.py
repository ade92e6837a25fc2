"""Gradients of elementwise primitives: a calculus table.

`g` is the cotangent of the result `y`; then come the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.node import Node
from ..primitives.control import with_gradient
from ..primitives.elementwise import (
    add,
    cast,
    cos,
    div,
    eq,
    exp,
    floor_div,
    ge,
    gt,
    le,
    log,
    mul,
    neg,
    pow,
    select,
    sign,
    sin,
    sub,
)
from ..primitives.filling import number_like, scaled
from ..primitives.special import sigmoid
from .rules import Rule, Slope, flat


def _identity_vjp(g: Node) -> Sequence[Node]:
    return (g,)


def _zero_if_zero(g: Node, product: Node) -> Node:
    """`product`, but 0 where the cotangent `g` is 0: its other factor may be infinite there.

    The gradient of this is still that of the product, which is linear in `g`, at 0 as elsewhere.
    """
    zero = number_like(g, 0)
    masked = select(eq(g, zero), zero, product)
    return with_gradient(masked, product, rule=_identity_vjp)


def _pow_base(g: Node, y: Node, x: Node, a: Node) -> Node:
    return _zero_if_zero(g, mul(g, mul(a, pow(x, sub(a, number_like(a, 1))))))


def _pow_exponent(g: Node, y: Node, x: Node, a: Node) -> Node:
    """`g * y * log(x)`, and 0 where x <= 0, where y isn't differentiable in a."""
    zero = number_like(x, 0)
    positive = gt(x, zero)
    safe = select(positive, x, number_like(x, 1))
    return select(positive, mul(g, mul(y, log(safe))), zero)


def _first_wins(better: Callable[[Node, Node], Node]) -> list[Slope | None]:
    """At ties the whole cotangent goes to the first operand."""
    return [
        lambda g, y, a, b: select(better(a, b), g, number_like(g, 0)),
        lambda g, y, a, b: select(better(a, b), number_like(g, 0), g),
    ]


RULES: dict[str, Rule] = {
    # One operand
    "neg": [lambda g, y, x: neg(g)],
    "abs": [lambda g, y, x: mul(g, sign(x))],
    "exp": [lambda g, y, x: mul(g, y)],
    "expm1": [lambda g, y, x: mul(g, exp(x))],
    "log": [lambda g, y, x: _zero_if_zero(g, div(g, x))],
    "log1p": [lambda g, y, x: _zero_if_zero(g, div(g, add(x, number_like(x, 1))))],
    "sqrt": [lambda g, y, x: _zero_if_zero(g, div(scaled(g, 0.5), y))],
    "sin": [lambda g, y, x: mul(g, cos(x))],
    "cos": [lambda g, y, x: neg(mul(g, sin(x)))],
    "tanh": [lambda g, y, x: mul(g, sub(number_like(y, 1), mul(y, y)))],
    "square": [lambda g, y, x: mul(scaled(g, 2), x)],  # 2 g first: g is often one number
    "sigmoid": [lambda g, y, x: mul(g, mul(y, sub(number_like(y, 1), y)))],
    "softplus": [lambda g, y, x: mul(g, sigmoid(x))],
    "relu": [lambda g, y, x: select(gt(y, number_like(y, 0)), g, number_like(g, 0))],
    "elu": [
        lambda g, y, x: select(gt(x, number_like(x, 0)), g, mul(g, add(y, number_like(y, 1)))),
    ],
    "cast": [lambda g, y, x, dtype: cast(g, x.dtype) if dtype.is_float else None],
    # Two operands
    "add": [lambda g, y, a, b: g, lambda g, y, a, b: g],
    "sub": [lambda g, y, a, b: g, lambda g, y, a, b: neg(g)],
    "mul": [lambda g, y, a, b: mul(g, b), lambda g, y, a, b: mul(g, a)],
    "div": [lambda g, y, a, b: div(g, b), lambda g, y, a, b: neg(div(mul(g, y), b))],
    "mod": [lambda g, y, a, b: g, lambda g, y, a, b: neg(mul(g, floor_div(a, b)))],
    "pow": [_pow_base, _pow_exponent],
    "maximum": _first_wins(ge),
    "minimum": _first_wins(le),
    "select": [
        None,
        lambda g, y, c, a, b: select(c, g, number_like(g, 0)),
        lambda g, y, c, a, b: select(c, number_like(g, 0), g),
    ],
    **flat("sign floor ceil round is_nan floor_div eq ne lt le gt ge bitcast"),
    **flat("logical_not logical_and logical_or bit_not bit_and bit_or bit_xor"),
    **flat("shift_left shift_right random_bits random_fold"),
}
