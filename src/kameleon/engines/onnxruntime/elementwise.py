"""Lowering rules of elementwise primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph.ir.node import Node
from ...graph.primitives.choices import needs_no_branch
from ...graph.primitives.constants import has_no_zero, known_number
from ...graph.primitives.division import divides_safely
from .._lowering import Rule
from .._names import names
from .lowering import OnnxLowering
from .model import ONNX_TYPES

L = OnnxLowering

# By primitive: the operator that does exactly the same.
OPERATORS = names(
    "neg=Neg abs=Abs exp=Exp log=Log sqrt=Sqrt sin=Sin cos=Cos tanh=Tanh"
    " floor=Floor ceil=Ceil round=Round bit_not=BitwiseNot bit_and=BitwiseAnd bit_or=BitwiseOr"
    " bit_xor=BitwiseXor mul=Mul pow=Pow is_nan=IsNaN logical_not=Not logical_and=And logical_or=Or"
    " maximum=Max minimum=Min eq=Equal lt=Less le=LessOrEqual gt=Greater ge=GreaterOrEqual"
)


def _operator(kind: str) -> Rule:
    return lambda lo, node, *xs: lo.op(kind, *xs)


def _expm1(lo: L, node: Node, x: str) -> Any:
    """tanh(x / 2) * (e**x + 1)"""
    half = lo.op("Tanh", lo.op("Mul", x, lo.scalar(0.5, node.dtype)))
    return lo.op("Mul", half, lo.op("Add", lo.op("Exp", x), lo.scalar(1, node.dtype)))


def _log1p(lo: L, node: Node, x: str) -> Any:
    """log(u) with u = 1 + x, corrected for what the sum lost: (x - (u - 1)) / u."""
    one = lo.scalar(1, node.dtype)
    u = lo.op("Add", x, one)
    back, log = lo.op("Sub", u, one), lo.op("Log", u)
    exact = lo.op("Equal", back, x)  # also where both are infinite
    correction = lo.op("Div", lo.op("Sub", x, back), u)
    return lo.op("Where", exact, log, lo.op("Add", log, correction))


def _sigmoid(lo: L, node: Node, x: str) -> Any:
    """1 / (1 + e**-x): the operator's numbers are exact near 1 alone."""
    one = lo.scalar(1, node.dtype)
    return lo.op("Reciprocal", lo.op("Add", one, lo.op("Exp", lo.op("Neg", x))))


def _divide(lo: L, node: Node, a: str, b: str) -> Any:
    """1 / x has an operator of its own: the optimiser puts (1 / x) * y together, and then may not
    find 1 / x for others that need it (ONNX Runtime 1.32).
    """
    one, x = node.operands
    whole = node.dtype.is_float and x.primitive.name != "broadcast_to"  # b has all elements
    return lo.op("Reciprocal", b) if whole and known_number(one) == 1 else lo.op("Div", a, b)


def _relu(lo: L, node: Node, x: str) -> Any:
    """The operator is fused with products, and may leave -0."""
    return lo.op("Abs", lo.op("Relu", x))


def _select(lo: L, node: Node, condition: str, a: str, b: str) -> Any:
    return chosen(lo, node.dtype, condition, a, b)


def chosen(lo: L, dtype: str, condition: str, a: str, b: str) -> Any:
    """a where the condition holds, else b; of floats as bits, for the operator loses the sign of
    a zero."""
    bits = {"float32": "int32", "float64": "int64"}.get(dtype)
    if bits is None or not lo.has_bitcast:
        return lo.op("Where", condition, a, b)
    given = (lo.op("BitCast", x, to=ONNX_TYPES[bits]) for x in (a, b))
    return lo.op("BitCast", lo.op("Where", condition, *given), to=ONNX_TYPES[dtype])


def _sign(lo: L, node: Node, x: str) -> Any:
    dtype = node.dtype
    if dtype != "int64":  # the operator looks at the lower half of an int64 alone
        return lo.op("Sign", x)
    zero = lo.scalar(0, dtype)
    above, below = (lo.cast(lo.op(k, x, zero), dtype) for k in ("Greater", "Less"))
    return lo.op("Sub", above, below)


def _ne(lo: L, node: Node, a: str, b: str) -> Any:
    return lo.op("Not", lo.op("Equal", a, b))


def _cast(lo: L, node: Node, x: str) -> str:
    """ONNX Runtime merges two casts into one, skipping the integers between: a mask wraps them."""
    (source,) = node.operands
    if node.dtype == "uint32" and source.primitive.name == "cast":
        x = lo.op("BitwiseAnd", x, lo.scalar(0xFFFFFFFF, "int64")) if source.dtype == "int64" else x
    return lo.cast(x, node.dtype)


def _bitcast(lo: L, node: Node, x: str) -> Any:
    same = node.operands[0].dtype == node.dtype
    return x if same else lo.op("BitCast", x, to=ONNX_TYPES[node.dtype])


# Numbers -----------------------------------------------------------------------------------


def _floor_div(lo: L, node: Node, a: str, b: str) -> Any:
    """The floor of a / b, of integers: the operator rounds towards 0."""
    dtype = node.dtype
    quotient = lo.op("Div", a, b)
    if dtype.kind == "unsigned":
        return quotient
    lower = _crossed(lo, dtype, lo.op("Sub", a, lo.op("Mul", quotient, b)), b)
    return lo.op("Sub", quotient, lo.cast(lower, dtype))


def _crossed(lo: L, dtype: str, rest: str, b: str) -> Any:
    """Where the remainder of a division isn't 0, and has another sign than b."""
    zero = lo.scalar(0, dtype)
    crossed = lo.op("Xor", lo.op("Less", rest, zero), lo.op("Less", b, zero))
    return lo.op("And", crossed, lo.op("Not", lo.op("Equal", rest, zero)))


def _mod(lo: L, node: Node, a: str, b: str) -> Any:
    """The remainder with the sign of b: of floats the operator's has the sign of a, also if 0."""
    dtype = node.dtype
    if not dtype.is_float:
        return lo.op("Mod", a, b)
    zero, rest = lo.scalar(0, dtype), lo.op("Mod", a, b, fmod=1)
    signed = chosen(lo, dtype, lo.op("Less", b, zero), lo.scalar(-0.0, dtype), zero)
    found = lo.op("Where", _crossed(lo, dtype, rest, b), lo.op("Add", rest, b), rest)
    return chosen(lo, dtype, lo.op("Equal", rest, zero), signed, found)


def _shift_left(lo: L, node: Node, a: str, b: str) -> str:
    return _shift(lo, node.dtype, a, b, "LEFT")


def _shift_right(lo: L, node: Node, a: str, b: str) -> Any:
    """The bits of a negative number are flipped, shifted, and flipped back."""
    dtype = node.dtype
    if dtype.kind == "unsigned":
        return _shift(lo, dtype, a, b, "RIGHT")
    negative = lo.op("Less", a, lo.scalar(0, dtype))
    flip = lo.op("Neg", lo.cast(negative, dtype))
    shifted = _shift(lo, dtype, lo.op("BitwiseXor", a, flip), b, "RIGHT")
    return lo.op("BitwiseXor", shifted, flip)


def _shift(lo: L, dtype: Any, a: str, b: str, direction: str) -> str:
    """A shift of unsigned integers, filled with zeros; the operator doesn't take 16 bits."""
    unsigned = "uint32" if dtype.itemsize == 2 else f"uint{8 * dtype.itemsize}"
    if unsigned != dtype:
        a, b = lo.cast(a, unsigned), lo.cast(b, unsigned)
    result: str = lo.op("BitShift", a, b, direction=direction)
    return result if unsigned == dtype else lo.cast(result, dtype)


RULES: dict[str, Rule] = {
    **{name: _operator(kind) for name, kind in OPERATORS.items()},
    "expm1": _expm1,
    "log1p": _log1p,
    "sigmoid": _sigmoid,
    "div": _divide,
    "relu": _relu,
    "select": _select,
    "sign": _sign,
    "ne": _ne,
    "cast": _cast,
    "bitcast": _bitcast,
    "floor_div": _floor_div,
    "mod": _mod,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
}
# A division of integers that fails ends the process.
WHERE: dict[str, Callable[[Node], bool]] = {
    "add": has_no_zero,
    # These operators look at the lower half of an int64 alone.
    **dict.fromkeys(("maximum", "minimum"), lambda node: node.dtype != "int64"),
    "floor_div": lambda node: node.dtype.is_integer and divides_safely(node),
    "mod": divides_safely,
    "pow": lambda node: node.dtype.is_float,
    "select": lambda node: not needs_no_branch(node),
}
