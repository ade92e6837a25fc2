"""Sizes, moving elements, reductions, indexing, order and contraction in JAX."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from jax import lax

from ...errors import EvaluationError
from ...graph.ir.node import Node
from .._kernels.arrays import inferred
from .._lowering import Rule
from .lowering import Tracing, Value, same_shapes, same_sizes, scalar, stretched

# Sizes and movement ------------------------------------------------------------------------


def _size(e: Tracing, node: Node, x: Value) -> Value:
    return np.int32(np.shape(x)[node.attrs["axis"]])


def _reshape(e: Tracing, node: Node, x: Value, *sizes: Value) -> Value:
    shape = inferred(e.dims(node), np.shape(x))
    total = prod(np.shape(x))
    if prod(shape) != total:
        raise EvaluationError(f"{total} elements don't fit the shape {shape}")
    return lax.reshape(x, shape)


def _broadcast(e: Tracing, node: Node, x: Value, *sizes: Value) -> Value:
    shape = e.dims(node)
    own = np.shape(x)
    offset = len(shape) - len(own)
    # Only an axis whose size is known to be 1 stretches.
    for dim, size, want in zip(node.operands[0].shape, own, shape[offset:], strict=True):
        if dim != 1:
            same_sizes(size, want)
    return stretched(x, shape)


def _iota(e: Tracing, node: Node, *sizes: Value) -> Value:
    shape = e.dims(node)
    return lax.broadcasted_iota(np.dtype(node.dtype), shape, node.attrs["axis"])


def _ranges(windows: Any, shape: tuple[int, ...]) -> list[range]:
    return [range(*slice(*w).indices(d)) for w, d in zip(windows, shape, strict=True)]


def _slice(e: Tracing, node: Node, x: Value) -> Value:
    shape = np.shape(x)
    ranges = _ranges(node.attrs["windows"], shape)
    starts = [min(r.start, d) for r, d in zip(ranges, shape, strict=True)]
    stops = [max(r.stop, s) for r, s in zip(ranges, starts, strict=True)]
    return lax.slice(x, starts, stops, [r.step for r in ranges])


def _unslice(e: Tracing, node: Node, g: Value, *sizes: Value) -> Value:
    shape = e.dims(node)
    ranges = _ranges(node.attrs["windows"], shape)
    same_shapes(np.shape(g), [len(r) for r in ranges])
    zero = scalar(0, node.dtype)
    if any(len(r) == 0 for r in ranges):
        return lax.full(shape, zero)
    margins = [(r.start, d - r[-1] - 1, r.step - 1) for r, d in zip(ranges, shape, strict=True)]
    return lax.pad(g, zero, margins)


def _pad(e: Tracing, node: Node, x: Value) -> Value:
    margins = [(low, high, 0) for low, high in node.attrs["margins"]]
    return lax.pad(x, scalar(node.attrs["value"], node.dtype), margins)


def _concatenate(e: Tracing, node: Node, *xs: Value) -> Value:
    axis = node.attrs["axis"]
    shapes = [np.shape(x) for x in xs]
    same_shapes(*((*s[:axis], *s[axis + 1 :]) for s in shapes))
    return lax.concatenate(xs, axis)


# Reductions --------------------------------------------------------------------------------


def _reduce(function: Callable[[Value, Any], Value]) -> Rule:
    return lambda e, node, x: function(x, node.attrs["axes"])


def _arg(function: Callable[..., Value]) -> Rule:
    def rule(e: Tracing, node: Node, x: Value) -> Value:
        axis = node.attrs["axis"]
        if np.shape(x)[axis] == 0:
            raise EvaluationError("there is no extremum along an axis of size 0")
        return lax.convert_element_type(function(x, axis, np.int32), np.int64)

    return rule


def _cumulative(function: Callable[..., Value]) -> Rule:
    """A running sum or product. XLA makes a window of it, and its margins of a pad before it: a
    single element that was padded then counts at all places. The barrier is against that.
    """

    barrier: Callable[[Value], Value] = lax.optimization_barrier

    return lambda e, node, x: function(barrier(x), axis=node.attrs["axis"])


# Indexing ----------------------------------------------------------------------------------

# Indices are checked beside; in these modes such an index does no harm.
MODE = lax.GatherScatterMode.CLIP
DROP = lax.GatherScatterMode.FILL_OR_DROP


def _starts(index: Value) -> Value:
    """Indices as gather and scatter take them: signed, with a last axis."""
    wide = index.dtype.itemsize > 4 or index.dtype == np.uint32
    index = lax.convert_element_type(index, np.int64 if wide else np.int32)
    return lax.expand_dims(index, (index.ndim,))


def _gather(e: Tracing, node: Node, x: Value, index: Value) -> Value:
    axis, shape, rank = node.attrs["axis"], np.shape(x), len(np.shape(index))
    if not shape[axis]:
        made = (*shape[:axis], *np.shape(index), *shape[axis + 1 :])
        return lax.full(made, scalar(0, node.dtype))
    slices = (*range(axis), *range(axis + rank, len(shape) - 1 + rank))
    numbers = lax.GatherDimensionNumbers(slices, (axis,), (axis,))
    sizes = (*shape[:axis], 1, *shape[axis + 1 :])
    return lax.gather(x, _starts(index), numbers, sizes, mode=MODE)


def _scatter_add(e: Tracing, node: Node, g: Value, index: Value, *sizes: Value) -> Value:
    axis, shape, rank = node.attrs["axis"], np.shape(g), len(np.shape(index))
    made = (*shape[:axis], *e.dims(node), *shape[axis + rank :])
    slices = (*range(axis), *range(axis + rank, len(shape)))
    numbers = lax.ScatterDimensionNumbers(slices, (axis,), (axis,))
    zeros = lax.full(made, scalar(0, node.dtype))
    if 0 in made or 0 in shape:
        return zeros
    scatter = lax.scatter_max if zeros.dtype == np.bool_ else lax.scatter_add
    return scatter(zeros, _starts(index), g, numbers, mode=DROP)


def _argsort(e: Tracing, node: Node, x: Value) -> Value:
    axis = node.attrs["axis"]
    places = lax.broadcasted_iota(np.int32, np.shape(x), axis)
    _, index = lax.sort((x, places), dimension=axis, is_stable=True, num_keys=1)
    return lax.convert_element_type(index, np.int64)


# Contraction -------------------------------------------------------------------------------


def _contract(e: Tracing, node: Node, a: Value, b: Value) -> Value:
    """Sums of products over paired axes, at full precision on any device."""
    over, batch = node.attrs["over"], node.attrs["batch"]
    for i, j in zip(*over, strict=True):
        same_sizes(np.shape(a)[i], np.shape(b)[j])
    return lax.dot_general(
        a, b, (over, batch), precision=lax.Precision.HIGHEST, preferred_element_type=a.dtype
    )


RULES: dict[str, Rule] = {
    "size": _size,
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "iota": _iota,
    "transpose": lambda e, node, x: lax.transpose(x, node.attrs["perm"]),
    "slice": _slice,
    "unslice": _unslice,
    "reverse": lambda e, node, x: lax.rev(x, node.attrs["axes"]),
    "pad": _pad,
    "concatenate": _concatenate,
    "reduce_sum": _reduce(lax.reduce_sum),
    "reduce_prod": _reduce(lax.reduce_prod),
    "reduce_max": _reduce(lax.reduce_max),
    "reduce_min": _reduce(lax.reduce_min),
    "reduce_any": _reduce(lax.reduce_or),
    "reduce_all": _reduce(lax.reduce_and),
    "argmax": _arg(lax.argmax),
    "argmin": _arg(lax.argmin),
    "cumsum": _cumulative(lax.cumsum),
    "cumprod": _cumulative(lax.cumprod),
    "gather": _gather,
    "scatter_add": _scatter_add,
    "argsort": _argsort,
    "contract": _contract,
}
