"""`theano.tensor`: tensors without values, and functions of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor, broadcast_together, promoted
from ...errors import ArgumentError
from ...graph.ir.node import Node
from ...graph.primitives import elementwise as ew
from ...graph.primitives import indexing
from ...graph.primitives.sizes import size_of

# --- tensors without values ---------------------------------------------------------------------


class TensorType:
    """`TensorType(dtype, broadcastable)(name)` makes a tensor without a value.

    Args:
        dtype: the element type; `floatX` stands for K's.
        broadcastable: for each axis, whether its size is 1.
    """

    def __init__(self, dtype: str, broadcastable: Sequence[bool] = ()):
        self.dtype, self.broadcastable = dtype, tuple(map(bool, broadcastable))
        self.ndim = len(self.broadcastable)

    def __call__(self, name: str | None = None, dtype: str | None = None) -> Node:
        found = dtype or self.dtype
        x = K.placeholder(
            [1 if one else None for one in self.broadcastable],
            dtype=K.floatx() if found == "floatX" else found,
            name=name,
        )
        called_by(x, name)
        return x


def called_by(x: Node, name: str | None) -> None:
    """Let calls of `theano.function` give the tensor by this name."""
    vars(x)["_argument"] = name


KINDS = {
    "scalar": (), "vector": (False,), "matrix": (False,) * 2, "row": (True, False),
    "col": (False, True), **{f"tensor{n}": (False,) * n for n in (3, 4, 5)},
}  # fmt: skip
LETTERS = {
    "": "floatX", "b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32",
    "d": "float64",
}  # fmt: skip


def _several(kind: TensorType, *names: Any) -> Any:
    count = names[0] if len(names) == 1 and isinstance(names[0], int) else None
    made = [kind(name) for name in ([None] * count if count is not None else names)]
    return made[0] if len(made) == 1 else made


TYPES = {
    letter + kind: TensorType(dtype, axes)
    for letter, dtype in LETTERS.items()
    for kind, axes in KINDS.items()
}
MANY = {
    letter + plural: partial(_several, TYPES[letter + kind])
    for letter in LETTERS
    for kind, plural in (("scalar", "scalars"), ("vector", "vectors"), ("matrix", "matrices"))
}


# --- values as tensors --------------------------------------------------------------------------


def tensor(x: Any, name: str | None = None, ndim: int | None = None) -> Node:
    """A value as a tensor: numbers, arrays, and lists and tuples of tensors."""
    if isinstance(x, list | tuple) and any(isinstance(item, Node) for item in x):
        items = promoted([tensor(item) for item in x], "theano.tensor.stack")
        x = K.stack(items)
    found = as_tensor(x, "theano.tensor")
    return found if ndim is None or found.ndim == ndim else K.reshape(found, (1,) * ndim)


def size(x: Node, axis: int) -> Any:
    """The size of an axis: an int, or a tensor where it's known only at run time."""
    found = size_of(x, axis)
    return K.cast(found, "int64") if isinstance(found, Node) else found


def sizes(x: Any) -> tuple[Any, ...]:
    """The sizes of the axes."""
    x = tensor(x)
    return tuple(size(x, axis) for axis in range(x.ndim))


def as_shape(shape: Any) -> Any:
    """A shape as K takes it: of one size, a tuple, or a tensor of sizes whose number is known."""
    if isinstance(shape, Node):
        if shape.ndim == 0:
            return (shape,)
        return tuple(shape[i] for i in range(int(shape.type.shape[0] or 0)))
    return (shape,) if isinstance(shape, int | np.integer) else tuple(shape)


def truth(x: Any) -> Node:
    """A condition as a tensor of bools."""
    found = tensor(x)
    return found if found.dtype.is_bool else K.not_equal(found, 0)


# --- functions ----------------------------------------------------------------------------------


def switch(cond: Any, ift: Any, iff: Any) -> Node:
    """For each element, one of two values; all three are broadcast."""
    then, otherwise = promoted((tensor(ift), tensor(iff)), "theano.tensor.switch")
    made = broadcast_together([truth(cond), then, otherwise], "theano.tensor.switch")
    return ew.select(*made)


def _counted(x: Any, dtype: Any = None) -> Node:
    x = tensor(x)
    if dtype is not None:
        return K.cast(x, dtype_of(dtype))
    return K.cast(x, "int64") if x.dtype.is_bool else x


def dtype_of(dtype: Any) -> str:
    """The name of a dtype; K's floats by default, and as `floatX`."""
    return K.floatx() if dtype in (None, "floatX") else str(np.dtype(dtype))


def reduced(name: str) -> Callable[..., Node]:
    """A function that reduces axes."""
    function = getattr(K, name)

    def call(
        x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, **more: Any
    ) -> Node:
        x = tensor(x) if name in ("any", "all") else _counted(x, dtype)
        if name in ("mean", "std", "var") and not x.dtype.is_float:
            x = K.cast(x, K.floatx())
        axis = list(axis) if isinstance(axis, tuple) else axis
        return function(x, axis=axis, keepdims=keepdims)  # type: ignore[no-any-return]

    return call


def _best(function: Any) -> Callable[..., Node]:
    def call(x: Any, axis: int | None = None, keepdims: bool = False) -> Node:
        x = tensor(x)
        found = function(K.flatten(x) if axis is None else x, -1 if axis is None else axis)
        return K.expand_dims(found, axis) if keepdims and axis is not None else found

    return call


def _pair(function: Any) -> Callable[..., Node]:
    return lambda a, b: function(*promoted((tensor(a), tensor(b)), "theano.tensor"))


def one(function: Any) -> Callable[..., Node]:
    """A function of one value, as a tensor."""
    return lambda x: function(tensor(x))


def _folded(function: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        found = tensor(args[0])
        for x in args[1:]:
            found = function(found, x)
        return found

    return call


def dot(a: Any, b: Any) -> Node:
    """The product of matrices, or of their last and last but one axes; of numbers, times."""
    a, b = promoted((tensor(a), tensor(b)), "theano.tensor.dot")
    if a.ndim == 0 or b.ndim == 0:
        found: Node = a * b
        return found
    if a.ndim == 1 and b.ndim == 1:
        return K.sum(a * b)
    if a.ndim == 1:
        return K.squeeze(K.dot(K.expand_dims(a, 0), b), 0)
    return a @ b if b.ndim == 1 else K.dot(a, b)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Node:
    """Numbers in equal steps."""
    if stop is None:
        start, stop = 0, start
    given = [np.asarray(x).dtype if not isinstance(x, Node) else np.dtype(x.dtype)
             for x in (start, stop, step)]  # fmt: skip
    kind = dtype_of(dtype) if dtype else str(np.result_type(*given))
    return K.cast(K.arange(start, stop, step, dtype="int32" if "int" in kind else kind), kind)


def _made(function: Any) -> Callable[..., Node]:
    def call(shape: Any, dtype: Any = None) -> Node:
        kind, shape = dtype_of(dtype), as_shape(shape)
        if all(isinstance(n, int | np.integer) for n in shape):
            return K.constant(function(shape), kind)
        one = K.constant(function(()), kind)
        return K.reshape(K.tile(K.reshape(one, (1,)), [math.prod(shape)]), shape)

    return call


def alloc(value: Any, *shape: Any) -> Node:
    """A value, repeated to a shape."""
    value = tensor(value)
    found: Node = value + K.cast(_made(np.zeros)(shape), value.dtype)
    return found


def _matrix(function: Any) -> Callable[..., Node]:
    return lambda n, m=None, k=0, dtype=None: K.constant(function(n, m, k), dtype_of(dtype))


def dimshuffle(x: Any, *pattern: Any) -> Node:
    """The axes in another order; 'x' is a new one of size 1; those left out have size 1."""
    found = tensor(x)
    order = list(
        pattern[0] if len(pattern) == 1 and isinstance(pattern[0], list | tuple) else pattern
    )
    kept = [axis for axis in order if axis != "x"]
    for axis in sorted({*range(found.ndim)} - {*kept}, reverse=True):
        found = K.squeeze(found, axis)
        kept = [a - (a > axis) for a in kept]
    if kept != list(range(len(kept))):
        found = K.permute_dimensions(found, kept)
    for at, axis in enumerate(order):
        if axis == "x":
            found = K.expand_dims(found, at)
    return found


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Node:
    """The elements in another shape."""
    return K.reshape(tensor(x), as_shape(newshape))


def flatten(x: Any, ndim: int = 1, outdim: int | None = None) -> Node:
    """The axes from that one on as one."""
    x, kept = tensor(x), (outdim or ndim) - 1
    return K.reshape(x, (*(size(x, axis) for axis in range(kept)), -1))


def transpose(x: Any, *axes: Any) -> Node:
    """The axes in another order: backwards, if none is given."""
    x = tensor(x)
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return K.permute_dimensions(x, list(order or range(x.ndim)[::-1])) if x.ndim > 1 else x


def concatenate(tensor_list: Any, axis: int = 0) -> Node:
    """Tensors, one behind the other."""
    return K.concatenate(promoted([tensor(x) for x in tensor_list], "concatenate"), axis)


def stack(*tensors: Any, axis: int = 0) -> Node:
    """Tensors along a new axis."""
    if tensors and isinstance(tensors[0], list | tuple):
        axis = tensors[1] if len(tensors) > 1 else axis
        tensors = tuple(tensors[0])
    return K.stack(promoted([tensor(x) for x in tensors], "stack"), axis)


def norm(x: Any, L: Any, axis: Any = None, keepdims: bool = False) -> Node:
    """The norm of order L."""
    x = K.abs(tensor(x))
    return K.pow(K.sum(K.pow(x, L), axis=axis, keepdims=keepdims), 1.0 / L)


def clip(x: Any, min: Any, max: Any) -> Node:
    """The elements, within bounds."""
    return _pair(K.minimum)(_pair(K.maximum)(x, min), max)


def cast(x: Any, dtype: Any) -> Node:
    """The elements in another dtype."""
    return K.cast(tensor(x), dtype_of(dtype))


def repeat(x: Any, repeats: int, axis: int | None = None) -> Node:
    """Each element, so many times."""
    x = tensor(x)
    return K.repeat_elements(K.flatten(x) if axis is None else x, repeats, axis or 0)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Node:
    """The elements at some places along an axis."""
    a = tensor(a)
    return indexing.gather(K.flatten(a) if axis is None else a, tensor(indices), axis or 0)


def nonzero(x: Any) -> tuple[Node, ...]:
    """For each axis, the places of what isn't 0."""
    places = indexing.nonzero(K.cast(truth(x), "int32"))
    return tuple(K.cast(places[:, axis], "int64") for axis in range(tensor(x).ndim))


def _triangle(function: Any) -> Callable[..., Node]:
    def call(m: Any, k: int = 0) -> Node:
        m = tensor(m)
        rows, columns = K.arange(size(m, -2)), K.arange(size(m, -1))
        apart = K.expand_dims(columns, 0) - K.expand_dims(rows, 1)
        return switch(function(apart, k), m, K.zeros_like(m))

    return call


def _needs(name: str, use: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        raise ArgumentError(f"theano.tensor.{name} isn't there; use {use}")

    return call


def _of_floats(primitive: Any) -> Callable[..., Node]:
    def call(x: Any) -> Node:
        x = tensor(x)
        found: Node = primitive(x if x.dtype.is_float else K.cast(x, K.floatx()))
        return found

    return call


def _operator(function: Any) -> Callable[..., Any]:
    return lambda a, b: function(tensor(a), b)


OPERATORS = {
    "true_div": operator.truediv, "int_div": operator.floordiv, "floor_div": operator.floordiv,
    "mod": operator.mod, "pow": operator.pow, "minus": operator.sub,
}  # fmt: skip
SINGLE: dict[str, Any] = {
    **{name: one(getattr(K, name)) for name in "abs sqrt exp log sin cos tanh round".split()},
    **{name: _of_floats(getattr(ew, name)) for name in "floor ceil expm1 log1p".split()},
    "sqr": one(K.square), "square": one(K.square), "abs_": one(K.abs), "sgn": one(K.sign),
    "neg": one(operator.neg), "inv": one(lambda x: 1.0 / x), "iround": one(K.round),
    "zeros_like": lambda x, dtype=None: K.zeros_like(tensor(x), dtype),
    "ones_like": lambda x, dtype=None: K.ones_like(tensor(x), dtype),
    "fill": lambda a, b: K.zeros_like(tensor(a)) + tensor(b),
    "invert": one(lambda x: ~x), "isnan": one(lambda x: K.not_equal(x, x)),
    "isinf": one(lambda x: K.equal(K.abs(x), np.inf)),
}  # fmt: skip
PAIRS: dict[str, Any] = {
    "add": _folded(operator.add), "mul": _folded(operator.mul), "sub": _folded(operator.sub),
    **{name: _operator(function) for name, function in OPERATORS.items()},
    "and_": lambda a, b: truth(a) & truth(b), "or_": lambda a, b: truth(a) | truth(b),
    "xor": lambda a, b: truth(a) ^ truth(b),
    "maximum": _pair(K.maximum), "minimum": _pair(K.minimum), "eq": _pair(K.equal),
    "neq": _pair(K.not_equal), "gt": _pair(K.greater), "ge": _pair(K.greater_equal),
    "lt": _pair(K.less), "le": _pair(K.less_equal),
}  # fmt: skip
SHAPED: dict[str, Any] = {
    "reshape": reshape, "flatten": flatten, "transpose": transpose, "dimshuffle": dimshuffle,
    "concatenate": concatenate, "join": lambda axis, *xs: concatenate(xs, axis), "stack": stack,
    "repeat": repeat, "take": take, "nonzero": nonzero, "alloc": alloc, "eye": _matrix(np.eye),
    "tri": _matrix(np.tri),
    "tile": lambda x, reps, ndim=None: K.tile(tensor(x), as_shape(reps)),
    "tril": _triangle(operator.le), "triu": _triangle(operator.ge), "shape": sizes,
    "squeeze": one(lambda x: K.reshape(x, [n for n in sizes(x) if isinstance(n, Node) or n != 1])),
    "shape_padleft": lambda x, n_ones=1: dimshuffle(x, *["x"] * n_ones, *range(tensor(x).ndim)),
    "shape_padright": lambda x, n_ones=1: dimshuffle(x, *range(tensor(x).ndim), *["x"] * n_ones),
    "addbroadcast": lambda x, *axes: x, "patternbroadcast": lambda x, broadcastable: x,
    "unbroadcast": lambda x, *axes: x, "arange": arange, "zeros": _made(np.zeros),
    "ones": _made(np.ones), "cumsum": lambda x, axis=None: K.cumsum(tensor(x), axis or 0),
    "outer": lambda a, b: dimshuffle(a, 0, "x") * dimshuffle(b, "x", 0),
}  # fmt: skip
NAMES: dict[str, Any] = {
    **TYPES, **MANY, **SINGLE, **PAIRS, **SHAPED,
    **{name: reduced(name) for name in "sum mean max min prod any all std var".split()},
    "argmax": _best(K.argmax), "argmin": _best(K.argmin), "dot": dot,
    "batched_dot": lambda a, b: K.batch_dot(tensor(a), tensor(b)),
    "tensordot": _needs("tensordot", "T.dot, or K.batch_dot"),
    "switch": switch, "where": switch, "clip": clip, "cast": cast, "norm": norm,
    "TensorType": TensorType, "as_tensor_variable": tensor, "as_tensor": tensor,
    "constant": tensor, "TensorVariable": Node, "Variable": Node,
}  # fmt: skip
