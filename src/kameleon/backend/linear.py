"""Products of matrices and of batches of matrices, transposition, looking up."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import join_dims, show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives.indexing import gather as gather_primitive
from ..graph.primitives.linalg import contract
from ..graph.primitives.movement import expand_dims
from ..graph.primitives.movement import transpose as transpose_primitive
from ..graph.primitives.stretching import stretched_along
from ._tensors import Tensor, TensorLike, as_tensor, axis_of, binary, promoted
from .sparse_tensor import SparseTensor

__all__ = ["dot", "batch_dot", "transpose", "gather"]


def _check_pair(what: str, x: Node, y: Node, i: int, j: int) -> None:
    """Refuse sizes that differ on axis `i` of `x` and axis `j` of `y`, which are paired."""
    try:
        join_dims(x.shape[i], y.shape[j])
    except ValueError:
        raise ShapeError(
            f"{what}: axis {i} of x and axis {j} of y must have one size, but shapes"
            f" {show_shape(x.shape)} and {show_shape(y.shape)} have {x.shape[i]} and"
            f" {y.shape[j]} there; transpose or reshape one of them"
        ) from None


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The sum of products over the last axis of `x` and the last but one of `y`.

    Args:
        x: tensor (..., k), or a sparse matrix (m, k).
        y: tensor (..., k, n), or a vector (k,).

    Returns:
        Tensor whose shape is that of `x` without its last axis, then that of `y` without its
        last but one: (2, 3) · (4, 3, 5) gives (2, 4, 5). A scalar multiplies.

    Raises:
        ShapeError: the sizes of the two axes are known and differ.

    >>> from kameleon import backend as K
    >>> K.eval(K.dot(K.constant([[1., 2.]]), K.constant([[3.], [4.]])))
    array([[11.]], dtype=float32)
    >>> K.int_shape(K.dot(K.ones((2, 3)), K.ones((4, 3, 5))))
    (2, 4, 5)

    Source: `numpy.dot`.
    """
    if isinstance(x, SparseTensor):
        from .sparse import sparse_dot

        return sparse_dot(x, as_tensor(y, "dot"))
    a, b = promoted((x, y), "dot")
    if not a.shape or not b.shape:
        return binary(ew.mul, a, b, "dot")
    i, j = len(a.shape) - 1, max(0, len(b.shape) - 2)
    _check_pair("dot", a, b, i, j)
    return contract(a, b, ((i,), (j,)))


def batch_dot(x: TensorLike, y: TensorLike, axes: Any = None) -> Tensor:
    """The sum of products over one axis of `x` and one of `y`, sample by sample.

    Args:
        x: tensor (batch, ...), at least 2 axes.
        y: tensor (batch, ...), at least 2 axes.
        axes: the axis to sum over, or a pair: that of `x`, that of `y`; negative ones count
            from the end. None: the last of `x` and the last but one of `y` (the last, where
            `y` has 2 axes).

    Returns:
        Tensor (batch, the other axes of `x`, the other axes of `y`); (batch, 1) where there are
        no others.

    Raises:
        ShapeError: fewer than 2 axes; sizes that are known and differ; there is no such axis.
        ArgumentError: `axes` names the batch axis, or more than one axis of a tensor.

    >>> from kameleon import backend as K
    >>> x, y = K.constant([[1., 2.], [3., 4.]]), K.constant([[5., 6.], [7., 8.]])
    >>> K.eval(K.batch_dot(x, y, axes=1))
    array([[17.],
           [53.]], dtype=float32)
    """
    a, b = promoted((x, y), "batch_dot")
    if min(len(a.shape), len(b.shape)) < 2:
        raise ShapeError(
            f"batch_dot: x and y need a batch axis and one more, not shapes"
            f" {show_shape(a.shape)} and {show_shape(b.shape)}; K.expand_dims adds one"
        )
    i, j = _dot_axes(a, b, axes)
    _check_pair("batch_dot", a, b, 0, 0)
    _check_pair("batch_dot", a, b, i, j)
    a, b = stretched_along((a, b), (0, 0), "batch_dot")
    product = contract(a, b, ((i,), (j,)), ((0,), (0,)))
    return expand_dims(product, 1) if len(product.shape) == 1 else product


def _dot_axes(x: Node, y: Node, axes: Any) -> tuple[int, int]:
    """The axis of each tensor that `batch_dot` sums over, counted from the front."""
    if axes is None:
        return len(x.shape) - 1, max(1, len(y.shape) - 2)
    pair = tuple(axes) if isinstance(axes, (list, tuple)) else (axes, axes)
    if len(pair) != 2 or any(isinstance(a, (list, tuple)) for a in pair):
        raise ArgumentError(
            f"batch_dot: axes is {axes!r}; expected None, an int or a pair of ints: one axis of"
            " each tensor is summed over (K.reshape joins several)"
        )
    i, j = axis_of(x, pair[0], "batch_dot"), axis_of(y, pair[1], "batch_dot")
    if 0 in (i, j):
        raise ArgumentError(
            f"batch_dot: axes is {axes!r}, but axis 0 is the batch, which isn't summed over;"
            " K.dot and K.sum do that"
        )
    return i, j


def transpose(x: TensorLike) -> Tensor:
    """The transpose of `x`: the order of its axes is reversed.

    Args:
        x: tensor of any rank.

    Returns:
        Tensor with the shape of `x`, reversed.

    >>> from kameleon import backend as K
    >>> K.eval(K.transpose(K.constant([[1, 2, 3], [4, 5, 6]])))
    array([[1., 4.],
           [2., 5.],
           [3., 6.]], dtype=float32)
    """
    x = as_tensor(x, "transpose")
    return transpose_primitive(x, tuple(reversed(range(len(x.shape)))))


def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    """The slices of `reference` along its first axis that `indices` names.

    Args:
        reference: tensor (n, ...).
        indices: integer tensor of any shape, elements in [0, n).

    Returns:
        Tensor of the shape of `indices`, then that of `reference` without its first axis.

    Raises:
        ShapeError: `reference` is a scalar.
        DTypeError: `indices` aren't integers.
        EvaluationError: when run: an index is out of range.

    >>> from kameleon import backend as K
    >>> table = K.constant([[1., 2.], [3., 4.], [5., 6.]])
    >>> K.eval(K.gather(table, [2, 0]))
    array([[5., 6.],
           [1., 2.]], dtype=float32)
    """
    x, index = as_tensor(reference, "gather"), as_tensor(indices, "gather")
    if not x.shape:
        raise ShapeError("gather: reference is a scalar; it needs an axis to pick from")
    return gather_primitive(x, index, 0)
