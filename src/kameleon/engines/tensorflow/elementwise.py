"""Rules of elementwise primitives; operands are stretched by TensorFlow's own broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from ...ir.node import Node
from ...ir.primitive import CONSTANT
from .._lowering import Lowering, Rule
from .._stretch import bare, bare_operands
from .kernels import Tensor, cast, constant, kernel, raw, reshaped, shape_of, vector, zeros_like

UNARY = {
    "exp": "Exp",
    "expm1": "Expm1",
    "log": "Log",
    "log1p": "Log1p",
    "sqrt": "Sqrt",
    "sin": "Sin",
    "cos": "Cos",
    "tanh": "Tanh",
    "square": "Square",
    "floor": "Floor",
    "ceil": "Ceil",
    "round": "Rint",
    "is_nan": "IsNan",
    "logical_not": "LogicalNot",
    "bit_not": "Invert",
    "sigmoid": "Sigmoid",
}
BINARY = {
    "div": "RealDiv",
    "pow": "Pow",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "eq": "Equal",
    "ne": "NotEqual",
    "lt": "Less",
    "le": "LessEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
    "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "shift_left": "LeftShift",
    "shift_right": "RightShift",
}
# Primitives that mean another operation for bools.
OF_BOOLS = {
    "add": "LogicalOr",
    "mul": "LogicalAnd",
    "bit_and": "LogicalAnd",
    "bit_or": "LogicalOr",
    "bit_xor": "NotEqual",
}
OF_NUMBERS = {
    "mul": "Mul",
    "bit_and": "BitwiseAnd",
    "bit_or": "BitwiseOr",
    "bit_xor": "BitwiseXor",
}


def plain(operation: Any) -> Rule:
    """A rule that needs nothing but the values of the operands."""
    return lambda lowering, node, *operands: operation(*operands)


def one(op: str, name: str = "x") -> Rule:
    """A rule that is a kernel of one operand."""
    return plain(kernel(op, name))


def two(op: str) -> Rule:
    """A rule that is a kernel of two operands."""
    return plain(kernel(op, "x", "y"))


def _for_bools(name: str) -> Rule:
    logic, number = two(OF_BOOLS[name]), two(OF_NUMBERS[name])
    return lambda e, node, a, b: (logic if a.dtype == tf.bool else number)(e, node, a, b)


# Numbers ---------------------------------------------------------------------------------------

_add, _or = kernel("AddV2", "x", "y"), kernel("LogicalOr", "x", "y")
_sub, _minimum = kernel("Sub", "x", "y"), kernel("Minimum", "x", "y")
_neg, _abs, _sign = kernel("Neg", "x"), kernel("Abs", "x"), kernel("Sign", "x")


def add(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """A vector added along the last axis has a kernel of its own, twice as fast or more."""
    if a.dtype == tf.bool:
        return _or(a, b)
    left, right = bare_operands(node)
    for value, bias, full, x in ((a, b, left, right), (b, a, right, left)):
        if full.shape == node.shape and _is_bias(node, x):
            return raw.BiasAdd(value=value, bias=reshaped(bias, [node.shape[-1]]))
    return _add(a, b)


def _is_bias(node: Node, x: Node) -> bool:
    last = node.shape[-1] if len(node.shape) > 1 else None
    if last is None or not node.dtype.is_float or len(x.shape) > len(node.shape):
        return False
    return x.shape[-1:] == (last,) and all(d == 1 for d in x.shape[:-1]) and last != 1


def neg(e: Lowering, node: Node, x: Tensor) -> Tensor:
    """Of unsigned integers the bits flipped, and 1: of `0 - x` the optimiser makes a Neg."""
    return _negative(x) if node.dtype.kind == "unsigned" else _neg(x)


def _negative(x: Tensor) -> Tensor:
    return _add(raw.Invert(x=x), constant(1, x.dtype))


def sub(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    if node.dtype.kind == "unsigned":
        return _add(a, _negative(b))
    return _sub(a, b)


def absolute(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return raw.Identity(input=x) if node.dtype.kind == "unsigned" else _abs(x)


def sign(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return _minimum(x, constant(1, x.dtype)) if node.dtype.kind == "unsigned" else _sign(x)


def _divisor(node: Node) -> Node:
    return bare(node.operands[1])


def _never_zero(x: Node) -> bool:
    return x.primitive is CONSTANT and bool(np.all(x.attrs["value"].array))


def division(op: str) -> Rule:
    """Integers divided by 0 give 0, as on NumPy: the kernel would fail the whole call."""
    function = kernel(op, "x", "y")

    def rule(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
        if node.dtype.is_float or _never_zero(_divisor(node)):
            return function(a, b)
        nothing = raw.Equal(x=b, y=constant(0, b.dtype))
        safe = function(a, raw.SelectV2(condition=nothing, t=constant(1, b.dtype), e=b))
        return raw.SelectV2(condition=nothing, t=constant(0, a.dtype), e=safe)

    return rule


_whole_division = division("FloorDiv")


def floor_div(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Of floats from the exact remainder: the kernel rounds a / b first, which may go up."""
    if not node.dtype.is_float:
        return _whole_division(e, node, a, b)
    wide = a.dtype if a.dtype == tf.float64 else tf.float32
    return cast(_whole_quotient(cast(a, wide), cast(b, wide)), a.dtype)


def _whole_quotient(a: Tensor, b: Tensor) -> Tensor:
    """(a - a mod b) / b, which is whole but for rounding; a / b where b is 0."""
    zero = constant(0, b.dtype)
    rest = raw.TruncateMod(x=a, y=b)
    crossed = raw.NotEqual(x=raw.Less(x=rest, y=zero), y=raw.Less(x=b, y=zero))
    lower = raw.LogicalAnd(x=crossed, y=raw.NotEqual(x=rest, y=zero))
    quotient = raw.RealDiv(x=raw.Sub(x=a, y=rest), y=b)
    whole = raw.Rint(x=raw.Sub(x=quotient, y=cast(lower, b.dtype)))
    by_zero = raw.Equal(x=b, y=zero)
    return raw.SelectV2(condition=by_zero, t=raw.RealDiv(x=a, y=b), e=whole)


# Choices and conversions -----------------------------------------------------------------------


def select(e: Lowering, node: Node, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The kernel without broadcasting is twice as fast: numbers are stretched for it."""
    whole, *sources = bare_operands(node)
    stretch = [x.shape == () != node.shape for x in sources]
    fits = all(x.shape == node.shape or s for x, s in zip(sources, stretch, strict=True))
    if whole.shape != node.shape or not fits:
        return raw.SelectV2(condition=condition, t=a, e=b)
    model = b if stretch[0] else a
    parts = [
        _filled(value, source, None if all(stretch) else model, condition) if scalar else value
        for value, source, scalar in zip((a, b), sources, stretch, strict=True)
    ]
    return raw.Select(condition=condition, x=parts[0], y=parts[1])


def _filled(number: Tensor, source: Node, model: Tensor, condition: Tensor) -> Tensor:
    """A number in the shape of the condition, which `model` has, too, unless it's None."""
    is_zero = source.primitive is CONSTANT and not source.attrs["value"].array.any()
    if is_zero and model is not None:
        return zeros_like(model)
    return raw.Fill(dims=vector(shape_of(condition)), value=number)


def convert(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return cast(x, node.dtype)


def bitcast(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return raw.Bitcast(input=x, type=tf.as_dtype(node.dtype))


def same(e: Lowering, node: Node, x: Tensor, *others: Tensor) -> Tensor:
    return x


RULES: dict[str, Rule] = {
    **{name: one(op) for name, op in UNARY.items()},
    **{name: two(op) for name, op in BINARY.items()},
    **{name: _for_bools(name) for name in OF_NUMBERS},
    "add": add,
    "neg": neg,
    "sub": sub,
    "abs": absolute,
    "sign": sign,
    "floor_div": floor_div,
    "mod": division("FloorMod"),
    "relu": one("Relu", "features"),
    "elu": one("Elu", "features"),
    "softplus": one("Softplus", "features"),
    "select": select,
    "cast": convert,
    "bitcast": bitcast,
    "identity": same,
    "stop_gradient": same,
    "with_gradient": same,
}
