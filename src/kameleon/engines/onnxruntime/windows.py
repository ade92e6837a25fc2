"""Rules of convolutions and pooling. ONNX has channels before space, our layout behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ...ir.node import Node
from ...prims.windows import Window, space_dims
from .._lowering import Rule
from .lowering import OnnxLowering
from .movement import padded, sliced, spread, times

L = OnnxLowering


class _Layout(NamedTuple):
    """Permutations between the two layouts, for so many spatial axes."""

    to_onnx: list[int]
    back: list[int]
    kernel: list[int]


def _layout(window: Window) -> _Layout:
    n = window.rank
    space = range(1, n + 1)
    return _Layout([0, n + 1, *space], [0, *(i + 1 for i in space), 1], [n + 1, n, *range(n)])


def _pads(window: Window) -> list[int]:
    return [p for side in zip(*window.padding, strict=True) for p in side]


def _moves(window: Window, padding: bool = True) -> dict[str, Any]:
    return {
        "kernel_shape": list(window.sizes),
        "strides": list(window.strides),
        "dilations": list(window.dilation),
        **({"pads": _pads(window)} if padding else {}),
    }


def _span(window: Window, axis: int) -> int:
    return (window.sizes[axis] - 1) * window.dilation[axis] + 1


# Convolution -------------------------------------------------------------------------------


def _conv(lo: L, node: Node, x: str, k: str) -> Any:
    window, layout = node.attrs["window"], _layout(node.attrs["window"])
    weights = lo.transpose(k, layout.kernel)
    y = lo.op("Conv", lo.transpose(x, layout.to_onnx), weights, **_moves(window))
    return lo.transpose(y, layout.back)


def _conv_input(lo: L, node: Node, g: str, k: str, *sizes: str) -> Any:
    layout = _layout(node.attrs["window"])
    weights = lo.transpose(k, layout.kernel)
    y = _transposed_conv(lo, node, lo.transpose(g, layout.to_onnx), weights)
    return lo.transpose(y, layout.back)


def _transposed_conv(lo: L, node: Node, g: str, weights: str, group: int = 1) -> Any:
    """Onto the widest space that the windows may come from, which is then cut."""
    window: Window = node.attrs["window"]
    n, lows = window.rank, [a for a, _ in window.padding]
    y = lo.op(
        "ConvTranspose",
        g,
        weights,
        **_moves(window, padding=False),
        pads=[*lows, *[0] * n],
        output_padding=[s - 1 for s in window.strides],
        group=group,
    )
    return sliced(lo, y, range(2, n + 2), [0] * n, space_dims(node), [1] * n)


# With fewer channels one product of all cells' patches is quicker than one for each cell.
FEW = 16


def _conv_kernel(lo: L, node: Node, x: str, g: str) -> Any:
    """What the cells see times the cotangent, added up over samples and places.

    Channels come first: ONNX Runtime is much quicker where the sum is over the last axis of
    both matrices.
    """
    window, (operand, up) = node.attrs["window"], node.operands
    n = window.rank
    turned = [n + 1, *range(n + 1)]
    channels, outputs = lo.dim(operand, -1), lo.dim(up, -1)
    around = _around(lo, x, operand.dtype, window)
    cells = list(_seen(lo, lo.transpose(around, turned), operand, window, 2))
    if isinstance(channels, int) and channels < FEW and len(cells) > 1:
        cells = [lo.op("Concat", *cells, axis=0)]
    places = lo.joined([lo.product(lo.dims_of(up, range(n + 1)))])
    flat_g = lo.reshape(lo.transpose(g, turned), [outputs, places])
    sums = []
    for cell in cells:
        flat = lo.reshape(cell, [lo.op("Shape", cell, end=1), places])
        sums.append(lo.op("Gemm", flat, flat_g, transB=1))
    whole = sums[0] if len(sums) == 1 else lo.op("Concat", *sums, axis=0)
    return lo.reshape(whole, [*window.sizes, channels, outputs])


# Windows by slices -------------------------------------------------------------------------


def places(lo: L, window: Window, axis: int, dim: int | str) -> int | str:
    """How many places the window takes along an axis."""
    if isinstance(dim, int):
        found = window.out_dim(axis, dim)
        assert found is not None
        return found
    low, high = window.padding[axis]
    stride = window.strides[axis]
    room = lo.op("Add", dim, lo.ints(low + high - _span(window, axis) + stride))
    result: str = lo.op("Div", lo.op("Max", room, lo.ints(0)), lo.ints(stride))
    return result


def _around(lo: L, x: str, dtype: str, window: Window, value: Any = 0) -> Any:
    """x (channels last) with its padding."""
    if not any(map(any, window.padding)):
        return x
    lows, highs = zip(*window.padding, strict=True)
    return padded(lo, x, dtype, [0, *lows, 0, 0, *highs, 0], value)


def corners(lo: L, x: str, operand: Node, window: Window, value: Any = 0) -> list[Any]:
    """For each cell of the window, in row-major order, what it sees at every place."""
    return list(_seen(lo, _around(lo, x, operand.dtype, window, value), operand, window))


def _seen(lo: L, x: str, operand: Node, window: Window, first: int = 1) -> Iterator[Any]:
    """The corners of x, that is as large as `operand` with its padding; space from axis `first`."""
    counts = [places(lo, window, i, lo.dim(operand, i + 1)) for i in range(window.rank)]
    lasts = [_last(lo, n, s) for n, s in zip(counts, window.strides, strict=True)]
    for cell in np.ndindex(*window.sizes):
        starts = [c * d for c, d in zip(cell, window.dilation, strict=True)]
        stops = [_plus(lo, a, s) for a, s in zip(lasts, starts, strict=True)]
        yield sliced(lo, x, range(first, first + window.rank), starts, stops, window.strides)


def _last(lo: L, count: int | str, stride: int) -> int | str:
    """Behind the last place, counted from the first."""
    if isinstance(count, int):
        return max(0, (count - 1) * stride + 1)
    if stride == 1:
        return count
    result = lo.op("Sub", lo.op("Mul", count, lo.ints(stride)), lo.ints(stride - 1))
    return str(lo.op("Max", result, lo.ints(0)))  # of no places: not counted from the end


def _plus(lo: L, a: int | str, b: int) -> int | str:
    if isinstance(a, int):
        return a + b
    return a if b == 0 else lo.op("Add", a, lo.ints(b))


def _patches(lo: L, node: Node, x: str) -> Any:
    parts = corners(lo, x, node.operands[0], node.attrs["window"])
    return lo.op("Concat", *parts, axis=len(node.shape) - 1)


def _fold(lo: L, node: Node, p: str, *sizes: str) -> Any:
    """Each cell's part, laid out with its strides at the cell's offset; all added up."""
    window, operand = node.attrs["window"], node.operands[0]
    rank = len(node.shape)
    depth = lo.joined([lo.dim(operand, rank - 1)])
    channels = lo.op("Div", depth, lo.ints(window.cells))
    parts = []
    for number in range(window.cells):
        bounds = [lo.op("Mul", channels, lo.ints(n)) for n in (number, number + 1)]
        parts.append(lo.op("Slice", p, *bounds, lo.ints(rank - 1), lo.ints(1)))
    dims = [*lo.dims_of(operand, range(rank - 1)), channels]
    return _added(lo, node, parts, dims)


def _space(lo: L, node: Node) -> list[Any]:
    """The spatial sizes that a node states."""
    return [lo.extent(d) if isinstance(d, Node) else d for d in space_dims(node)]


def _added(lo: L, node: Node, parts: Sequence[Any], dims: Sequence[Any]) -> Any:
    """What each cell gets at its places, added up in the space that the windows came from."""
    window, dtype = node.attrs["window"], node.dtype
    space = _space(lo, node)
    strides = [1, *window.strides, 1]
    total = None
    for part, cell in zip(parts, np.ndindex(*window.sizes), strict=True):
        x = spread(lo, part, dtype, range(len(dims)), dims, strides)
        offsets = [
            c * d - low
            for c, d, (low, _) in zip(cell, window.dilation, window.padding, strict=True)
        ]
        rests = [
            _room(lo, s, n, t, o)
            for s, n, t, o in zip(space, dims[1:-1], window.strides, offsets, strict=True)
        ]
        x = padded(lo, x, dtype, [0, *offsets, 0, 0, *rests, 0])
        total = x if total is None else lo.op("Add", total, x)
    return total


def _room(lo: L, space: Any, count: Any, stride: int, offset: int) -> Any:
    """The margin behind: space - count * stride - offset."""
    if isinstance(space, int) and isinstance(count, int):
        return space - count * stride - offset
    space, count = (lo.ints(v) if isinstance(v, int) else v for v in (space, count))
    taken = lo.op("Add", lo.op("Mul", count, lo.ints(stride)), lo.ints(offset))
    return lo.op("Sub", space, taken)


# Depthwise convolution ---------------------------------------------------------------------


def _kernel_cells(lo: L, k: str, node: Node, window: Window) -> list[Any]:
    """The kernel at each cell, (channels, multiplier)."""
    flat = lo.reshape(k, [window.cells, *lo.dims_of(node, (-2, -1))])
    return [lo.op("Gather", flat, lo.scalar(i, "int64"), axis=0) for i in range(window.cells)]


def _grouped(lo: L, node: Node, k: str) -> tuple[str, int] | None:
    """Kernel and number of groups for ONNX's own convolutions, where it has them."""
    window, operand = node.attrs["window"], node.operands[1]
    channels = operand.shape[-2]
    if node.dtype != "float32" or channels is None:
        return None
    n = window.rank
    depth = lo.product(lo.dims_of(operand, (-2, -1)))
    moved = lo.transpose(k, [n, n + 1, *range(n)])
    return lo.reshape(moved, [depth, 1, *window.sizes]), channels


def _depthwise_conv(lo: L, node: Node, x: str, k: str) -> Any:
    window, layout = node.attrs["window"], _layout(node.attrs["window"])
    grouped = _grouped(lo, node, k)
    if grouped is not None:
        moves = {**_moves(window), "group": grouped[1]}
        y = lo.op("Conv", lo.transpose(x, layout.to_onnx), grouped[0], **moves)
        return lo.transpose(y, layout.back)
    cells = corners(lo, x, node.operands[0], window)
    weights = _kernel_cells(lo, k, node.operands[1], window)
    last = lo.ints(-1)
    parts = [
        lo.op("Mul", lo.op("Unsqueeze", c, last), w) for c, w in zip(cells, weights, strict=True)
    ]
    total = reduce(lambda a, b: lo.op("Add", a, b), parts)
    depth = lo.product(lo.dims_of(node.operands[1], (-2, -1)))
    return lo.reshape(total, [lo.op("Shape", total, end=-2), depth])


def _by_channel(lo: L, g: str, channels: Any, multiplier: Any) -> Any:
    """The last axis split into channels and what each of them gives."""
    return lo.reshape(g, [lo.op("Shape", g, end=-1), channels, multiplier])


def _depthwise_input(lo: L, node: Node, g: str, k: str, *sizes: str) -> Any:
    window, layout = node.attrs["window"], _layout(node.attrs["window"])
    grouped = _grouped(lo, node, k)
    if grouped is not None:
        g = lo.transpose(g, layout.to_onnx)
        return lo.transpose(_transposed_conv(lo, node, g, *grouped), layout.back)
    channels, multiplier = lo.dims_of(node.operands[1], (-2, -1))
    split = _by_channel(lo, g, channels, multiplier)
    weights = _kernel_cells(lo, k, node.operands[1], window)
    last = lo.ints(-1)
    parts = [lo.op("ReduceSum", lo.op("Mul", split, w), last, keepdims=0) for w in weights]
    dims = lo.dims_of(node.operands[0], range(window.rank + 1))
    return _added(lo, node, parts, [*dims, channels])


def _depthwise_kernel(lo: L, node: Node, x: str, g: str) -> Any:
    """Cell by cell: the sum over samples and places of what it sees times the cotangent."""
    window, (operand, up) = node.attrs["window"], node.operands
    channels, multiplier = lo.dim(operand, -1), node.attrs["multiplier"]
    if multiplier is None:
        multiplier = lo.op("Div", *(lo.joined([lo.dim(y, -1)]) for y in (up, operand)))
    split = _by_channel(lo, g, channels, multiplier)
    axes, last = lo.ints(*range(window.rank + 1)), lo.ints(-1)
    sums = []
    for cell in corners(lo, x, operand, window):
        terms = lo.op("Mul", lo.op("Unsqueeze", cell, last), split)
        sums.append(lo.op("ReduceSum", terms, axes, keepdims=0))
    return lo.reshape(lo.op("Concat", *sums, axis=0), [*window.sizes, channels, multiplier])


# Pooling -----------------------------------------------------------------------------------


def _max_pool(lo: L, node: Node, x: str) -> tuple[Any, Any]:
    """The maximum of what the cells see, and the first cell that sees it (or a NaN)."""
    window, operand = node.attrs["window"], node.operands[0]
    dtype = operand.dtype
    low = -np.inf if dtype.is_float else np.iinfo(dtype).min
    cells = corners(lo, x, operand, window, low)
    top = reduce(lambda a, b: lo.kernel("Max", dtype, (a, b)), cells)
    if node.results[1] not in lo.used:
        return top, None
    hits = [_hit(lo, dtype, c, top) for c in cells]
    if any(map(any, window.padding)):
        hits = _inside(lo, operand, window, hits)
    kind = node.results[1].dtype
    index: Any = lo.scalar(len(hits) - 1, kind)
    for number in reversed(range(len(hits) - 1)):
        index = lo.op("Where", hits[number], lo.scalar(number, kind), index)
    if len(hits) == 1:
        index = lo.op("Expand", index, lo.op("Shape", top))
    return top, index


def _hit(lo: L, dtype: Any, cell: Any, top: Any) -> Any:
    hit = lo.op("Equal", cell, top)
    return lo.op("Or", hit, lo.op("IsNaN", cell)) if dtype.is_float else hit


def _inside(lo: L, operand: Node, window: Window, hits: Sequence[Any]) -> list[Any]:
    """Hits that aren't in the padding."""
    space = lo.dims_of(operand, range(1, window.rank + 1))
    ones = lo.filled(True, "bool", [1, *space, 1])
    seen = _seen(lo, _around(lo, ones, "bool", window, False), operand, window)
    return [lo.op("And", hit, where) for hit, where in zip(hits, seen, strict=True)]


def _sum_pool(lo: L, node: Node, x: str) -> Any:
    parts = corners(lo, x, node.operands[0], node.attrs["window"])
    return reduce(lambda a, b: lo.op("Add", a, b), parts)


def _sum_unpool(lo: L, node: Node, g: str, *sizes: str) -> Any:
    operand, cells = node.operands[0], node.attrs["window"].cells
    return _added(lo, node, [g] * cells, lo.dims_of(operand, range(len(operand.shape))))


def _unpool(lo: L, node: Node, g: str, index: str, *sizes: str) -> Any:
    window: Window = node.attrs["window"]
    operand = node.operands[0]
    dims = lo.dims_of(operand, range(len(operand.shape)))
    if window.sizes == window.strides and not any(map(any, window.padding)):
        return _side_by_side(lo, node, g, index, dims)
    parts = [_where_chosen(lo, node, index, g, number) for number in range(window.cells)]
    return _added(lo, node, parts, dims)


def _side_by_side(lo: L, node: Node, g: str, index: str, dims: Sequence[Any]) -> Any:
    """Windows that don't overlap: every cell looks whether it's the one."""
    window, kind = node.attrs["window"], node.operands[1].dtype
    split = [dims[0], *(v for d in dims[1:-1] for v in (d, 1)), dims[-1]]
    number = np.arange(window.cells).astype(kind).reshape(window.sizes)
    cells = number.reshape([v for s in window.sizes for v in (1, s)] + [1])
    hit = lo.op("Equal", lo.reshape(index, split), lo.constant(cells))
    wide = lo.kernel(
        "Where", node.dtype, (lo.reshape(g, split), lo.scalar(0, node.dtype)), first=(hit,)
    )
    covered = [times(lo, d, s) for d, s in zip(dims[1:-1], window.sizes, strict=True)]
    x = lo.reshape(wide, [dims[0], *covered, dims[-1]])
    space = _space(lo, node)
    margins = [_room(lo, s, c, 1, 0) for s, c in zip(space, covered, strict=True)]
    return x if not any(margins) else padded(lo, x, node.dtype, [*[0] * len(dims), 0, *margins, 0])


def _where_chosen(lo: L, node: Node, index: str, x: Any, number: int) -> Any:
    hit = lo.op("Equal", index, lo.scalar(number, node.operands[1].dtype))
    zero = lo.scalar(0, node.dtype)
    return lo.kernel("Where", node.dtype, (x, zero), first=(hit,))


def _pool_pick(lo: L, node: Node, x: str, index: str) -> Any:
    cells = corners(lo, x, node.operands[0], node.attrs["window"])
    result = _where_chosen(lo, node, index, cells[0], 0)
    for number, cell in enumerate(cells[1:], 1):
        hit = lo.op("Equal", index, lo.scalar(number, node.operands[1].dtype))
        result = lo.kernel("Where", node.dtype, (cell, result), first=(hit,))
    return result


RULES: dict[str, Rule] = {
    "conv": _conv,
    "conv_input": _conv_input,
    "conv_kernel": _conv_kernel,
    "depthwise_conv": _depthwise_conv,
    "depthwise_input": _depthwise_input,
    "depthwise_kernel": _depthwise_kernel,
    "patches": _patches,
    "fold": _fold,
    "max_pool": _max_pool,
    "sum_pool": _sum_pool,
    "sum_unpool": _sum_unpool,
    "unpool": _unpool,
    "pool_pick": _pool_pick,
}
