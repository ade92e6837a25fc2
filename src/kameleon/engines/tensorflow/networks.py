"""Lowering rules of products of matrices, of softmax and of the crossentropies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...graph.ir.node import Node
from ...graph.primitives.linalg import is_of_matrices, lie_transposed
from .._lowering import Rule
from .kernels import (
    Tensor,
    along_last,
    cast,
    constant,
    in_rows,
    index_dtype,
    raw,
    reshaped,
    shape_of,
    transposed,
    vector,
)
from .lowering import Tracing


def contract(e: Tracing, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices, or of batches of them, in step.

    TensorFlow fuses `MatMul` with a term that is added to it, and oneDNN then ends the process
    where there's nothing to sum over. So `MatMul` isn't used where that size is unknown.
    """
    x, flips = node.operands[0], lie_transposed(node)
    if node.attrs["batch"][0] or x.shape[node.attrs["over"][0][0]] is None:
        return raw.BatchMatMulV2(x=a, y=b, adj_x=flips[0], adj_y=flips[1])
    return raw.MatMul(a=a, b=b, transpose_a=flips[0], transpose_b=flips[1])


def _softmax(x: Tensor) -> Tensor:
    """The kernel's, but rows with NaN or infinity become NaN: oneDNN leaves zeros in such rows."""
    found = raw.Softmax(logits=x)
    if x.dtype == tf.float64:  # oneDNN doesn't compute in it
        return found
    total = raw.Sum(input=found, axis=[-1], keep_dims=True)
    spoilt = raw.IsNan(x=total)
    some = raw.Any(input=spoilt, axis=list(range(len(x.shape))))
    spread = lambda: raw.SelectV2(condition=spoilt, t=total, e=found)  # noqa: E731
    rows = tf.cond(some, spread, lambda: raw.Identity(input=found))
    rows.set_shape(found.shape)
    return rows


def _log_softmax(x: Tensor) -> Tensor:
    return raw.LogSoftmax(logits=x)


def rowwise(function: Callable[[Tensor], Tensor]) -> Rule:
    """A kernel that works along the last axis."""
    return lambda e, node, x: along_last(in_rows(function), node.attrs["axis"], x)


def _losses(loss: Tensor, like: Tensor, axis: int) -> Tensor:
    """Losses of rows in the shape of `like` without `axis`."""
    dims = shape_of(like)
    return loss if len(dims) == 2 else reshaped(loss, [d for i, d in enumerate(dims) if i != axis])


def sparse_crossentropy(e: Tracing, node: Node, x: Tensor, p: Tensor, labels: Tensor) -> Tensor:
    """The kernel's second result is p with 1 taken off at the labels."""
    axis, rank = node.attrs["axis"], len(x.shape)
    _, given, where = node.operands
    kept = [i for i in range(rank) if i != axis]
    index = index_dtype(labels)
    rows, flat = transposed(x, [*kept, axis]), index
    if rank != 2:
        rows, flat = reshaped(rows, [-1, shape_of(rows)[-1]]), reshaped(index, [-1])
    both = raw.SparseSoftmaxCrossEntropyWithLogits(features=rows, labels=flat)
    if rank == 2 and axis == 1:
        e.losses[given, where, axis] = both.backprop
    return _losses(both.loss, x, axis)


def minus_one_hot(e: Tracing, node: Node, p: Tensor, labels: Tensor) -> Tensor:
    axis = node.attrs["axis"]
    source, where = node.operands
    if (source, where, axis) in e.losses:
        return e.losses[source, where, axis]
    index, size = index_dtype(labels), e.size(p, axis)
    one, zero = constant(1, p.dtype), constant(0, p.dtype)
    hot = raw.OneHot(indices=index, depth=size, on_value=one, off_value=zero, axis=axis)
    return raw.Sub(x=p, y=hot)


def sparse_dot(
    e: Tracing, node: Node, indices: Tensor, values: Tensor, y: Tensor, *sizes: Tensor
) -> Tensor:
    shape = cast(vector([*e.dims(node), e.size(y, 0)]), "int64")
    return raw.SparseTensorDenseMatMul(
        a_indices=index_dtype(indices), a_values=values, a_shape=shape, b=y
    )


def is_single_or_double(node: Node) -> bool:
    return node.dtype in ("float32", "float64")


def of_floats(node: Node) -> bool:
    return bool(node.operands[0].dtype.is_float)


RULES: dict[str, Rule] = {
    "contract": contract,
    "softmax": rowwise(_softmax),
    "log_softmax": rowwise(_log_softmax),
    "sparse_softmax_crossentropy": sparse_crossentropy,
    "minus_one_hot": minus_one_hot,
    "sparse_dense_dot": sparse_dot,
}
WHERE: dict[str, Any] = {
    **dict.fromkeys(RULES, of_floats),
    "contract": is_of_matrices,
    "sparse_dense_dot": is_single_or_double,
}
