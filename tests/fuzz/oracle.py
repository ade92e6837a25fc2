"""What K functions mean, in NumPy and SciPy alone: nothing of Kameleon is used here.

An expression of a program is evaluated with this module's functions in place of `K` and arrays in
place of tensors. Floats are computed in float64, from the very numbers that the program had.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

Array = Any
TABLE: dict[str, Callable[..., Any]] = {}


class UnknownError(Exception):
    """The oracle doesn't know what this means."""


class Namespace(SimpleNamespace):
    """In place of `K`: other names than those of the table are unknown."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownError(name)


class Oracle:
    """Evaluates expressions.

    Args:
        arrays: by name, the values of tensors.
        dtype: the program's float dtype, `F` there.
    """

    def __init__(self, arrays: Mapping[str, Array], dtype: str):
        wide = {k: v.astype("float64") if v.dtype.kind == "f" else v for k, v in arrays.items()}
        self.names = {**wide, "K": Namespace(**TABLE), "F": dtype, "np": np}

    def evaluate(self, expression: str) -> Array | None:
        """The value; None where the oracle doesn't know it."""
        try:
            with np.errstate(all="ignore"):
                return eval(expression, {"__builtins__": builtins}, self.names)
        except (UnknownError, NameError):  # `given`, `state` and the like are no operations
            return None


def known(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a function into the table, under its own name if no other is given."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (f.__name__.rstrip("_"),):
            TABLE[name] = f
        return f

    return add


def _float(x: Array) -> Array:
    return np.asarray(x, "float64")


# Element by element -----------------------------------------------------------------------------

TABLE.update(
    abs=np.abs, square=np.square, exp=np.exp, sin=np.sin, cos=np.cos, tanh=np.tanh, log=np.log,
    sign=np.sign, pow=np.power, sigmoid=special.expit, round=np.round, maximum=np.maximum,
    minimum=np.minimum, equal=np.equal, not_equal=np.not_equal, greater=np.greater,
    greater_equal=np.greater_equal, less=np.less, less_equal=np.less_equal,
    identity=lambda x, name=None: x, stop_gradient=lambda x: x, zeros_like=np.zeros_like,
    ones_like=np.ones_like, softplus=lambda x: np.logaddexp(x, 0),
    softsign=lambda x: x / (1 + np.abs(x)), sqrt=lambda x: np.sqrt(np.where(x < 0, 0, x)),
    clip=lambda x, low, high: np.clip(x, low, high),
    hard_sigmoid=lambda x: np.clip(0.2 * _float(x) + 0.5, 0, 1),
    elu=lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
)  # fmt: skip
# Given NaN or infinities, these functions of K follow conventions that other tests check.
_PLAIN = ("sign", "maximum", "minimum", "clip", "hard_sigmoid", "sqrt", "elu", "softsign", "pow")


def _plain(f: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(f)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for x in arguments:
            if isinstance(x, np.ndarray) and not np.isfinite(_float(x)).all():
                raise UnknownError("a number that isn't finite")
        return f(*arguments, **keywords)

    return checked


for _name in _PLAIN:
    TABLE[_name] = _plain(TABLE[_name])


@known()
@_plain
def relu(x: Array, alpha: float = 0.0, max_value: Any = None, threshold: float = 0.0) -> Array:
    if threshold < 0:
        raise UnknownError("the original's own ways below zero")
    above = np.where(x > threshold, x, alpha * (x - threshold))
    return above if max_value is None else np.where(x >= max_value, max_value, above)


@known()
def cast(x: Array, dtype: str) -> Array:
    x = np.asarray(x)
    if x.dtype.kind == "f" and np.dtype(dtype).kind in "iub":
        info = np.iinfo(dtype) if dtype != "bool" else np.iinfo("int32")
        if not (np.isfinite(x).all() and (x > info.min).all() and (x < info.max).all()):
            raise UnknownError("a number outside of the range")
    if x.dtype.kind == "i" and np.dtype(dtype).kind == "u" and (x < 0).any():
        raise UnknownError("a negative number")
    return x.astype(dtype)


# Reductions -------------------------------------------------------------------------------------


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _reduction(f: Callable[..., Any], floats: bool = True) -> Callable[..., Any]:
    def reduce(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        x = np.asarray(x)
        if x.dtype.kind not in "fb" and floats:
            raise UnknownError("whole numbers")
        return f(_float(x) if floats else x, axis=_axes(axis), keepdims=keepdims)

    return reduce


for _name in ("sum", "prod", "mean", "var", "std"):
    TABLE[_name] = _plain(_reduction(getattr(np, _name)))
TABLE["max"], TABLE["min"] = (_plain(_reduction(f)) for f in (np.max, np.min))
TABLE["any"], TABLE["all"] = (_reduction(f, floats=False) for f in (np.any, np.all))
TABLE["logsumexp"] = _plain(_reduction(special.logsumexp))
TABLE["argmax"] = _plain(lambda x, axis=-1: np.argmax(x, axis))
TABLE["argmin"] = _plain(lambda x, axis=-1: np.argmin(x, axis))
TABLE["cumsum"] = _plain(lambda x, axis=0: np.cumsum(x, axis))
TABLE["cumprod"] = _plain(lambda x, axis=0: np.cumprod(x, axis))
TABLE["softmax"] = _plain(lambda x, axis=-1: special.softmax(x, axis))


@known()
@_plain
def l2_normalize(x: Array, axis: Any = None) -> Array:
    squares = np.sum(np.square(x), axis=_axes(axis), keepdims=True)
    if ((squares > 0) & (squares < 2.0**-30)).any():
        raise UnknownError("a length that isn't made 1, in float16 alone")
    return x / np.sqrt(np.maximum(squares, 1e-12))


# Shapes -----------------------------------------------------------------------------------------

TABLE.update(
    reshape=lambda x, shape: np.reshape(x, shape), transpose=np.transpose,
    permute_dimensions=lambda x, pattern: np.transpose(x, pattern),
    expand_dims=lambda x, axis=-1: np.expand_dims(x, axis),
    squeeze=lambda x, axis: np.squeeze(x, axis), flatten=np.ravel,
    batch_flatten=lambda x: np.reshape(x, (len(x), int(np.prod(x.shape[1:])))),
    concatenate=lambda tensors, axis=-1: np.concatenate(tensors, axis),
    stack=lambda x, axis=0: np.stack(x, axis), tile=lambda x, n: np.tile(x, n),
    repeat_elements=lambda x, rep, axis: np.repeat(x, rep, axis),
    repeat=lambda x, n: np.repeat(x[:, None], n, 1), reverse=lambda x, axes: np.flip(x, axes),
    temporal_padding=lambda x, padding=(1, 1): np.pad(x, ((0, 0), tuple(padding), (0, 0))),
    gather=lambda reference, indices: np.asarray(reference)[np.asarray(indices)],
    shape=lambda x: np.array(np.shape(x), "int32"), eye=lambda n, dtype=None: np.eye(n),
    zeros=lambda shape, dtype=None: np.zeros(shape), ones=lambda shape, dtype=None: np.ones(shape),
    constant=lambda value, dtype=None, shape=None: np.asarray(value),
    size=lambda x: np.int32(np.size(x)),
)  # fmt: skip


@known("arange")
def arange(start: int, stop: Any = None, step: int = 1, dtype: str = "int32") -> Array:
    return np.arange(*((start,) if stop is None else (start, stop)), step).astype(dtype)


@known("slice")
def slice_(x: Array, start: Sequence[int], size: Sequence[int]) -> Array:
    stops = [None if n == -1 else a + n for a, n in zip(start, size, strict=True)]
    return x[tuple(slice(*pair) for pair in zip(start, stops, strict=True))]


@known()
def one_hot(indices: Array, num_classes: int) -> Array:
    return (np.asarray(indices)[..., None] == np.arange(num_classes)).astype("float64")


@known("spatial_2d_padding", "spatial_3d_padding")
def spatial_padding(x: Array, padding: Any, data_format: str) -> Array:
    first = data_format == "channels_first"
    return np.pad(x, [(0, 0)] * (1 + first) + [tuple(p) for p in padding] + [(0, 0)] * (not first))


def _resized(x: Array, factors: Sequence[int], data_format: str) -> Array:
    for axis, factor in enumerate(factors, 2 if data_format == "channels_first" else 1):
        x = np.repeat(x, factor, axis)
    return x


@known()
def resize_images(
    x: Array, height_factor: int, width_factor: int, data_format: str, interpolation: str
) -> Array:
    if interpolation != "nearest":
        raise UnknownError(interpolation)
    return _resized(x, (height_factor, width_factor), data_format)


@known()
def resize_volumes(x: Array, depth: int, height: int, width: int, data_format: str) -> Array:
    return _resized(x, (depth, height, width), data_format)


# Products and windows ---------------------------------------------------------------------------


@known()
@_plain
def dot(x: Array, y: Array) -> Array:
    return np.matmul(x, y) if y.ndim <= 2 else np.tensordot(x, y, ((x.ndim - 1,), (y.ndim - 2,)))


@known()
@_plain
def batch_dot(x: Array, y: Array, axes: Any = None) -> Array:
    if axes is None:
        axes = [x.ndim - 1, y.ndim - 2 if y.ndim > 2 else 1]
    a, b = (axes, axes) if isinstance(axes, int) else axes
    a, b = a % x.ndim, b % y.ndim
    rows = [np.tensordot(p, q, ((a - 1,), (b - 1,))) for p, q in zip(x, y, strict=True)]
    if not rows:
        raise UnknownError("no rows")
    result = np.stack(rows)
    return result[:, None] if result.ndim == 1 else result


@known()
def bias_add(x: Array, bias: Array, data_format: str | None = None) -> Array:
    if bias.ndim != 1:
        raise UnknownError("a bias with several axes")
    if data_format == "channels_first" and x.ndim > 2:
        return x + bias.reshape(-1, *(1,) * (x.ndim - 2))
    return x + bias


def _per_axis(number: Any, count: int) -> tuple[int, ...]:
    return (number,) * count if isinstance(number, int) else tuple(number)


def _margins(size: int, span: int, stride: int, padding: str) -> tuple[int, int]:
    """How many zeros come before and behind; of an odd number the greater half comes behind."""
    if padding == "valid":
        return (0, 0)
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return (total // 2, total - total // 2)


def _places(x: Array, spans: Sequence[int], strides: Sequence[int], padding: str, fill: float):
    """Padded input, and for each output place of the windows where they begin."""
    sizes = x.shape[1:-1]
    margins = [_margins(*a, padding) for a in zip(sizes, spans, strides, strict=True)]
    padded = np.pad(x, [(0, 0), *margins, (0, 0)], constant_values=fill)
    counts = [
        max((n - span) // s + 1, 0)
        for n, span, s in zip(padded.shape[1:-1], spans, strides, strict=True)
    ]
    return padded, counts


def _convolved(x: Array, kernel: Array, strides: Any, padding: str, dilation: Any) -> Array:
    """Channels last; each cell of the kernel adds a shifted, scaled input."""
    rank = x.ndim - 2
    strides, dilation = _per_axis(strides, rank), _per_axis(dilation, rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel.shape[:rank], dilation, strict=True)]
    padded, counts = _places(x, spans, strides, padding, 0.0)
    result = np.zeros((len(x), *counts, kernel.shape[-1]))
    for cell in np.ndindex(*kernel.shape[:rank]):
        cut = tuple(
            slice(c * d, c * d + (n - 1) * s + 1, s) if n else slice(0, 0)
            for c, d, s, n in zip(cell, dilation, strides, counts, strict=True)
        )
        result += padded[(slice(None), *cut)] @ kernel[cell]
    return result


def _last(x: Array, data_format: str) -> Array:
    return np.moveaxis(x, 1, -1) if data_format == "channels_first" else x


def _back(x: Array, data_format: str) -> Array:
    return np.moveaxis(x, -1, 1) if data_format == "channels_first" else x


@known("conv1d", "conv2d", "conv3d")
@_plain
def conv(
    x: Array, kernel: Array, strides: Any = 1, padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Any = 1,
) -> Array:  # fmt: skip
    result = _convolved(_last(x, data_format), kernel, strides, padding, dilation_rate)
    return _back(result, data_format)


@known()
@_plain
def depthwise_conv2d(
    x: Array, depthwise_kernel: Array, strides: Any = 1, padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Any = 1,
) -> Array:  # fmt: skip
    x, kernel = _last(x, data_format), depthwise_kernel
    parts = [
        _convolved(x[..., c : c + 1], kernel[..., c : c + 1, :], strides, padding, dilation_rate)
        for c in range(x.shape[-1])
    ]
    if not parts:
        raise UnknownError("no channels")
    return _back(np.concatenate(parts, -1), data_format)


@known("local_conv1d", "local_conv2d")
@_plain
def local_conv(
    inputs: Array, kernel: Array, kernel_size: Sequence[int], strides: Sequence[int],
    output_shape: Sequence[int] = (), data_format: str = "channels_last",
) -> Array:  # fmt: skip
    """A kernel of its own for each place, over the elements of a window as they lie in `inputs`."""
    x = _last(inputs, data_format)
    _, counts = _places(x, kernel_size, strides, "valid", 0.0)
    result = np.zeros((len(x), *counts, kernel.shape[-1]))
    for number, place in enumerate(np.ndindex(*counts)):
        cut = tuple(
            slice(p * s, p * s + n) for p, s, n in zip(place, strides, kernel_size, strict=True)
        )
        window = _back(x[(slice(None), *cut)], data_format)
        result[(slice(None), *place)] = window.reshape(len(x), kernel.shape[1]) @ kernel[number]
    return _back(result, data_format)


@known("pool2d", "pool3d")
@_plain
def pool(
    x: Array, pool_size: Sequence[int], strides: Any, padding: str, data_format: str,
    pool_mode: str,
) -> Array:  # fmt: skip
    x = _last(x, data_format)
    padded, counts = _places(x, pool_size, strides, padding, np.nan)
    result = np.zeros((len(x), *counts, x.shape[-1]))
    combine = np.nanmax if pool_mode == "max" else np.nanmean
    axes = tuple(range(1, x.ndim - 1))
    for place in np.ndindex(*counts):
        cut = tuple(
            slice(p * s, p * s + n) for p, s, n in zip(place, strides, pool_size, strict=True)
        )
        result[(slice(None), *place)] = combine(padded[(slice(None), *cut)], axis=axes)
    return _back(result, data_format)


# Losses and normalization -----------------------------------------------------------------------


def _clipped(output: Array) -> Array:
    return np.clip(output, 1e-7, 1 - 1e-7)


@known()
@_plain
def categorical_crossentropy(
    target: Array, output: Array, from_logits: bool = False, axis: int = -1
) -> Array:
    if from_logits:
        return -np.sum(target * special.log_softmax(output, axis), axis)
    output = output / np.sum(output, axis, keepdims=True)
    return -np.sum(target * np.log(_clipped(output)), axis)


@known()
@_plain
def binary_crossentropy(target: Array, output: Array, from_logits: bool = False) -> Array:
    if from_logits:
        return np.maximum(output, 0) - output * target + np.log1p(np.exp(-np.abs(output)))
    p = _clipped(output)
    return -(target * np.log(p + 1e-7) + (1 - target) * np.log(1 - p + 1e-7))


@known()
@_plain
def sparse_categorical_crossentropy(
    target: Array, output: Array, from_logits: bool = False, axis: int = -1
) -> Array:
    if not from_logits:
        output = np.log(_clipped(output))
    logs = np.moveaxis(special.log_softmax(output, axis), axis, -1)
    index = np.asarray(target).astype("int64").reshape(logs.shape[:-1])
    return -np.take_along_axis(logs, index[..., None], -1)[..., 0]


@known()
@_plain
def batch_normalization(
    x: Array, mean: Array, var: Array, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Array:
    result = (x - mean) / np.sqrt(var + epsilon)
    return result * (1 if gamma is None else gamma) + (0 if beta is None else beta)


@known()
@_plain
def in_top_k(predictions: Array, targets: Array, k: int) -> Array:
    own = np.take_along_axis(predictions, np.asarray(targets)[:, None], 1)
    return np.sum(predictions > own, 1) < k


# Choices and loops: the functions that are given run on arrays ----------------------------------


@known()
def switch(condition: Array, then_expression: Any, else_expression: Any) -> Array:
    then, other = (x() if callable(x) else x for x in (then_expression, else_expression))
    condition = np.asarray(condition).astype(bool)
    if condition.ndim == 0:
        return then if condition else other
    condition = condition.reshape(condition.shape + (1,) * (np.ndim(then) - condition.ndim))
    return np.where(condition, then, other)


@known()
def map_fn(fn: Callable[..., Any], elems: Array, dtype: str | None = None) -> Array:
    if not len(elems):
        raise UnknownError("no elements")
    return np.stack([np.asarray(fn(e)) for e in elems])


@known()
def foldl(fn: Callable[..., Any], elems: Array, initializer: Any = None) -> Array:
    if not len(elems) and initializer is None:
        raise UnknownError("no elements")
    state, rest = (elems[0], elems[1:]) if initializer is None else (initializer, elems)
    for e in rest:
        state = fn(state, e)
    return state


@known()
def foldr(fn: Callable[..., Any], elems: Array, initializer: Any = None) -> Array:
    return foldl(fn, elems[::-1], initializer)


@known()
@_plain
def rnn(
    step_function: Callable[..., Any], inputs: Array, initial_states: Sequence[Array],
    go_backwards: bool = False, mask: Any = None, constants: Any = None, unroll: bool = False,
) -> tuple[Array, Array, list[Array]]:  # fmt: skip
    order = range(inputs.shape[1])
    states, outputs, last = list(initial_states), [], None
    for i in reversed(order) if go_backwards else order:
        output, new = step_function(inputs[:, i], [*states, *(constants or [])])
        if mask is not None:
            here = np.asarray(mask)[:, i].reshape(-1, *(1,) * (output.ndim - 1)).astype(bool)
            output = np.where(here, output, np.zeros_like(output) if last is None else last)
            new = [np.where(here, a, b) for a, b in zip(new, states, strict=True)]
        last, states = output, list(new)
        outputs.append(output)
    if not outputs:
        raise UnknownError("no steps")
    return last, np.stack(outputs, 1), states
