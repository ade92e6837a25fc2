"""Constants, shapes, what cuts, joins and rearranges, looking up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import (
    Size,
    are_one_size,
    as_node,
    minus,
    plus,
    quotient,
    size_of,
    sizes_product,
)

from ..graph import Operation
from ..parts import demand_none_below, padded, part
from ..shapes.known import constant, reduction_axes
from .complexes import moved
from .elementwise import zero
from .scattering import flat_positions
from .table import fold, known, pure
from .values import (
    Kind,
    are_sizes_open,
    array,
    axis_of,
    broadcast,
    dims,
    integers,
    is_of_sizes,
    is_text,
    margins,
    result_type,
    size_in,
    sizes_in,
    sizes_of,
    take_as_several,
    tensor,
    vector_of,
)

Array = np.ndarray


pure("Const")(lambda operation: np.asarray(constant(operation)))
pure("NoOp")(list)
pure("Rank")(lambda x: np.array(len(x.shape), np.int32))


# Shapes -----------------------------------------------------------------------------------------


@pure("Shape ShapeN")
def _shape(*values: Any, out_type: Kind) -> list[Array]:
    return [vector_of(dims(value), out_type) for value in values]


@pure("Size")
def _size(x: Any, *, out_type: Kind) -> Any:
    size = sizes_product(dims(x))
    return np.array(size, out_type) if isinstance(size, int) else E.cast(size, out_type)


@known("BroadcastGradientArgs")
def _reduction_axes(operation: Operation, one: Any, other: Any) -> list[Array]:
    shapes = list(map(sizes_in, (one, other)))
    apart = {
        size
        for pair in zip(*map(reversed, shapes), strict=False)
        if not are_one_size(*pair)
        for size in pair
        if isinstance(size, Node) and not take_as_several(size)
    }
    for value, sizes in zip((one, other), shapes, strict=True):
        if not apart.isdisjoint(sizes):  # it may be 1
            array(value)
    # Where two that aren't 1 differ, broadcasting has failed.
    known = ([-1 if isinstance(n, Node) else n for n in sizes] for sizes in shapes)
    return [np.array(axes, result_type(operation)) for axes in reduction_axes(*known)]


@known("BroadcastArgs")
def _broadcast_shape(operation: Operation, one: list[int], other: list[int]) -> Array:
    return np.array(np.broadcast_shapes(tuple(one), tuple(other)), result_type(operation))


# Filled arrays ----------------------------------------------------------------------------------


@known("Fill")
def _fill(sizes: Any, value: Any) -> Any:
    shape = sizes_in(sizes)
    if isinstance(value, Node) or isinstance(sizes, Node):
        return M.broadcast_to(tensor(value), shape)
    return np.full(integers(sizes), value, np.asarray(value).dtype)


@pure("Empty")
def _empty(sizes: list[int], *, dtype: Kind) -> Array:
    return np.zeros(sizes, dtype)


@known("ZerosLike OnesLike")
def _filled(operation: Operation, x: Any) -> Any:
    number = operation.type == "OnesLike"
    if None in x.shape:
        return full_like(x, number)
    return np.full(sizes_of(x), number, result_type(operation))


@known("Range")
def _range(operation: Operation, *given: Any) -> Any:
    dtype = result_type(operation)
    if are_sizes_open() and any(isinstance(value, Node) for value in given) and "int" in dtype:
        first, last, step = map(size_in, given)
        count = quotient(plus(minus(last, first), minus(step, 1)), step)
        if is_of_sizes(count) and (not isinstance(step, int) or step > 0):
            numbers = M.iota([count], dtype=dtype)
            if step != 1:
                numbers = E.mul(*broadcast(numbers, E.cast(as_node(step), dtype)))
            if first != 0:
                numbers = E.add(*broadcast(numbers, E.cast(as_node(first), dtype)))
            return numbers
    parts: list[Any] = [array(value).item() for value in given]
    return np.asarray(np.arange(*parts, dtype=dtype))


@pure("LinSpace")
def _linspace(start: Node, stop: Node, size: Size) -> Node:
    """The last number is exact."""
    last = E.cast(tensor(minus(size, 1)), start.dtype)
    steps = M.iota([size], dtype=start.dtype)
    step = (stop - start) / E.maximum(last, full_like(last, 1))
    grown = E.add(*broadcast(start, E.mul(*broadcast(step, steps))))
    at_end = E.logical_and(*broadcast(E.eq(*broadcast(steps, last)), E.gt(last, zero(last))))
    return E.select(at_end, M.broadcast_to(stop, [size]), grown)


@pure("OneHot")
def _one_hot(at: Node, depth: Size, on: Node, off: Node, *, axis: int) -> Node:
    if not -1 <= axis <= len(at.shape):
        raise ValueError(f"axis {axis} of indices with {len(at.shape)} axes")
    hot = I.one_hot(at, depth, E.constant(np.float32(0)).dtype)
    where = E.gt(hot, full_like(hot, 0))
    found = E.select(where, *(M.broadcast_to(value, dims(where)) for value in (on, off)))
    return found if axis == -1 else M.move_axis(found, len(found.shape) - 1, axis)


# Rearranging ------------------------------------------------------------------------------------


def reshaped(sizes: list[int], shape: Sequence[int]) -> list[int]:
    """Sizes of a reshape, of which one may be -1; where others are 0, none that is 0 counts.

    >>> reshaped([2, -1], [6]), reshaped([-1, 0, 2], [4, 0])
    ([2, 3], [2, 0, 2])
    """
    total = math.prod(size for size in shape if size or 0 not in sizes)
    rest = math.prod(size for size in sizes if size > 0)
    return [total // rest if size < 0 else size for size in sizes]


def _reshape(operation: Operation, x: Any, sizes: Any) -> Any:
    wanted = sizes_in(sizes)
    if None in x.shape or not all(isinstance(size, int) for size in wanted):
        return M.reshape(tensor(x), _known_sizes(operation, wanted))
    shape = reshaped(integers(sizes), sizes_of(x))
    return np.reshape(x, shape) if is_text(x) else M.reshape(tensor(x), shape)


def _known_sizes(operation: Operation, sizes: list[Size]) -> list[Size]:
    """Sizes, of which the graph knows some beforehand."""
    shape = operation.shapes[0] or (-1,) * len(sizes)
    return [size if known < 0 else known for size, known in zip(sizes, shape, strict=True)]


def _squeeze(x: Node, *, squeeze_dims: list[int]) -> Node:
    axes = [axis % len(x.shape) for axis in squeeze_dims]
    shape = dims(x) if axes else list(sizes_of(x))
    kept = [at not in axes if axes else size != 1 for at, size in enumerate(shape)]
    return M.reshape(x, list(itertools.compress(shape, kept)))


@known("Tile")
def _tile(x: Any, counts: Any) -> Any:
    if isinstance(x, Node) or isinstance(counts, Node):
        return K.tile(tensor(x), sizes_in(counts))
    return np.tile(x, integers(counts))


def turned(x: Node, axes: list[int]) -> Node:
    """A tensor whose elements come in the other order along some axes."""
    found: Node = K.reverse(x, axes) if axes else x
    return found


def _reversed(x: Node, axes: list[int]) -> Node:
    return turned(x, [axis % len(x.shape) for axis in axes])


pure("Reverse")(lambda x, marks: turned(tensor(x), np.flatnonzero(array(marks)).tolist()))


@pure("ReverseSequence")
def _reverse_sequences(x: Node, lengths: Node, *, seq_dim: int, batch_dim: int) -> Node:
    shape = dims(x)
    at, count = M.iota(shape, seq_dim, "int32"), E.cast(lengths, "int32")
    sizes = [size if axis == batch_dim else 1 for axis, size in enumerate(shape)]
    count = M.broadcast_to(M.reshape(count, sizes), shape)
    mirrored = E.sub(E.sub(count, full_like(count, 1)), at)
    return I.take_along(x, E.select(E.lt(at, count), mirrored, at), seq_dim)


@pure("InvertPermutation")
def _invert(operation: Operation, order: Node) -> Node:
    return E.cast(I.argsort(order, axis=0), result_type(operation))


fold("InvertPermutation")(lambda order: np.argsort(order).astype(order.dtype))


# Joining and cutting ----------------------------------------------------------------------------


def _concat(*values: Any) -> Node:
    parts = [tensor(value) for value in values[:-1]]
    return M.concatenate(parts, axis_of(values[-1], len(parts[0].shape)))


pure("Concat")(lambda axis, *values: _concat(*values, axis))
pure("ParallelConcat")(lambda *values: _concat(*values, 0))


def _pack(*values: Any, axis: int | None) -> Any:
    at = (axis or 0) % (len(values[0].shape) + 1)
    if any(is_text(value) for value in values):
        return np.stack([np.asarray(value, object) for value in values], at)
    return M.stack([tensor(value) for value in values], at)


@known("Unpack")
def _unpack(operation: Operation, x: Any) -> list[Any]:
    at = (operation.attribute("axis") or 0) % len(x.shape)
    if not isinstance(x, Node):
        return [np.asarray(part) for part in np.moveaxis(x, at, 0)]
    rest = [size for place, size in enumerate(dims(x)) if place != at]
    count, size = operation.attribute("num"), size_of(x, at)
    x = demand_none_below(x, minus(size, count), minus(count, size))
    return [M.reshape(M.slice_axis(x, at, i, i + 1), rest) for i in range(count)]


def _split(axis: Any, x: Node, *, num_split: int) -> list[Node]:
    at = axis_of(axis, len(x.shape))
    size = size_of(x, at)
    if not isinstance(size, int):
        x = demand_none_below(x, minus(0, E.mod(size, full_like(size, num_split))))
    elif size % num_split:
        raise ValueError(f"{size} along axis {at} aren't {num_split} equal parts")
    return _cut(x, at, [quotient(size, num_split)] * num_split)


def _split_unevenly(x: Node, sizes: list[Size], axis: Any, *, num_split: int) -> list[Node]:
    if num_split == 1:
        return [x]  # whatever its size is said to be
    at = axis_of(axis, len(x.shape))
    return _cut(x, at, reshaped_sum(sizes, size_of(x, at)))


def reshaped_sum(sizes: Sequence[Size], total: Size) -> list[Size]:
    """Sizes of parts, of which one may be -1: the rest."""
    rest = reduce(minus, (size for size in sizes if size != -1), total)
    return [rest if size == -1 else size for size in sizes]


def _cut(x: Node, axis: int, sizes: list[Size]) -> list[Node]:
    starts: Iterator[Size] = itertools.accumulate([0, *sizes], plus)
    return [part(x, axis, start, size) for start, size in zip(starts, sizes, strict=False)]


@pure("Slice")
def _slice(x: Node, starts: list[Size], counts: list[Size]) -> Node:
    for axis, (start, count) in enumerate(zip(starts, counts, strict=True)):
        rest = minus(size_of(x, axis), start)
        x = part(x, axis, start, rest if count == -1 else count)
    return x


@fold("Slice")
def _slice_known(x: Array, starts: list[int], counts: list[int]) -> Array:
    ends = [None if n < 0 else start + n for start, n in zip(starts, counts, strict=True)]
    if any(end is not None and end > size for end, size in zip(ends, x.shape, strict=True)):
        raise ValueError(f"sizes {counts} from {starts} on of a tensor {x.shape}")
    return x[tuple(map(slice, starts, ends))]


def _pad(x: Node, pads: Any, value: Any = 0) -> Node:
    return padded(x, margins(pads), float(array(value).flat[0]))


@pure("MirrorPad")
def mirrored(x: Node, pads: Array, *, mode: str) -> Node:
    """A tensor with margins that mirror it."""
    for axis, margin in enumerate(pads.tolist()):
        size = sizes_of(x)[axis]
        most = size - (mode == "REFLECT")
        if max(margin) > most:
            wanted, more = ("less", "not less") if most < size else ("no greater", "greater")
            message = f"{margin[0]}, {margin[1]} {more} than {size}"
            raise ValueError(f"paddings must be {wanted} than the dimension size: {message}")
        x = I.gather(x, tensor(_mirrored_places(size, margin, mode)), axis)
    return x


def _mirrored_places(size: int, margin: tuple[int, int], mode: str) -> Array:
    way: Any = mode.lower()
    return np.pad(np.arange(size, dtype=np.int32), margin, mode=way)


@pure("MirrorPadGrad")
def _mirror_gradient(g: Node, pads: Array, *, mode: str) -> Node:
    for axis, margin in enumerate(pads.tolist()):
        size = sizes_of(g)[axis] - sum(margin)
        g = I.scatter_add(g, tensor(_mirrored_places(size, margin, mode)), size, axis)
    return g


# Looking up -------------------------------------------------------------------------------------


def _gather(x: Node, places: Node, axis: Any = 0, *, batch_dims: int | None) -> Node:
    batch, over = batch_dims or 0, axis_of(axis, len(x.shape))
    if not batch:
        return I.gather(x, places, over)
    shape = sizes_of(x)
    front, before, inner = shape[:batch], shape[batch:over], sizes_of(places)[batch:]
    rows = int(np.prod(front))
    x = M.move_axis(x, over, batch)
    x = M.reshape(x, [rows * shape[over], *before, *shape[over + 1 :]])
    starts = np.arange(rows) * shape[over]
    starts = starts.reshape(*front, *[1] * len(inner)).astype(str(places.dtype))
    found = I.gather(x, E.add(*broadcast(places, starts)), 0)
    first = range(batch + len(inner), batch + len(inner) + len(before))
    order = [*range(batch), *first, *range(batch, batch + len(inner))]
    return M.transpose(found, [*order, *range(len(order), len(found.shape))])


def _gather_known(operation: Operation, x: Array, at: Array, axis: Any = 0) -> Array:
    if operation.attribute("batch_dims"):
        return np.asarray(moved(operation, x, at, axis))
    return np.asarray(x.take(at, int(axis)))


def _gather_nd(x: Node, places: Node) -> Node:
    [depth], shape = sizes_of(places, -1), dims(x)
    flat = M.reshape(x, [sizes_product(shape[:depth]), *shape[depth:]])
    return I.gather(flat, flat_positions(places, shape[:depth]), 0)


@pure("UnravelIndex")
def _unravel(places: Node, sizes: list[int]) -> Node:
    if len(places.shape) > 1:
        raise ValueError("The indices can only be scalar or vector")
    parts = []
    for step, size in zip(np.append(np.cumprod(sizes[::-1])[::-1][1:], 1), sizes, strict=True):
        whole = E.floor_div(places, full_like(places, int(step)))
        parts.append(E.mod(whole, full_like(places, size)))
    return M.stack(parts, 0)


@known("ConcatOffset")
def _offsets(axis: int, *shapes: Any) -> list[Any]:
    found: list[Any] = []
    start: Size = 0
    for sizes in map(sizes_in, shapes):
        at = axis % len(sizes)
        found.append(vector_of([start if i == at else 0 for i in range(len(sizes))], "int32"))
        start = plus(start, sizes[at])
    return found


# Of known values --------------------------------------------------------------------------------


def _pad_known(operation: Operation, x: Array, pads: Array, value: Any = None) -> Array:
    filling = (b"" if x.dtype == object else 0) if value is None else np.asarray(value).flat[0]
    return np.pad(x, pads, constant_values=filling) if x.ndim else x  # NumPy takes no scalar


def _split_known(operation: Operation, x: Array, sizes: Array, axis: Array) -> list[Array]:
    counts: list[Any] = reshaped_sum(integers(sizes), x.shape[int(axis)])
    return np.split(x, np.cumsum(counts)[:-1], int(axis))


# By type, what K gives, and what NumPy gives for known values, strings, complex numbers:
# `(operation, *arrays)`, as it's called soonest.
MOVED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "Reshape": (_reshape, lambda x, sizes: np.reshape(x, reshaped(integers(sizes), x.shape))),
    "ExpandDims": (
        lambda x, axis: M.expand_dims(tensor(x), integers(axis)[0] % (len(x.shape) + 1)),
        lambda operation, x, axis: np.expand_dims(x, integers(axis)[0]),
    ),
    "Squeeze": (
        _squeeze,
        lambda operation, x: np.squeeze(x, (*operation.attribute("squeeze_dims"),) or None),
    ),
    "Transpose": (
        lambda x, order: M.transpose(tensor(x), integers(order)),
        lambda operation, x, order: np.transpose(x, integers(order)),
    ),
    "BroadcastTo": (
        lambda x, sizes: M.broadcast_to(tensor(x), sizes_in(sizes)),
        lambda operation, x, sizes: np.broadcast_to(x, integers(sizes)),
    ),
    "ReverseV2": (_reversed, lambda operation, x, axes: np.flip(x, tuple(integers(axes)))),
    "ConcatV2": (
        _concat, lambda operation, *values: np.concatenate(values[:-1], int(values[-1])),
    ),
    "Pack": (
        _pack, lambda operation, *values: np.stack(values, operation.attribute("axis") or 0),
    ),
    "Split": (
        _split,
        lambda operation, axis, x: np.split(x, operation.attribute("num_split"), int(axis)),
    ),
    "SplitV": (_split_unevenly, _split_known),
    "Gather GatherV2": (_gather, _gather_known),
    "GatherNd": (
        _gather_nd,
        lambda operation, x, at: np.asarray(x[tuple(np.moveaxis(at, -1, 0))], x.dtype),
    ),
    "Pad PadV2": (_pad, _pad_known),
}  # fmt: skip
for _names, (_of_tensors, _of_arrays) in MOVED.items():
    pure(_names)(_of_tensors)
    fold(_names)(_of_arrays)
