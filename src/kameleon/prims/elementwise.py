"""Elementwise primitives. Operands have equal shapes, and equal dtypes unless said otherwise.

Gradient rules read as a calculus table: `g` is the cotangent of the result `y`, then the
operands. Overflow wraps for integers; float results follow IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import DTypeError, GraphError
from ..ir.node import Node, frozen
from ..ir.primitive import CONSTANT, ZERO, Constant, Primitive
from ..ir.types import BOOL, INT32, INT64, DType, TensorType, as_dtype, join_shapes

FLOAT: Callable[[DType], bool] = lambda d: d.is_float  # noqa: E731
INTEGER: Callable[[DType], bool] = lambda d: d.is_integer  # noqa: E731
NUMBER: Callable[[DType], bool] = lambda d: not d.is_bool  # noqa: E731
BITS: Callable[[DType], bool] = lambda d: not d.is_float  # noqa: E731
LOGIC: Callable[[DType], bool] = lambda d: d.is_bool  # noqa: E731
ANY: Callable[[DType], bool] = lambda d: True  # noqa: E731
KIND_NAMES = {FLOAT: "floats", INTEGER: "integers", NUMBER: "numbers", BITS: "integers or bools"}
KIND_NAMES[LOGIC] = "bools"


def constant(value: Any, dtype: Any = None) -> Node:
    """A constant node that holds a private copy of `value`."""
    array = frozen(value, dtype)
    kind = as_dtype(array.dtype)
    return Node(CONSTANT, (), {"value": Constant(array)}, TensorType(array.shape, kind))


def full_like(x: Node, value: float) -> Node:
    """A tensor of the type of `x`, each element `value`."""
    from .movement import broadcast_to
    from .sizes import dims_of

    return broadcast_to(constant(value, x.dtype), dims_of(x))


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, full_like(x, factor))


def _same_type(
    name: str, allowed: Callable[[DType], bool], result: DType | None, count: int
) -> Any:
    def infer(*operands: Node) -> TensorType:
        if len(operands) != count:
            raise GraphError(f"{name} takes {count} operands, not {len(operands)}")
        first = operands[0].type
        dtype, shape = first.dtype, first.shape
        if not allowed(dtype):
            raise DTypeError(f"{name} is defined for {KIND_NAMES[allowed]}, not for {dtype}")
        for other in operands[1:]:
            if other.type != first:
                if other.type.dtype != dtype:
                    raise DTypeError(f"{name}: dtypes {dtype} and {other.dtype} differ; K.cast one")
                shape = join_shapes(shape, other.type.shape, name)
        return TensorType(shape, result or dtype)

    return infer


def elementwise(
    name: str,
    allowed: Callable[[DType], bool],
    gradient: Any,
    doc: str,
    result: DType | None = None,
    expand: Callable[..., Any] | None = None,
    title: str | None = None,
    operands: int = 1,
) -> Primitive:
    """Declare a primitive over so many operands of equal type; a gradient has a rule for each."""
    count = len(gradient) if isinstance(gradient, list) else operands
    infer = _same_type(name, allowed, result, count)
    return Primitive(name, infer, gradient, doc, expand, title, elementwise=True)


def zero_if_zero(g: Node, product: Node) -> Node:
    """`product`, but 0 where the cotangent `g` is: its other factor may be infinite there."""
    zero = full_like(g, 0)
    return select(eq(g, zero), zero, product)


# One operand -------------------------------------------------------------------------------

neg: Primitive = elementwise("neg", NUMBER, [lambda g, y, x: neg(g)], "-x")
abs = elementwise("abs", NUMBER, [lambda g, y, x: mul(g, sign(x))], "|x|; its gradient at 0 is 0")
sign: Primitive = elementwise("sign", NUMBER, ZERO, "-1, 0 or 1; NaN for NaN")
exp = elementwise("exp", FLOAT, [lambda g, y, x: mul(g, y)], "e**x")
expm1 = elementwise("expm1", FLOAT, [lambda g, y, x: mul(g, exp(x))], "e**x - 1, exact near 0")
log = elementwise(
    "log", FLOAT, [lambda g, y, x: zero_if_zero(g, div(g, x))], "natural logarithm; NaN for x < 0"
)
log1p = elementwise(
    "log1p",
    FLOAT,
    [lambda g, y, x: zero_if_zero(g, div(g, add(x, full_like(x, 1))))],
    "log(1 + x), exact near 0",
)
sqrt = elementwise(
    "sqrt",
    FLOAT,
    [lambda g, y, x: zero_if_zero(g, div(scaled(g, 0.5), y))],
    "square root; NaN for x < 0",
)
sin = elementwise("sin", FLOAT, [lambda g, y, x: mul(g, cos(x))], "sine")
cos: Primitive = elementwise("cos", FLOAT, [lambda g, y, x: neg(mul(g, sin(x)))], "cosine")
tanh = elementwise(
    "tanh", FLOAT, [lambda g, y, x: mul(g, sub(full_like(y, 1), mul(y, y)))], "hyperbolic tangent"
)
square = elementwise(
    "square",
    NUMBER,
    [lambda g, y, x: mul(scaled(g, 2), x)],  # g is often a number for all elements
    "x * x",
    expand=lambda x: mul(x, x),
)
floor = elementwise("floor", FLOAT, ZERO, "the largest whole number <= x")
ceil = elementwise("ceil", FLOAT, ZERO, "the smallest whole number >= x")
round = elementwise("round", FLOAT, ZERO, "the nearest whole number; half to even")
is_nan = elementwise("is_nan", FLOAT, ZERO, "whether x is not a number", result=BOOL)
logical_not = elementwise("logical_not", LOGIC, ZERO, "not x")
bit_not = elementwise("bit_not", INTEGER, ZERO, "all bits flipped")


# Two operands ------------------------------------------------------------------------------


def _pow_base(g: Node, y: Node, x: Node, a: Node) -> Node:
    return zero_if_zero(g, mul(g, mul(a, pow(x, sub(a, full_like(a, 1))))))


def _pow_exponent(g: Node, y: Node, x: Node, a: Node) -> Node:
    """`g * y * log(x)`, and 0 where x <= 0, where y isn't differentiable in a."""
    zero = full_like(x, 0)
    positive = gt(x, zero)
    safe = select(positive, x, full_like(x, 1))
    return select(positive, mul(g, mul(y, log(safe))), zero)


def _first_wins(better: Callable[[Node, Node], Node]) -> list[Any]:
    """At ties the whole cotangent goes to the first operand."""
    return [
        lambda g, y, a, b: select(better(a, b), g, full_like(g, 0)),
        lambda g, y, a, b: select(better(a, b), full_like(g, 0), g),
    ]


add: Primitive = elementwise(
    "add", ANY, [lambda g, y, a, b: g, lambda g, y, a, b: g], "a + b; or, of bools"
)
sub: Primitive = elementwise(
    "sub", NUMBER, [lambda g, y, a, b: g, lambda g, y, a, b: neg(g)], "a - b"
)
mul: Primitive = elementwise(
    "mul",
    ANY,
    [lambda g, y, a, b: mul(g, b), lambda g, y, a, b: mul(g, a)],
    "a * b; and, of bools",
)
div: Primitive = elementwise(
    "div",
    FLOAT,
    [lambda g, y, a, b: div(g, b), lambda g, y, a, b: neg(div(mul(g, y), b))],
    "a / b",
    title="truediv",
)
floor_div = elementwise(
    "floor_div",
    NUMBER,
    ZERO,
    "the largest whole number <= a / b, not rounded before; NaN where a is infinite;"
    " 0 for integers where b is 0",
    operands=2,
)
mod = elementwise(
    "mod",
    NUMBER,
    [lambda g, y, a, b: g, lambda g, y, a, b: neg(mul(g, floor_div(a, b)))],
    "a - b * floor(a / b): has the sign of b; 0 for integers where b is 0;"
    " engine-defined where a / b overflows",
)
pow = elementwise(
    "pow",
    NUMBER,
    [_pow_base, _pow_exponent],
    "a ** b; for integers where b < 0 an error, or a number that is engine-defined",
)
maximum = elementwise(
    "maximum",
    NUMBER,
    _first_wins(lambda a, b: ge(a, b)),
    "the larger one, of two zeros either; NaN if either is",
)
minimum = elementwise(
    "minimum",
    NUMBER,
    _first_wins(lambda a, b: le(a, b)),
    "the smaller one, of two zeros either; NaN if either is",
)
eq = elementwise("eq", ANY, ZERO, "a == b", result=BOOL, title="Equal", operands=2)
ne = elementwise("ne", ANY, ZERO, "a != b", result=BOOL, title="NotEqual", operands=2)
lt = elementwise("lt", ANY, ZERO, "a < b", result=BOOL, title="Less", operands=2)
le: Primitive = elementwise("le", ANY, ZERO, "a <= b", result=BOOL, title="LessEqual", operands=2)
gt = elementwise("gt", ANY, ZERO, "a > b", result=BOOL, title="Greater", operands=2)
ge: Primitive = elementwise(
    "ge", ANY, ZERO, "a >= b", result=BOOL, title="GreaterEqual", operands=2
)
logical_and = elementwise("logical_and", LOGIC, ZERO, "a and b", operands=2)
logical_or = elementwise("logical_or", LOGIC, ZERO, "a or b", operands=2)
bit_and = elementwise("bit_and", BITS, ZERO, "bitwise and", operands=2)
bit_or = elementwise("bit_or", BITS, ZERO, "bitwise or", operands=2)
bit_xor = elementwise("bit_xor", BITS, ZERO, "bitwise exclusive or", operands=2)
shift_left = elementwise(
    "shift_left", INTEGER, ZERO, "a * 2**b; engine-defined unless 0 <= b < bits", operands=2
)
shift_right = elementwise(
    "shift_right", INTEGER, ZERO, "floor(a / 2**b); engine-defined unless 0 <= b < bits", operands=2
)


# Mixed dtypes ------------------------------------------------------------------------------


def _infer_select(condition: Node, a: Node, b: Node) -> TensorType:
    if not condition.dtype.is_bool:
        raise DTypeError(f"select: the condition must be bool, not {condition.dtype}; K.cast it")
    if a.dtype != b.dtype:
        raise DTypeError(f"select: dtypes {a.dtype} and {b.dtype} differ; K.cast one")
    shape = join_shapes(a.shape, b.shape, "select")
    return TensorType(join_shapes(shape, condition.shape, "select"), a.dtype)


select: Primitive = Primitive(
    "select",
    _infer_select,
    [
        None,
        lambda g, y, c, a, b: select(c, g, full_like(g, 0)),
        lambda g, y, c, a, b: select(c, full_like(g, 0), g),
    ],
    "a where the condition holds, else b; the sign of a zero is engine-defined",
    title="Select",
    elementwise=True,
)


def _infer_cast(x: Node, *, dtype: DType) -> TensorType:
    return TensorType(x.shape, dtype)


_cast = Primitive(
    "cast",
    _infer_cast,
    [lambda g, y, x, dtype: cast(g, x.dtype) if dtype.is_float else None],
    "x as `dtype`: floats are truncated towards zero, integers wrap around; NaN, infinite and too"
    " large floats are the least int32 or int64 on x86-64, engine-defined as uint64 and elsewhere",
    elementwise=True,
)


# Integers that floats become by way of others, which then wrap around: processors have no
# instruction for them, and libraries do with what doesn't fit as they like.
BY_WAY_OF = {**dict.fromkeys(("int8", "uint8", "int16", "uint16"), INT32), "uint32": INT64}


def cast(x: Node, dtype: Any) -> Node:
    """`x` as `dtype`; `x` itself where it has that dtype.

    Floats become narrow integers by way of int32, and uint32 by way of int64: -1.5 is 255 as uint8.
    """
    dtype = as_dtype(dtype)
    if x.dtype.is_float and dtype in BY_WAY_OF:
        x = _cast(x, dtype=BY_WAY_OF[dtype])
    return x if x.dtype == dtype else _cast(x, dtype=dtype)


def _infer_bitcast(x: Node, *, dtype: DType) -> TensorType:
    if dtype.itemsize != x.dtype.itemsize:
        raise DTypeError(f"bitcast: {x.dtype} and {dtype} differ in size")
    if dtype.is_bool or x.dtype.is_bool:
        raise DTypeError("bitcast is defined for numbers: not all bits make a bool")
    return TensorType(x.shape, dtype)


bitcast = Primitive("bitcast", _infer_bitcast, ZERO, "the same bits read as `dtype`")


def clip_by(x: Node, low: Node, high: Node) -> Node:
    """`x` kept within bounds of its type; the gradient passes at exactly both bounds."""
    return minimum(maximum(x, low), high)
