"""Convolutions and their adjoints: contractions with patches. Layout (batch, *space, channels).

Kernels are applied as correlation (not mirrored).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from ...errors import DTypeError, ShapeError
from ..ir.node import Node, Primitive
from ..ir.types import Dim, Shape, TensorType, join_dims, join_shapes, show_shape
from .elementwise import add, mul
from .linalg import contract
from .movement import broadcast_to, reshape, slice_axis, stack
from .reduce import reduce_sum
from .sizes import Size, dims_of, merged, quotient, size_of, sizes_product, split
from .windows import (
    Window,
    check_places,
    check_space,
    corners,
    fold,
    patches,
    put_back,
    space_of,
)

# Convolution -------------------------------------------------------------------------------


def _check_kernel(what: str, x: Node, k: Node, window: Window) -> None:
    """Check that a kernel is (*window, …, …), and of the dtype of `x`."""
    if x.dtype != k.dtype:
        raise DTypeError(f"{what}: dtypes {x.dtype} and {k.dtype} differ; K.cast one")
    if len(k.shape) != window.rank + 2:
        raise ShapeError(f"{what}: a kernel has {window.rank + 2} axes, not {show_shape(k.shape)}")
    join_shapes(k.shape[:-2], window.sizes, f"{what}: kernel and window")


def _check_adjoint(what: str, x: Node, g: Node, window: Window) -> None:
    """Check that a cotangent `g` has the dtype and the places of a convolution of `x`."""
    check_space(what, x, window)
    if x.dtype != g.dtype:
        raise DTypeError(f"{what}: dtypes {x.dtype} and {g.dtype} differ; K.cast one")
    check_places(what, g, space_of(x), window)
    join_dims(x.shape[0], g.shape[0])


def _infer_conv(x: Node, k: Node, *, window: Window) -> TensorType:
    check_space("conv", x, window)
    _check_kernel("conv", x, k, window)
    if x.shape[-1] is not None and k.shape[-2] is not None and x.shape[-1] != k.shape[-2]:
        raise ShapeError(
            f"conv: x of shape {show_shape(x.shape)} has {x.shape[-1]} channels, the kernel"
            f" {show_shape(k.shape)} takes {k.shape[-2]}"
        )
    return TensorType((x.shape[0], *window.outputs(space_of(x)), k.shape[-1]), x.dtype)


def _flat_kernel(k: Node) -> Node:
    """(*window, in, out) as a matrix (window * in, out)."""
    *inner, outputs = dims_of(k)
    return reshape(k, [sizes_product(inner), outputs])


def _expand_conv(x: Node, k: Node, window: Window) -> Node:
    p = patches(x, window)
    return contract(p, _flat_kernel(k), ((len(p.shape) - 1,), (0,)))


conv = Primitive(
    "conv",
    _infer_conv,
    "correlation of x (batch, *space, in) with a kernel (*window, in, out); engine-defined where"
    " NaN or infinite weights meet padding, or NaN and infinity lie between the cells of a window",
    expand=_expand_conv,
    title="Conv",
    parts=("space", "kernel", "places"),
)


def _infer_conv_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    check_places("transposed conv", g, space, window)
    _check_kernel("transposed conv", g, k, window)
    if g.shape[-1] is not None and k.shape[-1] is not None and g.shape[-1] != k.shape[-1]:
        raise ShapeError(
            f"transposed conv: x of shape {show_shape(g.shape)} has {g.shape[-1]} channels, the"
            f" kernel {show_shape(k.shape)} takes {k.shape[-1]}"
        )
    return TensorType((g.shape[0], *space, k.shape[-2]), g.dtype)


def _expand_conv_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    p = contract(g, _flat_kernel(k), ((len(g.shape) - 1,), (1,)))
    return fold(p, merged(space, sizes), window)


_conv_input = Primitive(
    "conv_input",
    _infer_conv_input,
    "the adjoint of conv in x (a transposed convolution): g (batch, *places, out) spread by the"
    " kernel over `space`",
    expand=_expand_conv_input,
    title="ConvTranspose",
    parts=("places", "kernel", "space"),
)


def conv_input(g: Node, k: Node, space: Sequence[Size], window: Window) -> Node:
    """The transposed convolution onto a space of the given sizes."""
    shape, sizes = split(space)
    return _conv_input(g, k, *sizes, space=shape, window=window)


def _infer_conv_kernel(x: Node, g: Node, *, window: Window) -> TensorType:
    _check_adjoint("conv_kernel", x, g, window)
    return TensorType((*window.sizes, x.shape[-1], g.shape[-1]), x.dtype)


def _expand_conv_kernel(x: Node, g: Node, window: Window) -> Node:
    p = patches(x, window)
    axes = tuple(range(len(p.shape) - 1))
    flat = contract(p, g, (axes, axes))
    return reshape(flat, [*window.sizes, size_of(x, -1), size_of(g, -1)])


conv_kernel: Primitive = Primitive(
    "conv_kernel",
    _infer_conv_kernel,
    "the adjoint of conv in the kernel: x correlated with the cotangent g",
    expand=_expand_conv_kernel,
    parts=("space", "places", "kernel"),
)


# Depthwise convolution ---------------------------------------------------------------------


def _infer_depthwise(x: Node, k: Node, *, window: Window) -> TensorType:
    check_space("depthwise_conv", x, window)
    _check_kernel("depthwise_conv", x, k, window)
    if x.shape[-1] is not None and k.shape[-2] is not None and x.shape[-1] != k.shape[-2]:
        raise ShapeError(
            f"depthwise_conv: x of shape {show_shape(x.shape)} has {x.shape[-1]} channels, the"
            f" kernel {show_shape(k.shape)} takes {k.shape[-2]}"
        )
    c, m = k.shape[-2:]
    depth = None if c is None or m is None else c * m
    return TensorType((x.shape[0], *window.outputs(space_of(x)), depth), x.dtype)


def _repeated(x: Node, multiplier: Size) -> Node:
    """Each channel `multiplier` times in a row."""
    if multiplier == 1:
        return x
    dims = dims_of(x)
    wide = broadcast_to(reshape(x, [*dims, 1]), [*dims, multiplier])
    return reshape(wide, [*dims[:-1], sizes_product([dims[-1], multiplier])])


def _weighted(parts: Iterable[Node], k: Node, window: Window) -> Iterator[Node]:
    """What each cell of a window sees, times the kernel's weights for that cell."""
    depth = sizes_product([size_of(k, -2), size_of(k, -1)])
    rows = reshape(k, [window.cells, depth])
    for i, part in enumerate(parts):
        row = reshape(slice_axis(rows, 0, i, i + 1), [1] * (len(part.shape) - 1) + [depth])
        yield mul(part, broadcast_to(row, dims_of(part)))


def _expand_depthwise(x: Node, k: Node, window: Window) -> Node:
    return reduce(add, _weighted(corners(_repeated(x, size_of(k, -1)), window), k, window))


def _check_depth(what: str, depth: Dim, channels: Dim, multiplier: Dim) -> None:
    """Check that each of the channels has `multiplier` results."""
    known = depth is not None and channels is not None and multiplier is not None
    if known and depth != channels * multiplier:  # type: ignore[operator]
        raise ShapeError(f"{what}: {depth} channels aren't {channels} times {multiplier}")


def _infer_depthwise_input(
    g: Node, k: Node, *sizes: Node, space: Shape, window: Window
) -> TensorType:
    check_places("depthwise_input", g, space, window)
    _check_kernel("depthwise_input", g, k, window)
    _check_depth("depthwise_input", g.shape[-1], *k.shape[-2:])
    return TensorType((g.shape[0], *space, k.shape[-2]), g.dtype)


def _infer_depthwise_kernel(x: Node, g: Node, *, window: Window, multiplier: Dim) -> TensorType:
    _check_adjoint("depthwise_kernel", x, g, window)
    _check_depth("depthwise_kernel", g.shape[-1], x.shape[-1], multiplier)
    return TensorType((*window.sizes, x.shape[-1], multiplier), x.dtype)


def _expand_depthwise_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    channels, multiplier = size_of(k, -2), size_of(k, -1)
    parts = _weighted([g] * window.cells, k, window)
    found = put_back(parts, size_of(g, 0), merged(space, sizes), window)
    if multiplier == 1:
        return found
    last = len(found.shape)
    return reduce_sum(reshape(found, [*dims_of(found)[:-1], channels, multiplier]), (last,))


def _expand_depthwise_kernel(x: Node, g: Node, window: Window, multiplier: int | None) -> Node:
    channels, axes = size_of(x, -1), tuple(range(len(x.shape) - 1))
    multiples = quotient(size_of(g, -1), channels) if multiplier is None else multiplier
    seen = corners(_repeated(x, multiples), window)
    sums = [reduce_sum(mul(cell, g), axes) for cell in seen]
    return reshape(stack(sums, 0), [*window.sizes, channels, multiples])


depthwise_conv = Primitive(
    "depthwise_conv",
    _infer_depthwise,
    "each channel with kernels of its own, (*window, channels, multiplier); engine-defined where"
    " NaN or infinite weights meet padding, or NaN and infinity lie between the cells of a window",
    expand=_expand_depthwise,
    title="DepthwiseConv",
    parts=("space", "kernel", "places"),
)


_depthwise_input = Primitive(
    "depthwise_input",
    _infer_depthwise_input,
    "the adjoint of depthwise_conv in x",
    expand=_expand_depthwise_input,
    parts=("places", "kernel", "space"),
)


def depthwise_input(g: Node, k: Node, space: Sequence[Size], window: Window) -> Node:
    """The transposed depthwise convolution onto a space of the given sizes."""
    shape, sizes = split(space)
    return _depthwise_input(g, k, *sizes, space=shape, window=window)


depthwise_kernel: Primitive = Primitive(
    "depthwise_kernel",
    _infer_depthwise_kernel,
    "the adjoint of depthwise_conv in the kernel",
    expand=_expand_depthwise_kernel,
    parts=("space", "places", "kernel"),
)
