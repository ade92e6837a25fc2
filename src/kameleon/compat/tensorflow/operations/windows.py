"""What slides over images beside convolutions: maxima with places, dilations, patches, LRN."""

from __future__ import annotations

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives import pool as P
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.indexing import gather, scatter_add
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.reduce import argmax, reduce_max, reduce_sum
from kameleon.graph.primitives.windows import Window, corners, patches, put_back

from ..graph import Operation
from ..shapes.networks import spatial
from .arrays import mirrored
from .elementwise import from_start, larger, lowest, zero
from .networks import convolved, pool_sizes, slid, window_over
from .pictures import resized
from .table import pure
from .values import result_type, sizes_of, tensor

Array = np.ndarray

# Maxima -----------------------------------------------------------------------------------------


@pure("MaxPoolWithArgmax")
def _pool_with_places(operation: Operation, x: Node, *, include_batch_in_index: bool) -> list[Node]:
    """The maxima, and where they are: as one number for row, column and channel."""
    batch, rows, columns, depth = sizes_of(x)
    _, window = slid(operation, x, *pool_sizes(operation, len(x.shape)))
    top, cell = P.max_pool(x, window=window).results
    cell, across = E.cast(cell, "int64"), window.sizes[1]
    starts = [
        np.arange(count) * step - pad[0]
        for count, step, pad in zip(sizes_of(top)[1:3], window.strides, window.padding, strict=True)
    ]
    first = starts[0][:, None, None] * columns + starts[1][None, :, None]
    first = first * depth + np.arange(depth)
    if include_batch_in_index:
        first = first + np.arange(batch)[:, None, None, None] * (rows * columns * depth)
    row = E.floor_div(cell, full_like(cell, across))
    column = E.mod(cell, full_like(cell, across))
    within = (row * columns + column) * depth
    return [top, E.cast(_sum(within, first), result_type(operation, 1))]


def _sum(x: Node, known: Array) -> Node:
    return E.add(x, M.broadcast_to(tensor(known.astype(str(x.dtype))), sizes_of(x)))


def _flat_places(places: Node, x: Node, has_batch: bool) -> Node:
    """Places in a batch as one row of places in all of it."""
    if not has_batch:
        batch, *sizes = sizes_of(x)
        places = _sum(places, np.arange(batch).reshape(-1, 1, 1, 1) * int(np.prod(sizes)))
    return M.reshape(places, [-1])


@pure("MaxPoolGradWithArgmax")
def _gradient_by_places(x: Node, g: Node, places: Node, *, include_batch_in_index: bool) -> Node:
    at, count = _flat_places(places, x, include_batch_in_index), int(np.prod(sizes_of(x)))
    return M.reshape(scatter_add(M.reshape(g, [-1]), at, count, 0), sizes_of(x))


@pure("MaxPoolGradGradWithArgmax")
def _second_by_places(x: Node, g: Node, places: Node, *, include_batch_in_index: bool) -> Node:
    at = _flat_places(places, x, include_batch_in_index)
    return M.reshape(gather(M.reshape(g, [-1]), at, 0), sizes_of(places))


# Dilations --------------------------------------------------------------------------------------


def _dilation_window(operation: Operation, x: Node, kernel: Node) -> Window:
    steps, rates = (operation.attribute(name)[1:3] for name in ("strides", "rates"))
    return window_over(operation, sizes_of(x)[1:-1], sizes_of(kernel)[:2], steps, rates)


def _sums(x: Node, kernel: Node, window: Window) -> Node:
    """Along a first axis, for each cell of the window, what it sees plus the kernel's cell."""
    seen = M.stack(corners(x, window, -np.inf), 0)
    cells = M.reshape(kernel, [window.cells, 1, 1, 1, sizes_of(kernel)[2]])
    found = seen + M.broadcast_to(cells, sizes_of(seen))
    return from_start(larger, found, lowest(found))


@pure("Dilation2D")
def _dilated(operation: Operation, x: Node, kernel: Node) -> Node:
    """The largest sum of a cell and the kernel's cell, channel by channel."""
    return reduce_max(_sums(x, kernel, _dilation_window(operation, x, kernel)), [0])


@pure("Dilation2DBackpropInput Dilation2DBackpropFilter")
def _dilated_gradient(operation: Operation, x: Node, kernel: Node, g: Node) -> Node:
    """The gradient goes to the first cell with the largest sum."""
    window = _dilation_window(operation, x, kernel)
    first = argmax(_sums(x, kernel, window), axis=0)
    parts = [
        E.select(E.eq(first, full_like(first, cell)), g, zero(g)) for cell in range(window.cells)
    ]
    if operation.type.endswith("Filter"):
        cells = [reduce_sum(part, [0, 1, 2]) for part in parts]
        return M.reshape(M.stack(cells, 0), sizes_of(kernel))
    return put_back(parts, sizes_of(x)[0], sizes_of(x)[1:-1], window)


# Patches ----------------------------------------------------------------------------------------


@pure("ExtractImagePatches ExtractVolumePatches")
def _patches(operation: Operation, x: Node) -> Node:
    names, rank = ("ksizes", "strides", "rates"), len(x.shape)
    kernel, steps, rates = (spatial(operation, name, rank) for name in names)
    return patches(x, window_over(operation, sizes_of(x)[1:-1], kernel, steps, rates))


# Neighbouring channels --------------------------------------------------------------------------


def _around(x: Node, reach: int) -> Node:
    """For each channel, the sum over those at most so far away."""
    depth = sizes_of(x)[-1]
    apart = np.abs(np.subtract.outer(np.arange(depth), np.arange(depth)))
    near = (apart <= reach).astype(str(x.dtype))
    return contract(x, tensor(near), ((len(x.shape) - 1,), (0,)))


@pure("LRN")
def _normalized(x: Node, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Node:
    norm = _around(x * x, depth_radius) * float(alpha) + float(bias)
    return x * E.pow(norm, full_like(norm, -beta))


@pure("LRNGrad")
def _normalized_gradient(
    g: Node, x: Node, y: Node, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Node:
    norm = _around(x * x, depth_radius) * float(alpha) + float(bias)
    shared = _around(g * y / norm, depth_radius)
    slope = x * shared * (-2 * float(alpha) * float(beta))
    return g * E.pow(norm, full_like(norm, -beta)) + slope


# Convolutions that pad before -------------------------------------------------------------------


@pure("FusedPadConv2D")
def _padded(operation: Operation, x: Node, pads: Array, kernel: Node, *, mode: str) -> Node:
    return convolved(operation, mirrored(x, pads, mode=mode), kernel)


@pure("FusedResizeAndPadConv2D")
def _resized_and_padded(
    operation: Operation, x: Node, sizes: list[int], pads: Array, kernel: Node,
    *, mode: str, resize_align_corners: bool,
) -> Node:  # fmt: skip
    wide = resized(x, sizes, "linear", resize_align_corners, False)
    return convolved(operation, mirrored(wide, pads, mode=mode), kernel)
