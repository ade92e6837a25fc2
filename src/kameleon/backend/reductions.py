"""Reductions over axes, and running sums and products along one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.ir.node import Node
from ..graph.ir.types import BOOL
from ..graph.primitives import elementwise as ew
from ..graph.primitives import reduce as rd
from ..graph.primitives.control import identity, with_gradient
from ..graph.primitives.filling import full_like
from ..graph.primitives.movement import broadcast_to
from ..graph.primitives.sizes import dims_of
from ._tensors import (
    Tensor,
    TensorLike,
    as_float,
    as_number,
    as_tensor,
    axes_of,
    axis_of,
    floatx,
)

__all__ = [
    "max",
    "min",
    "sum",
    "prod",
    "cumsum",
    "cumprod",
    "var",
    "std",
    "mean",
    "any",
    "all",
    "argmax",
    "argmin",
    "logsumexp",
]

Reducer = Callable[[Node, rd.Axes], Node]


def _reduced(x: Node, axis: Any, keepdims: bool, reducer: Reducer, what: str) -> Node:
    """`reducer` over the axes that the user named; never `x` itself."""
    axes = axes_of(x, axis, what)
    y = reducer(x, axes)
    if keepdims and axes:
        return rd.keep(y, x, axes)
    return identity(x) if y is x else y


def _bools_as_floats(x: TensorLike, what: str) -> Node:
    tensor = as_tensor(x, what)
    return ew.cast(tensor, floatx()) if tensor.dtype.is_bool else tensor


# Extrema, sums, products -------------------------------------------------------------------


def max(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element along `axis`; NaN where there is one.

    Args:
        x: tensor of numbers.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`. Equal largest elements share the gradient evenly. Of no
        elements it's the least value of the dtype, -inf of floats.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.max(K.constant([[1., 5.], [3., 2.]]), axis=1))
    array([5., 3.], dtype=float32)
    """
    return _reduced(as_number(x, "max"), axis, keepdims, rd.reduce_max, "max")


def min(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element along `axis`; NaN where there is one.

    Args:
        x: tensor of numbers.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`. Equal smallest elements share the gradient evenly. Of no
        elements it's the greatest value of the dtype, inf of floats.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.min(K.constant([[1., 5.], [3., 2.]]), axis=1))
    array([1., 2.], dtype=float32)
    """
    return _reduced(as_number(x, "min"), axis, keepdims, rd.reduce_min, "min")


def sum(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements along `axis`; 0 over nothing.

    Args:
        x: tensor of numbers.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.sum(K.constant([[1., 5.], [3., 2.]]), axis=0, keepdims=True))
    array([[4., 7.]], dtype=float32)
    """
    return _reduced(as_number(x, "sum"), axis, keepdims, rd.reduce_sum, "sum")


def prod(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product of the elements along `axis`; 1 over nothing.

    Args:
        x: tensor of numbers.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`. The gradient is exact where elements are 0.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.prod(K.constant([[1., 5.], [3., 2.]]), axis=-1))
    array([5., 6.], dtype=float32)
    """
    return _reduced(as_number(x, "prod"), axis, keepdims, rd.reduce_prod, "prod")


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """The running sum along `axis`.

    Args:
        x: tensor of numbers.
        axis: int; negative ones count from the end.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.cumsum(K.constant([1., 2., 4.])))
    array([1., 3., 7.], dtype=float32)
    """
    x = as_number(x, "cumsum")
    return rd.cumsum(x, axis=axis_of(x, axis, "cumsum"))


def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    """The running product along `axis`.

    Args:
        x: tensor of numbers.
        axis: int; negative ones count from the end.

    Returns:
        Tensor of the shape and dtype of `x`. The gradient is exact where elements are 0.

    Raises:
        ShapeError: there is no such axis.
        DTypeError: `x` holds bools.

    >>> from kameleon import backend as K
    >>> K.eval(K.cumprod(K.constant([1., 2., 4.])))
    array([1., 2., 8.], dtype=float32)
    """
    x = as_number(x, "cumprod")
    return rd.cumprod(x, axis=axis_of(x, axis, "cumprod"))


# Moments -----------------------------------------------------------------------------------


def _whole_mean(x: Node, axes: rd.Axes) -> Node:
    """The mean of integers, truncated: below zero, that's floor((total + count - 1) / count)."""
    total = rd.reduce_sum(x, axes)
    count = broadcast_to(rd.count_of(x, axes, x.dtype), dims_of(total))
    rounding = ew.sub(count, full_like(count, 1))
    negative = ew.lt(total, full_like(total, 0))
    return ew.floor_div(ew.select(negative, ew.add(total, rounding), total), count)


def _mean(x: Node, axes: rd.Axes) -> Node:
    return rd.mean(x, axes) if x.dtype.is_float else _whole_mean(x, axes)


def _variance(x: Node, axes: rd.Axes) -> Node:
    if x.dtype.is_float:
        return rd.variance(x, axes)[1]
    off = ew.sub(x, rd.spread(_whole_mean(x, axes), x, axes))
    return _whole_mean(ew.mul(off, off), axes)


@rd.in_single
def _deviation(x: Node, axes: rd.Axes) -> Node:
    """sqrt(variance), with gradient 0 where all elements are equal: there the variance is 0, and
    the slope infinite, or both are what rounding the mean leaves.
    """

    def varied(g: Node) -> list[Node]:
        equal = ew.eq(rd.reduce_max(x, axes), rd.reduce_min(x, axes))
        return [ew.select(rd.spread(equal, x, axes), full_like(g, 0), g)]

    variance = rd.variance(with_gradient(x, x, rule=varied), axes)[1]
    zero = full_like(variance, 0)
    flat = ew.eq(variance, zero)
    safe = ew.select(flat, full_like(variance, 1), variance)
    return ew.select(flat, zero, ew.sqrt(safe))


def var(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along `axis`: the mean squared distance from the mean.

    Args:
        x: tensor; bools are taken as floats.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`. For integers the variance is a whole number, and so is the mean
        that it's taken about (for the exact variance, `K.cast` to floats first).

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.var(K.constant([[1., 5.], [3., 2.]]), axis=1))
    array([4.  , 0.25], dtype=float32)
    """
    return _reduced(_bools_as_floats(x, "var"), axis, keepdims, _variance, "var")


def std(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along `axis`: the square root of the variance.

    Args:
        x: tensor; bools and integers are taken as floats.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Float tensor. Where all elements are equal, the gradient is 0.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.std(K.constant([[1., 5.], [3., 2.]]), axis=1))
    array([2. , 0.5], dtype=float32)
    """
    return _reduced(as_float(x, "std"), axis, keepdims, _deviation, "std")


def mean(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of the elements along `axis`; NaN over nothing.

    Args:
        x: tensor; bools are taken as floats.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Tensor of the dtype of `x`. For integers the mean is truncated to a whole number (for the
        exact mean, `K.cast` to floats first).

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.mean(K.constant([[1., 5.], [3., 2.]]), axis=[0]))
    array([2. , 3.5], dtype=float32)
    """
    return _reduced(_bools_as_floats(x, "mean"), axis, keepdims, _mean, "mean")


# Logic -------------------------------------------------------------------------------------


def any(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element along `axis` is true; numbers other than 0 are.

    Args:
        x: tensor.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Bool tensor.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.any(K.constant([[0., 0.], [0., 2.]]), axis=1))
    array([False,  True])
    """
    return _reduced(as_tensor(x, "any", BOOL), axis, keepdims, rd.reduce_any, "any")


def all(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along `axis` are true; numbers other than 0 are.

    Args:
        x: tensor.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Bool tensor.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.all(K.constant([[1., 1.], [0., 2.]]), axis=1))
    array([ True, False])
    """
    return _reduced(as_tensor(x, "all", BOOL), axis, keepdims, rd.reduce_all, "all")


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Where along `axis` the largest element is; the first of equal ones.

    Args:
        x: tensor.
        axis: int; negative ones count from the end.

    Returns:
        int64 tensor of the shape of `x` without `axis`.

    Raises:
        ShapeError: there is no such axis, or it has size 0.

    >>> from kameleon import backend as K
    >>> K.eval(K.argmax(K.constant([[1., 5.], [3., 2.]])))
    array([1, 0])
    """
    x = as_tensor(x, "argmax")
    return rd.argmax(x, axis=axis_of(x, axis, "argmax"))


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """Where along `axis` the smallest element is; the first of equal ones.

    Args:
        x: tensor.
        axis: int; negative ones count from the end.

    Returns:
        int64 tensor of the shape of `x` without `axis`.

    Raises:
        ShapeError: there is no such axis, or it has size 0.

    >>> from kameleon import backend as K
    >>> K.eval(K.argmin(K.constant([[1., 5.], [3., 2.]])))
    array([0, 1])
    """
    x = as_tensor(x, "argmin")
    return rd.argmin(x, axis=axis_of(x, axis, "argmin"))


def logsumexp(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along `axis`, without overflow or underflow.

    Args:
        x: tensor; integers are taken as floats.
        axis: int or list of ints; negative ones count from the end; None means all.
        keepdims: whether the reduced axes stay, with size 1.

    Returns:
        Float tensor; -inf, where there are no elements.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.logsumexp(K.constant([[1000., 0.], [-1000., -2000.]]), axis=1))
    array([ 1000., -1000.], dtype=float32)
    """
    return _reduced(as_float(x, "logsumexp"), axis, keepdims, rd.logsumexp, "logsumexp")
