"""Joining, reshaping, reordering and cutting tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import INT32, INT64, DType, normalize_axis, show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import check
from ..graph.primitives.indexing import gather
from ..graph.primitives.movement import broadcast_to, iota, slice_axis
from ..graph.primitives.movement import concatenate as concatenate_primitive
from ..graph.primitives.movement import expand_dims as insert_axis
from ..graph.primitives.movement import reshape as reshape_primitive
from ..graph.primitives.movement import reverse as reverse_primitive
from ..graph.primitives.movement import stack as stack_primitive
from ..graph.primitives.movement import transpose as transpose_primitive
from ..graph.primitives.sizes import Size, as_node, dims_of, size_of, sizes_product
from . import _seeds
from ._tensors import (
    Tensor,
    TensorLike,
    as_tensor,
    axes_of,
    axis_of,
    binary,
    dims_from,
)
from .sparse_tensor import SparseTensor

__all__ = [
    "concatenate",
    "reshape",
    "permute_dimensions",
    "flatten",
    "batch_flatten",
    "expand_dims",
    "squeeze",
    "stack",
    "reverse",
    "slice",
]


# Joining ----------------------------------------------------------------------------------


def _alike(items: Any, what: str) -> list[Node]:
    """Tensors, where all else takes the dtype of the first tensor among the items."""
    parts = list(items)
    if not parts:
        raise ArgumentError(f"{what}: a list of tensors was expected, got an empty one")
    dtype = next((x.dtype for x in parts if isinstance(x, Node)), None)
    return [x if isinstance(x, Node) else _as_dtype(x, dtype, what) for x in parts]


def _as_dtype(x: Any, dtype: DType | None, what: str) -> Node:
    node = as_tensor(x, what)
    if dtype is not None and node.dtype.is_float and not dtype.is_float:
        raise DTypeError(f"{what}: {x!r} stands beside tensors of {dtype}; K.cast one of them")
    return node if dtype is None else ew.cast(node, dtype)


def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor:
    """The tensors joined along an axis.

    Args:
        tensors: tensors whose shapes differ at most along `axis`. Where all of them are sparse,
            so is the result; where only some are, those are made dense.
        axis: the axis to join along; negative ones count from the end.

    Returns:
        Tensor whose size along `axis` is the sum of theirs.

    Raises:
        ShapeError: shapes that don't fit; there is no such axis.
        DTypeError: different dtypes.

    >>> from kameleon import backend as K
    >>> K.eval(K.concatenate([K.constant([[1., 2.]]), K.constant([[3.]])]))
    array([[1., 2., 3.]], dtype=float32)
    """
    parts = list(tensors)
    sparse = [isinstance(x, SparseTensor) for x in parts]
    if any(sparse):
        from .sparse import sparse_concatenate, to_dense

        if all(sparse):
            axis = normalize_axis("concatenate", axis, len(parts[0].shape))
            return sparse_concatenate(parts, axis)  # type: ignore[return-value]
        parts = [to_dense(x) if s else x for x, s in zip(parts, sparse, strict=True)]
    nodes = _alike(parts, "concatenate")
    return concatenate_primitive(nodes, axis_of(nodes[0], axis, "concatenate"))


def stack(x: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis.

    Args:
        x: tensors; some of them may be numbers.
        axis: where the new axis is in the result; negative ones count from the end.

    Returns:
        Tensor with one axis more.

    Raises:
        ShapeError: shapes that differ; an axis that is out of range.

    >>> from kameleon import backend as K
    >>> K.eval(K.stack([K.constant([1., 2.]), K.constant([3., 4.])], axis=1))
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    nodes = _alike(x, "stack")
    ranks = {len(n.shape) for n in nodes}
    if len(ranks) > 1:
        shown = ", ".join(show_shape(n.shape) for n in nodes)
        raise ShapeError(f"stack: shapes {shown} differ; all must be equal")
    return stack_primitive(nodes, normalize_axis("stack", axis, ranks.pop() + 1))


# Shape ------------------------------------------------------------------------------------


def reshape(x: TensorLike, shape: Any) -> Tensor:
    """The same elements, in row-major order, in another shape.

    Args:
        x: a tensor.
        shape: ints and scalar tensors, or a 1-D integer tensor; one may be -1 and is inferred.

    Returns:
        Tensor of that shape.

    Raises:
        ShapeError: the numbers of elements are known and differ; there's more than one -1.

    >>> from kameleon import backend as K
    >>> K.eval(K.reshape(K.arange(6), (2, -1)))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    x, dims = as_tensor(x, "reshape"), dims_from(shape, "reshape")
    fixed = [d for d in dims if not isinstance(d, Node)]
    if fixed.count(-1) > 1 or any(d < -1 for d in fixed):
        raise ShapeError(f"reshape: sizes must be >= 0, and one may be -1, got {shape}")
    return reshape_primitive(x, dims)


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    """Permute the dimensions of `x`: its axes in another order.

    Args:
        x: a tensor.
        pattern: for each axis of the result, which axis of `x` it is.

    Returns:
        Tensor with the axes of `x`.

    Raises:
        ShapeError: `pattern` doesn't name each axis once.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.permute_dimensions(K.zeros((2, 3, 4)), (0, 2, 1)))
    (2, 4, 3)
    """
    x = as_tensor(x, "permute_dimensions")
    perm = [axis_of(x, p, "permute_dimensions") for p in pattern]
    if sorted(perm) != list(range(len(x.shape))):
        raise ShapeError(
            f"permute_dimensions: pattern {tuple(pattern)} doesn't name each of the"
            f" {len(x.shape)} axes of x once (shape {show_shape(x.shape)})"
        )
    return transpose_primitive(x, perm)


def flatten(x: TensorLike) -> Tensor:
    """Flatten `x` to a vector.

    Args:
        x: a tensor.

    Returns:
        Tensor with one axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.flatten(K.constant([[1., 2.], [3., 4.]])))
    array([1., 2., 3., 4.], dtype=float32)
    """
    return reshape_primitive(as_tensor(x, "flatten"), [-1])


def batch_flatten(x: TensorLike) -> Tensor:
    """Flatten each sample of `x` to a vector.

    Args:
        x: tensor (batch, ...).

    Returns:
        Tensor (batch, number of elements in a sample).

    Raises:
        ShapeError: `x` is a scalar.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.batch_flatten(K.zeros((2, 3, 4))))
    (2, 12)
    """
    x = as_tensor(x, "batch_flatten")
    if not x.shape:
        raise ShapeError("batch_flatten: x is a scalar; it needs a batch axis")
    _seeds.draw(_seeds.FOR_NAMES)  # the original draws a number for an operation's name
    batch, *rest = dims_of(x)
    return reshape_primitive(x, [batch, sizes_product(rest)])


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """Expand the dimensions of `x` by a new axis of size 1.

    Args:
        x: a tensor.
        axis: where the new axis is in the result; negative ones count from the end.

    Returns:
        Tensor with one axis more.

    Raises:
        ShapeError: an axis that is out of range.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.expand_dims(K.zeros((2, 3)), 1))
    (2, 1, 3)
    """
    x = as_tensor(x, "expand_dims")
    return insert_axis(x, normalize_axis("expand_dims", axis, len(x.shape) + 1))


def squeeze(x: TensorLike, axis: int) -> Tensor:
    """Squeeze `x`: take an axis of size 1 away.

    Args:
        x: a tensor.
        axis: the axis to drop; an unknown size is taken as 1, and checked at run time.

    Returns:
        Tensor with one axis less.

    Raises:
        ShapeError: the size is known and isn't 1; there is no such axis.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.squeeze(K.zeros((2, 1, 3)), 1))
    (2, 3)
    """
    x = as_tensor(x, "squeeze")
    at = axis_of(x, axis, "squeeze")
    size, rule = size_of(x, at), "only axes of size 1 can be dropped"
    if isinstance(size, Node):  # a tensor without elements has as many whatever this size is
        holds, message = binary(ew.eq, size, 1, "squeeze"), f"squeeze: axis {axis}: {rule}"
        x = check(x, holds, message=message)
    elif size != 1:
        shown = show_shape(x.shape)
        raise ShapeError(f"squeeze: axis {axis} of shape {shown} has size {size}; {rule}")
    dims = dims_of(x)
    return reshape_primitive(x, [*dims[:at], *dims[at + 1 :]])


# Cutting ----------------------------------------------------------------------------------


def reverse(x: TensorLike, axes: Any) -> Tensor:
    """Reverse the order of `x` along some axes.

    Args:
        x: a tensor.
        axes: an int, or several; negative ones count from the end.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.reverse(K.constant([1., 2., 3.]), 0))
    array([3., 2., 1.], dtype=float32)
    """
    x = as_tensor(x, "reverse")
    reversed_axes = axes_of(x, list(axes) if np.iterable(axes) else axes, "reverse")
    return reverse_primitive(x, axes=reversed_axes) if reversed_axes else x


def slice(x: TensorLike, start: Any, size: Any) -> Tensor:
    """The block of `x` that begins at `start`.

    Args:
        x: a tensor.
        start: for each axis, where to begin: ints and scalar tensors, or a 1-D integer tensor.
        size: for each axis, how many elements to take, likewise; -1 takes all that follow.

    Returns:
        Tensor of shape `size`.

    Raises:
        ShapeError: not as many starts and sizes as axes; a block that reaches out of `x`.
        EvaluationError: when run: a block that reaches out of `x`, where that wasn't known before.

    >>> from kameleon import backend as K
    >>> x = K.constant([[1., 2., 3.], [4., 5., 6.]])
    >>> K.eval(K.slice(x, [0, 1], [-1, 2]))
    array([[2., 3.],
           [5., 6.]], dtype=float32)
    """
    block = as_tensor(x, "slice")
    starts, sizes = dims_from(start, "slice"), dims_from(size, "slice")
    if not len(starts) == len(sizes) == len(block.shape):
        raise ShapeError(
            f"slice: {len(starts)} starts and {len(sizes)} sizes for a tensor with"
            f" {len(block.shape)} axes (shape {show_shape(block.shape)}); one of each was expected"
        )
    for axis, (first, count) in enumerate(zip(starts, sizes, strict=True)):
        block = _block(block, axis, first, count)
    return block


def _within(x: Node, axis: int, first: Size, count: Size) -> Node:
    """`x`, with an error, at once or at run time, where the block reaches out of it."""
    if isinstance(first, int) and isinstance(count, int):
        reach: Size = first + max(count, 0)
    else:  # in int64 the sum can't wrap
        taken = ew.maximum(_int64(count), ew.constant(0, INT64))
        reach = ew.add(_int64(first), taken)
    for least, most in ((0, first), (-1, count), (reach, size_of(x, axis))):
        if isinstance(least, Node) or isinstance(most, Node):
            if least != 0 or most is first:  # no size is below 0, so that needs no check
                holds = ew.le(_int64(least), _int64(most))
                x = check(x, holds, message=f"slice: the block reaches out of axis {axis}")
        elif least > most:
            raise ShapeError(
                f"slice: start {first} and size {count} don't lie within axis {axis} of shape"
                f" {show_shape(x.shape)}"
            )
    return x


def _int64(size: Size) -> Node:
    return ew.cast(as_node(size), INT64)


def _block(x: Node, axis: int, first: Size, count: Size) -> Node:
    """`count` elements along `axis`, from `first`."""
    x = _within(x, axis, first, count)
    if isinstance(first, int) and isinstance(count, int):
        cut = slice_axis(x, axis, first, None if count == -1 else first + count)
        if count == -1 or cut.shape[axis] == count:
            return cut
        dims = dims_of(cut)
        return reshape_primitive(cut, [*dims[:axis], count, *dims[axis + 1 :]])
    if isinstance(count, int) and count == -1:
        count = binary(ew.sub, size_of(x, axis), first, "slice")
    elif isinstance(count, Node):
        rest = binary(ew.sub, size_of(x, axis), first, "slice")
        whole = binary(ew.lt, count, 0, "slice")
        count = ew.select(whole, ew.cast(rest, INT32), ew.cast(count, INT32))
    start = ew.cast(first, INT32) if isinstance(first, Node) else ew.constant(first, INT32)
    return gather(x, ew.add(iota([count]), broadcast_to(start, [count])), axis)
