"""Convolution, pooling, and what layers put behind them.

Kernels are applied as correlation, not mirrored. Internally channels come last; the other layout
is transposed around. Padding `same` follows TensorFlow: ceil(size / stride) places, the odd cell
at the end. Strides and dilation may both be larger than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..config import normalize_data_format
from ..errors import ArgumentError, ShapeError
from ..ir.node import Node
from ..ir.types import show_shape
from ..prims import elementwise as ew
from ..prims.conv import (
    Window,
    average_pool,
    conv,
    conv_input,
    depthwise_conv,
    max_pool,
    patches,
    sum_pool,
)
from ..prims.linalg import contract
from ..prims.movement import (
    Size,
    broadcast_to,
    dims_of,
    reshape,
    size_of,
    slice_,
)
from ..prims.movement import transpose as transpose_axes
from ._tensors import (
    Tensor,
    TensorLike,
    as_float,
    as_tensor,
    binary,
    dims_from,
    promoted,
    size_or_node,
)
from ._windows import (
    Ints,
    Moves,
    channels_back,
    channels_to_end,
    check_channels,
    cut_out,
    kernel_sizes,
    padding_name,
    resolve,
    resolve_transposed,
    spatial,
)

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "separable_conv1d",
    "separable_conv2d",
    "depthwise_conv2d",
    "conv3d",
    "conv3d_transpose",
    "pool2d",
    "pool3d",
    "bias_add",
    "local_conv1d",
    "local_conv2d",
]


def _moves(
    kernel: Node, rank: int, strides: Any, padding: str, dilation_rate: Any, what: str
) -> Moves:
    return Moves(
        kernel_sizes(kernel, rank, what),
        spatial(strides, rank, what, "strides"),
        spatial(dilation_rate, rank, what, "dilation_rate"),
        padding,
    )


def _convolved(
    what: str,
    x: TensorLike,
    kernel: TensorLike,
    rank: int,
    strides: Any,
    padding: str,
    data_format: str | None,
    dilation_rate: Any,
) -> Node:
    layout = normalize_data_format(data_format, what)
    x, kernel = promoted((x, kernel), what)
    moves = _moves(kernel, rank, strides, padding, dilation_rate, what)
    x = channels_to_end(x, layout, rank, what)
    check_channels(what, x.shape[-1], kernel.shape[-2], x, kernel)
    x, window = resolve(x, moves, what)
    return channels_back(conv(x, kernel, window=window), layout)


def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """Convolution over one axis.

    Args:
        x: tensor (batch, steps, in), or (batch, in, steps) with channels first.
        kernel: tensor (size, in, out).
        strides: how many steps the window moves on.
        padding: 'valid', 'same', or 'causal' (no place sees steps after its own).
        data_format: 'channels_last' or 'channels_first'; the default one, if None.
        dilation_rate: the distance of the window's cells.

    Returns:
        Tensor (batch, places, out) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding or layout; 'causal' with channels first.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> x = K.reshape(K.constant([1., 2., 3., 4.]), (1, 4, 1))
    >>> K.flatten(K.conv1d(x, K.ones((2, 1, 1)), padding='causal')).eval()
    array([1., 3., 5., 7.], dtype=float32)
    """
    padding_name(padding, "conv1d", ("valid", "same", "causal"))
    if padding == "causal" and normalize_data_format(data_format, "conv1d") != "channels_last":
        raise ArgumentError(
            "conv1d: padding 'causal' needs data_format 'channels_last'; K.permute_dimensions(x,"
            " (0, 2, 1)) brings the channels there"
        )
    return _convolved("conv1d", x, kernel, 1, strides, padding, data_format, dilation_rate)


def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution over two axes.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        kernel: tensor (height, width, in, out), in both layouts.
        strides: how many cells the window moves on, along each axis.
        padding: 'valid' or 'same'.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.
        dilation_rate: the distance of the window's cells, along each axis.

    Returns:
        Tensor (batch, rows, columns, out) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> y = K.conv2d(K.ones((1, 3, 3, 1)), K.ones((2, 2, 1, 1)), padding='same')
    >>> K.eval(y)[0, :, :, 0]
    array([[4., 4., 2.],
           [4., 4., 2.],
           [2., 2., 1.]], dtype=float32)
    """
    padding_name(padding, "conv2d")
    return _convolved("conv2d", x, kernel, 2, strides, padding, data_format, dilation_rate)


def _output_dims(output_shape: Any, rank: int, layout: str, what: str) -> list[Size | None]:
    """`output_shape` as dims, channels last; None is the batch's own size."""
    if isinstance(output_shape, (list, tuple)):
        dims = [None if s is None else size_or_node(s, what) for s in output_shape]
    else:
        dims = list(dims_from(output_shape, what))
    if len(dims) != rank + 2 or None in dims[1:]:
        raise ShapeError(
            f"{what}: output_shape is {output_shape!r}; expected {rank + 2} sizes, of which only"
            " the first (the batch) may be None"
        )
    if layout == "channels_first":
        dims.append(dims.pop(1))
    return dims


def _transposed(
    what: str,
    x: TensorLike,
    kernel: TensorLike,
    rank: int,
    output_shape: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    dilation_rate: Any,
) -> Node:
    padding_name(padding, what)
    layout = normalize_data_format(data_format, what)
    x, kernel = promoted((x, kernel), what)
    moves = _moves(kernel, rank, strides, padding, dilation_rate, what)
    x = channels_to_end(x, layout, rank, what)
    batch, *space, channels = _output_dims(output_shape, rank, layout, what)
    check_channels(what, x.shape[-1], kernel.shape[-1], x, kernel)
    known = [(batch, x.shape[0]), (channels, kernel.shape[-2])]
    if any(isinstance(a, int) and b is not None and a != b for a, b in known):
        raise ShapeError(
            f"{what}: output_shape {output_shape!r} doesn't fit x of shape {show_shape(x.shape)}"
            f" (channels last) and the kernel {show_shape(kernel.shape)}: its batch must be that"
            f" of x, its channels {kernel.shape[-2]}"
        )
    x, target = resolve_transposed(x, [s for s in space if s is not None], moves, what)
    y = cut_out(conv_input(x, kernel, target.space, target.window), target, what)
    if isinstance(batch, int):
        y = reshape(y, [batch, *dims_of(y)[1:]])
    return channels_back(y, layout)


def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """The transposed convolution over two axes: what the gradient of `conv2d` does to its input.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        kernel: tensor (height, width, out, in): that of the convolution that goes back.
        output_shape: the shape of the result in the layout of `x`: ints and scalar tensors, or
            a 1-D integer tensor; the batch may be None.
        strides: those of the convolution that goes back.
        padding: 'valid' or 'same'.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.
        dilation_rate: the distance of the window's cells, the same along both axes.

    Returns:
        Tensor of shape `output_shape`.

    Raises:
        ArgumentError: an unknown padding or layout; two different dilation rates.
        ShapeError: `conv2d` of a tensor of shape `output_shape` doesn't have the shape of `x`.

    >>> from kameleon import backend as K
    >>> y = K.conv2d_transpose(K.ones((1, 2, 2, 1)), K.ones((2, 2, 1, 1)), (1, 3, 3, 1))
    >>> K.eval(y)[0, :, :, 0]
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    rates = spatial(dilation_rate, 2, "conv2d_transpose", "dilation_rate")
    if rates[0] != rates[1]:
        raise ArgumentError(
            f"conv2d_transpose: dilation_rate is {rates}; it must be the same along both axes"
        )
    return _transposed(
        "conv2d_transpose", x, kernel, 2, output_shape, strides, padding, data_format, rates
    )


def _depthwise(x: Node, kernel: Node, moves: Moves, what: str) -> Node:
    """Each channel with kernels of its own; channels last."""
    check_channels(what, x.shape[-1], kernel.shape[-2], x, kernel)
    x, window = resolve(x, moves, what)
    return depthwise_conv(x, kernel, window=window)


def _separable(
    what: str,
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    rank: int,
    strides: Any,
    padding: str,
    data_format: str | None,
    dilation_rate: Any,
) -> Node:
    padding_name(padding, what)
    layout = normalize_data_format(data_format, what)
    x, deep, point = promoted((x, depthwise_kernel, pointwise_kernel), what)
    moves = _moves(deep, rank, strides, padding, dilation_rate, what)
    ones = (1,) * rank
    if kernel_sizes(point, rank, what) != ones:
        raise ShapeError(
            f"{what}: the spatial sizes of pointwise_kernel must be {ones}, got shape"
            f" {show_shape(point.shape)}"
        )
    y = _depthwise(channels_to_end(x, layout, rank, what), deep, moves, what)
    check_channels(what, y.shape[-1], point.shape[-2], y, point)
    window = Window(ones, ones, ((0, 0),) * rank, ones)
    return channels_back(conv(y, point, window=window), layout)


def separable_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """Convolution of each channel over one axis, then a mixture of the channels.

    Args:
        x: tensor (batch, steps, in), or (batch, in, steps) with channels first.
        depthwise_kernel: tensor (size, in, multiplier).
        pointwise_kernel: tensor (1, in * multiplier, out).
        strides, padding, data_format, dilation_rate: as for `conv1d`; no 'causal'.

    Returns:
        Tensor (batch, places, out) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> y = K.separable_conv1d(K.ones((1, 4, 2)), K.ones((3, 2, 1)), K.ones((1, 2, 1)))
    >>> K.flatten(y).eval()
    array([6., 6.], dtype=float32)
    """
    return _separable(
        "separable_conv1d",
        *(x, depthwise_kernel, pointwise_kernel, 1),
        *(strides, padding, data_format, dilation_rate),
    )


def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel over two axes, then a mixture of the channels.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        depthwise_kernel: tensor (height, width, in, multiplier).
        pointwise_kernel: tensor (1, 1, in * multiplier, out).
        strides, padding, data_format, dilation_rate: as for `conv2d`.

    Returns:
        Tensor (batch, rows, columns, out) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> deep, point = K.ones((2, 2, 3, 1)), K.ones((1, 1, 3, 4))
    >>> K.int_shape(K.separable_conv2d(K.ones((1, 5, 5, 3)), deep, point))
    (1, 4, 4, 4)
    """
    return _separable(
        "separable_conv2d",
        *(x, depthwise_kernel, pointwise_kernel, 2),
        *(strides, padding, data_format, dilation_rate),
    )


def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel over two axes, with kernels of its own.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        depthwise_kernel: tensor (height, width, in, multiplier).
        strides, padding, data_format, dilation_rate: as for `conv2d`.

    Returns:
        Tensor (batch, rows, columns, in * multiplier) in the layout of `x`; the results of one
        channel lie side by side.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.depthwise_conv2d(K.ones((1, 5, 5, 3)), K.ones((2, 2, 3, 2))))
    (1, 4, 4, 6)
    """
    what = "depthwise_conv2d"
    padding_name(padding, what)
    layout = normalize_data_format(data_format, what)
    x, kernel = promoted((x, depthwise_kernel), what)
    moves = _moves(kernel, 2, strides, padding, dilation_rate, what)
    y = _depthwise(channels_to_end(x, layout, 2, what), kernel, moves, what)
    return channels_back(y, layout)


def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Tensor:
    """Convolution over three axes.

    Args:
        x: tensor (batch, *space, in), or (batch, in, *space) with channels first.
        kernel: tensor (depth, height, width, in, out), in both layouts.
        strides, padding, data_format, dilation_rate: as for `conv2d`, along three axes.

    Returns:
        Tensor (batch, *places, out) in the layout of `x`.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: shapes that don't fit; a window larger than `x`.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.conv3d(K.ones((1, 4, 4, 4, 2)), K.ones((3, 3, 3, 2, 5))))
    (1, 2, 2, 2, 5)
    """
    padding_name(padding, "conv3d")
    return _convolved("conv3d", x, kernel, 3, strides, padding, data_format, dilation_rate)


def conv3d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The transposed convolution over three axes.

    Args:
        x: tensor (batch, *space, in), or (batch, in, *space) with channels first.
        kernel: tensor (depth, height, width, out, in).
        output_shape, strides, padding, data_format: as for `conv2d_transpose`.

    Returns:
        Tensor of shape `output_shape`.

    Raises:
        ArgumentError: an unknown padding or layout.
        ShapeError: `conv3d` of a tensor of shape `output_shape` doesn't have the shape of `x`.

    >>> from kameleon import backend as K
    >>> x, kernel = K.ones((1, 2, 2, 2, 1)), K.ones((2, 2, 2, 3, 1))
    >>> K.int_shape(K.conv3d_transpose(x, kernel, (1, 4, 4, 4, 3), strides=(2, 2, 2)))
    (1, 4, 4, 4, 3)
    """
    return _transposed(
        "conv3d_transpose", x, kernel, 3, output_shape, strides, padding, data_format, 1
    )


# Pooling -----------------------------------------------------------------------------------


def _max_pooled(x: Node, moves: Moves, what: str) -> Node:
    lowest = float("-inf") if x.dtype.is_float else int(np.iinfo(x.dtype).min)
    x, window = resolve(x, moves, what, lowest)
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
    x = as_float(x, what) if pool_mode == "avg" else as_tensor(x, what)
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
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
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
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
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


def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> Tensor:
    """`x` with a bias added to each sample.

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
    """Convolution with a kernel for each place; `places` None: as many as kernels."""
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
    """Features (channels, cells), as they come with channels first, as (cells, channels)."""
    places, features, filters = dims_of(kernel)
    inner: Sequence[Size] = [places, -1, cells, filters]
    split = transpose_axes(reshape(kernel, inner), (0, 2, 1, 3))
    return reshape(split, [places, features, filters])


def local_conv1d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Any,
    strides: Any,
    data_format: str | None = None,
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
    data_format: str | None = None,
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
