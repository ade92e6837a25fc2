"""Pooling, biases, and convolutions that share no weights.

Internally channels come last; tensors in the other layout are transposed before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..config import normalize_data_format
from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives.filling import least
from ..graph.primitives.linalg import contract
from ..graph.primitives.movement import broadcast_to, reshape, slice_
from ..graph.primitives.movement import transpose as transpose_axes
from ..graph.primitives.pool import average_pool, max_pool, sum_pool
from ..graph.primitives.sizes import Size, dims_of, size_of
from ..graph.primitives.windows import Window, patches
from ._literals import DataFormat, Padding, PoolMode
from ._tensors import Tensor, TensorLike, as_float, as_number, binary, promoted
from ._windows import (
    Ints,
    Moves,
    channels_back,
    channels_to_end,
    padding_name,
    resolve,
    spatial,
)

__all__ = ["pool2d", "pool3d", "bias_add", "local_conv1d", "local_conv2d"]


# Pooling -----------------------------------------------------------------------------------


def _max_pooled(x: Node, moves: Moves, what: str) -> Node:
    x, window = resolve(x, moves, what, least(x.dtype))
    return max_pool(x, window=window).results[0]


def _mean_pooled(x: Node, moves: Moves, what: str) -> Node:
    """The mean of the cells that are inside of `x`."""
    padded, window = resolve(x, moves, what)
    if padded is x:
        return average_pool(x, window)
    ones = broadcast_to(ew.constant(1, x.dtype), [1, *dims_of(x)[1:-1], 1])
    counts = sum_pool(resolve(ones, moves, what)[0], window=window)
    total = sum_pool(padded, window=window)
    return ew.div(total, broadcast_to(counts, dims_of(total)))


POOLS = {"max": _max_pooled, "avg": _mean_pooled}


def _pooled(
    what: str,
    x: TensorLike,
    rank: int,
    pool_size: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    pool_mode: str,
) -> Node:
    padding_name(padding, what)
    layout = normalize_data_format(data_format, what)
    if pool_mode not in POOLS:
        raise ArgumentError(f"{what}: pool_mode is {pool_mode!r}; expected 'max' or 'avg'")
    x = as_float(x, what) if pool_mode == "avg" else as_number(x, what)
    moves = Moves(
        spatial(pool_size, rank, what, "pool_size"),
        spatial(strides, rank, what, "strides"),
        (1,) * rank,
        padding,
    )
    y = POOLS[pool_mode](channels_to_end(x, layout, rank, what), moves, what)
    return channels_back(y, layout)


def pool2d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor:
    """The maximum or the mean of each window over two axes.

    Args:
        x: tensor (batch, rows, columns, channels), or with channels first.
        pool_size: the window, along each axis.
        strides: how many cells the window moves on, along each axis.
        padding: 'valid' or 'same'; what is added is never the maximum, and no part of a mean.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.
        pool_mode: 'max' or 'avg'.

    Returns:
        Tensor (batch, rows, columns, channels) in the layout of `x`. The gradient of a maximum
        goes to the first of equal cells.

    Raises:
        ArgumentError: an unknown padding, layout or mode.
        ShapeError: a window larger than `x`.

    >>> from kameleon import backend as K
    >>> x = K.reshape(K.arange(1, 10, dtype='float32'), (1, 3, 3, 1))
    >>> K.eval(K.pool2d(x, (2, 2), pool_mode='avg'))[0, :, :, 0]
    array([[3., 4.],
           [6., 7.]], dtype=float32)
    """
    return _pooled("pool2d", x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor:
    """The maximum or the mean of each window over three axes.

    Args:
        x: tensor (batch, *space, channels), or (batch, channels, *space) with channels first.
        pool_size, strides, padding, data_format, pool_mode: as for `pool2d`, along three axes.

    Returns:
        Tensor (batch, *places, channels) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding, layout or mode.
        ShapeError: a window larger than `x`.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.pool3d(K.ones((1, 4, 4, 4, 2)), (2, 2, 2), strides=(2, 2, 2)))
    (1, 2, 2, 2, 2)
    """
    return _pooled("pool3d", x, 3, pool_size, strides, padding, data_format, pool_mode)


# Layers' parts -----------------------------------------------------------------------------


def bias_add(x: TensorLike, bias: TensorLike, data_format: DataFormat | None = None) -> Tensor:
    """Add a bias to each sample of `x`.

    Args:
        x: tensor (batch, *space, channels), or (batch, channels, *space) with channels first.
        bias: tensor (channels,); or one with an axis less than `x`, (*space, channels), whose
            elements are taken in their order as (channels, *space) with channels first.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ArgumentError: an unknown layout.
        ShapeError: a bias of another rank or of other sizes.

    >>> from kameleon import backend as K
    >>> K.eval(K.bias_add(K.zeros((2, 3)), K.constant([1., 2., 3.])))
    array([[1., 2., 3.],
           [1., 2., 3.]], dtype=float32)
    """
    layout = normalize_data_format(data_format, "bias_add")
    x, bias = promoted((x, bias), "bias_add")
    rank = len(x.shape)
    if rank < 2 or len(bias.shape) not in (1, rank - 1):
        raise ShapeError(
            f"bias_add: bias has shape {show_shape(bias.shape)}; for x of shape"
            f" {show_shape(x.shape)} a vector was expected, or a tensor with {rank - 1} axes"
        )
    if layout == "channels_first" and rank > 2:
        *space, channels = dims_of(bias)
        bias = reshape(bias, [channels, *(space or [1] * (rank - 2))])
    return binary(ew.add, x, bias, "bias_add")


def _local(
    what: str,
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Any,
    strides: Any,
    places: Ints | None,
    data_format: str | None,
    rank: int,
) -> Node:
    """Convolution with a kernel for each place; without `places`, there are as many as kernels."""
    layout = normalize_data_format(data_format, what)
    x, kernel = promoted((inputs, kernel), what)
    sizes = spatial(kernel_size, rank, what, "kernel_size")
    steps = spatial(strides, rank, what, "strides")
    x = channels_to_end(x, layout, rank, what)
    if len(kernel.shape) != 3 or kernel.shape[0] is None:
        raise ShapeError(
            f"{what}: a kernel of shape (places, features, filters), the number of places known,"
            f" was expected, got {show_shape(kernel.shape)}"
        )
    places = places or (kernel.shape[0],)
    cells = int(np.prod(sizes))
    _check_local(what, x, kernel, places, cells)
    x = _reached(x, places, sizes, steps, what)
    window = Window(sizes, steps, ((0, 0),) * rank, (1,) * rank)
    seen = reshape(patches(x, window), [size_of(x, 0), kernel.shape[0], size_of(kernel, 1)])
    if layout == "channels_first":
        kernel = _channels_inside(kernel, cells)
    y = transpose_axes(contract(seen, kernel, ((2,), (1,)), ((1,), (0,))), (1, 0, 2))
    return channels_back(reshape(y, [size_of(x, 0), *places, size_of(kernel, 2)]), layout)


def _check_local(what: str, x: Node, kernel: Node, places: Ints, cells: int) -> None:
    channels = x.shape[-1]
    features = None if channels is None else channels * cells
    wrong_features = None not in (features, kernel.shape[1]) and features != kernel.shape[1]
    if kernel.shape[0] != np.prod(places) or wrong_features:
        shown = "?" if features is None else features
        raise ShapeError(
            f"{what}: kernel has shape {show_shape(kernel.shape)}; expected"
            f" ({np.prod(places)}, {shown}, filters): {places} places, {cells} cells of"
            f" {channels} channels"
        )


def _reached(x: Node, places: Ints, sizes: Ints, steps: Ints, what: str) -> Node:
    """The part of `x` that windows at `places` see."""
    reach = [(p - 1) * s + k for p, s, k in zip(places, steps, sizes, strict=True)]
    for need, dim in zip(reach, x.shape[1:-1], strict=True):
        if dim is not None and dim < need:
            raise ShapeError(
                f"{what}: {places} places of windows {sizes} with strides {steps} reach over"
                f" {tuple(reach)} cells; x has shape {show_shape(x.shape)} (channels last)"
            )
    whole = (None, None, 1)
    return slice_(x, [whole, *((0, need, 1) for need in reach), whole])


def _channels_inside(kernel: Node, cells: int) -> Node:
    """A kernel whose features are (channels, cells), for channels first, as (cells, channels)."""
    places, features, filters = dims_of(kernel)
    inner: Sequence[Size] = [places, -1, cells, filters]
    split = transpose_axes(reshape(kernel, inner), (0, 2, 1, 3))
    return reshape(split, [places, features, filters])


def local_conv1d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Any,
    strides: Any,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Convolution over one axis with a kernel of its own for each place.

    Args:
        inputs: tensor (batch, steps, in), or (batch, in, steps) with channels first.
        kernel: tensor (places, size * in, out).
        kernel_size: a tuple of one integer, the size of the window.
        strides: a tuple of one integer, how many steps the window moves on.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.

    Returns:
        Tensor (batch, places, out) in the layout of `inputs`.

    Raises:
        ArgumentError: an unknown layout.
        ShapeError: shapes that don't fit.

    >>> from kameleon import backend as K
    >>> kernel = K.reshape(K.constant([1., 1., 10., 10.]), (2, 2, 1))
    >>> y = K.local_conv1d(K.ones((1, 3, 1)), kernel, (2,), (1,))
    >>> K.flatten(y).eval()
    array([ 2., 20.], dtype=float32)
    """
    return _local("local_conv1d", inputs, kernel, kernel_size, strides, None, data_format, 1)


def local_conv2d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Convolution over two axes with a kernel of its own for each place.

    Args:
        inputs: tensor (batch, rows, columns, in), or with channels first.
        kernel: tensor (rows * columns of the result, height * width * in, out); with channels
            first, the features of a window are (in, height, width).
        kernel_size: the window, along each axis.
        strides: how many cells the window moves on, along each axis.
        output_shape: rows and columns of the result.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.

    Returns:
        Tensor (batch, rows, columns, out) in the layout of `inputs`.

    Raises:
        ArgumentError: an unknown layout.
        ShapeError: shapes that don't fit.

    >>> from kameleon import backend as K
    >>> x, kernel = K.ones((1, 3, 3, 1)), K.ones((4, 4, 2))
    >>> K.int_shape(K.local_conv2d(x, kernel, (2, 2), (1, 1), (2, 2)))
    (1, 2, 2, 2)
    """
    places = spatial(output_shape, 2, "local_conv2d", "output_shape")
    return _local("local_conv2d", inputs, kernel, kernel_size, strides, places, data_format, 2)
