"""Constants, shapes, what cuts, joins and rearranges, looking up."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import Size, sizes_product

from ..shapes.known import constant, reduction_axes
from .scattering import flat_positions
from .table import fold, known, pure
from .values import (
    UnknownSizeError,
    are_sizes_open,
    array,
    axis_of,
    broadcast,
    dims,
    dtype_of,
    integer,
    integers,
    is_text,
    result_type,
    size_in,
    sizes_in,
    sizes_of,
    tensor,
    vector_of,
)

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


@pure("Const")
def _const(operation: Operation) -> Array:
    return np.asarray(constant(operation))


@pure("NoOp")
def _nothing(operation: Operation) -> list[Any]:
    return []


# Shapes -----------------------------------------------------------------------------------------


@pure("Shape ShapeN")
def _shape(operation: Operation, *values: Any) -> list[Array]:
    kind = dtype_of(operation, "out_type")
    return [vector_of(dims(value), kind) for value in values]


@pure("Rank")
def _rank(operation: Operation, x: Any) -> Array:
    return np.array(len(x.shape), np.int32)


@pure("Size")
def _size(operation: Operation, x: Any) -> Any:
    size, kind = sizes_product(dims(x)), dtype_of(operation, "out_type")
    return np.array(size, kind) if isinstance(size, int) else E.cast(size, kind)


@known("BroadcastGradientArgs")
def _reduction_axes(operation: Operation, one: Any, other: Any) -> list[Array]:
    # Two sizes that aren't known are taken as equal, as everywhere in K.
    told = ([-1 if isinstance(n, Node) else n for n in sizes_in(x)] for x in (one, other))
    found = reduction_axes(*told)
    return [np.array(axes, result_type(operation)) for axes in found]


@known("BroadcastArgs")
def _broadcast_shape(operation: Operation, one: Any, other: Any) -> Array:
    found = np.broadcast_shapes(tuple(integers(one)), tuple(integers(other)))
    return np.array(found, result_type(operation))


# Filled arrays ----------------------------------------------------------------------------------


@known("Fill")
def _fill(operation: Operation, sizes: Any, value: Any) -> Any:
    shape = sizes_in(sizes)
    if isinstance(value, Node) or isinstance(sizes, Node):
        return M.broadcast_to(tensor(value), shape)
    return np.full(integers(sizes), value, np.asarray(value).dtype)


@pure("Empty")
def _empty(operation: Operation, sizes: Any) -> Array:
    return np.zeros(integers(sizes), dtype_of(operation, "dtype"))


@known("ZerosLike")
def _zeros(operation: Operation, x: Any) -> Any:
    if None in x.shape:
        return full_like(x, 0)
    return np.zeros(sizes_of(x), result_type(operation))


@known("OnesLike")
def _ones(operation: Operation, x: Any) -> Any:
    if None in x.shape:
        return full_like(x, 1)
    return np.ones(sizes_of(x), result_type(operation))


def _counts(first: Any, step: Any) -> bool:
    return bool(array(first) == 0 and array(step) == 1)


@known("Range")
def _range(operation: Operation, first: Any, last: Any, step: Any) -> Any:
    if isinstance(last, Node) and are_sizes_open() and _counts(first, step):
        return M.iota([size_in(last)], dtype=result_type(operation))
    parts: list[Any] = [array(value).item() for value in (first, last, step)]
    return np.asarray(np.arange(*parts, dtype=result_type(operation)))


@pure("LinSpace")
def _linspace(operation: Operation, first: Any, last: Any, count: Any) -> Node:
    """The last number is exact."""
    start, stop, size = tensor(first), tensor(last), integer(count)
    steps = np.arange(size, dtype=str(start.dtype))
    grown = E.add(*broadcast(start, E.mul(*broadcast((stop - start) / max(size - 1, 1), steps))))
    at_end = tensor((np.arange(size) == size - 1) & (size > 1))
    return E.select(at_end, M.broadcast_to(stop, [size]), grown)


@pure("OneHot")
def _one_hot(operation: Operation, at: Any, depth: Any, on: Any, off: Any) -> Node:
    axis = operation.attribute("axis")
    if not -1 <= axis <= len(at.shape):
        raise ValueError(f"axis {axis} of indices with {len(at.shape)} axes")
    hot = I.one_hot(tensor(at), integer(depth), E.constant(np.float32(0)).dtype)
    where = E.gt(hot, full_like(hot, 0))
    found = E.select(where, *(M.broadcast_to(tensor(v), dims(where)) for v in (on, off)))
    return found if axis == -1 else M.move_axis(found, len(found.shape) - 1, axis)


# Rearranging ------------------------------------------------------------------------------------


def reshaped(sizes: list[int], total: int) -> list[int]:
    """Sizes of a reshape, of which one may be -1.

    >>> reshaped([2, -1], 6)
    [2, 3]
    """
    if -1 not in sizes:
        return sizes
    rest = int(np.prod([size for size in sizes if size >= 0]))
    return [total // max(rest, 1) if size < 0 else size for size in sizes]


@pure("Reshape")
def _reshape(operation: Operation, x: Any, sizes: Any) -> Any:
    told = sizes_in(sizes)
    if None in x.shape or not all(isinstance(size, int) for size in told):
        return M.reshape(tensor(x), _told(operation, told))
    shape = reshaped(integers(sizes), int(np.prod(sizes_of(x))))
    return np.reshape(x, shape) if is_text(x) else M.reshape(tensor(x), shape)


def _told(operation: Operation, sizes: list[Size]) -> list[Size]:
    """Sizes, of which the graph knows some beforehand."""
    shape = operation.shapes[0] or (-1,) * len(sizes)
    return [size if known < 0 else known for size, known in zip(sizes, shape, strict=True)]


@fold("Reshape")
def _reshape_known(operation: Operation, x: Array, sizes: Array) -> Array:
    return np.reshape(x, integers(sizes))


@pure("ExpandDims")
def _expand(operation: Operation, x: Any, axis: Any) -> Node:
    at = integers(axis)[0] % (len(x.shape) + 1)
    return M.expand_dims(tensor(x), at)


@fold("ExpandDims")
def _expand_known(operation: Operation, x: Array, axis: Array) -> Array:
    return np.expand_dims(x, integers(axis)[0])


@pure("Squeeze")
def _squeeze(operation: Operation, x: Any) -> Node:
    shape = dims(x)
    axes = [axis % len(shape) for axis in operation.attribute("squeeze_dims")]
    if not axes:
        shape = list(sizes_of(x))
    kept = [at not in axes if axes else size != 1 for at, size in enumerate(shape)]
    sizes = [size for size, keep in zip(shape, kept, strict=True) if keep]
    return M.reshape(tensor(x), sizes)


@fold("Squeeze")
def _squeeze_known(operation: Operation, x: Array) -> Array:
    return np.squeeze(x, tuple(operation.attribute("squeeze_dims")) or None)


@pure("Transpose")
def _transpose(operation: Operation, x: Any, order: Any) -> Node:
    return M.transpose(tensor(x), integers(order))


@pure("BroadcastTo")
def _broadcast_to(operation: Operation, x: Any, sizes: Any) -> Node:
    return M.broadcast_to(tensor(x), sizes_in(sizes))


@known("Tile")
def _tile(operation: Operation, x: Any, counts: Any) -> Any:
    if isinstance(x, Node) or isinstance(counts, Node):
        return K.tile(tensor(x), sizes_in(counts))
    return np.tile(x, integers(counts))


@pure("ReverseV2")
def _reverse(operation: Operation, x: Any, axes: Any) -> Any:
    node = tensor(x)
    over = [axis % len(node.shape) for axis in integers(axes)]
    return K.reverse(node, over) if over else node


@pure("ReverseSequence")
def _reverse_sequences(operation: Operation, x: Any, lengths: Any) -> Node:
    time, batch = operation.attribute("seq_dim"), operation.attribute("batch_dim")
    node, count = tensor(x), E.cast(tensor(lengths), "int32")
    shape = dims(node)
    at = M.iota(shape, time, "int32")
    sizes = [size if axis == batch else 1 for axis, size in enumerate(shape)]
    count = M.broadcast_to(M.reshape(count, sizes), shape)
    turned = E.sub(E.sub(count, full_like(count, 1)), at)
    return I.take_along(node, E.select(E.lt(at, count), turned, at), time)


@pure("InvertPermutation")
def _invert(operation: Operation, order: Any) -> Node:
    return E.cast(I.argsort(tensor(order), axis=0), result_type(operation))


# Joining and cutting ----------------------------------------------------------------------------


@pure("ConcatV2")
def _concat(operation: Operation, *values: Any) -> Node:
    parts = [tensor(value) for value in values[:-1]]
    return M.concatenate(parts, axis_of(values[-1], len(parts[0].shape)))


@pure("Concat")
def _concat_first(operation: Operation, axis: Any, *values: Any) -> Node:
    return _concat(operation, *values, axis)


@pure("ParallelConcat")
def _concat_rows(operation: Operation, *values: Any) -> Node:
    return M.concatenate([tensor(value) for value in values], 0)


@fold("ConcatV2")
def _concat_known(operation: Operation, *values: Array) -> Array:
    return np.concatenate(values[:-1], int(values[-1]))


@pure("Pack")
def _pack(operation: Operation, *values: Any) -> Any:
    rank = len(values[0].shape) + 1
    at = (operation.attribute("axis") or 0) % rank
    if any(is_text(value) for value in values):
        return np.stack([np.asarray(value, object) for value in values], at)
    return M.stack([tensor(value) for value in values], at)


@fold("Pack")
def _pack_known(operation: Operation, *values: Array) -> Array:
    return np.stack(values, operation.attribute("axis") or 0)


@known("Unpack")
def _unpack(operation: Operation, x: Any) -> list[Any]:
    at = (operation.attribute("axis") or 0) % len(x.shape)
    if not isinstance(x, Node):
        return [np.asarray(part) for part in np.moveaxis(x, at, 0)]
    rest = [size for axis, size in enumerate(dims(x)) if axis != at]
    count = operation.attribute("num")
    return [M.reshape(M.slice_axis(x, at, i, i + 1), rest) for i in range(count)]


@pure("Split")
def _split(operation: Operation, axis: Any, x: Any) -> list[Node]:
    count, at = operation.attribute("num_split"), axis_of(axis, len(x.shape))
    [size] = sizes_of(x, at, at + 1)
    if size % count:
        raise ValueError(f"{size} along axis {at} aren't {count} equal parts")
    return _cut(tensor(x), at, [size // count] * count)


@pure("SplitV")
def _split_unevenly(operation: Operation, x: Any, sizes: Any, axis: Any) -> list[Node]:
    if operation.attribute("num_split") == 1:
        return [tensor(x)]  # whatever its size is said to be
    at, told = axis_of(axis, len(x.shape)), integers(sizes)
    return _cut(tensor(x), at, reshaped_sum(told, *sizes_of(x, at, at + 1)))


def reshaped_sum(sizes: list[int], total: int) -> list[int]:
    """Sizes of parts, of which one may be -1: the rest."""
    rest = total - sum(size for size in sizes if size >= 0)
    return [rest if size < 0 else size for size in sizes]


def _cut(x: Node, axis: int, sizes: list[int]) -> list[Node]:
    ends = np.cumsum([0, *sizes])
    pairs = itertools.pairwise(ends)
    return [M.slice_axis(x, axis, int(start), int(end)) for start, end in pairs]


@known("Slice")
def _slice(operation: Operation, x: Any, begin: Any, sizes: Any) -> Any:
    starts, counts, shape = integers(begin), integers(sizes), x.shape
    parts = list(zip(starts, counts, shape, strict=True))
    if any(size is None and (start or n >= 0) for start, n, size in parts):
        raise UnknownSizeError("whether a slice lies within an axis of unknown size")
    ends = [(start + max(n, 0), size) for start, n, size in parts]
    if min(starts, default=0) < 0 or any(size is not None and at > size for at, size in ends):
        raise ValueError(f"sizes {counts} from {starts} on of a tensor {shape}")
    windows = [(start, size if n < 0 else start + n, 1) for start, n, size in parts]
    if not isinstance(x, Node):
        return np.asarray(x[tuple(slice(*window) for window in windows)])
    return M.slice_(x, windows)


@pure("Pad PadV2")
def _pad(operation: Operation, x: Any, pads: Any, value: Any = 0) -> Node:
    margins = [(int(before), int(after)) for before, after in array(pads)]
    return M.pad(tensor(x), margins, float(array(value)))


@pure("MirrorPad")
def _mirror(operation: Operation, x: Any, pads: Any) -> Node:
    return mirrored(x, pads, operation.attribute("mode"))


def mirrored(x: Any, pads: Any, kind: bytes) -> Node:
    """A tensor with margins that mirror it."""
    mode: Any = {b"REFLECT": "reflect", b"SYMMETRIC": "symmetric"}[kind]
    node = tensor(x)
    for axis, margin in enumerate(array(pads)):
        most = sizes_of(node)[axis] - (mode == "reflect")
        if max(margin) > most:
            raise ValueError(f"axis {axis} is mirrored by {most} at most, not by {margin}")
        at = np.pad(np.arange(sizes_of(node)[axis]), tuple(map(int, margin)), mode=mode)
        node = I.gather(node, tensor(at.astype(np.int32)), axis)
    return node


# Looking up -------------------------------------------------------------------------------------


@pure("Gather GatherV2")
def _gather(operation: Operation, x: Any, at: Any, axis: Any = 0) -> Node:
    node, places, batch = tensor(x), tensor(at), operation.attribute("batch_dims") or 0
    over = axis_of(axis, len(node.shape))
    if not batch:
        return I.gather(node, places, over)
    shape = sizes_of(node)
    front, before, inner = shape[:batch], shape[batch:over], sizes_of(places)[batch:]
    rows = int(np.prod(front))
    node = M.move_axis(node, over, batch)
    node = M.reshape(node, [rows * shape[over], *before, *shape[over + 1 :]])
    starts = np.arange(rows) * shape[over]
    starts = starts.reshape(*front, *[1] * len(inner)).astype(str(places.dtype))
    found = I.gather(node, E.add(*broadcast(places, starts)), 0)
    first = range(batch + len(inner), batch + len(inner) + len(before))
    order = [*range(batch), *first, *range(batch, batch + len(inner))]
    return M.transpose(found, [*order, *range(len(order), len(found.shape))])


@fold("Gather GatherV2")
def _gather_known(operation: Operation, x: Array, at: Array, axis: Any = 0) -> Array:
    batch = operation.attribute("batch_dims") or 0
    return (
        np.asarray(np.take(x, at, int(axis)))
        if not batch
        else np.asarray(K.eval(_gather(operation, x, at, axis)))
    )


@pure("GatherNd")
def _gather_nd(operation: Operation, x: Any, at: Any) -> Node:
    node, places = tensor(x), tensor(at)
    depth, shape = sizes_of(places)[-1], sizes_of(node)
    flat = M.reshape(node, [int(np.prod(shape[:depth])), *shape[depth:]])
    return I.gather(flat, flat_positions(places, shape[:depth]), 0)


@pure("UnravelIndex")
def _unravel(operation: Operation, at: Any, dims: Any) -> Node:
    places, sizes = tensor(at), integers(dims)
    if len(places.shape) > 1:
        raise ValueError("The indices can only be scalar or vector")
    parts = []
    for step, size in zip(np.append(np.cumprod(sizes[::-1])[::-1][1:], 1), sizes, strict=True):
        whole = E.floor_div(places, full_like(places, int(step)))
        parts.append(E.mod(whole, full_like(places, size)))
    return M.stack(parts, 0)


@known("ConcatOffset")
def _offsets(operation: Operation, axis: Any, *shapes: Any) -> list[Array]:
    at, found, start = integer(axis), [], 0
    for shape in map(array, shapes):
        offset = np.zeros(len(shape), np.int32)
        offset[at] = start
        start += int(shape[at])
        found.append(offset)
    return found
