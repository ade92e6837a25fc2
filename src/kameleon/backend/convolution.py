"""Convolutions and transposed ones, over one to three axes.

Kernels are applied as correlation, not mirrored. Internally channels come last; tensors in the
other layout are transposed before and after. Padding `same` follows TensorFlow: ceil(size / stride)
places, the odd cell at the end. Strides and dilation may both be larger than 1; what that means
for depthwise convolutions is said at `depthwise_conv2d`.
"""

from __future__ import annotations

from typing import Any

from ..config import normalize_data_format
from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import show_shape
from ..graph.primitives.conv import conv, conv_input, depthwise_conv
from ..graph.primitives.movement import reshape
from ..graph.primitives.sizes import Size, dims_of
from ..graph.primitives.windows import Window
from ._literals import CausalPadding, DataFormat, Padding
from ._tensors import (
    Tensor,
    TensorLike,
    dims_from,
    promoted,
    size_or_node,
)
from ._windows import (
    Moves,
    channels_back,
    channels_to_end,
    cut_out,
    kernel_sizes,
    padding_name,
    resolve,
    resolve_transposed,
    spatial,
    strided_in_phases,
    with_equal_channels,
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
    x, kernel = with_equal_channels(what, x, kernel, -2)
    x, window = resolve(x, moves, what)
    return channels_back(conv(x, kernel, window=window), layout)


def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = 1,
    padding: CausalPadding = "valid",
    data_format: DataFormat | None = None,
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
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
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
    x, kernel = with_equal_channels(what, x, kernel, -1)
    known = [(batch, x.shape[0]), (channels, kernel.shape[-2])]
    if any(isinstance(a, int) and b is not None and a != b for a, b in known):
        raise ShapeError(
            f"{what}: output_shape {output_shape!r} doesn't fit x of shape {show_shape(x.shape)}"
            f" (channels last) and the kernel {show_shape(kernel.shape)}: its batch must be that"
            f" of x, its channels {kernel.shape[-2]}"
        )
    x, target = resolve_transposed(x, [s for s in space if s is not None], moves, what)
    y = cut_out(conv_input(x, kernel, target.space, target.window), target)
    if isinstance(batch, int):
        y = reshape(y, [batch, *dims_of(y)[1:]])
    return channels_back(y, layout)


def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """The transposed convolution over two axes: what the gradient of `conv2d` does to its input.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        kernel: tensor (height, width, out, in): that of the convolution which is transposed.
        output_shape: the shape of the result in the layout of `x`: ints and scalar tensors, or
            a 1-D integer tensor; the batch may be None.
        strides: those of the convolution which is transposed.
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
    x, kernel = with_equal_channels(what, x, kernel, -2)
    strides = moves.strides
    # With a dilation of r, the original convolves each of the r phases of an axis (the cells r
    # apart) on its own, and its stride counts within a phase. Programs and weights of the Keras 2
    # days expect that. Where the strides differ, the original fails; here the window then moves as
    # in other convolutions.
    in_phases = max(moves.dilation) > 1 and min(strides) > 1 and len(set(strides)) == 1
    if in_phases:
        moves = moves._replace(strides=(1,) * moves.rank)
    x, window = resolve(x, moves, what)
    y = depthwise_conv(x, kernel, window=window)
    return strided_in_phases(y, moves.dilation, strides, what) if in_phases else y


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
    y, point = with_equal_channels(what, y, point, -2)
    window = Window(ones, ones, ((0, 0),) * rank, ones)
    return channels_back(conv(y, point, window=window), layout)


def separable_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Any = 1,
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """Convolution of each channel over one axis, then a mixture of the channels.

    Args:
        x: tensor (batch, steps, in), or (batch, in, steps) with channels first.
        depthwise_kernel: tensor (size, in, multiplier).
        pointwise_kernel: tensor (1, in * multiplier, out).
        strides, padding, data_format, dilation_rate: as for `conv1d`; no 'causal'. Stride s and
            rate r both above 1: see `depthwise_conv2d`.

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
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel over two axes, then a mixture of the channels.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        depthwise_kernel: tensor (height, width, in, multiplier).
        pointwise_kernel: tensor (1, 1, in * multiplier, out).
        strides, padding, data_format, dilation_rate: as for `conv2d`. Stride s and rate r both
            above 1: see `depthwise_conv2d`.

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
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel over two axes, with kernels of its own.

    Args:
        x: tensor (batch, rows, columns, in), or (batch, in, rows, columns) with channels first.
        depthwise_kernel: tensor (height, width, in, multiplier).
        strides, padding, data_format, dilation_rate: as for `conv2d`. Beside a dilation, equal
            strides s count cells of one phase: along an axis with rate r, place o is place
            r * s * (o // r) + o % r of the result with stride 1.

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
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
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
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
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
