"""Element-wise functions and their gradients, casts, comparisons, selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.ir.types import as_dtype, normalize_axis
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.constants import known_array
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.division import checked_power
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.movement import broadcast_to, expand_dims, reshape
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.special import log_softmax

from ..dtypes import NUMBERS, held, in_numpy, limits, shown
from ..failures import failure, invalid
from ..graph import Operation, shape_text
from .complexes import of_complex
from .table import fold, known, pure
from .values import (
    array,
    broadcast,
    dims,
    is_open_size,
    is_text,
    result_type,
    sizes_of,
    tensor,
    texts,
)

# K's function of tensors of one shape, and NumPy's, if there is one.
Row = tuple[Callable[..., Node], Callable[..., Any] | None]


def zero(x: Node) -> Node:
    """Zeros like a tensor."""
    return full_like(x, 0)


def positive(x: Node) -> Node:
    """Where a tensor is above zero."""
    return E.gt(x, zero(x))


def larger(a: Node, b: Node) -> Node:
    """The larger one; the first where they don't compare, since one isn't a number."""
    return E.select(E.lt(a, b), b, a) if a.dtype.is_float else E.maximum(a, b)


def smaller(a: Node, b: Node) -> Node:
    """The smaller one; the first where they don't compare."""
    return E.select(E.lt(b, a), b, a) if a.dtype.is_float else E.minimum(a, b)


def lowest(x: Node) -> float:
    """The lowest finite number of a tensor's type."""
    return float(limits(x.dtype)[0])


def from_start(choose: Callable[[Node, Node], Node], x: Node, start: float) -> Node:
    """A tensor as extrema see it that begin at a number: what isn't one is the start."""
    return choose(full_like(x, start), x) if x.dtype.is_float else x


def on_tensors(function: Callable[..., Node]) -> Callable[..., Node]:
    """What an operation gives by a function of tensors of one shape."""

    def call(operation: Operation, *values: Any) -> Node:
        return function(*broadcast(*values))

    return call


def elementwise(
    rows: Mapping[str, Row], taking: Callable[..., Any] = on_tensors, by_numpy: Any = of_complex
) -> None:
    """Put types into the table, each with what K's and NumPy's functions give."""
    for names, (function, of_arrays) in rows.items():
        pure(names)(taking(function))
        if of_arrays is not None:
            fold(names)(by_numpy(of_arrays))


def _divisor(b: Node) -> Node:
    """A divisor of integers, which mustn't be 0; of what is known, `demands` has refused that."""
    if known_array(b) is not None:
        return b
    return check(b, E.ne(b, zero(b)), message="Integer division by zero")


def _floor_divide(a: Node, b: Node) -> Node:
    return E.floor(E.div(a, b)) if a.dtype.is_float else E.floor_div(a, _divisor(b))


def _floor_mod(a: Node, b: Node) -> Node:
    return E.mod(a, b) if a.dtype.is_float else E.mod(a, _divisor(b))


def _floored(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b)
    return np.asarray(found)


# At once ----------------------------------------------------------------------------------------

# Of these, NumPy gives all numbers that are known.
AT_ONCE: dict[str, Row] = {
    "Neg": (E.neg, np.negative),
    "Square": (E.square, np.square),
    "Sqrt": (E.sqrt, np.sqrt),
    "LogicalNot": (E.logical_not, np.logical_not),
    "Add AddV2": (E.add, np.add),
    "Sub": (E.sub, np.subtract),
    "Mul": (E.mul, np.multiply),
    "RealDiv": (E.div, np.divide),
    "FloorDiv": (_floor_divide, _floored),
    "FloorMod": (_floor_mod, np.mod),
    "Maximum": (larger, lambda a, b: np.where(a < b, b, a)),
    "Minimum": (smaller, lambda a, b: np.where(b < a, b, a)),
    "Less": (E.lt, np.less),
    "LessEqual": (E.le, np.less_equal),
    "Greater": (E.gt, np.greater),
    "GreaterEqual": (E.ge, np.greater_equal),
    "LogicalAnd": (E.logical_and, np.logical_and),
    "LogicalOr": (E.logical_or, np.logical_or),
}


def _at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(operation: Operation, *xs: np.ndarray) -> np.ndarray:
        kind = result_type(operation)
        if kind == "string":
            return texts(function(*(np.asarray(x, object) for x in xs)))
        return np.asarray(function(*xs)).astype(kind, copy=False)

    return call


elementwise(AT_ONCE, by_numpy=_at_once)


def _or_unlike(call: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison; where shapes that don't go together aren't refused, they are unequal."""

    def compared(operation: Operation, a: Any, b: Any) -> Any:
        if operation.attribute("incompatible_shape_error") is False:
            pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
            if any(x != y and not {x, y} & {1, None} for x, y in pairs):
                return np.array(operation.type == "NotEqual")
        return call(operation, a, b)

    return compared


def _or_open(compare: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison; a size that was left open isn't less than 2."""

    def compared(operation: Operation, *values: Any) -> Any:
        rest = [value for value in values if not is_open_size(value)]
        if len(rest) == 1 and isinstance(rest[0], np.ndarray) and (rest[0] < 2).all():
            return np.full(rest[0].shape, operation.type == "NotEqual")
        return compare(operation, *values)

    return compared


COMPARED: dict[str, Row] = {"Equal": (E.eq, np.equal), "NotEqual": (E.ne, np.not_equal)}
elementwise(
    COMPARED,
    lambda function: _or_unlike(_or_open(on_tensors(function))),
    lambda function: _or_unlike(_at_once(function)),
)

# Functions --------------------------------------------------------------------------------------

# Of self-normalizing networks (Klambauer et al. 2017).
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _sign(x: Node) -> Node:
    """-1, 0 or 1; 0 for what isn't a number."""
    return E.select(E.is_nan(x), zero(x), E.sign(x)) if x.dtype.is_float else E.sign(x)


def _direction(x: Any) -> Any:
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


def divide(a: Node, b: Node) -> Node:
    """a / b; of integers cut off towards zero."""
    return E.div(a, b) if a.dtype.is_float else _truncated(a, b)


def _shift(function: Callable[[Node, Node], Node]) -> Callable[[Node, Node], Node]:
    """A shift by no less than nothing, and by less than a number's bits."""

    def shift(a: Node, b: Node) -> Node:
        within = E.minimum(b, full_like(b, 8 * a.dtype.itemsize - 1))
        return function(a, E.maximum(within, zero(b)))

    return shift


def _truncated(a: Node, b: Node) -> Node:
    """a / b, cut off towards zero."""
    floored = E.floor_div(a, _divisor(b))
    is_below = E.ne(E.lt(a, zero(a)), E.lt(b, zero(b)))
    is_cut = E.logical_and(is_below, E.ne(E.mul(floored, b), a))
    return E.select(is_cut, floored + 1, floored)


def _remainder(a: Node, b: Node) -> Node:
    if a.dtype.is_float:
        rest = E.mod(E.abs(a), E.abs(b))
        return E.select(E.lt(a, zero(a)), E.neg(rest), rest)
    return E.sub(a, E.mul(b, _truncated(a, b)))


def _unless_zero(x: Node, value: Node) -> Node:
    """A value; 0 where x is 0."""
    return E.select(E.eq(x, zero(x)), zero(value), value)


def _divide_no_nan(a: Node, b: Node) -> Node:
    """a / b; 0 where b is 0."""
    empty = E.eq(b, zero(b))
    return E.select(empty, zero(a), E.div(a, E.select(empty, full_like(b, 1), b)))


FUNCTIONS: dict[str, Row] = {
    "Abs": (E.abs, np.abs),
    "Sign": (_sign, _direction),
    "Exp": (E.exp, np.exp),
    "Expm1": (E.expm1, np.expm1),
    "Log": (E.log, np.log),
    "Log1p": (E.log1p, np.log1p),
    "Rsqrt": (lambda x: 1 / E.sqrt(x), lambda x: 1 / np.sqrt(x)),
    "Reciprocal Inv": (lambda x: 1 / x, lambda x: 1 / x),
    "Sin": (E.sin, np.sin),
    "Cos": (E.cos, np.cos),
    "Tan": (lambda x: E.sin(x) / E.cos(x), np.tan),
    "Tanh": (E.tanh, np.tanh),
    "Floor": (E.floor, None),
    "Ceil": (E.ceil, None),
    "Round": (lambda x: E.round(x) if x.dtype.is_float else x, None),
    "Rint": (E.round, None),
    "IsNan": (E.is_nan, None),
    "IsInf": (lambda x: E.eq(E.abs(x), full_like(x, np.inf)), None),
    "IsFinite": (lambda x: E.lt(E.abs(x), full_like(x, np.inf)), None),
    "Invert": (E.bit_not, None),
    "Sigmoid": (K.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "Softplus": (K.softplus, None),
    "Softsign": (K.softsign, None),
    "Elu": (K.elu, None),
    "Selu": (lambda x: SELU_SCALE * K.elu(x, SELU_ALPHA), None),
    "Relu": (K.relu, None),
    "Relu6": (
        lambda x: (
            K.relu(x, max_value=6.0) if x.dtype.is_float else E.minimum(K.relu(x), full_like(x, 6))
        ),
        None,
    ),
    "Softmax": (K.softmax, None),
    "LogSoftmax": (
        lambda x: log_softmax(x, axis=normalize_axis("LogSoftmax", -1, len(x.shape))), None,
    ),
    # Of two operands.
    "Div": (divide, np.divide),
    "Pow": (checked_power, np.power),
    "SquaredDifference": (
        lambda a, b: E.square(E.sub(a, b)), lambda a, b: (a - b) * np.conj(a - b),
    ),
    "DivNoNan": (_divide_no_nan, lambda a, b: np.where(b == 0, 0, a / b)),
    "MulNoNan": (
        lambda a, b: _unless_zero(b, E.mul(a, b)), lambda a, b: np.where(b == 0, 0, a * b),
    ),
    "Xdivy": (lambda a, b: _unless_zero(a, E.div(a, b)), lambda a, b: np.where(a == 0, 0, a / b)),
    "Xlogy": (
        lambda a, b: _unless_zero(a, E.mul(a, E.log(b))),
        lambda a, b: np.where(a == 0, 0, a * np.log(b)),
    ),
    "TruncateDiv": (divide, np.divide),
    "TruncateMod Mod": (_remainder, None),
    "BitwiseAnd": (E.bit_and, None),
    "BitwiseOr": (E.bit_or, None),
    "BitwiseXor": (E.bit_xor, None),
    "LeftShift": (_shift(E.shift_left), None),
    "RightShift": (_shift(E.shift_right), None),
}  # fmt: skip
elementwise(FUNCTIONS)

# Gradients --------------------------------------------------------------------------------------


def _hidden(slope: Callable[..., Node], of_arrays: Callable[..., Any]) -> Row:
    """A slope; 0 where nothing comes back, whatever it is: what `tf.where` hides stays hidden."""
    return (
        lambda y, g: _unless_zero(g, slope(y, g)),
        lambda y, g: np.where(g == 0, 0, of_arrays(y, g)),
    )


# Of a function's value or operand and the gradient of its value; complex ones of some conjugates.
GRADIENTS: dict[str, Row] = {
    "TanhGrad": (lambda y, g: g * (1 - y * y), lambda y, g: g * (1 - y**2)),
    "SigmoidGrad": (lambda y, g: g * y * (1 - y), lambda y, g: g * y * (1 - y)),
    "SqrtGrad": _hidden(lambda y, g: g * 0.5 / y, lambda y, g: g * 0.5 / np.conj(y)),
    "RsqrtGrad": _hidden(
        lambda y, g: g * -0.5 * y * y * y,
        lambda y, g: g * -0.5 * np.conj(y) ** 3,
    ),
    "ReciprocalGrad InvGrad": _hidden(lambda y, g: -g * y * y, lambda y, g: -g * np.conj(y) ** 2),
    "SoftplusGrad": (lambda g, x: g * K.sigmoid(x), None),
    "SoftsignGrad": (lambda g, x: g / E.square(1 + E.abs(x)), None),
    "ReluGrad": (lambda g, x: E.select(positive(x), g, zero(g)), None),
    "Relu6Grad": (
        lambda g, x: E.select(E.logical_and(positive(x), E.lt(x, full_like(x, 6))), g, zero(g)),
        None,
    ),
    "EluGrad": (lambda g, y: E.select(E.lt(y, zero(y)), g * (y + 1), g), None),
    "SeluGrad": (
        lambda g, y: (
            g * E.select(E.lt(y, zero(y)), y + SELU_SCALE * SELU_ALPHA, full_like(y, SELU_SCALE))
        ),
        None,
    ),
}
elementwise(GRADIENTS)


# With attributes --------------------------------------------------------------------------------


@pure("LeakyRelu")
def _leaky(x: Node, *, alpha: float) -> Node:
    found: Node = K.relu(x, alpha=alpha)
    return found


@pure("LeakyReluGrad")
def _leaky_gradient(g: Any, x: Any, *, alpha: float) -> Node:
    g, x = broadcast(g, x)
    return E.select(positive(x), g, g * alpha)


pure("Cast")(lambda operation, x: E.cast(tensor(x), result_type(operation)))


@fold("Cast")
def _cast_known(operation: Operation, x: np.ndarray) -> np.ndarray:
    kind = result_type(operation)
    if (kind == "string") != is_text(x):
        given, made = (
            shown(NUMBERS[each]) for each in ("string" if is_text(x) else str(x.dtype), kind)
        )
        raise failure("UNIMPLEMENTED", f"Cast {given} to {made} is not supported")
    return x.astype(in_numpy(kind))


@pure("ApproximateEqual")
def _near(a: Any, b: Any, *, tolerance: float) -> Node:
    apart = E.abs(E.sub(*broadcast(a, b)))
    return E.lt(apart, full_like(apart, tolerance))


@pure("Bucketize")
def _bucket(x: Node, *, boundaries: list[float]) -> Node:
    """How many of the boundaries aren't above a number."""
    if boundaries != sorted(boundaries):
        raise invalid("Expected sorted boundaries")
    bounds = np.array(boundaries, np.float32)
    wide = expand_dims(E.cast(x, "float64"), len(x.shape))
    below = E.lt(*broadcast(wide, bounds.astype(np.float64)))  # nothing that isn't a number is
    return reduce_sum(E.cast(E.logical_not(below), "int32"), [len(x.shape)])


# Of several operands ----------------------------------------------------------------------------


pure("SelectV2")(on_tensors(E.select))
fold("SelectV2")(lambda operation, *values: np.where(*values))


pure("AddN AccumulateNV2")(lambda *values: reduce(E.add, map(tensor, values)))
fold("AddN AccumulateNV2")(of_complex(lambda *xs: sum(xs[1:], xs[0])))


@pure("Select")
def _select(where: Node, a: Node, b: Node) -> Node:
    missing = len(a.shape) - len(where.shape)
    if missing:
        where = broadcast_to(reshape(where, [*dims(where), *[1] * missing]), dims(a))
    return E.select(where, a, b)


@fold("Select")
def _select_known(operation: Operation, where: Any, a: Any, b: Any) -> Any:
    return np.where(where.reshape(where.shape + (1,) * (a.ndim - where.ndim)), a, b)


pure("ClipByValue")(lambda x, low, high: larger(*broadcast(smaller(*broadcast(x, high)), low)))


@pure("EnsureShape")
def _ensure(operation: Operation, x: Any, *, shape: Any) -> Any:
    sizes = sizes_of(x)
    fits = shape is None or len(shape) == len(sizes)
    if not fits or any(a >= 0 and a != b for a, b in zip(shape or sizes, sizes, strict=True)):
        raise invalid(
            f"Shape of tensor {operation.inputs[0][0].name} {shape_text(tuple(sizes))}"
            f" is not compatible with expected shape {shape_text(shape)}."
        )
    return x


@pure("Bitcast")
def _bitcast(operation: Operation, x: Node) -> Any:
    """The same bits; a wider or narrower type has fewer or more numbers along the last axis."""
    kind = as_dtype(result_type(operation))
    if x.dtype.itemsize == kind.itemsize:
        return E.bitcast(x, dtype=kind)
    return _bits(operation, array(x))


@fold("Bitcast")
def _bits(operation: Operation, x: np.ndarray) -> np.ndarray:
    kind, known = np.dtype(held(result_type(operation))), np.asarray(x, order="C")
    if known.itemsize == kind.itemsize:
        return known.view(kind)
    is_wider = kind.itemsize > known.itemsize
    return known.view(kind)[..., 0] if is_wider else known[..., None].view(kind)


known(
    "Identity PreventGradient StopGradient PlaceholderWithDefault Snapshot GuaranteeConst DeepCopy"
    " DebugGradientIdentity DebugGradientRefIdentity XlaClusterOutput"
)(lambda x: x)
pure("IdentityN")(lambda *values: list(values))
