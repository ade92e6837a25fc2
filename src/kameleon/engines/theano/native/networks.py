"""Products of matrices, functions of rows that PyTensor has operations for, and decoding."""

from __future__ import annotations

import pytensor.tensor as pt
from pytensor.tensor.special import log_softmax, softmax

from ....graph.ir.node import Node
from ....graph.primitives.linalg import lie_transposed
from ..._lowering import Rule
from . import ops
from .lowering import NativeLowering, Value, along, over

L = NativeLowering


def _contract(low: L, node: Node, a: Value, b: Value) -> Value:
    lead = len(node.attrs["batch"][0])
    first, second = lie_transposed(node)
    a, b = (pt.matrix_transpose(x) if t else x for x, t in ((a, first), (b, second)))
    return pt.matmul(a, b) if lead else pt.dot(a, b)


def _crossentropy(low: L, node: Node, x: Value, p: Value, t: Value) -> Value:
    """By PyTensor's own logarithm of softmax(x), whose gradient PyTensor knows."""
    axis, dtype = node.attrs["axis"], str(node.dtype)
    terms = pt.mul(t, log_softmax(x, axis=axis))
    return pt.neg(pt.sum(terms, axis=axis, dtype=dtype, acc_dtype=dtype))


def _sparse_crossentropy(low: L, node: Node, x: Value, p: Value, label: Value) -> Value:
    axis = node.attrs["axis"]
    index = pt.expand_dims(pt.cast(label, "int64"), axis)
    found = along(log_softmax(x, axis=axis), index, axis)
    return pt.neg(pt.squeeze(found, axis))


def _decoded(low: L, node: Node, scores: Value, lengths: Value) -> tuple[Value, ...]:
    width, paths = node.attrs.get("beam_width", 0), node.attrs.get("top_paths", 1)
    return tuple(ops.Decoding(width, paths)(scores, lengths))


RULES: dict[str, Rule] = {
    "contract": _contract,
    "softmax": over(softmax, "axis"),
    "log_softmax": over(log_softmax, "axis"),
    "softmax_crossentropy": _crossentropy,
    "sparse_softmax_crossentropy": _sparse_crossentropy,
    **dict.fromkeys(("ctc_greedy", "ctc_beam_search"), _decoded),
}
