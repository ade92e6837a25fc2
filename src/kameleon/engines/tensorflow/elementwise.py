"""Lowering rules of elementwise primitives; TensorFlow's own broadcasting stretches operands."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from ...graph.analysis.broadcasts import bare_operands
from ...graph.ir.node import Node
from ...graph.primitives.constants import has_no_zero, known_array, known_number
from ...graph.primitives.division import divides_safely
from .._lowering import Lowering, Rule, first
from .._names import names
from .kernels import MOST_AXES, Tensor, cast, constant, raw, reshaped

UNARY = names(
    "neg=Neg abs=Abs sign=Sign exp=Exp expm1=Expm1 log=Log log1p=Log1p sqrt=Sqrt sin=Sin cos=Cos"
    " tanh=Tanh square=Square floor=Floor ceil=Ceil round=Rint is_nan=IsNan bit_not=Invert"
    " sigmoid=Sigmoid"
)
BINARY = names(
    "floor_div=FloorDiv mod=FloorMod div=RealDiv minimum=Minimum eq=Equal ne=NotEqual lt=Less"
    " le=LessEqual gt=Greater ge=GreaterEqual logical_and=LogicalAnd logical_or=LogicalOr"
    " mul=Mul bit_and=BitwiseAnd bit_or=BitwiseOr bit_xor=BitwiseXor shift_left=LeftShift"
    " shift_right=RightShift"
)


def just(op: str, *names: str) -> Rule:
    """A rule that is an operation, whose operands have these names."""
    function = getattr(raw, op)
    return lambda e, node, *operands: function(**dict(zip(names, operands, strict=True)))


# Numbers ---------------------------------------------------------------------------------------


def add(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """A vector added along the last axis has a kernel of its own, twice as fast or more."""
    if a is b:
        # The optimiser rewrites y + y of y = -x, forgets one of y's two readers, and then puts
        # the maximum of y, where there is one, in y's place (TensorFlow 2.21).
        return raw.Mul(x=a, y=constant(2, a.dtype))
    left, right = bare_operands(node)
    for value, bias, full, x in ((a, b, left, right), (b, a, right, left)):
        if full.shape == node.shape and _is_bias(node, x):
            return raw.BiasAdd(value=value, bias=reshaped(bias, [node.shape[-1]]))
    return raw.AddV2(x=_still(a, left, node), y=_still(b, right, node))


def _still(x: Tensor, bare: Node, node: Node) -> Tensor:
    """x, for the optimiser no constant where it's smaller than the sum: of (y + bias) + x it makes
    y + (x + bias), which has no kernel for a bias where x isn't as wide.
    """
    is_small = bare.shape not in ((), node.shape)
    return _hidden(x) if is_small and known_array(bare) is not None else x


def subtract(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Of the square of a difference the optimiser makes an operation without kernels for narrow
    integers (TensorFlow 2.21).
    """
    found = raw.Sub(x=a, y=b)
    return _hidden(found) if node.dtype.is_integer and node.dtype.itemsize < 4 else found


def maximum(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The optimiser takes the maximum of x and k * x for a leaky rectifier, whatever number k is,
    which is the minimum where k is larger than 1 (TensorFlow 2.21): it can't tell that one of two
    tensors is computed of the other.
    """
    has_number = any(known_number(x) is not None for x in bare_operands(node))
    return raw.Maximum(x=a, y=b if has_number else _hidden(b))


def divide(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The optimiser takes 1 / x for a reciprocal, and x / sqrt(y) for the product with that of a
    root, whose kernels are less exact: 0.99999994 of 1.
    """
    left, right = bare_operands(node)
    is_root = right.primitive.name == "sqrt"
    return raw.RealDiv(
        x=_hidden(a) if known_number(left) == 1 else a, y=_hidden(b) if is_root else b
    )


def _hidden(x: Tensor) -> Tensor:
    """x, of which the optimiser can't tell how it's computed."""
    return raw.PlaceholderWithDefault(input=x, shape=x.shape)


def power(e: Lowering, node: Node, x: Tensor, a: Tensor) -> Tensor:
    """x ** a, of an a that the optimiser doesn't look into where it stretches x or is negative.

    Of exponents that are one constant the optimiser makes squares, roots and quotients of x, in
    the shape of x, whatever that of the exponents (TensorFlow 2.21), and by the kernels of
    reciprocals, which are less exact: see `divide`.
    """
    left, right = bare_operands(node)
    is_quotient = (known_number(right) or 0) < 0
    return raw.Pow(x=x, y=_hidden(a) if left.shape != node.shape or is_quotient else a)


def mod(e: Lowering, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The remainder with the sign of b, also where it's 0."""
    found = raw.FloorMod(x=a, y=b)
    if not node.dtype.is_float:
        return found
    zero = constant(0, a.dtype)
    signed = raw.SelectV2(condition=raw.Less(x=b, y=zero), t=constant(-0.0, a.dtype), e=zero)
    return raw.SelectV2(condition=raw.Equal(x=found, y=zero), t=signed, e=found)


def relu(e: Lowering, node: Node, x: Tensor) -> Tensor:
    """The operation is fused with products, and may leave -0."""
    return raw.Abs(x=raw.Relu(features=x))


def logical_not(e: Lowering, node: Node, x: Tensor) -> Tensor:
    """`LogicalNot` won't do: the optimiser makes a > b of not (a <= b), which differ for NaN."""
    return raw.NotEqual(x=x, y=constant(True, tf.bool))


def _is_bias(node: Node, x: Node) -> bool:
    last = node.shape[-1] if len(node.shape) > 1 else None
    if (
        last is None
        or len(node.shape) > MOST_AXES
        or not node.dtype.is_float
        or len(x.shape) > len(node.shape)
    ):
        return False
    return x.shape[-1:] == (last,) and all(d == 1 for d in x.shape[:-1]) and last != 1


# Choices and conversions -----------------------------------------------------------------------


def select(e: Lowering, node: Node, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The kernel without broadcasting is twice as fast: numbers are stretched for it."""
    whole, *sources = bare_operands(node)
    scalar = [x.shape == () != node.shape for x in sources]
    if len(node.shape) > MOST_AXES:  # all others are stretched
        full = next(x for x in (condition, a, b) if len(x.shape))
    else:
        full = condition
        fits = all(x.shape == node.shape or s for x, s in zip(sources, scalar, strict=True))
        if whole.shape != node.shape or not fits:
            return raw.SelectV2(condition=condition, t=a, e=b)
    shape = raw.Shape(input=full)
    x, y = (
        raw.Fill(dims=shape, value=value) if s else value
        for value, s in zip((a, b), scalar, strict=True)
    )
    return raw.Select(condition=condition, x=x, y=y)


def convert(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return cast(x, node.dtype)


def bitcast(e: Lowering, node: Node, x: Tensor) -> Tensor:
    return raw.Bitcast(input=x, type=tf.as_dtype(node.dtype))


RULES: dict[str, Rule] = {
    **{name: just(op, "x") for name, op in UNARY.items()},
    **{name: just(op, "x", "y") for name, op in BINARY.items()},
    "add": add,
    "sub": subtract,
    "div": divide,
    "maximum": maximum,
    "pow": power,
    "mod": mod,
    "relu": relu,
    "logical_not": logical_not,
    "select": select,
    "cast": convert,
    "bitcast": bitcast,
    **dict.fromkeys(("identity", "stop_gradient", "with_gradient"), first),
}


def _is_signed(node: Node) -> bool:
    """Whether a dtype is signed: unsigned -x and 0 - x are optimised to what has no kernel."""
    return node.dtype.kind != "unsigned"


def _has_quotient(node: Node) -> bool:
    """The kernel rounds a / b of floats before it takes the whole number below."""
    return node.dtype.is_integer and divides_safely(node)


WHERE: dict[str, Callable[[Node], bool]] = {
    "neg": _is_signed,
    "add": has_no_zero,
    "sub": lambda node: _is_signed(node) and has_no_zero(node),
    "floor_div": _has_quotient,
    "mod": divides_safely,
}
