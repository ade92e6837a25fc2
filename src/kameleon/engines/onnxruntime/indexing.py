"""Lowering rules of primitives that pick or place elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.ir.node import Node
from ...graph.primitives.constants import known_array
from .._lowering import Rule
from .lowering import OnnxLowering

L = OnnxLowering
# Primitives whose results are never negative, and those that keep the elements of an index.
NEVER_NEGATIVE = {"iota", "argsort", "argmax", "argmin", "size"}
SAME_ELEMENTS = {"reshape", "broadcast_to", "slice", "cast", "transpose", "reverse"}


# Indices -----------------------------------------------------------------------------------


def _index(lo: L, index: Node) -> str:
    """Indices for ONNX, which counts negative ones from the end: these become the greatest int."""
    x: str = lo.value(index)
    if index.dtype not in ("int32", "int64"):
        x = lo.cast(x, "int64")
    if _is_plain(index):
        return x
    dtype = "int32" if index.dtype == "int32" else "int64"
    none = lo.scalar(np.iinfo(dtype).max, dtype)
    return lo.op("Where", lo.op("Less", x, lo.scalar(0, dtype)), none, x)


def _wide_index(lo: L, index: Node) -> str:
    """Indices for ONNX, as int64: see `_index`."""
    x = _index(lo, index)
    return lo.cast(x, "int64") if index.dtype == "int32" else x


def _is_plain(index: Node) -> bool:
    """Whether provably no index is negative."""
    known = known_array(index)
    if known is not None:
        return bool((known >= 0).all())
    while index.primitive.name in SAME_ELEMENTS and index.dtype in ("int32", "int64"):
        index = index.operands[0]
    unsigned = index.dtype.kind == "unsigned" and index.dtype.itemsize < 8
    return unsigned or index.primitive.name in NEVER_NEGATIVE


def _gather(lo: L, node: Node, x: str, index: str) -> Any:
    return lo.op("Gather", x, _index(lo, node.operands[1]), axis=node.attrs["axis"])


def _take_along(lo: L, node: Node, x: str, index: str) -> Any:
    where = _wide_index(lo, node.operands[1])
    return lo.op("GatherElements", x, where, axis=node.attrs["axis"])


def _scatter_add(lo: L, node: Node, g: str, index: str, *sizes: str) -> Any:
    axis, operand, at = node.attrs["axis"], node.operands[0], node.operands[1]
    rank, count = len(operand.shape), len(at.shape)
    middle = range(axis, axis + count)
    others = [i for i in range(rank) if i not in middle]
    where = lo.op("Unsqueeze", _wide_index(lo, at), lo.ints(-1))
    dims = [*lo.dims(node), *lo.dims_of(operand, others)]
    zeros, g = lo.filled(0, node.dtype, dims), lo.transpose(g, [*middle, *others])
    total = lo.op("ScatterND", zeros, where, g, reduction="add")
    return lo.transpose(total, [*range(1, axis + 1), 0, *range(axis + 1, len(dims))])


def _put_along(lo: L, node: Node, g: str, index: str, *sizes: str) -> Any:
    axis, (a, b) = node.attrs["axis"], node.operands[:2]
    dims = lo.dims_of(a, range(len(a.shape)))
    (dims[axis],) = lo.dims(node)
    where, zeros = _wide_index(lo, b), lo.filled(0, node.dtype, dims)
    return lo.op("ScatterElements", zeros, where, g, axis=axis, reduction="add")


def _minus_one_hot(lo: L, node: Node, p: str, labels: str) -> Any:
    axis = node.attrs["axis"]
    where = lo.op("Unsqueeze", _wide_index(lo, node.operands[1]), lo.ints(axis))
    less = lo.op("Expand", lo.scalar(-1, node.dtype), lo.op("Shape", where))
    return lo.op("ScatterElements", p, where, less, axis=axis, reduction="add")


def _nonzero(lo: L, node: Node, x: str) -> Any:
    x = x if node.operands[0].dtype.is_bool else lo.cast(x, "bool")
    return lo.op("Transpose", lo.op("NonZero", x), perm=[1, 0])


RULES: dict[str, Rule] = {
    "gather": _gather,
    "take_along": _take_along,
    "scatter_add": _scatter_add,
    "put_along": _put_along,
    "minus_one_hot": _minus_one_hot,
    "nonzero": _nonzero,
}
