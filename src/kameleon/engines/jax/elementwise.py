"""Elementwise primitives in JAX, over operands that are first stretched to one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import FLOAT32, FLOAT64, TensorType
from ...graph.passes import arithmetic
from ...graph.primitives import elementwise as ew
from ...graph.primitives.constants import has_no_zero
from ...graph.primitives.division import divides_safely
from .._lowering import Rule
from .._names import names
from .arrays import on_processor
from .lowering import HOST, Tracing, Value, filled, joined, rounded

Function = Callable[..., Value]


def _rule(function: Function) -> Rule:
    def rule(e: Tracing, node: Node, *values: Value) -> Value:
        return function(*joined(*values))

    return rule


def _is_bool(x: Value) -> bool:
    return bool(x.dtype == np.bool_)


def _is_float(x: Value) -> bool:
    return not np.issubdtype(x.dtype, np.integer) and not _is_bool(x)


def _zero(x: Value) -> Any:
    return filled(x, 0)


def _mod(x: Value, y: Value) -> Value:
    """The remainder with the sign of y, also where it's 0."""
    found = jnp.remainder(x, y)
    return jnp.where(found == 0, jnp.copysign(found, y), found) if _is_float(x) else found


def _floor_div(e: Tracing, node: Node, x: Value, y: Value) -> Value:
    """The whole number below x / y."""
    x, y = joined(x, y)
    return _in_double(e, x, y) if _is_float(x) else jnp.floor_divide(x, y)


def _in_double(e: Tracing, x: Value, y: Value) -> Value:
    """x // y of float32, where quotients of float32 aren't rounded correctly."""
    given = [input_node(TensorType(np.shape(v), FLOAT32)) for v in (x, y)]
    quotient = arithmetic.floor_div(ew.floor_div(*(ew.cast(v, FLOAT64) for v in given)))
    assert quotient is not None
    return e.inner(Graph(given, [ew.cast(quotient, FLOAT32)]), [x, y])[0]


def _divides(node: Node) -> bool:
    """Whether quotients of integers are safe; XLA's of float32 on GPUs may be one bit off."""
    if node.dtype.is_integer:
        return divides_safely(node)
    return node.dtype == FLOAT32 and not on_processor()


def _shift_right(x: Value, n: Value) -> Value:
    signed = np.issubdtype(x.dtype, np.signedinteger)
    return (lax.shift_right_arithmetic if signed else lax.shift_right_logical)(x, n)


# By primitive, the function of `jax.lax` that does exactly the same.
LAX = names(
    "neg abs exp expm1 log log1p sqrt sin cos tanh floor ceil sigmoid=logistic"
    " logical_not=bitwise_not bit_not=bitwise_not add sub mul div pow maximum=max minimum=min"
    " eq ne lt le gt ge logical_and=bitwise_and logical_or=bitwise_or bit_and=bitwise_and"
    " bit_or=bitwise_or bit_xor=bitwise_xor shift_left select"
)
FUNCTIONS: dict[str, Function] = {
    **{name: getattr(lax, function) for name, function in LAX.items()},
    "sign": lambda x: lax.select(lax.eq(x, _zero(x)), _zero(x), lax.sign(x)),
    "square": lambda x: lax.mul(x, x),
    "round": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "is_nan": lambda x: lax.ne(x, x),
    "relu": lambda x: lax.select(lax.le(x, _zero(x)), _zero(x), x),
    "mod": _mod,
    "shift_right": _shift_right,
}


def _is_half(x: Value) -> bool:
    """Whether XLA leaves out the rounding to x: on processors it keeps that to bfloat16."""
    return bool(x.dtype == np.float16 or (x.dtype == "bfloat16" and not on_processor()))


def cast(e: Tracing, node: Node, x: Value) -> Value:
    """Numbers as another dtype; whatever isn't 0 is true."""
    if _is_half(x) and not isinstance(x, HOST):
        x = rounded(e, x)
    if node.dtype.is_bool and not _is_bool(x):
        return lax.ne(x, _zero(x))
    target = np.dtype(node.dtype)
    if node.dtype.is_float and _is_bool(x):
        # Bools become integers first: of y * float(bool) XLA makes a choice between y and 0, in
        # which NaN and infinity times 0 are 0.
        x = _converted(x, np.uint8)
    return _whole(x, target) if target.kind in "iu" and _is_float(x) else _converted(x, target)


_converted = lax.convert_element_type


def _whole(x: Value, target: np.dtype[Any]) -> Value:
    """Floats as integers of 32 or 64 bits; out of range JAX alone would give the nearest one."""
    x = _converted(x, np.float32) if x.dtype.itemsize < 4 else x
    if target.kind == "u":
        wrapped = _converted(_converted(x, np.int64), target)
        return lax.select(lax.lt(x, _zero(x)), wrapped, _converted(x, target))
    least = np.iinfo(target).min
    low, high = (filled(x, v) for v in (float(least), -float(least)))
    fits = lax.bitwise_and(lax.ge(x, low), lax.lt(x, high))
    found = _converted(x, target)
    return lax.select(fits, found, filled(found, least))


def bitcast(e: Tracing, node: Node, x: Value) -> Value:
    """The same bits; those of a bool are 0 and 1."""
    if isinstance(x, HOST):
        return np.asarray(x).view(node.dtype)
    if _is_bool(x):
        x = lax.convert_element_type(x, np.uint8)
    if node.dtype.is_bool:
        bits = lax.bitcast_convert_type(x, np.uint8)
        return lax.ne(bits, _zero(bits))
    return lax.bitcast_convert_type(x, np.dtype(node.dtype))


RULES: dict[str, Rule] = {
    **{name: _rule(function) for name, function in FUNCTIONS.items()},
    "floor_div": _floor_div,
    "cast": cast,
    "bitcast": bitcast,
}
WHERE: dict[str, Callable[[Node], bool]] = {
    "add": has_no_zero,
    "floor_div": _divides,
    "mod": divides_safely,
    "pow": lambda node: node.dtype.is_float,
}
