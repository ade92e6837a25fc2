"""Windows over space: patches, convolutions, pooling, resizing. Layout (batch, *space, channels).

`Window` says how a window moves; paddings are resolved to (low, high) numbers. A convolution
is a contraction with patches, and `fold` is the adjoint of `patches`: all gradients follow from
those two. Kernels are applied as correlation (not mirrored).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import DTypeError, ShapeError
from ..ir.node import Node
from ..ir.primitive import Primitive, jointly
from ..ir.serial import RECORDS
from ..ir.types import INT8, INT32, Dim, DType, Shape, TensorType, show_shape
from .elementwise import (
    add,
    cast,
    constant,
    eq,
    full_like,
    is_nan,
    logical_and,
    logical_or,
    mul,
)
from .linalg import contract
from .movement import (
    Size,
    broadcast_to,
    concatenate,
    dims_of,
    pad,
    reshape,
    size_of,
    slice_,
    split,
    transpose,
    unslice,
)
from .reduce import argmax, reduce_max, reduce_sum, spread


class Window(NamedTuple):
    """How a window moves over space; one entry for each spatial axis."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.sizes)

    def out_dim(self, axis: int, dim: Dim) -> Dim:
        """How many places the window takes along an axis of size `dim`."""
        if dim is None:
            return None
        low, high = self.padding[axis]
        span = (self.sizes[axis] - 1) * self.dilation[axis] + 1
        return max(0, (dim + low + high - span) // self.strides[axis] + 1)

    def outputs(self, space: Shape) -> Shape:
        """The numbers of places along all spatial axes."""
        return tuple(self.out_dim(i, d) for i, d in enumerate(space))

    @property
    def cells(self) -> int:
        """The number of cells in the window."""
        return int(np.prod(self.sizes, dtype=np.int64))


RECORDS["Window"] = Window


def _space(x: Node) -> Shape:
    return x.shape[1:-1]


def _check_space(what: str, x: Node, window: Window) -> None:
    if len(x.shape) != window.rank + 2:
        raise ShapeError(
            f"{what}: {window.rank} spatial axes need a tensor with {window.rank + 2} axes,"
            f" not shape {show_shape(x.shape)}"
        )


def _corners(x: Node, window: Window) -> list[Node]:
    """For each cell of the window, in row-major order, what it sees at every place."""
    whole = (None, None, 1)
    parts = []
    places = [_places(x, i, window) for i in range(window.rank)]
    for cell in np.ndindex(*window.sizes):
        windows = []
        for i, at in enumerate(cell):
            start, step = at * window.dilation[i], window.strides[i]
            windows.append((start, start + (places[i] - 1) * step + 1, step))
        parts.append(slice_(x, [whole, *windows, whole]))
    return parts


def _places(x: Node, axis: int, window: Window) -> int:
    bare = window._replace(padding=((0, 0),) * window.rank)
    places = bare.out_dim(axis, x.shape[axis + 1])
    if places is None:
        raise ShapeError(
            "the expansion of a window needs known spatial sizes; this engine has no kernel for"
            " unknown ones"
        )
    return places


# Patches and their adjoint -----------------------------------------------------------------


def _infer_patches(x: Node, window: Window) -> TensorType:
    _check_space("patches", x, window)
    channels = x.shape[-1]
    depth = None if channels is None else channels * window.cells
    return TensorType((x.shape[0], *window.outputs(_space(x)), depth), x.dtype)


def _expand_patches(x: Node, window: Window) -> Node:
    x = pad(x, [(0, 0), *window.padding, (0, 0)])
    return concatenate(_corners(x, window), len(x.shape) - 1)


_patches = Primitive(
    "patches",
    _infer_patches,
    [lambda g, y, x, window: fold(g, dims_of(x)[1:-1], window)],
    "all windows of x, laid out along the last axis: cells row-major, then channels",
    expand=_expand_patches,
)


def patches(x: Node, window: Window) -> Node:
    """All windows of `x`: (batch, *places, cells * channels)."""
    return _patches(x, window=window)


def _infer_fold(p: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    depth = p.shape[-1]
    channels = None if depth is None else depth // window.cells
    return TensorType((p.shape[0], *space, channels), p.dtype)


def _expand_fold(p: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    known = [d for d in space if d is not None]
    if len(known) < len(space):
        raise ShapeError("the expansion of fold needs known spatial sizes")
    depth = p.shape[-1]
    if depth is None:
        raise ShapeError("the expansion of fold needs a known number of channels")
    channels = depth // window.cells
    padded = [d + a + b for d, (a, b) in zip(known, window.padding, strict=True)]
    batch = size_of(p, 0)
    total: Node | None = None
    for number, cell in enumerate(np.ndindex(*window.sizes)):
        part = slice_(
            p,
            [(None, None, 1)] * (len(p.shape) - 1)
            + [(number * channels, (number + 1) * channels, 1)],
        )
        windows = [(None, None, 1)]
        for i, at in enumerate(cell):
            start, step = at * window.dilation[i], window.strides[i]
            stop = start + (p.shape[i + 1] - 1) * step + 1  # type: ignore[operator]
            windows.append((start, stop, step))
        placed = unslice(part, [batch, *padded, channels], [*windows, (None, None, 1)])
        total = placed if total is None else add(total, placed)
    assert total is not None
    crop = [(a, a + d, 1) for d, (a, _) in zip(known, window.padding, strict=True)]
    return slice_(total, [(None, None, 1), *crop, (None, None, 1)])


def _keep_first(rule: Any) -> jointly:
    """A pullback for a primitive whose other operands are sizes."""
    return jointly(lambda y, gs, needed: [rule(gs[0], y, **y.attrs)] + [None] * (len(needed) - 1))


_fold = Primitive(
    "fold",
    _infer_fold,
    _keep_first(lambda g, y, space, window: patches(g, window)),
    "the adjoint of patches: windows added into a tensor with spatial sizes `space`",
    expand=_expand_fold,
)


def fold(p: Node, space: Sequence[Size], window: Window) -> Node:
    """Windows added up into the space that they came from."""
    shape, sizes = split(space)
    return _fold(p, *sizes, space=shape, window=window)


# Convolution -------------------------------------------------------------------------------


def _infer_conv(x: Node, k: Node, window: Window) -> TensorType:
    _check_space("conv", x, window)
    if x.dtype != k.dtype:
        raise DTypeError(f"conv: dtypes {x.dtype} and {k.dtype} differ; K.cast one")
    if x.shape[-1] is not None and k.shape[-2] is not None and x.shape[-1] != k.shape[-2]:
        raise ShapeError(
            f"conv: x of shape {show_shape(x.shape)} has {x.shape[-1]} channels, the kernel"
            f" {show_shape(k.shape)} takes {k.shape[-2]}"
        )
    return TensorType((x.shape[0], *window.outputs(_space(x)), k.shape[-1]), x.dtype)


def _flat_kernel(k: Node) -> Node:
    """(*window, in, out) as a matrix (window * in, out)."""
    return reshape(k, [-1, size_of(k, len(k.shape) - 1)])


def _expand_conv(x: Node, k: Node, window: Window) -> Node:
    p = patches(x, window)
    return contract(p, _flat_kernel(k), ((len(p.shape) - 1,), (0,)))


conv = Primitive(
    "conv",
    _infer_conv,
    [
        lambda g, y, x, k, window: conv_input(g, k, dims_of(x)[1:-1], window),
        lambda g, y, x, k, window: conv_kernel(x, g, window=window),
    ],
    "correlation of x (batch, *space, in) with a kernel (*window, in, out)",
    expand=_expand_conv,
    title="Conv",
)


def _infer_conv_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    if g.shape[-1] is not None and k.shape[-1] is not None and g.shape[-1] != k.shape[-1]:
        raise ShapeError(
            f"transposed conv: x of shape {show_shape(g.shape)} has {g.shape[-1]} channels, the"
            f" kernel {show_shape(k.shape)} takes {k.shape[-1]}"
        )
    return TensorType((g.shape[0], *space, k.shape[-2]), g.dtype)


def _expand_conv_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    p = contract(g, _flat_kernel(k), ((len(g.shape) - 1,), (1,)))
    rest = iter(sizes)
    return fold(p, [next(rest) if d is None else d for d in space], window)


def _conv_input_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> list[Node | None]:
    g, k, window = *y.operands[:2], y.attrs["window"]
    back: list[Node | None] = [None] * len(needed)
    if needed[0]:
        back[0] = conv(gs[0], k, window=window)
    if needed[1]:
        back[1] = conv_kernel(gs[0], g, window=window)
    return back


_conv_input = Primitive(
    "conv_input",
    _infer_conv_input,
    jointly(_conv_input_back),
    "the adjoint of conv in x (a transposed convolution): g (batch, *places, out) spread by the"
    " kernel over `space`",
    expand=_expand_conv_input,
    title="ConvTranspose",
)


def conv_input(g: Node, k: Node, space: Sequence[Size], window: Window) -> Node:
    """The transposed convolution onto a space of the given sizes."""
    shape, sizes = split(space)
    return _conv_input(g, k, *sizes, space=shape, window=window)


def _infer_conv_kernel(x: Node, g: Node, window: Window) -> TensorType:
    return TensorType((*window.sizes, x.shape[-1], g.shape[-1]), x.dtype)


def _expand_conv_kernel(x: Node, g: Node, window: Window) -> Node:
    p = patches(x, window)
    axes = tuple(range(len(p.shape) - 1))
    flat = contract(p, g, (axes, axes))
    return reshape(flat, [*window.sizes, size_of(x, -1), size_of(g, -1)])


conv_kernel: Primitive = Primitive(
    "conv_kernel",
    _infer_conv_kernel,
    [
        lambda g, y, x, up, window: conv_input(up, g, dims_of(x)[1:-1], window),
        lambda g, y, x, up, window: conv(x, g, window=window),
    ],
    "the adjoint of conv in the kernel: x correlated with the cotangent g",
    expand=_expand_conv_kernel,
)


# Depthwise convolution ---------------------------------------------------------------------


def _infer_depthwise(x: Node, k: Node, window: Window) -> TensorType:
    _check_space("depthwise_conv", x, window)
    if x.dtype != k.dtype:
        raise DTypeError(f"depthwise_conv: dtypes {x.dtype} and {k.dtype} differ; K.cast one")
    if x.shape[-1] is not None and k.shape[-2] is not None and x.shape[-1] != k.shape[-2]:
        raise ShapeError(
            f"depthwise_conv: x of shape {show_shape(x.shape)} has {x.shape[-1]} channels, the"
            f" kernel {show_shape(k.shape)} takes {k.shape[-2]}"
        )
    c, m = k.shape[-2:]
    depth = None if c is None or m is None else c * m
    return TensorType((x.shape[0], *window.outputs(_space(x)), depth), x.dtype)


def _cells(p: Node, window: Window, channels: Size) -> Node:
    """Patches as (batch, *places, cells, channels)."""
    return reshape(p, [*dims_of(p)[:-1], window.cells, channels])


def _expand_depthwise(x: Node, k: Node, window: Window) -> Node:
    c, m = size_of(k, -2), size_of(k, -1)
    p = _cells(patches(x, window), window, c)
    rank = len(p.shape)
    flat = reshape(k, [window.cells, c, m])
    out = contract(p, flat, ((rank - 2,), (0,)), ((rank - 1,), (1,)))
    out = transpose(out, (*range(1, rank - 1), 0, rank - 1))
    return reshape(out, [*dims_of(out)[:-2], c * m if _ints(c, m) else -1])


def _ints(*sizes: Size) -> bool:
    return not any(isinstance(s, Node) for s in sizes)


def _split_depth(g: Node, channels: Size, multiplier: Size) -> Node:
    return reshape(g, [*dims_of(g)[:-1], channels, multiplier])


def _expand_depthwise_input(g: Node, k: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    c, m = size_of(k, -2), size_of(k, -1)
    split_g = _split_depth(g, c, m)
    rank = len(split_g.shape)
    flat = reshape(k, [window.cells, c, m])
    p = contract(split_g, flat, ((rank - 1,), (2,)), ((rank - 2,), (1,)))
    p = transpose(p, (*range(1, rank), 0))
    rest = iter(sizes)
    depth = c * window.cells if _ints(c) else -1
    p = reshape(p, [*dims_of(p)[:-2], depth])
    return fold(p, [next(rest) if d is None else d for d in space], window)


def _expand_depthwise_kernel(x: Node, g: Node, window: Window, multiplier: int) -> Node:
    c = size_of(x, -1)
    p = _cells(patches(x, window), window, c)
    split_g = _split_depth(g, c, multiplier)
    rank = len(p.shape)
    axes = tuple(range(rank - 2))
    out = contract(p, split_g, (axes, axes), ((rank - 1,), (rank - 2,)))
    return reshape(transpose(out, (1, 0, 2)), [*window.sizes, c, multiplier])


depthwise_conv = Primitive(
    "depthwise_conv",
    _infer_depthwise,
    [
        lambda g, y, x, k, window: depthwise_input(g, k, dims_of(x)[1:-1], window),
        lambda g, y, x, k, window: depthwise_kernel(x, g, window=window, multiplier=k.shape[-1]),
    ],
    "each channel with kernels of its own, (*window, channels, multiplier)",
    expand=_expand_depthwise,
    title="DepthwiseConv",
)


def _depthwise_input_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> list[Node | None]:
    g, k, window = *y.operands[:2], y.attrs["window"]
    back: list[Node | None] = [None] * len(needed)
    if needed[0]:
        back[0] = depthwise_conv(gs[0], k, window=window)
    if needed[1]:
        back[1] = depthwise_kernel(gs[0], g, window=window, multiplier=k.shape[-1])
    return back


_depthwise_input = Primitive(
    "depthwise_input",
    lambda g, k, *sizes, space, window: TensorType((g.shape[0], *space, k.shape[-2]), g.dtype),
    jointly(_depthwise_input_back),
    "the adjoint of depthwise_conv in x",
    expand=_expand_depthwise_input,
)


def depthwise_input(g: Node, k: Node, space: Sequence[Size], window: Window) -> Node:
    """The transposed depthwise convolution onto a space of the given sizes."""
    shape, sizes = split(space)
    return _depthwise_input(g, k, *sizes, space=shape, window=window)


depthwise_kernel: Primitive = Primitive(
    "depthwise_kernel",
    lambda x, g, window, multiplier: TensorType((*window.sizes, x.shape[-1], multiplier), x.dtype),
    [
        lambda g, y, x, up, window, multiplier: depthwise_input(up, g, dims_of(x)[1:-1], window),
        lambda g, y, x, up, window, multiplier: depthwise_conv(x, g, window=window),
    ],
    "the adjoint of depthwise_conv in the kernel",
    expand=_expand_depthwise_kernel,
)


# Pooling -----------------------------------------------------------------------------------


def _infer_pool(x: Node, window: Window) -> TensorType:
    _check_space("pool", x, window)
    return TensorType((x.shape[0], *window.outputs(_space(x)), x.shape[-1]), x.dtype)


def _infer_max_pool(x: Node, window: Window) -> tuple[TensorType, TensorType]:
    pooled = _infer_pool(x, window)
    return pooled, TensorType(pooled.shape, _cell_dtype(window))


def _cell_dtype(window: Window) -> DType:
    """What holds the number of any cell; it's read once for each element, so it's small."""
    return INT8 if window.cells <= 127 else INT32


def _expand_max_pool(x: Node, window: Window) -> tuple[Node, Node]:
    low = float("-inf") if x.dtype.is_float else int(np.iinfo(x.dtype).min)
    cells = _stacked_corners(x, window, low)
    top = reduce_max(cells, (0,))
    if not any(map(any, window.padding)):
        return top, cast(argmax(cells, axis=0), _cell_dtype(window))
    ones = broadcast_to(constant(1, x.dtype), [1, *dims_of(x)[1:-1], 1])
    inside = _stacked_corners(ones, window, 0)
    where = broadcast_to(eq(inside, full_like(inside, 1)), dims_of(cells))
    hits = eq(cells, spread(top, cells, (0,)))
    if x.dtype.is_float:
        hits = logical_or(hits, is_nan(cells))  # a window with a NaN has no other hits
    chosen = argmax(cast(logical_and(hits, where), INT32), axis=0)
    return top, cast(chosen, _cell_dtype(window))


def _stacked_corners(x: Node, window: Window, margin: float) -> Node:
    """(cells, batch, *places, channels): what each cell sees, `margin` out of `x`."""
    padded = pad(x, [(0, 0), *window.padding, (0, 0)], margin)
    return concatenate([reshape(c, [1, *dims_of(c)]) for c in _corners(padded, window)], 0)


def _max_pool_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> list[Node | None]:
    x, window = y.operands[0], y.attrs["window"]
    return [unpool(gs[0], y.results[1], dims_of(x)[1:-1], window)]


max_pool = Primitive(
    "max_pool",
    _infer_max_pool,
    jointly(_max_pool_back),
    "the maximum in each window, and the cell (row-major, int8 or int32) where it first is;"
    " padding is never chosen",
    expand=_expand_max_pool,
    title="MaxPool",
)


def _hits(index: Node, window: Window) -> Node:
    """(batch, *places, cells, channels): whether the cell is the chosen one."""
    rank = len(index.shape)
    dims = dims_of(index)
    full: list[Size] = [*dims[:-1], window.cells, dims[-1]]
    stretched = broadcast_to(reshape(index, [*dims[:-1], 1, dims[-1]]), full)
    cells = reshape(
        constant(np.arange(window.cells), index.dtype), [1] * (rank - 1) + [window.cells, 1]
    )
    return eq(stretched, broadcast_to(cells, full))


def _expand_unpool(g: Node, index: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    hits = cast(_hits(index, window), g.dtype)
    rank = len(hits.shape)
    wide = mul(hits, spread(g, hits, (rank - 2,)))
    channels = size_of(g, -1)
    depth: Size = -1 if isinstance(channels, Node) else channels * window.cells
    rest = iter(sizes)
    p = reshape(wide, [*dims_of(wide)[:-2], depth])
    return fold(p, [next(rest) if d is None else d for d in space], window)


_unpool = Primitive(
    "unpool",
    lambda g, index, *sizes, space, window: TensorType((g.shape[0], *space, g.shape[-1]), g.dtype),
    _keep_first(lambda g, y, space, window: pool_pick(g, y.operands[1], window=window)),
    "each g added to the cell that `index` chose in its window",
    expand=_expand_unpool,
)


def unpool(g: Node, index: Node, space: Sequence[Size], window: Window) -> Node:
    """The adjoint of picking the chosen cell of each window."""
    shape, sizes = split(space)
    return _unpool(g, index, *sizes, space=shape, window=window)


def _expand_pool_pick(x: Node, index: Node, window: Window) -> Node:
    p = _cells(patches(x, window), window, size_of(x, -1))
    rank = len(p.shape)
    return reduce_sum(mul(p, cast(_hits(index, window), x.dtype)), (rank - 2,))


pool_pick: Primitive = Primitive(
    "pool_pick",
    lambda x, index, window: _infer_pool(x, window),
    [lambda g, y, x, index, window: unpool(g, index, dims_of(x)[1:-1], window), None],
    "the cell of each window that `index` chose",
    expand=_expand_pool_pick,
)


def _expand_sum_pool(x: Node, window: Window) -> Node:
    padded = pad(x, [(0, 0), *window.padding, (0, 0)])
    total, *rest = _corners(padded, window)
    for part in rest:
        total = add(total, part)
    return total


sum_pool = Primitive(
    "sum_pool",
    _infer_pool,
    [lambda g, y, x, window: sum_unpool(g, dims_of(x)[1:-1], window)],
    "the sum over each window",
    expand=_expand_sum_pool,
    title="AvgPool",
)


def _expand_sum_unpool(g: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    channels = size_of(g, -1)
    depth: Size = -1 if isinstance(channels, Node) else channels * window.cells
    dims = dims_of(g)
    wide = broadcast_to(reshape(g, [*dims[:-1], 1, channels]), [*dims[:-1], window.cells, channels])
    rest = iter(sizes)
    p = reshape(wide, [*dims[:-1], depth])
    return fold(p, [next(rest) if d is None else d for d in space], window)


_sum_unpool = Primitive(
    "sum_unpool",
    lambda g, *sizes, space, window: TensorType((g.shape[0], *space, g.shape[-1]), g.dtype),
    _keep_first(lambda g, y, space, window: sum_pool(g, window=window)),
    "the adjoint of sum_pool: each g added to all cells of its window",
    expand=_expand_sum_unpool,
)


def sum_unpool(g: Node, space: Sequence[Size], window: Window) -> Node:
    """The adjoint of the sum over windows."""
    shape, sizes = split(space)
    return _sum_unpool(g, *sizes, space=shape, window=window)


def _cells_inside(x: Node, window: Window) -> Node:
    """(1, *places, 1): how many cells of each window lie inside of `x`."""
    space = [d for d in _space(x) if d is not None]
    if len(space) < window.rank:
        ones = broadcast_to(constant(1, x.dtype), [1, *dims_of(x)[1:-1], 1])
        return sum_pool(ones, window=window)
    counts = np.ones((), np.int64)
    for axis, dim in enumerate(space):
        places = np.arange(window.out_dim(axis, dim) or 0) * window.strides[axis]
        cells = np.arange(window.sizes[axis]) * window.dilation[axis] - window.padding[axis][0]
        seen = places[:, None] + cells
        counts = np.multiply.outer(counts, ((seen >= 0) & (seen < dim)).sum(1))
    return constant(counts.reshape(1, *counts.shape, 1), x.dtype)


def average_pool(x: Node, window: Window) -> Node:
    """The mean over each window; padding doesn't count."""
    from .elementwise import div

    total = sum_pool(x, window=window)
    if not any(map(any, window.padding)):
        return div(total, full_like(total, window.cells))
    return div(total, broadcast_to(_cells_inside(x, window), dims_of(total)))
