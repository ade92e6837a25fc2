"""Pooling, its index and its adjoints. Layout (batch, *space, channels)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from ...errors import DTypeError, ShapeError
from ..ir.node import Node, Primitive
from ..ir.types import INT8, INT32, DType, Shape, TensorType, join_shapes
from .elementwise import add, constant, div, eq, is_nan, logical_and, logical_or, maximum, select
from .filling import full_like, least, zeros
from .movement import broadcast_to
from .sizes import Size, dims_of, merged, size_of, split
from .windows import (
    Window,
    check_places,
    check_space,
    corners,
    has_grid,
    has_margins,
    is_dilated,
    out_of_grid,
    over_grid,
    put_back,
    space_of,
)

# Pooling -----------------------------------------------------------------------------------


def _infer_pool(x: Node, *, window: Window) -> TensorType:
    check_space("pool", x, window)
    if is_dilated(window):  # engines' kernels have none
        raise ShapeError(f"pools have windows without holes, not of dilation {window.dilation}")
    return TensorType((x.shape[0], *window.outputs(space_of(x)), x.shape[-1]), x.dtype)


def _infer_max_pool(x: Node, *, window: Window) -> tuple[TensorType, TensorType]:
    pooled = _infer_pool(x, window=window)
    if x.dtype.is_bool:
        raise DTypeError("the maximum in windows is defined for numbers, not bools; K.cast them")
    return pooled, TensorType(pooled.shape, _cell_dtype(window))


def _cell_dtype(window: Window) -> DType:
    """The dtype of cells' numbers: small, for one number is read for each element."""
    return INT8 if window.cells <= 127 else INT32


def _expand_max_pool(x: Node, window: Window) -> tuple[Node, Node]:
    cells = corners(x, window, least(x.dtype))
    top = reduce(maximum, cells)
    hits = [eq(cell, top) for cell in cells]
    if x.dtype.is_float:  # a window with a NaN has no other hits
        hits = [logical_or(hit, is_nan(cell)) for hit, cell in zip(hits, cells, strict=True)]
    # Without margins each window has a hit: in the last cell, if in no other one.
    start = looked_at = window.cells - 1
    if has_margins(window):
        hits = [logical_and(hit, y) for hit, y in zip(hits, _inside(x, top, window), strict=True)]
        start, looked_at = 0, window.cells
    index = broadcast_to(constant(start, _cell_dtype(window)), dims_of(top))
    for number in reversed(range(looked_at)):
        index = select(hits[number], full_like(index, number), index)
    return top, index


def _inside(x: Node, pooled: Node, window: Window) -> Iterator[Node]:
    """For each cell of the window, at which places this cell isn't in the padding."""
    ones = broadcast_to(constant(True), [1, *dims_of(x)[1:-1], 1])
    for seen in corners(ones, window, False):
        yield broadcast_to(seen, dims_of(pooled))


max_pool = Primitive(
    "max_pool",
    _infer_max_pool,
    "the maximum in each window, and the cell (row-major, int8 or int32) where it first is;"
    " padding is never chosen",
    expand=_expand_max_pool,
    title="MaxPool",
    parts=("space", "places"),
    accuracy="exact",
    may_alias=True,
)


def _hit(index: Node, cell: int) -> Node:
    """Whether a cell is the chosen one."""
    return eq(index, full_like(index, cell))


def _expand_unpool(g: Node, index: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    if has_grid(window):
        numbers = np.arange(window.cells, dtype=index.dtype).reshape(window.sizes)
        grid = over_grid(index, window)
        cells = constant(numbers.reshape([n for size in window.sizes for n in (1, size)] + [1]))
        hits = eq(grid, broadcast_to(cells, dims_of(grid)))
        chosen = select(hits, over_grid(g, window), zeros(dims_of(grid), g.dtype))
        return out_of_grid(chosen, merged(space, sizes), window)
    parts = (select(_hit(index, i), g, full_like(g, 0)) for i in range(window.cells))
    return put_back(parts, size_of(g, 0), merged(space, sizes), window)


def _check_chosen(pooled: Node | TensorType, index: Node) -> None:
    """Check that an index has a cell for each element of what was pooled."""
    if not index.dtype.is_integer:
        raise DTypeError(f"cells of windows are numbered by integers, not {index.dtype}")
    join_shapes(pooled.shape, index.shape, "cells of windows")


def _infer_unpool(g: Node, index: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    _check_chosen(g, index)
    return _infer_sum_unpool(g, space=space, window=window)


def _infer_pick(x: Node, index: Node, *, window: Window) -> TensorType:
    pooled = _infer_pool(x, window=window)
    _check_chosen(pooled, index)
    return pooled


def _infer_sum_unpool(g: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    check_places("adjoint of pooling", g, space, window)
    return TensorType((g.shape[0], *space, g.shape[-1]), g.dtype)


_unpool = Primitive(
    "unpool",
    _infer_unpool,
    "each g added to the cell that `index` chose in its window",
    expand=_expand_unpool,
    parts=("places", "cells", "space"),
    index=1,
)


def unpool(g: Node, index: Node, space: Sequence[Size], window: Window) -> Node:
    """The adjoint of picking the chosen cell of each window."""
    shape, sizes = split(space)
    return _unpool(g, index, *sizes, space=shape, window=window)


def _expand_pool_pick(x: Node, index: Node, window: Window) -> Node:
    first, *others = corners(x, window)
    picked = select(_hit(index, 0), first, full_like(first, 0))
    for number, cell in enumerate(others, 1):
        picked = select(_hit(index, number), cell, picked)
    return picked


pool_pick: Primitive = Primitive(
    "pool_pick",
    _infer_pick,
    "the cell of each window that `index` chose",
    expand=_expand_pool_pick,
    parts=("space", "cells", "places"),
    index=1,
    accuracy="exact",
)


def _expand_sum_pool(x: Node, window: Window) -> Node:
    return reduce(add, corners(x, window))


sum_pool = Primitive(
    "sum_pool",
    _infer_pool,
    "the sum over each window",
    expand=_expand_sum_pool,
    title="AvgPool",
    parts=("space", "places"),
    may_alias=True,
)


def _expand_sum_unpool(g: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    if has_grid(window):
        return out_of_grid(over_grid(g, window), merged(space, sizes), window)
    return put_back([g] * window.cells, size_of(g, 0), merged(space, sizes), window)


_sum_unpool = Primitive(
    "sum_unpool",
    _infer_sum_unpool,
    "the adjoint of sum_pool: each g added to all cells of its window",
    expand=_expand_sum_unpool,
    parts=("places", "space"),
    may_alias=True,
)


def sum_unpool(g: Node, space: Sequence[Size], window: Window) -> Node:
    """The adjoint of the sum over windows."""
    shape, sizes = split(space)
    return _sum_unpool(g, *sizes, space=shape, window=window)


def _cells_inside(x: Node, window: Window) -> Node:
    """(1, *places, 1): how many cells of each window lie inside of `x`."""
    space = [d for d in space_of(x) if d is not None]
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
    total = sum_pool(x, window=window)
    if not has_margins(window):
        return div(total, full_like(total, window.cells))
    return div(total, broadcast_to(_cells_inside(x, window), dims_of(total)))
