"""Normalization of batches and of vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives import reduce as rd
from ..graph.primitives.filling import full_like
from ..graph.primitives.movement import reshape
from ..graph.primitives.sizes import dims_of
from ..graph.primitives.stretching import stretch
from ._tensors import (
    Tensor,
    TensorLike,
    as_float,
    as_tensor,
    axes_of,
    axis_of,
    broadcast_together,
)

__all__ = ["normalize_batch_in_training", "batch_normalization", "l2_normalize"]

# The least squared length that a vector is divided by, so that a zero vector stays zero.
L2_FLOOR = 1e-12
HALF_FLOOR = 2.0**-31  # the slope at 0 is a number of float16


def _affine(x: Node, scale: Node, shift: Node, what: str) -> Node:
    """x * scale + shift."""
    y = ew.mul(*broadcast_together((x, scale), what))
    return ew.add(*broadcast_together((y, shift), what))


def _inverse_deviation(variance: Node, epsilon: Any) -> Node:
    """1 / sqrt(variance + epsilon), in the dtype of the variance."""
    one = full_like(variance, 1)
    if not isinstance(epsilon, Node):
        return ew.div(one, ew.sqrt(ew.add(variance, full_like(variance, float(epsilon)))))
    total = ew.add(*broadcast_together((variance, ew.cast(epsilon, variance.dtype)), "epsilon"))
    return ew.div(one, ew.sqrt(total))


def normalize_batch_in_training(
    x: TensorLike,
    gamma: TensorLike | None,
    beta: TensorLike | None,
    reduction_axes: Iterable[int],
    epsilon: Any = 1e-3,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize a batch by its own mean and variance over `reduction_axes`; scale and shift it.

    Args:
        x: tensor; integers are taken as floats.
        gamma: scale, of the sizes of the axes that aren't reduced; None: 1.
        beta: shift, of the sizes of the axes that aren't reduced; None: 0.
        reduction_axes: ints, the axes over which mean and variance are taken.
        epsilon: added to the variance.

    Returns:
        The normalized tensor (shape of `x`), and mean and variance (the shape of `x` without
        `reduction_axes`).

    Raises:
        ShapeError: there is no such axis; gamma or beta have another size.

    >>> from kameleon import backend as K
    >>> x = K.constant([[1., 5.], [3., 5.]])
    >>> y, mean, var = K.normalize_batch_in_training(x, None, None, [0], epsilon=0.)
    >>> K.eval(mean), K.eval(var)
    (array([2., 5.], dtype=float32), array([1., 0.], dtype=float32))
    >>> y, mean, var = K.normalize_batch_in_training(x, [2., 2.], [1., 1.], [0])
    >>> K.eval(K.round(y))
    array([[-1.,  1.],
           [ 3.,  1.]], dtype=float32)

    Source: Ioffe and Szegedy, "Batch Normalization", 2015.
    """
    what = "normalize_batch_in_training"
    x = as_float(x, what)
    axes = axes_of(x, _axis_list(reduction_axes, what), what)
    center, variance = rd.variance(x, axes)
    off = ew.sub(x, rd.spread(center, x, axes))
    scale = _inverse_deviation(variance, epsilon)
    if gamma is not None:
        scale = ew.mul(*broadcast_together((scale, _per_place(gamma, center, "gamma")), what))
    y = ew.mul(off, rd.spread(scale, x, axes))
    if beta is not None:
        shift = _per_place(beta, center, "beta")
        y = ew.add(y, rd.spread(stretch(shift, dims_of(center)), x, axes))
    return y, center, variance


def _axis_list(axes: Any, what: str) -> list[int]:
    try:
        return list(axes)
    except TypeError:
        raise ArgumentError(
            f"{what}: reduction_axes must be a list of ints, not {axes!r}"
        ) from None


def _per_place(value: TensorLike, center: Node, name: str) -> Node:
    """`value` (gamma or beta) without the axes of size 1 that stand for reduced axes."""
    what = "normalize_batch_in_training"
    x = as_tensor(value, what, center.dtype)
    if len(x.shape) > len(center.shape):
        try:
            return reshape(x, dims_of(center))
        except ShapeError:
            raise ShapeError(
                f"{what}: {name} has shape {show_shape(x.shape)}; the axes that aren't reduced"
                f" have sizes {show_shape(center.shape)}"
            ) from None
    return x


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: Any = 1e-3,
) -> Tensor:
    """Batch normalization by a given mean and variance, scaled by `gamma` and shifted by `beta`:
    `(x - mean) / sqrt(var + epsilon) * gamma + beta`.

    Args:
        x: tensor; integers are taken as floats.
        mean, var: the statistics: vectors along `axis`, or tensors that broadcast with `x`.
        beta: shift, shaped likewise; None: 0.
        gamma: scale, shaped likewise; None: 1.
        axis: the axis of `x` along which vectors lie.
        epsilon: added to the variance.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ShapeError: there is no such axis; the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> x = K.constant([[1., 5.], [3., 9.]])
    >>> y = K.batch_normalization(x, [2., 7.], [1., 4.], [0., 10.], [1., 2.], epsilon=0.)
    >>> K.eval(y)
    array([[-1.,  8.],
           [ 1., 12.]], dtype=float32)

    Source: Ioffe and Szegedy, "Batch Normalization", 2015.
    """
    what = "batch_normalization"
    x = as_float(x, what)
    along = axis_of(x, axis, what)
    center, variance = (_lying_along(v, x, along, what) for v in (mean, var))
    scale = _inverse_deviation(variance, epsilon)
    if gamma is not None:
        weight = _lying_along(gamma, x, along, what)
        scale = ew.mul(*broadcast_together((scale, weight), what))
    # Scale and shift are as small as the statistics: only one product and one sum pass over x.
    shift = ew.neg(ew.mul(*broadcast_together((center, scale), what)))
    if beta is not None:
        offset = _lying_along(beta, x, along, what)
        shift = ew.add(*broadcast_together((shift, offset), what))
    return _affine(x, scale, shift, what)


def _lying_along(value: TensorLike, x: Node, axis: int, what: str) -> Node:
    """`value` so that it broadcasts with `x`: a vector lies along `axis`."""
    v = as_tensor(value, what, x.dtype)
    rank = len(x.shape)
    if len(v.shape) != 1 or axis == rank - 1:
        return v
    (size,) = dims_of(v)
    return reshape(v, [size, *(1 for _ in range(axis + 1, rank))])


def l2_normalize(x: TensorLike, axis: Any = None) -> Tensor:
    """Normalize `x` by its Euclidean length (L2) along `axis`; zero vectors stay zero.

    Args:
        x: tensor; integers are taken as floats.
        axis: int or list of ints; negative ones count from the end; None means all.

    Returns:
        Float tensor of the shape of `x`. Squared lengths count as 1e-12 at least, in float16 as
        2**-31: so slopes at 0 are numbers.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.l2_normalize(K.constant([[3., 4.], [0., 0.]]), axis=1))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    x = as_float(x, "l2_normalize")
    floor = HALF_FLOOR if x.dtype == "float16" else L2_FLOOR

    @rd.in_single
    def normalized(x: Node, axes: rd.Axes) -> Node:
        squares = rd.reduce_sum(ew.square(x), axes)
        safe = ew.maximum(squares, full_like(squares, floor))
        factor = ew.div(full_like(safe, 1), ew.sqrt(safe))
        return ew.mul(x, rd.spread(factor, x, axes))

    return normalized(x, axes_of(x, axis, "l2_normalize"))
