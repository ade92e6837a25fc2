"""TensorFlow's operations as rules call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import tensorflow as tf

from ...graph.primitives.movement import inverse

raw = tf.raw_ops
Tensor = Any


def cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` as `dtype`."""
    dtype = tf.as_dtype(dtype)
    return x if x.dtype == dtype else raw.Cast(x=x, DstT=dtype)


def constant(value: Any, dtype: Any) -> Tensor:
    """A number or array as a constant in the graph."""
    return tf.constant(value, dtype=dtype)


def index_dtype(index: Tensor) -> Tensor:
    """Indices as int32 or int64, the dtypes that kernels take."""
    wide = {"uint32": "int64", "uint64": "int64", "int64": "int64"}
    return cast(index, wide.get(index.dtype.name, "int32"))


def shape_of(x: Tensor) -> list[Any]:
    """The sizes of all axes: ints where the tensor's own type knows them, else int32 scalars."""
    known = x.shape.as_list()
    if None not in known:
        return list(known)
    sizes = raw.Shape(input=x)
    return [element(sizes, i) if d is None else d for i, d in enumerate(known)]


def element(vector: Tensor, i: int) -> Tensor:
    """One element of a vector."""
    return raw.StridedSlice(input=vector, begin=[i], end=[i + 1], strides=[1], shrink_axis_mask=1)


def vector(dims: Any) -> Tensor:
    """Sizes (ints and integer scalars) as the vector that kernels take for a shape."""
    known = [d for d in dims if isinstance(d, int)]
    large = any(abs(d) >= 2**31 for d in known)
    dtype = "int64" if large else "int32"
    if len(known) == len(dims):
        return tf.constant(list(dims), dtype=dtype, shape=[len(dims)])
    values = [tf.constant(d, dtype) if isinstance(d, int) else cast(d, dtype) for d in dims]
    return raw.Pack(values=values)


# Kernels that broadcast, and oneDNN's, take tensors of so many axes; those of more are reshaped.
MOST_AXES = 5


def product(dims: Sequence[Any]) -> Any:
    """The product of sizes: an int where all are known."""
    if all(isinstance(d, int) for d in dims):
        return prod(dims)
    return raw.Prod(input=vector(dims), axis=[0])


def in_rows(function: Callable[[Tensor], Tensor], drops: bool = False) -> Callable[..., Tensor]:
    """A kernel that works along the last axis (and `drops` it), for any number of axes."""

    def of_any_rank(x: Tensor) -> Tensor:
        if len(x.shape) <= MOST_AXES:
            return function(x)
        dims = shape_of(x)
        found = function(reshaped(x, [product(dims[:-1]), dims[-1]]))
        return reshaped(found, dims[:-1] if drops else dims)

    return of_any_rank


def transposed(x: Tensor, perm: Any) -> Tensor:
    """`x` with its axes in another order."""
    perm = list(perm)
    return x if perm == list(range(len(perm))) else raw.Transpose(x=x, perm=perm)


def along_last(function: Callable[[Tensor], Tensor], axis: int, x: Tensor) -> Tensor:
    """What a function that works along the last axis gives along another one."""
    perm = [*(i for i in range(len(x.shape)) if i != axis), axis]
    return transposed(function(transposed(x, perm)), inverse(perm))


def reshaped(x: Tensor, dims: Any) -> Tensor:
    """`x` in the shape `dims` (ints, one of them perhaps -1, and integer scalars)."""
    dims = list(dims)
    unknown = [i for i, d in enumerate(dims) if not isinstance(d, int)]
    if len(unknown) == 1 and all(d > 0 for d in dims if isinstance(d, int)):
        dims[unknown[0]] = -1  # a constant shape costs nothing at run time
    return raw.Reshape(tensor=x, shape=vector(dims))


def of_shape(x: Tensor, shape: Sequence[int | None]) -> Tensor:
    """`x` with the known sizes of `shape`; an error at run time where `x` has other sizes."""
    known = x.shape.as_list()
    if all(a is None or a == b for a, b in zip(shape, known, strict=True)):
        return x
    return raw.EnsureShape(input=x, shape=list(shape))


def shielded(x: Tensor, shape: Sequence[int | None] | None = None) -> Tensor:
    """`x`; what the optimiser infers of the result's unknown sizes, it doesn't infer of `x`.

    The optimiser takes sizes that an operation compares at run time as equal wherever tensors of
    one origin are used, and computes with them beforehand. That is wrong where the body of a
    condition or loop needn't run: what goes into a body, or comes out of a loop, goes through here.

    Args:
        x: any tensor.
        shape: what may be known of its sizes: TensorFlow refuses operations that it knows to fail,
            also those that never run.
    """
    own = x.shape if shape is None else tf.TensorShape(shape)
    if x.dtype != tf.variant and own.is_fully_defined():
        return x
    boxed = raw.OptionalFromValue(components=[x])  # a reference, not a copy
    (same,) = raw.OptionalGetValue(optional=boxed, output_types=[x.dtype], output_shapes=[own])
    return same


def required(holds: Tensor, message: str) -> tf.Operation:
    """Let the call fail where `holds` (a bool scalar) is false; the operation that sees to it.

    An Assert has an effect, so it's run although nothing needs it.
    """
    return raw.Assert(condition=holds, data=[tf.constant(message)])


def on_gpu() -> bool:
    """Whether a GPU runs what it has kernels for."""
    return bool(tf.config.list_logical_devices("GPU"))
