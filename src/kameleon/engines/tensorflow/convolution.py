"""Convolutions and their adjoints by TensorFlow's kernels; layout (batch, *space, channels).

The kernels of the CPU take margins along one or two axes, and dilation there in the convolution
itself alone; along three axes, neither. `graph.passes.window_kernels` rewrites all other windows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph.ir.node import Node
from ...graph.primitives.windows import Window, has_margins, is_dilated
from .._lowering import Rule
from .._windows import has_neighbours, is_trusted
from .kernels import Tensor, raw, shape_of, transposed, vector
from .lowering import Tracing

# One axis as two ---------------------------------------------------------------------------------


def lifted(window: Window) -> Window:
    """A window of one axis as a window of two axes, the first of size 1."""
    if window.rank != 1:
        return window
    (stride,) = window.strides
    return Window(
        (1, *window.sizes), (stride, stride), ((0, 0), *window.padding), (1, *window.dilation)
    )


def plane(x: Tensor, window: Window, axis: int = 1) -> Tensor:
    """A tensor under a window of one axis with one more spatial axis, `axis`, of size 1."""
    return raw.ExpandDims(input=x, axis=axis) if window.rank == 1 else x


def line(x: Tensor, window: Window, axis: int = 1) -> Tensor:
    """What `plane` did, undone."""
    return raw.Squeeze(input=x, axis=[axis]) if window.rank == 1 else x


def over_planes(function: Callable[..., Tensor], kernel: int | None = None) -> Rule:
    """A rule that computes one spatial axis as two.

    Args:
        function: given the tensors, the sizes of the result's space (if the primitive is an
            adjoint), and a window.
        kernel: which operand is a kernel (*window, …, …); -1: the result is.
    """

    def rule(e: Tracing, node: Node, *operands: Tensor) -> Tensor:
        window: Window = node.attrs["window"]
        tensors = [
            plane(x, window, int(i != kernel))
            for i, (x, operand) in enumerate(zip(operands, node.operands, strict=True))
            if operand.shape
        ]
        if "space" in node.attrs:
            space = e.dims(node)
            tensors.append([1, *space] if window.rank == 1 else space)
        return line(function(*tensors, lifted(window)), window, int(kernel != -1))

    return rule


def moves(window: Window) -> dict[str, Any]:
    """Strides and margins as kernels take them."""
    found: dict[str, Any] = {"strides": [1, *window.strides, 1], "padding": "VALID"}
    if has_margins(window):
        flat = [m for pair in window.padding for m in pair]
        found |= {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *flat, 0, 0]}
    return found


# Convolution -------------------------------------------------------------------------------------


def _conv(x: Tensor, k: Tensor, window: Window) -> Tensor:
    if window.rank == 3:
        return raw.Conv3D(input=x, filter=k, **moves(window))
    return raw.Conv2D(input=x, filter=k, dilations=[1, *window.dilation, 1], **moves(window))


def _conv_input(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    adjoint = raw.Conv3DBackpropInputV2 if window.rank == 3 else raw.Conv2DBackpropInput
    sizes = vector([shape_of(g)[0], *space, shape_of(k)[-2]])
    return adjoint(input_sizes=sizes, filter=k, out_backprop=g, **moves(window))


def _conv_kernel(x: Tensor, g: Tensor, window: Window) -> Tensor:
    if is_dilated(window):
        return _kernel_by_conv(x, g, window)
    adjoint = raw.Conv3DBackpropFilterV2 if window.rank == 3 else raw.Conv2DBackpropFilter
    sizes = vector([*window.sizes, shape_of(x)[-1], shape_of(g)[-1]])
    return adjoint(input=x, filter_sizes=sizes, out_backprop=g, **moves(window))


def _kernel_by_conv(x: Tensor, g: Tensor, window: Window) -> Tensor:
    """x correlated with g, summed over samples: strides and dilation swap."""
    swapped = window._replace(strides=window.dilation, dilation=window.strides)
    g = transposed(g, (1, 2, 0, 3))
    found = transposed(_conv(transposed(x, (3, 1, 2, 0)), g, swapped), (1, 2, 0, 3))
    return raw.Slice(input=found, begin=[0, 0, 0, 0], size=[*window.sizes, -1, -1])


def has_kernel(node: Node) -> bool:
    """Kernels take floats along up to three axes; along three, no margins and no dilation."""
    window = node.attrs["window"]
    plain = not has_margins(window) and not is_dilated(window)
    return node.dtype.is_float and (window.rank < 3 or (window.rank == 3 and plain))


def _has_kernel_adjoint(node: Node) -> bool:
    """Like `has_kernel`, but a dilated window's adjoint, itself a convolution, has no margins."""
    window = node.attrs["window"]
    return has_kernel(node) and not (is_dilated(window) and has_margins(window))


# Depthwise ---------------------------------------------------------------------------------------


def _depthwise(x: Tensor, k: Tensor, window: Window) -> Tensor:
    """Margins are those of `SAME`: explicit margins would end the process where TensorFlow fuses
    the convolution with the addition of a bias (seen in 2.21), as the shape rule of the fused
    operation doesn't know them.
    """
    padding = "SAME" if has_margins(window) else "VALID"
    strides = [1, *window.strides, 1]
    return raw.DepthwiseConv2dNative(input=x, filter=k, strides=strides, padding=padding)


def _depthwise_input(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    sizes = vector([shape_of(g)[0], *space, shape_of(k)[-2]])
    return raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes=sizes, filter=k, out_backprop=g, **moves(window)
    )


def _depthwise_kernel(x: Tensor, g: Tensor, window: Window) -> Tensor:
    channels = shape_of(x)[-1]
    sizes = vector([*window.sizes, channels, shape_of(g)[-1] // channels])
    return raw.DepthwiseConv2dNativeBackpropFilter(
        input=x, filter_sizes=sizes, out_backprop=g, **moves(window)
    )


def has_depthwise(node: Node) -> bool:
    """Kernels take floats along one or two axes, with equal strides and no dilation."""
    window = node.attrs["window"]
    even = len(set(window.strides)) == 1 and not is_dilated(window)
    return node.dtype.is_float and window.rank <= 2 and even


def _has_margins_of_same(node: Node) -> bool:
    """Whether there are no margins, or those of `SAME` for strides of 1."""
    window = node.attrs["window"]
    axes = zip(window.padding, window.spans, strict=True)
    same = all(a + b == span - 1 and b - a in (0, 1) for (a, b), span in axes)
    return not has_margins(window) or (same and set(window.strides) == {1})


RULES: dict[str, Rule] = {
    "conv": over_planes(_conv, kernel=1),
    "conv_input": over_planes(_conv_input, kernel=1),
    "conv_kernel": over_planes(_conv_kernel, kernel=-1),
    "depthwise_conv": over_planes(_depthwise, kernel=1),
    "depthwise_input": over_planes(_depthwise_input, kernel=1),
    "depthwise_kernel": over_planes(_depthwise_kernel, kernel=-1),
}
WHERE: dict[str, Callable[[Node], bool]] = {
    "conv": lambda node: has_kernel(node) and is_trusted(node) and has_neighbours(node),
    "conv_input": lambda node: has_kernel(node) and not is_dilated(node.attrs["window"]),
    "conv_kernel": lambda node: _has_kernel_adjoint(node) and has_neighbours(node),
    "depthwise_conv": lambda node: has_depthwise(node) and _has_margins_of_same(node),
    **dict.fromkeys(("depthwise_input", "depthwise_kernel"), has_depthwise),
}
