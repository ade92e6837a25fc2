"""Convolutions of TensorFlow 1 over K's: with holes, transposed, of single channels, adjoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor, promoted
from ..backend._windows import Moves, resolve
from ..errors import ArgumentError
from ..prims.conv import conv_kernel, depthwise_kernel
from .arrays import ints_in, sizes_in
from .calling import called
from .layouts import Layout, each, layout_of, margins, padding_of

CONVOLUTIONS = (K.conv1d, K.conv2d, K.conv3d)


# Convolutions ---------------------------------------------------------------------------------


def convolved(
    x: Any, kernel: Any, layout: Layout, strides: Any, padding: Any, rates: Any, what: str
) -> Any:
    """The convolution over the axes of space of a layout."""
    if kernel is None or padding is None:
        raise ArgumentError(f"{what}: give the kernel and the padding")
    x, padding = margins(x, padding, what)
    steps, holes = each(strides, layout, what, "strides"), each(rates, layout, what, "dilations")
    one = layout.rank == 1
    return CONVOLUTIONS[layout.rank - 1](
        x, as_tensor(kernel, what), steps[0] if one else steps, padding, layout.word,
        holes[0] if one else holes,
    )  # fmt: skip


def _over(rank: int) -> Callable[..., Any]:
    def call(
        input: Any, filter: Any, strides: Any, padding: Any, data_format: Any, dilations: Any,
        what: str,
    ) -> Any:  # fmt: skip
        layout = layout_of(data_format, rank, what)
        return convolved(input, filter, layout, strides, padding, dilations, what)

    return call


def conv1d(
    value: Any, filters: Any, stride: Any, padding: Any, data_format: Any, dilations: Any, what: str
) -> Any:
    layout = layout_of(data_format, 1, what)
    return convolved(value, filters, layout, stride, padding, dilations, what)


def convolution(
    input: Any, filter: Any, padding: Any, strides: Any, dilation_rate: Any, data_format: Any,
    dilations: Any, what: str,
) -> Any:  # fmt: skip
    """A convolution over as many axes as the kernel has but the last two."""
    kernel = as_tensor(filter, what)
    rank = len(kernel.shape) - 2
    if not 1 <= rank <= len(CONVOLUTIONS):
        raise ArgumentError(f"{what}: {kernel!r} isn't a kernel over 1, 2 or 3 axes")
    layout = layout_of(data_format, rank, what)
    rates = dilation_rate if dilations is None else dilations
    return convolved(input, kernel, layout, strides, padding, rates, what)


def atrous_conv2d(value: Any, filters: Any, rate: Any, padding: Any, what: str) -> Any:
    """A convolution whose kernel has holes: `rate` - 1 zeros between its cells."""
    return convolved(value, filters, layout_of(None, 2, what), 1, padding, rate, what)


# Transposed ones ------------------------------------------------------------------------------


def transposed(
    x: Any, kernel: Any, shape: Any, layout: Layout, strides: Any, padding: Any, rates: Any,
    what: str,
) -> Any:  # fmt: skip
    """What the gradient of a convolution does to its input, of a given shape."""
    if kernel is None or shape is None:
        raise ArgumentError(f"{what}: give the kernel and the shape of the result")
    x, k = promoted((x, kernel), what)
    steps, holes = each(strides, layout, what, "strides"), each(rates, layout, what, "dilations")
    sizes, padding = sizes_in(shape, what), padding_of(padding, what)
    if layout.rank == 2:
        return K.conv2d_transpose(x, k, sizes, steps, padding, layout.word, holes)
    if max(holes) > 1:
        raise ArgumentError(f"{what}: a dilation of {holes} isn't there; only over two axes it is")
    if layout.rank == 3:
        return K.conv3d_transpose(x, k, sizes, steps, padding, layout.word)
    row = 2 if layout.first else 1
    wide = K.conv2d_transpose(
        K.expand_dims(x, row), K.expand_dims(k, 0), [*sizes[:row], 1, *sizes[row:]], (1, *steps),
        padding, layout.word,
    )  # fmt: skip
    return K.squeeze(wide, row)


def _transposed_over(rank: int) -> Callable[..., Any]:
    def call(
        value: Any, filter: Any, output_shape: Any, strides: Any, padding: Any, data_format: Any,
        dilations: Any, what: str,
    ) -> Any:  # fmt: skip
        layout = layout_of(data_format, rank, what)
        return transposed(value, filter, output_shape, layout, strides, padding, dilations, what)

    return call


def conv_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, data_format: Any,
    dilations: Any, what: str,
) -> Any:  # fmt: skip
    kernel = as_tensor(filters, what)
    layout = layout_of(data_format, len(kernel.shape) - 2, what)
    return transposed(input, kernel, output_shape, layout, strides, padding, dilations, what)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: Any, padding: Any, what: str
) -> Any:
    layout = layout_of(None, 2, what)
    return transposed(value, filters, output_shape, layout, 1, padding, rate, what)


# Adjoints -------------------------------------------------------------------------------------


def _input_gradient(
    input_sizes: Any, filter: Any, out_backprop: Any, strides: Any, padding: Any, data_format: Any,
    dilations: Any, what: str,
) -> Any:  # fmt: skip
    layout = layout_of(data_format, 2, what)
    return transposed(out_backprop, filter, input_sizes, layout, strides, padding, dilations, what)


def _kernel_gradient(rank: int, deep: bool = False) -> Callable[..., Any]:
    """The gradient of a convolution for its kernel, whose sizes are known."""

    def call(
        input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
        data_format: Any, dilations: Any, what: str,
    ) -> Any:  # fmt: skip
        layout = layout_of(data_format, rank, what)
        x, g = (layout.to_end(t, what) for t in promoted((input, out_backprop), what))
        sizes = ints_in(filter_sizes, what)
        moves = Moves(
            tuple(sizes[:rank]), each(strides, layout, what, "strides"),
            each(dilations, layout, what, "dilations"), padding_of(padding, what),
        )  # fmt: skip
        x, window = resolve(x, moves, what)
        if deep:
            return depthwise_kernel(x, g, window=window, multiplier=sizes[-1])
        return conv_kernel(x, g, window=window)

    return call


def _depthwise_input_gradient(
    input_sizes: Any, filter: Any, out_backprop: Any, strides: Any, padding: Any, data_format: Any,
    dilations: Any, what: str,
) -> Any:  # fmt: skip
    """The gradient of a depthwise convolution for its input: of any, for it's linear."""
    zeros = K.zeros(tuple(ints_in(input_sizes, what)), K.dtype(as_tensor(filter, what)))
    x = K.identity(zeros)
    y = depthwise_conv2d_native(x, filter, strides, padding, data_format, dilations, what)
    return K.gradients(K.sum(y * as_tensor(out_backprop, what)), [x])[0]


# Of single channels ---------------------------------------------------------------------------


def _rates(rate: Any, dilations: Any) -> Any:
    return rate if dilations is None else dilations


def _moved(strides: Any, rates: Any, layout: Layout, what: str) -> tuple[Any, Any]:
    return each(strides, layout, what, "strides"), each(rates, layout, what, "rate")


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any, data_format: Any,
    dilations: Any, what: str,
) -> Any:  # fmt: skip
    return depthwise_conv2d_native(
        input, filter, strides, padding, data_format, _rates(rate, dilations), what
    )


def depthwise_conv2d_native(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any, dilations: Any, what: str
) -> Any:
    layout = layout_of(data_format, 2, what)
    x, padding = margins(input, padding, what)
    steps, holes = _moved(strides, dilations, layout, what)
    x, kernel = promoted((x, filter), what)
    return K.depthwise_conv2d(x, kernel, steps, padding, layout.word, holes)


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, rate: Any,
    data_format: Any, dilations: Any, what: str,
) -> Any:  # fmt: skip
    """Each channel with kernels of its own, then a mixture of the channels."""
    layout = layout_of(data_format, 2, what)
    x, padding = margins(input, padding, what)
    steps, holes = _moved(strides, _rates(rate, dilations), layout, what)
    kernels = depthwise_filter, pointwise_filter
    return K.separable_conv2d(x, *kernels, steps, padding, layout.word, holes)


PLAIN = called({
    "nn.conv1d": conv1d, "nn.conv2d": _over(2), "nn.conv3d": _over(3),
    "nn.convolution": convolution, "nn.atrous_conv2d": atrous_conv2d,
    "nn.conv2d_transpose": _transposed_over(2), "nn.conv3d_transpose": _transposed_over(3),
    "nn.conv1d_transpose": conv_transpose, "nn.conv_transpose": conv_transpose,
    "nn.atrous_conv2d_transpose": atrous_conv2d_transpose,
    "nn.conv2d_backprop_input": _input_gradient, "nn.conv2d_backprop_filter": _kernel_gradient(2),
    "nn.conv3d_backprop_filter": _kernel_gradient(3),
    "nn.depthwise_conv2d_backprop_filter": _kernel_gradient(2, deep=True),
    "nn.depthwise_conv2d_backprop_input": _depthwise_input_gradient,
    "nn.depthwise_conv2d": depthwise_conv2d,
    "nn.depthwise_conv2d_native": depthwise_conv2d_native,
    "nn.separable_conv2d": separable_conv2d,
})  # fmt: skip
