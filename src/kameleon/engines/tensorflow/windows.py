"""Pooling and patches; layout (batch, *space, channels)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from ...ir.node import Node
from ...ir.primitive import ITEM
from ...prims.windows import Window
from .._lowering import Rule
from . import convolution
from .convolution import bare, cropped, lifted, line, moves, padded, plane, plus
from .kernels import Tensor, cast, constant, kernel, raw, reshaped, shape_of, vector
from .populated import in_doubt, places, populated, where_some

if TYPE_CHECKING:
    from .lowering import Tracing

_add, _mul, _maximum = (
    kernel("AddV2", "x", "y"),
    kernel("Mul", "x", "y"),
    kernel("Maximum", "x", "y"),
)
_greater = kernel("Greater", "x", "y")

# What each cell sees -----------------------------------------------------------------------------


def _cells(space: list[Any], window: Window) -> Iterator[dict[str, Any]]:
    """For each cell, in row-major order, what it sees of a padded tensor, as a slice."""
    counts = places(space, bare(window))
    for cell in np.ndindex(*window.sizes):
        begin, end = [0], [0]
        for at, dilation, stride, count in zip(
            cell, window.dilation, window.strides, counts, strict=True
        ):
            start = at * dilation
            begin.append(start)
            # Behind the last place, but not further: an end of `start` where there is none.
            end.append(plus(_times(count, stride), start))
        mask = 1 | 1 << (window.rank + 1)
        # A cell may end beyond the tensor; slices stop there, and steps end before.
        yield {
            "begin": [*begin, 0],
            "end": vector([*end, 0]),
            "strides": [1, *window.strides, 1],
            "begin_mask": mask,
            "end_mask": mask,
        }


def _times(count: Any, stride: int) -> Any:
    return count if stride == 1 else count * stride


def _corners(x: Tensor, window: Window) -> list[Tensor]:
    """What each cell sees of a tensor that holds its margins."""
    space = shape_of(x)[1:-1]
    return [raw.StridedSlice(input=x, **cell) for cell in _cells(space, window)]


def _padded_space(space: list[Any], window: Window) -> list[Any]:
    return [plus(d, low + high) for d, (low, high) in zip(space, window.padding, strict=True)]


@populated
def patches(e: Tracing, node: Node, x: Tensor) -> Tensor:
    window = node.attrs["window"]
    x = padded(x, window)
    if window.rank > 2 or x.dtype == tf.bool:
        return raw.ConcatV2(values=_corners(x, window), axis=window.rank + 1)
    flat = window.rank == 1
    wide = lifted(bare(window))
    found = raw.ExtractImagePatches(
        images=plane(x) if flat else x,
        ksizes=[1, *wide.sizes, 1],
        strides=[1, *wide.strides, 1],
        rates=[1, *wide.dilation, 1],
        padding="VALID",
    )
    return line(found) if flat else found


def fold(e: Tracing, node: Node, p: Tensor, *sizes: Tensor) -> Tensor:
    """Each cell's part is placed where the cell saw it, and these are added."""
    window, space = node.attrs["window"], e.size_operands(node, sizes, "space")
    depth = shape_of(p)[-1]
    channels = depth // window.cells
    parts = raw.Split(axis=len(p.shape) - 1, value=p, num_split=window.cells)
    return _folded(lambda i: parts[i], shape_of(p)[0], space, channels, window)


def _folded(
    part: Callable[[int], Tensor], batch: Any, space: list[Any], channels: Any, window: Window
) -> Tensor:
    wide = _padded_space(space, window)
    shape = vector([batch, *wide, channels])
    total: Tensor = None
    for number, cell in enumerate(_cells(wide, window)):
        placed = raw.StridedSliceGrad(shape=shape, dy=part(number), **cell)
        total = placed if total is None else _add(total, placed)
    return cropped(total, window, space)


# Sums --------------------------------------------------------------------------------------------


@populated
def sum_pool(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """The mean, times the number of cells."""
    window = node.attrs["window"]
    x = padded(x, window)
    if not _has_pool(node):
        total, *rest = _corners(x, window)
        for part in rest:
            total = _add(total, part)
        return total
    flat, wide = window.rank == 1, lifted(bare(window))
    found = raw.AvgPool(value=plane(x) if flat else x, **_pool(wide))
    found = _mul(found, constant(window.cells, x.dtype))
    return line(found) if flat else found


@populated
def sum_unpool(e: Tracing, node: Node, g: Tensor, *sizes: Tensor) -> Tensor:
    window, space = node.attrs["window"], e.size_operands(node, sizes, "space")
    batch, *_, channels = shape_of(g)
    if not _has_pool(node):
        return _folded(lambda i: g, batch, space, channels, window)
    flat, wide = window.rank == 1, lifted(bare(window))
    full = _padded_space(space, window)
    shape = vector([batch, *([1] if flat else []), *full, channels])
    g = _mul(g, constant(window.cells, g.dtype))
    found = raw.AvgPoolGrad(orig_input_shape=shape, grad=plane(g) if flat else g, **_pool(wide))
    return cropped(line(found) if flat else found, window, space)


def _pool(window: Window) -> dict[str, Any]:
    found = moves(window, dilated=False)
    return {"ksize": [1, *window.sizes, 1], **found}


def _has_pool(node: Node) -> bool:
    """Whether the kernels for pooling hold: one axis or two, of common floats."""
    x, window = node.operands[0], node.attrs["window"]
    return x.dtype in ("float32", "float64") and window.rank <= 2 and set(window.dilation) == {1}


# Maxima ------------------------------------------------------------------------------------------


class Pooled(NamedTuple):
    """What the gradient of a max_pool by TensorFlow's kernel needs.

    x and y have two spatial axes. `special` is true where the kernels don't do what the
    primitive says: x holds NaN, or y is the least number. Then `cell` is needed; where it's
    called, in a branch, it's computed.
    """

    x: Tensor
    y: Tensor
    special: Tensor
    window: Window
    cell: Callable[[], Tensor]


def max_pool(e: Tracing, node: Node, x: Tensor) -> tuple[Tensor, Tensor]:
    """The values by a kernel, and the index by cells; what nobody needs is never run."""
    window = node.attrs["window"]
    exact = _max_by_cells(x, window, node.results[1].dtype)
    if not _has_pool(node):
        return exact()
    flat, wide = window.rank == 1, lifted(window)
    source = plane(x) if flat else x
    y = _max_by_kernel(e, node, source, wide)
    special = _is_special(source, y)
    e.pools[node] = Pooled(source, y, special, wide, lambda: exact()[1])
    values = tf.cond(special, lambda: exact()[0], lambda: line(y) if flat else y)
    values.set_shape(node.results[0].shape)
    return values, exact()[1]


def _max_by_kernel(e: Tracing, node: Node, x: Tensor, window: Window) -> Tensor:
    """The kernel's maxima over two axes; it fails where there are no places."""

    def pool() -> Tensor:
        return raw.MaxPool(input=x, **_pool(window))

    if not in_doubt(e, node.results[0]):
        return pool()
    batch, *space, channels = shape_of(x)
    dims = [batch, *places(space, window), channels]
    return where_some(dims, pool, dims, x.dtype)


def _is_special(x: Tensor, y: Tensor) -> Tensor:
    """Whether x holds a NaN, which the kernel skips, or y is at its start value."""
    dims = shape_of(x)
    rows = raw.Max(input=reshaped(x, [-1, _inner(dims)]), axis=[1])
    top = raw.Max(input=rows, axis=[0])
    low = raw.Min(input=raw.Reshape(tensor=y, shape=[-1]), axis=[0])
    least = constant(x.dtype.min, x.dtype)
    return raw.LogicalOr(x=raw.IsNan(x=top), y=raw.LessEqual(x=low, y=least))


def _inner(dims: list[Any]) -> Any:
    width, channels = dims[-2:]
    return width * channels


def _max_by_cells(x: Tensor, window: Window, index: Any) -> Callable[[], tuple[Tensor, Tensor]]:
    """The pooling by comparison of cells, in order: the first maximum, or the first NaN."""

    def compute() -> tuple[Tensor, Tensor]:
        low = -np.inf if x.dtype.is_floating else x.dtype.min
        cells = _corners(padded(x, window, low), window)
        inside = _inside(x, window)
        best, where = cells[0], raw.ZerosLike(x=cast(cells[0], index))
        seen = inside[0] if inside else None
        for number, cell in enumerate(cells[1:], 1):
            better = _greater(cell, best)
            if x.dtype.is_floating:
                first_nan = raw.LogicalAnd(
                    x=raw.IsNan(x=cell), y=raw.LogicalNot(x=raw.IsNan(x=best))
                )
                better = raw.LogicalOr(x=better, y=first_nan)
            if inside:
                here = inside[number]
                first = raw.LogicalAnd(x=here, y=raw.LogicalNot(x=seen))
                better = raw.LogicalOr(x=raw.LogicalAnd(x=better, y=here), y=first)
                seen = raw.LogicalOr(x=seen, y=here)
            best = raw.SelectV2(condition=better, t=cell, e=best)
            where = raw.SelectV2(condition=better, t=constant(number, index), e=where)
        return best, where

    return compute


def _inside(x: Tensor, window: Window) -> list[Tensor]:
    """For each cell where it lies inside of `x`: (1, *places, 1). Empty without margins."""
    if not any(map(any, window.padding)):
        return []
    shape = vector([1, *shape_of(x)[1:-1], 1])
    ones = raw.Fill(dims=shape, value=constant(True, tf.bool))
    return _corners(padded(ones, window, False), window)


@populated
def unpool(e: Tracing, node: Node, g: Tensor, index: Tensor, *sizes: Tensor) -> Tensor:
    """By the kernel, where the index is that of a pooling in this graph."""
    window, space = node.attrs["window"], e.size_operands(node, sizes, "space")

    def exact(index: Tensor) -> Tensor:
        flat = _flat_index(index, space, window)
        batch, *_, channels = shape_of(g)
        total = _size([batch, *space, channels])
        sums = kernel("UnsortedSegmentSum", "data")(
            raw.Reshape(tensor=g, shape=[-1]), segment_ids=flat, num_segments=total
        )
        return reshaped(sums, [batch, *space, channels])

    pool = node.operands[1]
    found = e.pools.get(pool.operands[0]) if pool.primitive is ITEM else None
    if found is None or found.window != lifted(window):
        return exact(index)
    back = raw.MaxPoolGrad(
        orig_input=found.x, orig_output=found.y, grad=plane(g) if window.rank == 1 else g,
        **_pool(found.window),
    )  # fmt: skip
    back = line(back) if window.rank == 1 else back
    out = tf.cond(found.special, lambda: exact(found.cell()), lambda: raw.Identity(input=back))
    out.set_shape(node.shape)
    return out


def pool_pick(e: Tracing, node: Node, x: Tensor, index: Tensor) -> Tensor:
    window = node.attrs["window"]
    flat = _flat_index(index, shape_of(x)[1:-1], window)
    at = raw.Maximum(x=flat, y=_long(0)) if _has_padding(window) else flat
    picked = raw.GatherV2(params=raw.Reshape(tensor=x, shape=[-1]), indices=at, axis=0)
    if at is not flat:
        outside = raw.Less(x=flat, y=_long(0))
        picked = raw.SelectV2(condition=outside, t=constant(0, x.dtype), e=picked)
    return reshaped(picked, shape_of(index))


def _size(dims: list[Any]) -> Tensor:
    return raw.Prod(input=cast(vector(dims), tf.int64), axis=[0])


def _flat_index(index: Tensor, space: list[Any], window: Window) -> Tensor:
    """Where the chosen cells lie in the row-major order of the pooled tensor: int64, flat.

    Those in padding are at -1, which kernels that sum leave out.
    """
    batch, *places, channels = dims = shape_of(index)
    rank = len(dims)
    cell = cast(index, tf.int64)
    at = _along(batch, 0, rank)
    steps = np.cumprod((1, *window.sizes[:0:-1]))[::-1]
    outside = []
    for i, (count, size) in enumerate(zip(places, space, strict=True)):
        offset = raw.FloorMod(x=raw.FloorDiv(x=cell, y=int(steps[i])), y=window.sizes[i])
        start = _along(count, i + 1, rank) * window.strides[i] - window.padding[i][0]
        place = start + offset * window.dilation[i]
        if any(window.padding[i]):
            outside.append(raw.LogicalOr(x=place < 0, y=place >= _long(size)))
        at = at * _long(size) + place
    at = at * _long(channels) + _along(channels, rank - 1, rank)
    for hidden in outside:
        at = raw.SelectV2(condition=hidden, t=_long(-1), e=at)
    return raw.Reshape(tensor=at, shape=[-1])


def _has_padding(window: Window) -> bool:
    return any(map(any, window.padding))


def _long(size: Any) -> Tensor:
    return cast(size, tf.int64) if tf.is_tensor(size) else constant(size, tf.int64)


def _along(count: Any, axis: int, rank: int) -> Tensor:
    """0, 1, … along an axis."""
    line = raw.Range(start=constant(0, tf.int64), limit=_long(count), delta=constant(1, tf.int64))
    return reshaped(line, [-1 if i == axis else 1 for i in range(rank)])


RULES: dict[str, Rule] = {
    **convolution.RULES,
    "patches": patches,
    "fold": fold,
    "sum_pool": sum_pool,
    "sum_unpool": sum_unpool,
    "max_pool": max_pool,
    "unpool": unpool,
    "pool_pick": pool_pick,
}
WHERE = convolution.WHERE
