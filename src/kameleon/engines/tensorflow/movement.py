"""Lowering rules of primitives that move, reduce, pick and order elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...ir.node import Node
from ...ir.types import Dim
from ...prims.movement import WHOLE, Cut
from .._lowering import Rule
from .kernels import (
    Tensor,
    along_last,
    cast,
    check_index,
    constant,
    index_dtype,
    raw,
    require_index,
    reshaped,
    transposed,
    vector,
)
from .lowering import Tracing

# Shapes --------------------------------------------------------------------------------------


def size(e: Tracing, node: Node, x: Tensor) -> Tensor:
    found = e.size(x, node.attrs["axis"])
    return constant(found, tf.int32) if isinstance(found, int) else found


def reshape(e: Tracing, node: Node, x: Tensor, *sizes: Tensor) -> Tensor:
    return raw.Reshape(tensor=x, shape=vector(e.size_operands(node, sizes)))


def broadcast_to(e: Tracing, node: Node, x: Tensor, *sizes: Tensor) -> Tensor:
    return raw.BroadcastTo(input=x, shape=vector(e.size_operands(node, sizes)))


def iota(e: Tracing, node: Node, *sizes: Tensor) -> Tensor:
    dims, axis = e.size_operands(node, sizes), node.attrs["axis"]
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


def reverse(e: Tracing, node: Node, x: Tensor) -> Tensor:
    return raw.ReverseV2(tensor=x, axis=constant(list(node.attrs["axes"]), tf.int32))


def pad(e: Tracing, node: Node, x: Tensor) -> Tensor:
    return raw.PadV2(
        input=x,
        paddings=[list(m) for m in node.attrs["margins"]],
        constant_values=constant(x.dtype.as_numpy_dtype(node.attrs["value"]), x.dtype),
    )


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
    return raw.StridedSlice(input=x, **strided(node.attrs["windows"]))


def unslice(e: Tracing, node: Node, g: Tensor, *sizes: Tensor) -> Tensor:
    """By padding, where there are no steps: that takes a tenth of the time."""
    source, shape, windows = node.operands[0], node.shape, node.attrs["windows"]
    margins = [_margin(*axis) for axis in zip(windows, shape, source.shape, strict=True)]
    if None in margins:
        dims = e.size_operands(node, sizes)
        return raw.StridedSliceGrad(shape=vector(dims), dy=g, **strided(windows))
    unknown = [i for i, dim in enumerate(shape) if dim is None]
    e.agree_on_each(node, [((source, i), (node, i)) for i in unknown])
    return raw.PadV2(input=g, paddings=margins, constant_values=constant(0, g.dtype))


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
    return lambda e, node, x: function(**{operand: x, axis: constant(node.attrs["axis"], tf.int32)})


# Indices ---------------------------------------------------------------------------------------


def gather(e: Tracing, node: Node, x: Tensor, index: Tensor) -> Tensor:
    axis, index = node.attrs["axis"], index_dtype(index)
    check_index(index, e.size(x, axis))
    return raw.GatherV2(params=x, indices=index, axis=axis)


def take_along(e: Tracing, node: Node, x: Tensor, index: Tensor) -> Tensor:
    axis, rank, index = node.attrs["axis"], len(node.shape), index_dtype(index)
    check_index(index, e.size(x, axis))

    def gathered(x: Tensor, index: Tensor) -> Tensor:
        return raw.GatherV2(params=x, indices=index, axis=rank - 1, batch_dims=rank - 1)

    return along_last(gathered, axis, x, index)


def scatter_add(e: Tracing, node: Node, g: Tensor, index: Tensor, *sizes: Tensor) -> Tensor:
    """Slices are added in order. The kernel skips negative indices, so they're checked here."""
    axis = node.attrs["axis"]
    length = sizes[0] if node.attrs["size"] is None else node.attrs["size"]
    depth, rank = len(index.shape), len(g.shape)
    index = index_dtype(index)
    require_index(index, length)
    places = list(range(axis, axis + depth))
    moved = transposed(g, [*places, *(i for i in range(rank) if i not in places)])
    if not depth:
        index, moved = (raw.ExpandDims(input=y, axis=0) for y in (index, moved))
    out = raw.UnsortedSegmentSum(data=moved, segment_ids=index, num_segments=length)
    return transposed(out, [*range(1, axis + 1), 0, *range(axis + 1, rank - depth + 1)])


def nonzero(e: Tracing, node: Node, x: Tensor) -> Tensor:
    half = x.dtype in (tf.float16, tf.bfloat16)  # there's no kernel
    return raw.Where(condition=cast(x, tf.float32) if half else x)


# Order -----------------------------------------------------------------------------------------


def argsort(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """TopK of inverted integers, which are in reversed order: equal ones stay in order."""
    axis, keys = node.attrs["axis"], cast(x, tf.int32) if x.dtype == tf.bool else x
    size = e.size(x, axis)
    found = along_last(lambda x: raw.TopKV2(input=raw.Invert(x=x), k=size).indices, axis, keys)
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
    "take_along": take_along,
    "scatter_add": scatter_add,
    "nonzero": nonzero,
    "argsort": argsort,
}
# By primitive, the operations whose kernels decide in which dtypes it's computed.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "reduce_sum": ("Sum", "BiasAddGrad"),
    **{name: (op,) for name, op in REDUCTIONS.items()},
    **{name: (how[0],) for name, how in ALONG.items()},
    "scatter_add": ("UnsortedSegmentSum",),
}


def _is_exact(node: Node) -> bool:
    """Whether the kernels hold: of floats they skip NaN."""
    return not node.operands[0].dtype.is_float


WHERE: dict[str, Callable[[Node], bool]] = dict.fromkeys(("argmax", "argmin", "argsort"), _is_exact)
