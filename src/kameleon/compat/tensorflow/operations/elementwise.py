"""Element-wise functions and their gradients, casts, comparisons, selection."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.ir.types import as_dtype
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.movement import broadcast_to, expand_dims, reshape
from kameleon.graph.primitives.reduce import reduce_sum

from ..dtypes import held
from ..failures import failure
from .table import fold, pure
from .values import array, broadcast, dims, result_type, sizes_of, tensor, texts

if TYPE_CHECKING:
    from ..graph import Operation


def zero(x: Node) -> Node:
    """Zeros like a tensor."""
    return full_like(x, 0)


def positive(x: Node) -> Node:
    """Where a tensor is above zero."""
    return E.gt(x, zero(x))


# Of self-normalizing networks (Klambauer et al. 2017).
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


# Of one operand ---------------------------------------------------------------------------------


def log_softmax(x: Node) -> Node:
    """x - log(sum(exp(x))) along the last axis; exact of large numbers, too, by their differences
    from the largest.
    """
    apart = x - broadcast_to(K.max(x, -1, keepdims=True), dims(x))
    return apart - broadcast_to(K.log(K.sum(K.exp(apart), -1, keepdims=True)), dims(x))


def _sign(x: Node) -> Node:
    """-1, 0 or 1; 0 for what isn't a number."""
    return E.select(E.is_nan(x), zero(x), E.sign(x)) if x.dtype.is_float else E.sign(x)


UNARY: dict[str, Callable[[Node], Node]] = {
    "Neg": E.neg,
    "Abs": E.abs,
    "Sign": _sign,
    "Exp": E.exp,
    "Expm1": E.expm1,
    "Log": E.log,
    "Log1p": E.log1p,
    "Sqrt": E.sqrt,
    "Square": E.square,
    "Rsqrt": lambda x: 1 / E.sqrt(x),
    "Reciprocal": lambda x: 1 / x,
    "Inv": lambda x: 1 / x,
    "Sin": E.sin,
    "Cos": E.cos,
    "Tanh": E.tanh,
    "Floor": E.floor,
    "Ceil": E.ceil,
    "Round": lambda x: E.round(x) if x.dtype.is_float else x,
    "Rint": E.round,
    "IsNan": E.is_nan,
    "IsInf": lambda x: E.eq(E.abs(x), full_like(x, np.inf)),
    "IsFinite": lambda x: E.lt(E.abs(x), full_like(x, np.inf)),
    "Tan": lambda x: E.sin(x) / E.cos(x),
    "Invert": E.bit_not,
    "LogicalNot": E.logical_not,
    "Sigmoid": K.sigmoid,
    "Softplus": K.softplus,
    "Softsign": K.softsign,
    "Elu": K.elu,
    "Selu": lambda x: SELU_SCALE * K.elu(x, SELU_ALPHA),
    "Relu": K.relu,
    "Relu6": lambda x: (
        K.relu(x, max_value=6.0) if x.dtype.is_float else E.minimum(K.relu(x), full_like(x, 6))
    ),
    "Softmax": K.softmax,
    "LogSoftmax": log_softmax,
}
for _name, _function in UNARY.items():
    pure(_name)(lambda operation, x, function=_function: function(tensor(x)))

NUMPY_UNARY = {
    "Neg": np.negative,
    "Square": np.square,
    "Sqrt": np.sqrt,
    "LogicalNot": np.logical_not,
}
for _name, _numpy in NUMPY_UNARY.items():
    fold(_name)(lambda operation, x, function=_numpy: np.asarray(function(x)))


@pure("LeakyRelu")
def _leaky(operation: Operation, x: Any) -> Node:
    found: Node = K.relu(tensor(x), alpha=operation.attribute("alpha"))
    return found


@pure("Cast")
def _cast(operation: Operation, x: Any) -> Node:
    return E.cast(tensor(x), result_type(operation))


@fold("Cast")
def _cast_known(operation: Operation, x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return x.astype(result_type(operation).removeprefix("q"))


# Of two operands --------------------------------------------------------------------------------


def divide(a: Node, b: Node) -> Node:
    """a / b; of integers cut off towards zero."""
    return E.div(a, b) if a.dtype.is_float else _truncated(a, b)


def _floor_divide(a: Node, b: Node) -> Node:
    return E.floor(E.div(a, b)) if a.dtype.is_float else E.floor_div(a, b)


def _shift(function: Callable[[Node, Node], Node]) -> Callable[[Node, Node], Node]:
    """A shift by no less than nothing, and by less than a number's bits."""

    def shift(a: Node, b: Node) -> Node:
        within = E.minimum(b, full_like(b, 8 * a.dtype.itemsize - 1))
        return function(a, E.maximum(within, zero(b)))

    return shift


def _truncated(a: Node, b: Node) -> Node:
    """a / b, cut off towards zero."""
    if str(a.dtype).startswith("uint"):
        return E.floor_div(a, b)
    quotient = E.floor_div(E.abs(a), E.abs(b))
    return E.select(E.ne(E.lt(a, zero(a)), E.lt(b, zero(b))), E.neg(quotient), quotient)


def _remainder(a: Node, b: Node) -> Node:
    if a.dtype.is_float:
        rest = E.mod(E.abs(a), E.abs(b))
        return E.select(E.lt(a, zero(a)), E.neg(rest), rest)
    return E.sub(a, E.mul(b, _truncated(a, b)))


def unless_zero(x: Node, value: Node) -> Node:
    """A value; 0 where x is 0."""
    return E.select(E.eq(x, zero(x)), zero(value), value)


def divide_no_nan(a: Node, b: Node) -> Node:
    """a / b; 0 where b is 0."""
    empty = E.eq(b, zero(b))
    return E.select(empty, zero(a), E.div(a, E.select(empty, full_like(b, 1), b)))


BINARY: dict[str, Callable[[Node, Node], Node]] = {
    "Add": E.add,
    "AddV2": E.add,
    "Sub": E.sub,
    "Mul": E.mul,
    "RealDiv": E.div,
    "Div": divide,
    "FloorDiv": _floor_divide,
    "FloorMod": E.mod,
    "Pow": E.pow,
    "Maximum": E.maximum,
    "Minimum": E.minimum,
    "SquaredDifference": lambda a, b: E.square(E.sub(a, b)),
    "DivNoNan": divide_no_nan,
    "MulNoNan": lambda a, b: unless_zero(b, E.mul(a, b)),
    "Xdivy": lambda a, b: unless_zero(a, E.div(a, b)),
    "Xlogy": lambda a, b: unless_zero(a, E.mul(a, E.log(b))),
    "TruncateDiv": divide,
    "TruncateMod": _remainder,
    "Mod": _remainder,
    "BitwiseAnd": E.bit_and,
    "BitwiseOr": E.bit_or,
    "BitwiseXor": E.bit_xor,
    "LeftShift": _shift(E.shift_left),
    "RightShift": _shift(E.shift_right),
    "Equal": E.eq,
    "NotEqual": E.ne,
    "Less": E.lt,
    "LessEqual": E.le,
    "Greater": E.gt,
    "GreaterEqual": E.ge,
    "LogicalAnd": E.logical_and,
    "LogicalOr": E.logical_or,
    # Gradients, of a function's value or operand and the gradient of its value.
    "TanhGrad": lambda y, g: g * (1 - y * y),
    "SigmoidGrad": lambda y, g: g * y * (1 - y),
    "SqrtGrad": lambda y, g: g * 0.5 / y,
    "RsqrtGrad": lambda y, g: g * -0.5 * y * y * y,
    "ReciprocalGrad": lambda y, g: -g * y * y,
    "InvGrad": lambda y, g: -g * y * y,
    "SoftplusGrad": lambda g, x: g * K.sigmoid(x),
    "SoftsignGrad": lambda g, x: g / E.square(1 + E.abs(x)),
    "ReluGrad": lambda g, x: E.select(positive(x), g, zero(g)),
    "Relu6Grad": lambda g, x: E.select(
        E.logical_and(positive(x), E.lt(x, full_like(x, 6))), g, zero(g)
    ),
    "EluGrad": lambda g, y: E.select(E.lt(y, zero(y)), g * (y + 1), g),
    "SeluGrad": lambda g, y: (
        g * E.select(E.lt(y, zero(y)), y + SELU_SCALE * SELU_ALPHA, full_like(y, SELU_SCALE))
    ),
}
for _name, _binary in BINARY.items():
    pure(_name)(lambda operation, a, b, function=_binary: function(*broadcast(a, b)))

NUMPY_BINARY: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "RealDiv": np.divide,
    "FloorDiv": lambda a, b: np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b),
    "FloorMod": np.mod,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}
for _name, _numpy_binary in NUMPY_BINARY.items():

    @fold(_name)
    def _known(operation: Operation, a: Any, b: Any, function: Any = _numpy_binary) -> np.ndarray:
        kind = result_type(operation)
        if kind == "string":
            return texts(function(np.asarray(a, object), np.asarray(b, object)))
        with np.errstate(all="ignore"):
            return np.asarray(function(a, b)).astype(kind)


@pure("LeakyReluGrad")
def _leaky_gradient(operation: Operation, g: Any, x: Any) -> Node:
    g, x = broadcast(g, x)
    return E.select(positive(x), g, g * operation.attribute("alpha"))


# Of several operands ----------------------------------------------------------------------------


@pure("AddN AccumulateNV2")
def _sum(operation: Operation, *values: Any) -> Node:
    return reduce(E.add, [tensor(value) for value in values])


@pure("Select")
def _select(operation: Operation, condition: Any, a: Any, b: Any) -> Node:
    where, a, b = tensor(condition), tensor(a), tensor(b)
    missing = len(a.shape) - len(where.shape)
    if missing:
        where = broadcast_to(reshape(where, [*dims(where), *[1] * missing]), dims(a))
    return E.select(where, a, b)


@pure("SelectV2")
def _select_broadcast(operation: Operation, condition: Any, a: Any, b: Any) -> Node:
    return E.select(*broadcast(condition, a, b))


@pure("ApproximateEqual")
def _near(operation: Operation, a: Any, b: Any) -> Node:
    apart = E.abs(E.sub(*broadcast(a, b)))
    return E.lt(apart, full_like(apart, operation.attribute("tolerance")))


@pure("Bucketize")
def _bucket(operation: Operation, x: Any) -> Node:
    """How many of the boundaries aren't above a number."""
    node = tensor(x)
    bounds = np.array(operation.attribute("boundaries"), np.float32)
    wide = expand_dims(E.cast(node, "float64"), len(node.shape))
    beyond = E.ge(*broadcast(wide, bounds.astype(np.float64)))
    return reduce_sum(E.cast(beyond, "int32"), [len(node.shape)])


@pure("ClipByValue")
def _clip(operation: Operation, x: Any, low: Any, high: Any) -> Node:
    return E.maximum(*broadcast(E.minimum(*broadcast(x, high)), low))


@pure("EnsureShape")
def _ensure(operation: Operation, x: Any) -> Any:
    told = operation.attribute("shape")
    shape = sizes_of(x)
    fits = told is None or len(told) == len(shape)
    if not fits or any(a >= 0 and a != b for a, b in zip(told or shape, shape, strict=True)):
        message = f"Shape of tensor {operation.name} {list(shape)} is not compatible with {told}."
        raise failure("INVALID_ARGUMENT", message)
    return x


@pure("Bitcast")
def _bitcast(operation: Operation, x: Any) -> Any:
    """The same bits; a wider or narrower type has fewer or more numbers along the last axis."""
    node, kind = tensor(x), as_dtype(result_type(operation))
    if node.dtype.itemsize == kind.itemsize:
        return E.bitcast(node, dtype=kind)
    return _bits(operation, array(node))


@fold("Bitcast")
def _bits(operation: Operation, x: np.ndarray) -> np.ndarray:
    kind, known = np.dtype(held(result_type(operation))), np.ascontiguousarray(x)
    if known.itemsize == kind.itemsize:
        return known.view(kind)
    is_wider = kind.itemsize > known.itemsize
    return known.view(kind)[..., 0] if is_wider else known[..., None].view(kind)


@pure(
    "Identity PreventGradient StopGradient PlaceholderWithDefault Snapshot GuaranteeConst DeepCopy"
    " DebugGradientIdentity DebugGradientRefIdentity"
)
def _identity(operation: Operation, x: Any) -> Any:
    return x


@pure("IdentityN")
def _identities(operation: Operation, *values: Any) -> list[Any]:
    return list(values)


@pure("CheckNumerics")
def _check(operation: Operation, x: Any) -> Node:
    from kameleon.graph.primitives.control import check

    node = tensor(x)
    message = f"{operation.attribute('message').decode()} : Tensor had NaN or Inf values"
    finite = E.eq(E.sub(node, node), zero(node))
    return check(node, finite, message=message)
