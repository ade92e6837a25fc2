"""What slides over images beside convolutions: maxima with places, dilations, patches, LRN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

from ..shapes.networks import spatial
from ..shapes.rules import is_channels_last
from .arrays import mirrored
from .elementwise import zero
from .networks import as_told, channels_last, convolved, pool_window, window_over
from .pictures import resized
from .table import pure
from .values import integers, sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation

# Maxima -----------------------------------------------------------------------------------------


def _given_window(operation: Operation, node: Node, sizes: Any, strides: Any) -> Window:
    """The window of an operation that has its sizes and strides as inputs."""
    told = [integers(value) for value in (sizes, strides)]
    kernel, steps = (n[1:-1] if is_channels_last(operation) else n[2:] for n in told)
    return window_over(operation, sizes_of(node)[1:-1], kernel, steps, [1, 1])


@pure("MaxPoolV2")
def _pool(operation: Operation, x: Any, sizes: Any, strides: Any) -> Node:
    node = channels_last(operation, x)
    window = _given_window(operation, node, sizes, strides)
    return as_told(operation, P.max_pool(node, window=window).results[0])


@pure("MaxPoolGradV2")
def _pool_gradient(operation: Operation, x: Any, y: Any, g: Any, sizes: Any, strides: Any) -> Node:
    node = channels_last(operation, x)
    window = _given_window(operation, node, sizes, strides)
    at = P.max_pool(node, window=window).results[1]
    found = P.unpool(channels_last(operation, g), at, sizes_of(node)[1:-1], window)
    return as_told(operation, found)


@pure("MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad")
def _pool_second(operation: Operation, x: Any, y: Any, g: Any, *told: Any) -> Node:
    """What lies in the gradient where the maxima are."""
    node = channels_last(operation, x)
    by_inputs = _given_window(operation, node, *told) if told else None
    window = by_inputs or pool_window(operation, node)
    at = P.max_pool(node, window=window).results[1]
    return as_told(operation, P.pool_pick(channels_last(operation, g), at, window=window))


@pure("MaxPoolWithArgmax")
def _pool_with_places(operation: Operation, x: Any) -> list[Node]:
    """The maxima, and where they are: as one number for row, column and channel."""
    node = tensor(x)
    window = pool_window(operation, node)
    top, cell = P.max_pool(node, window=window).results
    batch, rows, columns, depth = sizes_of(node)
    cell, across = E.cast(cell, "int64"), window.sizes[1]
    starts = [
        np.arange(count) * step - pad[0]
        for count, step, pad in zip(sizes_of(top)[1:3], window.strides, window.padding, strict=True)
    ]
    first = starts[0][:, None, None] * columns + starts[1][None, :, None]
    first = first * depth + np.arange(depth)
    if operation.attribute("include_batch_in_index"):
        first = first + np.arange(batch)[:, None, None, None] * (rows * columns * depth)
    row = E.floor_div(cell, full_like(cell, across))
    column = E.mod(cell, full_like(cell, across))
    within = (row * columns + column) * depth
    return [top, E.cast(E.add(*_both(within, first)), _kind(operation))]


def _both(x: Node, known: np.ndarray) -> list[Node]:
    return [x, M.broadcast_to(tensor(known.astype(str(x.dtype))), sizes_of(x))]


def _kind(operation: Operation) -> str:
    from .values import result_type

    return result_type(operation, 1)


def _flat_places(operation: Operation, places: Node, x: Node) -> Node:
    """Places in a batch as one row of places in all of it."""
    if not operation.attribute("include_batch_in_index"):
        batch, *sizes = sizes_of(x)
        starts = np.arange(batch).reshape(-1, 1, 1, 1) * int(np.prod(sizes))
        places = E.add(*_both(places, starts))
    return M.reshape(places, [-1])


@pure("MaxPoolGradWithArgmax")
def _gradient_by_places(operation: Operation, x: Any, g: Any, places: Any) -> Node:
    node = tensor(x)
    at, count = _flat_places(operation, tensor(places), node), int(np.prod(sizes_of(node)))
    return M.reshape(scatter_add(M.reshape(tensor(g), [-1]), at, count, 0), sizes_of(node))


@pure("MaxPoolGradGradWithArgmax")
def _second_by_places(operation: Operation, x: Any, g: Any, places: Any) -> Node:
    at = _flat_places(operation, tensor(places), tensor(x))
    return M.reshape(gather(M.reshape(tensor(g), [-1]), at, 0), sizes_of(places))


# Dilations --------------------------------------------------------------------------------------


def _dilation_window(operation: Operation, node: Node, kernel: Node) -> Window:
    steps, rates = (operation.attribute(name)[1:3] for name in ("strides", "rates"))
    return window_over(operation, sizes_of(node)[1:-1], sizes_of(kernel)[:2], steps, rates)


def _sums(node: Node, kernel: Node, window: Window) -> Node:
    """Along a first axis, for each cell of the window, what it sees plus the kernel's cell."""
    seen = M.stack(corners(node, window, -np.inf), 0)
    cells = M.reshape(kernel, [window.cells, 1, 1, 1, sizes_of(kernel)[2]])
    return seen + M.broadcast_to(cells, sizes_of(seen))


@pure("Dilation2D")
def _dilated(operation: Operation, x: Any, kernel: Any) -> Node:
    """The largest sum of a cell and the kernel's cell, channel by channel."""
    node, k = tensor(x), tensor(kernel)
    return reduce_max(_sums(node, k, _dilation_window(operation, node, k)), [0])


@pure("Dilation2DBackpropInput Dilation2DBackpropFilter")
def _dilated_gradient(operation: Operation, x: Any, kernel: Any, g: Any) -> Node:
    """The gradient goes to the first cell with the largest sum."""
    node, k, given = tensor(x), tensor(kernel), tensor(g)
    window = _dilation_window(operation, node, k)
    first = argmax(_sums(node, k, window), axis=0)
    parts = [
        E.select(E.eq(first, full_like(first, cell)), given, zero(given))
        for cell in range(window.cells)
    ]
    if operation.type.endswith("Filter"):
        cells = [reduce_sum(part, [0, 1, 2]) for part in parts]
        return M.reshape(M.stack(cells, 0), sizes_of(k))
    return put_back(parts, sizes_of(node)[0], sizes_of(node)[1:-1], window)


# Patches ----------------------------------------------------------------------------------------


@pure("ExtractImagePatches ExtractVolumePatches")
def _patches(operation: Operation, x: Any) -> Node:
    node = tensor(x)
    rank = len(node.shape)
    kernel, steps, rates = (
        spatial(operation, name, rank) for name in ("ksizes", "strides", "rates")
    )
    return patches(node, window_over(operation, sizes_of(node)[1:-1], kernel, steps, rates))


# Neighbouring channels --------------------------------------------------------------------------


def _around(operation: Operation, x: Node) -> Node:
    """For each channel, the sum over those at most so far away."""
    depth, reach = sizes_of(x)[-1], operation.attribute("depth_radius")
    apart = np.abs(np.subtract.outer(np.arange(depth), np.arange(depth)))
    near = (apart <= reach).astype(str(x.dtype))
    return contract(x, tensor(near), ((len(x.shape) - 1,), (0,)))


def _norm(operation: Operation, x: Node) -> Node:
    alpha, bias = float(operation.attribute("alpha")), float(operation.attribute("bias"))
    return _around(operation, x * x) * alpha + bias


def _to_power(x: Node, power: float) -> Node:
    return E.pow(x, full_like(x, power))


@pure("LRN")
def _normalized(operation: Operation, x: Any) -> Node:
    node = tensor(x)
    return node * _to_power(_norm(operation, node), -operation.attribute("beta"))


@pure("LRNGrad")
def _normalized_gradient(operation: Operation, g: Any, x: Any, y: Any) -> Node:
    given, node, out = tensor(g), tensor(x), tensor(y)
    norm, beta = _norm(operation, node), float(operation.attribute("beta"))
    shared = _around(operation, given * out / norm)
    slope = node * shared * (-2 * float(operation.attribute("alpha")) * beta)
    return given * _to_power(norm, -beta) + slope


# Convolutions that pad before -------------------------------------------------------------------


@pure("FusedPadConv2D")
def _padded(operation: Operation, x: Any, pads: Any, kernel: Any) -> Node:
    return convolved(operation, mirrored(x, pads, operation.attribute("mode")), kernel)


@pure("FusedResizeAndPadConv2D")
def _resized_and_padded(operation: Operation, x: Any, sizes: Any, pads: Any, kernel: Any) -> Node:
    align = operation.attribute("resize_align_corners")
    wide = resized(tensor(x), integers(sizes), "linear", align, False)
    return convolved(operation, mirrored(wide, pads, operation.attribute("mode")), kernel)
