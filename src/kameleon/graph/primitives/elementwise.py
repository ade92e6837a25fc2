"""Elementwise primitives. Operands have equal shapes, and equal dtypes unless said otherwise.

Overflow wraps for integers; float results follow IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import DTypeError, GraphError
from ..ir.leaves import CONSTANT, Constant
from ..ir.node import Node, Primitive, frozen
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
        is_first = shape is first.shape and result is None
        return first if is_first else TensorType(shape, result or dtype)

    return infer


def elementwise(
    name: str,
    allowed: Callable[[DType], bool],
    doc: str,
    result: DType | None = None,
    expand: Callable[..., Any] | None = None,
    title: str | None = None,
    operands: int = 1,
    **facts: Any,
) -> Primitive:
    """Declare a primitive over `operands` (how many) operands of equal type; see `Primitive`."""
    infer = _same_type(name, allowed, result, operands)
    return Primitive(name, infer, doc, expand, title, elementwise=True, **facts)


# One operand -------------------------------------------------------------------------------

neg: Primitive = elementwise("neg", NUMBER, "-x", accuracy="exact", passes=slice(1), is_cheap=True)
abs = elementwise("abs", NUMBER, "|x|; its gradient at 0 is 0", accuracy="exact")
sign: Primitive = elementwise("sign", NUMBER, "-1, 0 or 1; NaN for NaN", accuracy="exact")
exp = elementwise("exp", FLOAT, "e**x")
expm1 = elementwise("expm1", FLOAT, "e**x - 1, exact near 0")
log = elementwise("log", FLOAT, "natural logarithm; NaN for x < 0")
log1p = elementwise("log1p", FLOAT, "log(1 + x), exact near 0")
sqrt = elementwise("sqrt", FLOAT, "square root; NaN for x < 0")
sin = elementwise("sin", FLOAT, "sine")
cos: Primitive = elementwise("cos", FLOAT, "cosine")
tanh = elementwise("tanh", FLOAT, "hyperbolic tangent")
square = elementwise("square", NUMBER, "x * x", expand=lambda x: mul(x, x), is_cheap=True)
floor = elementwise("floor", FLOAT, "the largest whole number <= x", accuracy="exact")
ceil = elementwise("ceil", FLOAT, "the smallest whole number >= x", accuracy="exact")
round = elementwise("round", FLOAT, "the nearest whole number; half to even", accuracy="exact")
is_nan = elementwise("is_nan", FLOAT, "whether x is not a number", result=BOOL, accuracy="moved")
logical_not = elementwise("logical_not", LOGIC, "not x", is_cheap=True)
bit_not = elementwise("bit_not", INTEGER, "all bits flipped")


# Two operands ------------------------------------------------------------------------------


add: Primitive = elementwise("add", ANY, "a + b; or, of bools", operands=2, is_cheap=True)
sub: Primitive = elementwise("sub", NUMBER, "a - b", operands=2, is_cheap=True)
mul: Primitive = elementwise("mul", ANY, "a * b; and, of bools", operands=2, is_cheap=True)
div: Primitive = elementwise("div", FLOAT, "a / b", title="truediv", operands=2)
floor_div = elementwise(
    "floor_div",
    NUMBER,
    "the largest whole number <= a / b, not rounded before; NaN where a is infinite;"
    " 0 for integers where b is 0",
    operands=2,
)
mod = elementwise(
    "mod",
    NUMBER,
    "a - b * floor(a / b): has the sign of b; 0 for integers where b is 0;"
    " engine-defined where a / b overflows",
    operands=2,
)
pow = elementwise(
    "pow",
    NUMBER,
    "a ** b; for integers where b < 0 an error, or a number that is engine-defined",
    operands=2,
)
maximum = elementwise(
    "maximum",
    NUMBER,
    "the larger one, of two zeros either; NaN if either is",
    operands=2,
    accuracy="exact",
    passes=slice(2),
)
minimum = elementwise(
    "minimum",
    NUMBER,
    "the smaller one, of two zeros either; NaN if either is",
    operands=2,
    accuracy="exact",
    passes=slice(2),
)


def _comparison(name: str, doc: str, title: str) -> Primitive:
    return elementwise(name, ANY, doc, BOOL, None, title, 2, accuracy="exact", is_cheap=True)


eq = _comparison("eq", "a == b", "Equal")
ne = _comparison("ne", "a != b", "NotEqual")
lt = _comparison("lt", "a < b", "Less")
le = _comparison("le", "a <= b", "LessEqual")
gt = _comparison("gt", "a > b", "Greater")
ge = _comparison("ge", "a >= b", "GreaterEqual")
logical_and = elementwise("logical_and", LOGIC, "a and b", operands=2, is_cheap=True)
logical_or = elementwise("logical_or", LOGIC, "a or b", operands=2, is_cheap=True)
bit_and = elementwise("bit_and", BITS, "bitwise and", operands=2)
bit_or = elementwise("bit_or", BITS, "bitwise or", operands=2)
bit_xor = elementwise("bit_xor", BITS, "bitwise exclusive or", operands=2)
shift_left = elementwise(
    "shift_left", INTEGER, "a * 2**b; engine-defined unless 0 <= b < bits", operands=2
)
shift_right = elementwise(
    "shift_right", INTEGER, "floor(a / 2**b); engine-defined unless 0 <= b < bits", operands=2
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
    "a where the condition holds, else b; the sign of a zero is engine-defined",
    title="Select",
    elementwise=True,
    accuracy="exact",
    passes=slice(1, 3),
    is_cheap=True,
)


def _infer_cast(x: Node, *, dtype: DType) -> TensorType:
    return TensorType(x.shape, dtype)


_cast = Primitive(
    "cast",
    _infer_cast,
    "x as `dtype`: floats are truncated towards zero, integers wrap around; NaN, infinite and too"
    " large floats are the least int32 or int64 on x86-64, engine-defined as uint64 and elsewhere",
    elementwise=True,
    accuracy="moved",
    passes=slice(1),
    is_cheap=True,
    may_alias=True,
)


# By dtype: the wider integers by way of which floats become integers of this dtype, so that they
# wrap around. Processors have no instructions for these casts, and libraries differ in what they
# make of numbers that don't fit.
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


bitcast = Primitive(
    "bitcast",
    _infer_bitcast,
    "the same bits read as `dtype`",
    elementwise=True,
    accuracy="moved",
    may_alias=True,
)


def clip_by(x: Node, low: Node, high: Node) -> Node:
    """`x` kept within bounds of its type; the gradient passes at exactly both bounds."""
    return minimum(maximum(x, low), high)
