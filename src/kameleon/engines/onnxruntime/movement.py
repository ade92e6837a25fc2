"""Lowering rules of primitives that move elements, reduce them, or order them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ...graph.ir.node import Node
from ...graph.primitives.sizes import stated_dims
from .._lowering import Rule
from .lowering import OnnxLowering, known_product

L = OnnxLowering
END = 2**63 - 1
# Dtypes whose reductions are exact: sums and products of integers go through floats, and saturate;
# extrema look at the lower half of an int64 alone.
FLOATS = frozenset(("float32", "float64"))
# Small ranges are written into the model.
SMALL = 4096


def _with(kind: str, attribute: str, **more: int) -> Rule:
    """An operator that takes one of the primitive's attributes."""
    return lambda lo, node, *xs: lo.op(kind, *xs, **{attribute: node.attrs[attribute]}, **more)


# Shape of the result given -----------------------------------------------------------------


def _size(lo: L, node: Node, x: str) -> str:
    vector = lo.axis(x, node.attrs["axis"])
    return lo.cast(lo.op("Reshape", vector, lo.ints()), "int32")


def _reshape(lo: L, node: Node, x: str, *sizes: str) -> Any:
    dims, inferred = stated_dims(node), _inferred(lo, node)
    if inferred is not None:
        dims[inferred] = -1
    return lo.reshape(x, dims)


def _inferred(lo: L, node: Node) -> int | None:
    """The result's one axis of unknown size, if ONNX infers it: the operand has that size, too."""
    shape, (x, *sizes) = node.attrs["shape"], node.operands
    unknown = [i for i, d in enumerate(x.shape) if d is None]
    if len(sizes) != 1 or len(unknown) != 1 or -1 in shape:
        return None
    rest = [[d for d in s if d is not None] for s in (shape, x.shape)]
    if known_product(tuple(rest[0])) != known_product(tuple(rest[1])) or 0 in rest[0]:
        return None
    return shape.index(None) if lo.sizes.of_scalar(sizes[0]) == lo.sizes.of(x, unknown[0]) else None


def _broadcast(lo: L, node: Node, x: str, *sizes: str) -> Any:
    if 0 in node.shape:
        # ONNX Runtime doesn't stretch an axis to a size that is known to be 0.
        x = lo.constant(np.zeros([0 if d == 0 else 1 for d in node.shape], node.dtype))
    return lo.op("Expand", x, lo.joined(stated_dims(node)))


def _iota(lo: L, node: Node, *sizes: str) -> Any:
    shape, axis, dtype = (node.attrs[k] for k in ("shape", "axis", "dtype"))
    count = known_product(shape)
    place = [-1 if i == axis else 1 for i in range(len(shape))]
    if count is not None and count <= SMALL:
        line = np.arange(shape[axis]).astype(dtype).reshape(place)
        return lo.constant(np.broadcast_to(line, shape))
    dims = stated_dims(node)
    stop: Any = dims[axis]
    if isinstance(stop, Node) and stop.primitive.name != "size":  # this fails of negative ones
        stop = lo.axis(lo.filled(0, "int64", [stop]), 0)
    stop = lo.op("Reshape", lo.joined([stop]), lo.ints())
    indices: Any = lo.op("Range", lo.scalar(0, "int64"), stop, lo.scalar(1, "int64"))
    if dtype != "int64":
        indices = lo.cast(indices, dtype)
    if len(shape) == 1:
        return indices
    return lo.op("Expand", lo.op("Reshape", indices, lo.ints(*place)), lo.joined(dims))


# Permutations and parts --------------------------------------------------------------------


def _slice(lo: L, node: Node, x: str) -> Any:
    windows = [(i, *w) for i, w in enumerate(node.attrs["windows"]) if w != (None, None, 1)]
    if not windows:
        return x
    axes, starts, stops, steps = zip(*windows, strict=True)
    return sliced(
        lo, x, axes, [s or 0 for s in starts], [END if s is None else s for s in stops], steps
    )


def sliced(
    lo: L,
    x: str,
    axes: Sequence[int],
    starts: Sequence[Any],
    stops: Sequence[Any],
    steps: Sequence[int],
) -> Any:
    """x[start:stop:step] along some axes; starts and stops are ints or vectors."""
    ends = lo.joined(list(stops))
    return lo.op("Slice", x, lo.joined(list(starts)), ends, lo.ints(*axes), lo.ints(*steps))


def _reverse(lo: L, node: Node, x: str) -> Any:
    axes = node.attrs["axes"]
    if not axes:
        return x
    count = len(axes)
    return sliced(lo, x, axes, [-1] * count, [-END] * count, [-1] * count)


def _pad(lo: L, node: Node, x: str) -> Any:
    lows, highs = zip(*node.attrs["margins"], strict=True)
    return padded(lo, x, node.dtype, [*lows, *highs], node.attrs["value"])


def padded(lo: L, x: str, dtype: str, margins: Sequence[Any], value: Any = 0) -> Any:
    """x with margins: all before, then all behind; negative ones cut off."""
    return lo.op("Pad", x, lo.joined(list(margins)), lo.scalar(value, dtype))


def _unslice(lo: L, node: Node, g: str, *sizes: str) -> Any:
    """Each element with step - 1 zeros behind it, then zeros around."""
    operand, windows = node.operands[0], node.attrs["windows"]
    dims = lo.dims(node)
    counts = lo.dims_of(operand, range(len(dims)))
    steps = [w[2] for w in windows]
    x = spread(lo, g, node.dtype, range(len(dims)), counts, steps)
    starts = [_start(lo, w[0], d) for w, d in zip(windows, dims, strict=True)]
    stops = [_minus(lo, d, s) for d, s in zip(dims, starts, strict=True)]
    stops = [_minus(lo, s, times(lo, n, k)) for s, n, k in zip(stops, counts, steps, strict=True)]
    return padded(lo, x, node.dtype, [*starts, *stops])


def spread(
    lo: L, x: str, dtype: str, axes: Sequence[int], dims: Sequence[Any], steps: Sequence[int]
) -> Any:
    """x with step - 1 zeros behind each element along `axes`; `dims` are all sizes of x."""
    wide = [i for i, s in zip(axes, steps, strict=True) if s > 1]
    if not wide:
        return x
    step = dict(zip(axes, steps, strict=True))
    split, full, margins = [], [], []
    for i, d in enumerate(dims):
        split += [d, 1] if i in wide else [d]
        margins += [0, step[i] - 1] if i in wide else [0]
        full.append(times(lo, d, step[i]) if i in wide else d)
    x = padded(lo, lo.reshape(x, split), dtype, [0] * len(margins) + margins)
    return lo.reshape(x, full)


def _start(lo: L, start: int | None, dim: Any) -> Any:
    """Where a slice starts, as Python counts: at most `dim`, from the end if negative."""
    start = start or 0
    if isinstance(dim, int):
        return slice(start, None).indices(dim)[0]
    if start < 0:
        return lo.op("Max", lo.op("Add", dim, lo.ints(start)), lo.ints(0))
    return lo.op("Min", dim, lo.ints(start)) if start else 0


def _minus(lo: L, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if b == 0:
        return a
    return lo.op("Sub", *(lo.ints(v) if isinstance(v, int) else v for v in (a, b)))


def times(lo: L, a: Any, factor: int) -> Any:
    """A size times a number."""
    if isinstance(a, int):
        return a * factor
    return a if factor == 1 else lo.op("Mul", a, lo.ints(factor))


# Reductions --------------------------------------------------------------------------------


def _lined_up(lo: L, node: Node, x: str) -> str:
    """The operand of a reduction with all reduced axes as one, the last."""
    axes, operand = node.attrs["axes"], node.operands[0]
    kept = [i for i in range(len(operand.shape)) if i not in axes]
    x = lo.transpose(x, [*kept, *axes])
    if len(axes) == 1:
        return x
    return lo.reshape(x, [*lo.dims_of(operand, kept), lo.product(lo.dims_of(operand, axes))])


def _reduce(kind: str, other: Rule, exact: Container[str] = FLOATS) -> Rule:
    """A reduction by an operator; of dtypes not in `exact`, by another rule over one axis."""

    def rule(lo: L, node: Node, x: str) -> Any:
        if node.dtype in exact:
            return lo.op(kind, x, lo.ints(*node.attrs["axes"]), keepdims=0)
        return other(lo, node, _lined_up(lo, node, x))

    return rule


def _integer_sum(lo: L, node: Node, x: str) -> Any:
    """The product with a column of ones. (ONNX Runtime takes no vector where there are no rows.)"""
    column = lo.joined([lo.op("Shape", x, start=-1), 1])
    ones = lo.op("Expand", lo.scalar(1, node.dtype), column)
    return lo.op("Squeeze", lo.op("MatMul", x, ones), lo.ints(-1))


def _integer_product(lo: L, node: Node, x: str) -> Any:
    """The last of the running products, which begin with 1."""
    rank = len(node.shape) + 1
    x = padded(lo, x, node.dtype, [0] * (rank - 1) + [1] + [0] * rank, 1)
    running = lo.op("CumProd", x, lo.scalar(rank - 1, "int64"))
    return lo.op("Gather", running, lo.scalar(-1, "int64"), axis=rank - 1)


def _extremum(kind: str, arg: str) -> Rule:
    def chosen(lo: L, node: Node, x: str) -> Any:
        """What ArgMax or ArgMin finds."""
        axis = len(node.shape)
        where = lo.op(arg, x, axis=axis, keepdims=1)
        found = lo.op("GatherElements", x, where, axis=axis)
        return lo.op("Squeeze", found, lo.ints(axis))

    plain = _reduce(kind, chosen, FLOATS | {"uint8", "int8", "int32"})

    def rule(lo: L, node: Node, x: str) -> Any:
        """The extremum, NaN where there's a NaN: the operator loses NaNs that aren't first."""
        found = plain(lo, node, x)
        if not node.dtype.is_float:
            return found
        spoilt = _extremum_of_bools(lo, "ReduceMax", lo.op("IsNaN", x), node.attrs["axes"])
        return lo.op("Where", spoilt, lo.scalar(np.nan, node.dtype), found)

    return rule


def _extremum_of_bools(lo: L, kind: str, x: str, axes: Sequence[int], some: bool = True) -> Any:
    """The maximum or minimum of bools; as integers, where there may not be `some` elements."""
    if some and lo.reduces_bools:
        return lo.op(kind, x, lo.ints(*axes), keepdims=0)
    return lo.cast(lo.op(kind, lo.cast(x, "uint8"), lo.ints(*axes), keepdims=0), "bool")


def _logic(kind: str) -> Rule:
    def rule(lo: L, node: Node, x: str) -> Any:
        axes, shape = node.attrs["axes"], node.operands[0].shape
        return _extremum_of_bools(lo, kind, x, axes, all(shape[i] for i in axes))

    return rule


def _argsort(lo: L, node: Node, x: str) -> Any:
    axis = node.attrs["axis"]
    count = lo.joined([lo.dim(node.operands[0], axis)])
    return lo.writer.ops("TopK", x, count, outputs=2, axis=axis, largest=0, sorted=1)[1]


def _cumulative(kind: str) -> Rule:
    def rule(lo: L, node: Node, x: str) -> Any:
        return lo.op(kind, x, lo.scalar(node.attrs["axis"], "int64"))

    return rule


RULES: dict[str, Rule] = {
    "size": _size,
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "iota": _iota,
    "transpose": _with("Transpose", "perm"),
    "slice": _slice,
    "unslice": _unslice,
    "reverse": _reverse,
    "pad": _pad,
    "concatenate": _with("Concat", "axis"),
    "softmax": _with("Softmax", "axis"),
    "log_softmax": _with("LogSoftmax", "axis"),
    "reduce_sum": _reduce("ReduceSum", _integer_sum),
    "reduce_prod": _reduce("ReduceProd", _integer_product),
    "reduce_max": _extremum("ReduceMax", "ArgMax"),
    "reduce_min": _extremum("ReduceMin", "ArgMin"),
    "reduce_any": _logic("ReduceMax"),
    "reduce_all": _logic("ReduceMin"),
    "argmax": _with("ArgMax", "axis", keepdims=0),
    "argmin": _with("ArgMin", "axis", keepdims=0),
    "argsort": _argsort,
    "cumsum": _cumulative("CumSum"),
    "cumprod": _cumulative("CumProd"),
}
