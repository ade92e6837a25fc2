"""Lowering rules of primitives that move, reduce, pick and order elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ...graph.ir.node import Node
from ...graph.ir.types import Dim
from ...graph.passes.order import skips_no_nan
from ...graph.primitives.movement import WHOLE, Cut
from .._lowering import Rule
from .kernels import (
    MOST_AXES,
    Tensor,
    along_last,
    cast,
    constant,
    in_rows,
    index_dtype,
    product,
    raw,
    reshaped,
    shape_of,
    transposed,
    vector,
)
from .lowering import Tracing

# Kernels that move elements take tensors of so many axes.
MOST_MOVED = 7


# Shapes --------------------------------------------------------------------------------------


def size(e: Tracing, node: Node, x: Tensor) -> Tensor:
    found = e.size(x, node.attrs["axis"])
    return constant(found, tf.int32) if isinstance(found, int) else found


def reshape(e: Tracing, node: Node, x: Tensor, *sizes: Tensor) -> Tensor:
    return raw.Reshape(tensor=x, shape=vector(e.dims(node)))


def broadcast_to(e: Tracing, node: Node, x: Tensor, *sizes: Tensor) -> Tensor:
    dims = e.dims(node)
    if len(dims) <= MOST_AXES:
        return raw.BroadcastTo(input=x, shape=vector(dims))
    own = [1] * (len(dims) - len(x.shape)) + shape_of(x)
    for axis, dim in enumerate(dims):
        known = isinstance(own[axis], int) and own[axis] == 1
        if known and not (isinstance(dim, int) and dim == 1):  # by one of three axes
            parts = [product(own[:axis]), product(own[axis + 1 :])]
            flat = reshaped(x, [parts[0], 1, parts[1]])
            x = raw.BroadcastTo(input=flat, shape=vector([parts[0], dim, parts[1]]))
            own[axis] = dim
    return reshaped(x, own)


def iota(e: Tracing, node: Node, *sizes: Tensor) -> Tensor:
    dims, axis = e.dims(node), node.attrs["axis"]
    wide = tf.int64 if node.dtype.itemsize == 8 else tf.int32
    limit = cast(tf.convert_to_tensor(dims[axis]), wide)
    line = raw.Range(start=constant(0, wide), limit=limit, delta=constant(1, wide))
    line = cast(line, node.dtype)
    if len(dims) == 1:
        return line
    line = reshaped(line, [-1 if i == axis else 1 for i in range(len(dims))])
    return raw.BroadcastTo(input=line, shape=vector(dims))


def transpose(e: Tracing, node: Node, x: Tensor) -> Tensor:
    return transposed(x, node.attrs["perm"])


def moved(
    x: Tensor, how: Sequence[Any], nothing: Any, function: Callable[[Tensor, list[Any]], Tensor]
) -> Tensor:
    """What a function gives that is told how each axis is moved; where there are too many axes,
    one after the other, each as one of three axes. `nothing` is said of axes that stay.
    """
    if len(how) <= MOST_MOVED:
        return function(x, list(how))
    for axis, each in enumerate(how):
        if each != nothing:
            dims = shape_of(x)
            parts = [product(dims[:axis]), dims[axis], product(dims[axis + 1 :])]
            found = function(reshaped(x, parts), [nothing, each, nothing])
            x = reshaped(found, [*dims[:axis], shape_of(found)[1], *dims[axis + 1 :]])
    return x


def reverse(e: Tracing, node: Node, x: Tensor) -> Tensor:
    turned = [i in node.attrs["axes"] for i in range(len(x.shape))]
    return moved(x, turned, False, _reversed)


def _reversed(x: Tensor, turned: Sequence[bool]) -> Tensor:
    axes = [axis for axis, is_turned in enumerate(turned) if is_turned]
    return raw.ReverseV2(tensor=x, axis=constant(axes, tf.int32))


def pad(e: Tracing, node: Node, x: Tensor) -> Tensor:
    return padded(x, node.attrs["margins"], node.attrs["value"])


def padded(x: Tensor, margins: Sequence[Sequence[int]], value: Any) -> Tensor:
    """`x` with margins."""
    fill = constant(x.dtype.as_numpy_dtype(value), x.dtype)
    pads = [list(m) for m in margins]

    def one(y: Tensor, pads: list[Any]) -> Tensor:
        return raw.PadV2(input=y, paddings=pads, constant_values=fill)

    return moved(x, pads, [0, 0], one)


def concatenate(e: Tracing, node: Node, *operands: Tensor) -> Tensor:
    return raw.ConcatV2(values=list(operands), axis=node.attrs["axis"])


def strided(windows: Any) -> dict[str, Any]:
    """Python slices as the arguments of StridedSlice and its adjoint."""
    return {
        "begin": [0 if a is None else a for a, _, _ in windows],
        "end": [0 if b is None else b for _, b, _ in windows],
        "strides": [s for _, _, s in windows],
        "begin_mask": sum(1 << i for i, (a, _, _) in enumerate(windows) if a is None),
        "end_mask": sum(1 << i for i, (_, b, _) in enumerate(windows) if b is None),
    }


def slice_(e: Tracing, node: Node, x: Tensor) -> Tensor:
    def one(y: Tensor, windows: list[Any]) -> Tensor:
        return raw.StridedSlice(input=y, **strided(windows))

    return moved(x, node.attrs["windows"], WHOLE, one)


def unslice(e: Tracing, node: Node, g: Tensor, *sizes: Tensor) -> Tensor:
    """By padding, where there are no steps: that takes a tenth of the time."""
    source, shape, windows = node.operands[0], node.shape, node.attrs["windows"]
    unknown = [i for i, w in enumerate(windows) if w == WHOLE and shape[i] is None]
    e.agree_on_each(node, [((source, i), (node, i)) for i in unknown])
    found = [_margin(*axis) for axis in zip(windows, shape, source.shape, strict=True)]
    margins = [m for m in found if m is not None]
    if len(margins) == len(found):
        return padded(g, margins, 0)
    pairs = zip(windows, e.dims(node), strict=True)
    parts = [(w, None if w == WHOLE else dim) for w, dim in pairs]

    def spread(y: Tensor, parts: list[Any]) -> Tensor:
        pairs = zip(parts, shape_of(y), strict=True)
        shape = vector([own if dim is None else dim for (_, dim), own in pairs])
        return raw.StridedSliceGrad(shape=shape, dy=y, **strided([w for w, _ in parts]))

    return moved(g, parts, (WHOLE, None), spread)


def _margin(cut: Cut, whole: Dim, part: Dim) -> list[int] | None:
    """How many elements lie before and behind a cut, where that's known."""
    if cut == WHOLE:
        return [0, 0]
    if cut[2] > 1 or whole is None or part is None:
        return None
    start = slice(*cut).indices(whole)[0]
    return [start, whole - start - part]


# Reductions ------------------------------------------------------------------------------------


REDUCTIONS = {
    "reduce_prod": "Prod",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_any": "Any",
    "reduce_all": "All",
}
# By primitive along an axis: the operation, and its names of the operand and of the axis.
ALONG = {
    "argmax": ("ArgMax", "input", "dimension"),
    "argmin": ("ArgMin", "input", "dimension"),
    "cumsum": ("Cumsum", "x", "axis"),
    "cumprod": ("Cumprod", "x", "axis"),
}


def reduction(op: str) -> Rule:
    """An operation over the attribute `axes`."""
    function = getattr(raw, op)

    def rule(e: Tracing, node: Node, x: Tensor) -> Tensor:
        return function(input=x, axis=constant(list(node.attrs["axes"]), tf.int32))

    return rule


def reduce_sum(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """Sums of a matrix's columns have a kernel of their own."""
    axes = node.attrs["axes"]
    if axes == (0,) and len(x.shape) == 2 and node.dtype.is_float and node.shape[0] != 0:
        return raw.BiasAddGrad(out_backprop=x)
    return raw.Sum(input=x, axis=constant(list(axes), tf.int32))


def along(op: str, operand: str, axis: str) -> Rule:
    """An operation along the attribute `axis`; `operand` and `axis` are its own names."""
    function = getattr(raw, op)

    def rule(e: Tracing, node: Node, x: Tensor) -> Tensor:
        drops, at = len(node.shape) < len(x.shape), node.attrs["axis"]
        if len(x.shape) <= MOST_AXES or not drops:
            return function(**{operand: x, axis: constant(at, tf.int32)})
        last = transposed(x, [*(i for i in range(len(x.shape)) if i != at), at])
        return in_rows(lambda y: function(**{operand: y, axis: constant(1, tf.int32)}), True)(last)

    return rule


# Indices ---------------------------------------------------------------------------------------


def gather(e: Tracing, node: Node, x: Tensor, index: Tensor) -> Tensor:
    return raw.GatherV2(params=x, indices=index_dtype(index), axis=node.attrs["axis"])


def scatter_add(e: Tracing, node: Node, g: Tensor, index: Tensor, *sizes: Tensor) -> Tensor:
    """Slices are added in order. The kernel skips negative indices."""
    axis, (length,) = node.attrs["axis"], e.dims(node)
    depth, rank = len(index.shape), len(g.shape)
    index = index_dtype(index)
    places = list(range(axis, axis + depth))
    moved = transposed(g, [*places, *(i for i in range(rank) if i not in places)])
    if not depth:
        index, moved = (raw.ExpandDims(input=y, axis=0) for y in (index, moved))
    out = raw.UnsortedSegmentSum(data=moved, segment_ids=index, num_segments=length)
    return transposed(out, [*range(1, axis + 1), 0, *range(axis + 1, rank - depth + 1)])


def nonzero(e: Tracing, node: Node, x: Tensor) -> Tensor:
    if len(x.shape) <= MOST_MOVED:
        return raw.Where(condition=x)
    flat = raw.Squeeze(input=raw.Where(condition=reshaped(x, [product(shape_of(x))])), axis=[1])
    places = raw.UnravelIndex(indices=flat, dims=cast(vector(shape_of(x)), tf.int64))
    return raw.Transpose(x=places, perm=[1, 0])


# Order -----------------------------------------------------------------------------------------


def argsort(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """TopK of inverted integers, which are in reversed order: equal ones stay in order."""
    axis, size = node.attrs["axis"], e.size(x, node.attrs["axis"])
    found = along_last(lambda x: raw.TopKV2(input=raw.Invert(x=x), k=size).indices, axis, x)
    return cast(found, tf.int64)


RULES: dict[str, Rule] = {
    "size": size,
    "reshape": reshape,
    "broadcast_to": broadcast_to,
    "iota": iota,
    "transpose": transpose,
    "reverse": reverse,
    "pad": pad,
    "concatenate": concatenate,
    "slice": slice_,
    "unslice": unslice,
    "reduce_sum": reduce_sum,
    **{name: reduction(op) for name, op in REDUCTIONS.items()},
    **{name: along(*how) for name, how in ALONG.items()},
    "gather": gather,
    "scatter_add": scatter_add,
    "nonzero": nonzero,
    "argsort": argsort,
}


WHERE: dict[str, Callable[[Node], bool]] = dict.fromkeys(
    ("argmax", "argmin", "argsort"), skips_no_nan
)
