"""Convolutions and their adjoints by TensorFlow's kernels; layout (batch, *space, channels).

One spatial axis is computed as two. What the CPU's kernels lack is brought to what they have:
margins of three axes are written around x, adjoints of dilated convolutions are convolutions
themselves, and kernels of three axes and depthwise ones are dilated by zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.node import Node
from ...prims.windows import Window
from .._lowering import Rule
from .._windows import is_trusted
from .kernels import Tensor, constant, raw, shape_of, transposed, vector
from .lowering import Tracing
from .movement import strided


def lifted(window: Window) -> Window:
    """The window of one axis as one of two, the first of size 1."""
    if window.rank != 1:
        return window
    (stride,) = window.strides
    return Window(
        (1, *window.sizes), (stride, stride), ((0, 0), *window.padding), (1, *window.dilation)
    )


def plane(x: Tensor, axis: int = 1) -> Tensor:
    """A tensor of one spatial axis with two of them: the new one is `axis`."""
    return raw.ExpandDims(input=x, axis=axis)


def line(x: Tensor, axis: int = 1) -> Tensor:
    """What `plane` did, undone."""
    return raw.Squeeze(input=x, axis=[axis])


def moves(window: Window, dilated: bool = True) -> dict[str, Any]:
    """Strides, margins and dilation as kernels of two axes take them."""
    found: dict[str, Any] = {"strides": [1, *window.strides, 1], "padding": "VALID"}
    if any(map(any, window.padding)):
        flat = [m for pair in window.padding for m in pair]
        found |= {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *flat, 0, 0]}
    if dilated:
        found["dilations"] = [1, *window.dilation, 1]
    return found


def padded(x: Tensor, window: Window, value: Any = 0) -> Tensor:
    """`x` with the window's margins around it."""
    if not any(map(any, window.padding)):
        return x
    margins = [[0, 0], *map(list, window.padding), [0, 0]]
    return raw.PadV2(input=x, paddings=margins, constant_values=constant(value, x.dtype))


def cropped(x: Tensor, window: Window, space: list[Any]) -> Tensor:
    """What lies within the margins."""
    if not any(map(any, window.padding)):
        return x
    begin = [0, *(low for low, _ in window.padding), 0]
    return raw.Slice(input=x, begin=begin, size=vector([-1, *space, -1]))


def bare(window: Window) -> Window:
    """The window without margins."""
    return window._replace(padding=((0, 0),) * window.rank)


def plus(a: Any, b: Any) -> Any:
    """The sum of two sizes, each an int or a scalar."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if isinstance(a, int) and a == 0 else a if isinstance(b, int) and b == 0 else a + b


def is_dilated(window: Window) -> bool:
    return any(d > 1 and n > 1 for d, n in zip(window.dilation, window.sizes, strict=True))


# Kernels with zeros between their cells ----------------------------------------------------------


def _cells(window: Window) -> tuple[tuple[int | None, int | None, int], ...]:
    whole = (None, None, 1)
    return (*((None, None, d) for d in window.dilation), whole, whole)


def dilated(k: Tensor, window: Window) -> Tensor:
    """The kernel with zeros between its cells, for a window without dilation."""
    if not is_dilated(window):
        return k
    shape = vector([*window.spans, *shape_of(k)[-2:]])
    return raw.StridedSliceGrad(shape=shape, dy=k, **strided(_cells(window)))


def undilated(k: Tensor, window: Window) -> Tensor:
    """The adjoint of `dilated`."""
    return raw.StridedSlice(input=k, **strided(_cells(window))) if is_dilated(window) else k


def solid(window: Window) -> Window:
    """The window of a dilated kernel."""
    return window._replace(sizes=window.spans, dilation=(1,) * window.rank)


# Two axes ----------------------------------------------------------------------------------------


def _conv_2d(x: Tensor, k: Tensor, window: Window) -> Tensor:
    return raw.Conv2D(input=x, filter=k, **moves(window))


def _input_2d(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    if is_dilated(window):
        return _input_dilated(g, k, space, window)
    sizes = vector([shape_of(g)[0], *space, shape_of(k)[-2]])
    return raw.Conv2DBackpropInput(
        input_sizes=sizes, filter=k, out_backprop=g, **moves(window, dilated=False)
    )


def _kernel_2d(x: Tensor, g: Tensor, window: Window) -> Tensor:
    if is_dilated(window):
        return _kernel_dilated(x, g, window)
    sizes = vector([*window.sizes, shape_of(x)[-1], shape_of(g)[-1]])
    return raw.Conv2DBackpropFilter(
        input=x, filter_sizes=sizes, out_backprop=g, **moves(window, dilated=False)
    )


def _input_dilated(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    """g with zeros between its places, correlated with the mirrored kernel."""
    batch, *places, _ = shape_of(g)
    spread = []
    margins = []
    for place, size, span, stride, (low, _) in zip(
        places, space, window.spans, window.strides, window.padding, strict=True
    ):
        wide = plus(_times(plus(place, -1), stride), 1)
        missing = plus(plus(size, low), _times(wide, -1))
        spread.append(wide)
        margins.append(vector([span - 1, _at_least_0(missing)]))
    if any(s > 1 for s in window.strides):
        whole = (None, None, 1)
        steps = (whole, *((None, None, s) for s in window.strides), whole)
        shape = vector([batch, *spread, shape_of(g)[-1]])
        g = raw.StridedSliceGrad(shape=shape, dy=g, **strided(steps))
    zero = vector([0, 0])
    g = raw.Pad(input=g, paddings=raw.Pack(values=[zero, *margins, zero]))
    mirrored = transposed(raw.ReverseV2(tensor=k, axis=[0, 1]), (0, 1, 3, 2))
    out = _conv_2d(g, mirrored, bare(window)._replace(strides=(1, 1)))
    begin = [0, *(low for low, _ in window.padding), 0]
    return raw.Slice(input=out, begin=begin, size=vector([-1, *space, -1]))


def _kernel_dilated(x: Tensor, g: Tensor, window: Window) -> Tensor:
    """x correlated with g, where the batch is what is summed: strides and dilation swap."""
    x = transposed(padded(x, window), (3, 1, 2, 0))
    g = transposed(g, (1, 2, 0, 3))
    swapped = bare(window)._replace(strides=window.dilation, dilation=window.strides)
    found = transposed(_conv_2d(x, g, swapped), (1, 2, 0, 3))
    return raw.Slice(input=found, begin=[0, 0, 0, 0], size=[*window.sizes, -1, -1])


def _times(a: Any, b: int) -> Any:
    return a if b == 1 else a * b


def _at_least_0(size: Any) -> Any:
    return max(0, size) if isinstance(size, int) else raw.Maximum(x=size, y=0)


# Three axes --------------------------------------------------------------------------------------


def _conv_3d(x: Tensor, k: Tensor, window: Window) -> Tensor:
    k = dilated(k, window)
    strides = [1, *window.strides, 1]
    return raw.Conv3D(input=padded(x, window), filter=k, strides=strides, padding="VALID")


def _input_3d(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    wide = [plus(d, low + high) for d, (low, high) in zip(space, window.padding, strict=True)]
    sizes = vector([shape_of(g)[0], *wide, shape_of(k)[-2]])
    out = raw.Conv3DBackpropInputV2(
        input_sizes=sizes, filter=dilated(k, window), out_backprop=g,
        strides=[1, *window.strides, 1], padding="VALID",
    )  # fmt: skip
    return cropped(out, window, space)


def _kernel_3d(x: Tensor, g: Tensor, window: Window) -> Tensor:
    sizes = vector([*window.spans, shape_of(x)[-1], shape_of(g)[-1]])
    found = raw.Conv3DBackpropFilterV2(
        input=padded(x, window), filter_sizes=sizes, out_backprop=g,
        strides=[1, *window.strides, 1], padding="VALID",
    )  # fmt: skip
    return undilated(found, window)


# Depthwise ---------------------------------------------------------------------------------------


def _thinned(g: Tensor, space: list[Any], window: Window) -> Tensor:
    """g as the cotangent of the convolution with strides of 1."""
    full = [
        plus(plus(d, low + high), 1 - span)
        for d, (low, high), span in zip(space, window.padding, window.spans, strict=True)
    ]
    batch, *_, channels = shape_of(g)
    shape = vector([batch, *full, channels])
    return raw.StridedSliceGrad(shape=shape, dy=g, **strided(_steps(window)))


def _steps(window: Window) -> tuple[tuple[int | None, int | None, int], ...]:
    whole = (None, None, 1)
    return (whole, *((None, None, s) for s in window.strides), whole)


def _even(window: Window) -> bool:
    """The kernels take equal strides only."""
    return len(set(window.strides)) == 1


def _with_margins(x: Tensor, window: Window) -> tuple[Tensor, dict[str, Any]]:
    """What goes into a depthwise convolution, and strides and margins as it takes them.

    Explicit margins would end the process where TensorFlow fuses the convolution with what adds
    a bias to it (seen in 2.21): its rule for the shape of the fused one doesn't know them.
    """
    around = [(low + high, high - low) for low, high in window.padding]
    missing = [span - 1 for span in window.spans]
    same = all(w == m and d in (0, 1) for (w, d), m in zip(around, missing, strict=True))
    if same and set(window.strides) == {1}:
        return x, {**moves(bare(window), dilated=False), "padding": "SAME"}
    return padded(x, window), moves(bare(window), dilated=False)


def _depthwise(x: Tensor, k: Tensor, window: Window) -> Tensor:
    k, wide = dilated(k, window), solid(window)
    if _even(wide):
        x, how = _with_margins(x, wide)
        return raw.DepthwiseConv2dNative(input=x, filter=k, **how)
    whole = _depthwise(x, k, wide._replace(strides=(1, 1)))
    return raw.StridedSlice(input=whole, **strided(_steps(wide)))


def _depthwise_input(g: Tensor, k: Tensor, space: list[Any], window: Window) -> Tensor:
    k, wide = dilated(k, window), solid(window)
    if not _even(wide):
        g, wide = _thinned(g, space, wide), wide._replace(strides=(1, 1))
    sizes = vector([shape_of(g)[0], *space, shape_of(k)[-2]])
    return raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes=sizes, filter=k, out_backprop=g, **moves(wide, dilated=False)
    )


def _depthwise_kernel(x: Tensor, g: Tensor, multiplier: int | None, window: Window) -> Tensor:
    wide = solid(window)
    _, *space, channels = shape_of(x)
    if not _even(wide):
        g, wide = _thinned(g, space, wide), wide._replace(strides=(1, 1))
    multiples = shape_of(g)[-1] // channels if multiplier is None else multiplier
    found = raw.DepthwiseConv2dNativeBackpropFilter(
        input=x, filter_sizes=vector([*wide.sizes, channels, multiples]), out_backprop=g,
        **moves(wide, dilated=False),
    )  # fmt: skip
    return undilated(found, window)


# Rules -------------------------------------------------------------------------------------------


def conv(e: Tracing, node: Node, x: Tensor, k: Tensor) -> Tensor:
    (source, kernel), rank = node.operands, node.attrs["window"].rank
    e.agree_on_each(node, [((source, rank + 1), (kernel, rank))])  # else it convolves in groups
    window = node.attrs["window"]
    if window.rank == 3:
        return _conv_3d(x, k, window)
    if window.rank == 2:
        return _conv_2d(x, k, window)
    return line(_conv_2d(plane(x), plane(k, 0), lifted(window)))


def conv_input(e: Tracing, node: Node, g: Tensor, k: Tensor, *sizes: Tensor) -> Tensor:
    window, space = node.attrs["window"], e.size_operands(node, sizes, "space")
    if window.rank == 3:
        return _input_3d(g, k, space, window)
    if window.rank == 2:
        return _input_2d(g, k, space, window)
    return line(_input_2d(plane(g), plane(k, 0), [1, *space], lifted(window)))


def conv_kernel(e: Tracing, node: Node, x: Tensor, g: Tensor) -> Tensor:
    window = node.attrs["window"]
    if window.rank == 3:
        return _kernel_3d(x, g, window)
    if window.rank == 2:
        return _kernel_2d(x, g, window)
    return line(_kernel_2d(plane(x), plane(g), lifted(window)), 0)


def depthwise_conv(e: Tracing, node: Node, x: Tensor, k: Tensor) -> Tensor:
    window = node.attrs["window"]
    if window.rank == 2:
        return _depthwise(x, k, window)
    return line(_depthwise(plane(x), plane(k, 0), lifted(window)))


def depthwise_input(e: Tracing, node: Node, g: Tensor, k: Tensor, *sizes: Tensor) -> Tensor:
    window, space = node.attrs["window"], e.size_operands(node, sizes, "space")
    if window.rank == 2:
        return _depthwise_input(g, k, space, window)
    return line(_depthwise_input(plane(g), plane(k, 0), [1, *space], lifted(window)))


def depthwise_kernel(e: Tracing, node: Node, x: Tensor, g: Tensor) -> Tensor:
    window, multiplier = node.attrs["window"], node.attrs["multiplier"]
    if window.rank == 2:
        return _depthwise_kernel(x, g, multiplier, window)
    return line(_depthwise_kernel(plane(x), plane(g), multiplier, lifted(window)), 0)


def has_kernel(node: Node) -> bool:
    """Floats, along up to three axes."""
    return bool(node.operands[0].dtype.is_float) and node.attrs["window"].rank <= 3


def has_depthwise(node: Node) -> bool:
    """Floats, along one or two axes."""
    return bool(node.operands[0].dtype.is_float) and node.attrs["window"].rank <= 2


RULES: dict[str, Rule] = {
    "conv": conv,
    "conv_input": conv_input,
    "conv_kernel": conv_kernel,
    "depthwise_conv": depthwise_conv,
    "depthwise_input": depthwise_input,
    "depthwise_kernel": depthwise_kernel,
}
WHERE: dict[str, Callable[[Node], bool]] = {
    **{n: has_depthwise if n.startswith("depthwise") else has_kernel for n in RULES},
    "conv": lambda node: has_kernel(node) and is_trusted(node),
}
