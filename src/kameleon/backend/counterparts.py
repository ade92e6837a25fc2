"""TensorFlow's and PyTorch's functions that mean the same as K functions, by the library's names.

Each row takes the library's parameters, and only arguments that K has, too: what doesn't fit is
`NotImplemented`, or doesn't bind. Then the library's own function is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.ir.node import Node
from ..graph.primitives.special import log_softmax
from . import surface as K

Function = Callable[..., Any]


def _reduction(function: Function) -> Function:
    return lambda input_tensor, axis=None, keepdims=False: function(
        input_tensor, axis, bool(keepdims)
    )


def _over(function: Function) -> Function:
    return lambda input, dim=None, keepdim=False: function(input, dim, bool(keepdim))


def _running(function: Function) -> Function:
    return lambda x, axis=0, exclusive=False, reverse=False: (
        NotImplemented if exclusive or reverse else function(x, axis)
    )


def _alike(x: Any, y: Any, *more: Any) -> bool:
    """Whether these are tensors of one known shape."""
    tensors = [i for i in (x, y, *more) if isinstance(i, Node)]
    shapes = {i.shape for i in tensors}
    return len(tensors) == 2 + len(more) and len(shapes) == 1 and None not in tensors[0].shape


def _where(condition: Any, x: Any, y: Any) -> Any:
    return K.switch(condition, x, y) if _alike(condition, x, y) else NotImplemented


def _matrices(a: Any, b: Any) -> Any:
    ranks = [x.ndim if isinstance(x, Node) else 0 for x in (a, b)]
    return a @ b if min(ranks) >= 2 else NotImplemented


def _log_softmax(x: Any, axis: Any) -> Any:
    return log_softmax(x, axis=axis % x.ndim)


def _best(function: Function) -> Function:
    return lambda input, axis=None, output_type="int64": K.cast(
        function(input, 0 if axis is None else axis), output_type
    )


def _at(function: Function) -> Function:
    return lambda input, dim=None, keepdim=False: (
        NotImplemented if dim is None or keepdim else K.cast(function(input, dim), "int64")
    )


def _squeezed(x: Any, axis: Any) -> Any:
    return K.squeeze(x, axis) if isinstance(axis, int) and x.shape[axis] == 1 else NotImplemented


# Functions of one tensor, by both libraries' names.
SINGLE: dict[str, Function] = {
    "exp": K.exp, "log": K.log, "sqrt": K.sqrt, "square": K.square, "sigmoid": K.sigmoid,
    "tanh": K.tanh, "sin": K.sin, "cos": K.cos, "abs": K.abs, "sign": K.sign, "round": K.round,
    "neg": lambda x: -x, "negative": lambda x: -x, "softsign": K.softsign,
    "rsqrt": lambda x: 1.0 / K.sqrt(x),
}  # fmt: skip
PAIRS: dict[str, Function] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "truediv": lambda x, y: x / y, "pow": lambda x, y: x**y,
    "maximum": lambda x, y: K.maximum(x, y), "minimum": lambda x, y: K.minimum(x, y),
    "squared_difference": lambda x, y: K.square(x - y), "equal": lambda x, y: K.equal(x, y),
    "not_equal": lambda x, y: K.not_equal(x, y), "less": lambda x, y: K.less(x, y),
    "less_equal": lambda x, y: K.less_equal(x, y), "greater": lambda x, y: K.greater(x, y),
    "greater_equal": lambda x, y: K.greater_equal(x, y),
}  # fmt: skip


def _named(parameter: str) -> Function:
    """Makes a function of one tensor one whose parameter may be given by another name."""

    def make(function: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            fits = len(given) == 1 and set(kwargs) <= {parameter}
            return function(given[0]) if fits else NotImplemented

        return call

    return make


# Of float tensors: of integers the library gives other dtypes, or nothing.
TENSORFLOW: dict[str, Function] = {
    **{name: _named("x")(function) for name, function in SINGLE.items()},
    **{name: _named("features")(SINGLE[name]) for name in ("softsign",)},
    **{
        name: _named("features")(function)
        for name, function in {
            "relu": K.relu, "elu": K.elu, "softplus": K.softplus,
            "relu6": lambda x: K.relu(x, max_value=6.0),
        }.items()
    },
    **PAIRS,
    "leaky_relu": lambda features, alpha=0.2: K.relu(features, alpha),
    "softmax_v2": lambda logits, axis=None: K.softmax(logits, -1 if axis is None else axis),
    "log_softmax_v2": lambda logits, axis=None: _log_softmax(logits, -1 if axis is None else axis),
    "reduce_sum": _reduction(K.sum), "reduce_mean": _reduction(K.mean),
    "reduce_max": _reduction(K.max), "reduce_min": _reduction(K.min),
    "reduce_prod": _reduction(K.prod), "reduce_std": _reduction(K.std),
    "reduce_variance": _reduction(K.var), "reduce_logsumexp": _reduction(K.logsumexp),
    "argmax_v2": _best(K.argmax), "argmin_v2": _best(K.argmin),
    "cumsum": _running(K.cumsum), "cumprod": _running(K.cumprod),
    "matmul": lambda a, b: _matrices(a, b),
    "clip_by_value": lambda t, clip_value_min, clip_value_max: K.clip(
        t, clip_value_min, clip_value_max
    ),
    "where_v2": _where,
    "sigmoid_cross_entropy_with_logits": lambda labels=None, logits=None: (
        K.binary_crossentropy(labels, logits, from_logits=True)
        if _alike(labels, logits) else NotImplemented
    ),
}  # fmt: skip
# Of tensors of any dtype.
TENSORFLOW_ANY: dict[str, Function] = {
    "identity": _named("input")(lambda x: K.identity(x)),
    "stop_gradient": _named("input")(lambda x: K.stop_gradient(x)),
    "zeros_like_v2": _named("input")(lambda x: K.zeros_like(x, x.dtype)),
    "ones_like_v2": _named("input")(lambda x: K.ones_like(x, x.dtype)),
    "cast": lambda x, dtype: K.cast(x, dtype),
    "shape": lambda input, optimize=None, out_type="int32": K.cast(K.shape(input), out_type),
    "reshape": lambda tensor, shape: K.reshape(tensor, shape),
    "transpose": lambda a, perm=None, conjugate=False: (
        K.transpose(a) if perm is None else K.permute_dimensions(a, perm)
    ),
    "expand_dims_v2": lambda input, axis: K.expand_dims(input, axis),
    "squeeze": lambda input, axis=None, squeeze_dims=None: _squeezed(input, axis),
    "concat": lambda values, axis: K.concatenate(values, axis),
    "stack": lambda values, axis=0: K.stack(values, axis),
    "tile": lambda input, multiples: K.tile(input, multiples),
    "reverse_v2": lambda tensor, axis: K.reverse(tensor, axis),
    "gather": lambda params, indices, validate_indices=None, axis=None, batch_dims=0: (
        NotImplemented if axis or batch_dims else K.gather(params, indices)
    ),
    "one_hot": lambda indices, depth: K.cast(K.one_hot(indices, depth), "float32"),
    "logical_and": lambda x, y: x & y,
    "logical_or": lambda x, y: x | y,
    "logical_not": _named("x")(lambda x: ~x),
    "reduce_any": _reduction(K.any),
    "reduce_all": _reduction(K.all),
}
TORCH: dict[str, Function] = {
    **{name: _named("input")(function) for name, function in SINGLE.items()},
    "relu": lambda input, inplace=False: NotImplemented if inplace else K.relu(input),
    "relu6": lambda input, inplace=False: (
        NotImplemented if inplace else K.relu(input, max_value=6.0)
    ),
    "elu": lambda input, alpha=1.0, inplace=False: (
        NotImplemented if inplace else K.elu(input, alpha)
    ),
    "leaky_relu": lambda input, negative_slope=0.01, inplace=False: (
        NotImplemented if inplace else K.relu(input, negative_slope)
    ),
    "softmax": lambda input, dim, _stacklevel=3, dtype=None: (
        K.softmax(input, dim) if dtype is None and dim is not None else NotImplemented
    ),
    "log_softmax": lambda input, dim, _stacklevel=3, dtype=None: (
        _log_softmax(input, dim) if dtype is None and dim is not None else NotImplemented
    ),
    "sum": _over(K.sum), "mean": _over(K.mean), "prod": _over(K.prod), "amax": _over(K.max),
    "amin": _over(K.min), "logsumexp": _over(K.logsumexp), "argmax": _at(K.argmax),
    "argmin": _at(K.argmin), "max": _named("input")(lambda x: K.max(x)),
    "min": _named("input")(lambda x: K.min(x)),
    "cumsum": lambda input, dim: K.cumsum(input, dim),
    "cumprod": lambda input, dim: K.cumprod(input, dim),
    "clamp": lambda input, min=None, max=None: (
        NotImplemented if min is None or max is None else K.clip(input, min, max)
    ),
    "matmul": lambda input, other: _matrices(input, other),
    "mm": lambda input, mat2: _matrices(input, mat2),
    "add": lambda input, other: input + other, "sub": lambda input, other: input - other,
    "mul": lambda input, other: input * other, "div": lambda input, other: input / other,
    "pow": lambda input, exponent: input**exponent,
    "maximum": lambda input, other: K.maximum(input, other),
    "minimum": lambda input, other: K.minimum(input, other),
    "eq": lambda input, other: K.equal(input, other),
    "ne": lambda input, other: K.not_equal(input, other),
    "lt": lambda input, other: K.less(input, other),
    "le": lambda input, other: K.less_equal(input, other),
    "gt": lambda input, other: K.greater(input, other),
    "ge": lambda input, other: K.greater_equal(input, other),
    "where": lambda condition, input, other: _where(condition, input, other),
}  # fmt: skip
TORCH_ANY: dict[str, Function] = {
    "zeros_like": _named("input")(lambda x: K.zeros_like(x, x.dtype)),
    "ones_like": _named("input")(lambda x: K.ones_like(x, x.dtype)),
    "cat": lambda tensors, dim=0: K.concatenate(tensors, dim),
    "stack": lambda tensors, dim=0: K.stack(tensors, dim),
    "permute": lambda input, dims: K.permute_dimensions(input, dims),
    "transpose": lambda input, dim0, dim1: _swapped(input, dim0, dim1),
    "reshape": lambda input, shape: K.reshape(input, shape),
    "squeeze": lambda input, dim: _squeezed(input, dim),
    "unsqueeze": lambda input, dim: K.expand_dims(input, dim),
    "flip": lambda input, dims: K.reverse(input, dims),
    "tile": lambda input, dims: (
        K.tile(input, dims) if len(dims) == input.ndim else NotImplemented
    ),
    "logical_and": lambda input, other: input & other if _bools(input, other) else NotImplemented,
    "logical_or": lambda input, other: input | other if _bools(input, other) else NotImplemented,
}  # fmt: skip


def _bools(*items: Any) -> bool:
    return all(isinstance(x, Node) and x.dtype.is_bool for x in items)


def _swapped(x: Any, first: int, second: int) -> Any:
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return K.permute_dimensions(x, order)


# By library: for float tensors, and for any.
COUNTERPARTS = {
    "tensorflow": (TENSORFLOW, TENSORFLOW_ANY),
    "torch": (TORCH, TORCH_ANY),
}
