"""Sums of sparse tensors, largest elements, softmax, products."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor, promoted
from ...backend.sparse import sparse_dims, to_dense
from ...backend.sparse_tensor import SparseTensor
from ...ir.node import Node
from ...ir.types import normalize_axes
from ...prims import elementwise as ew
from ...prims import sparse as parts
from ...prims.filling import full_like
from ...prims.indexing import argsort, nonzero, scatter_add
from ...prims.sizes import size_of
from ..algebra import unsorted_segment_sum
from ..calling import called
from ..elementwise import chosen
from ..sequences import segments
from .movement import sparse_retain, sparse_transpose
from .tensors import columns_of, grouped, made, merged, sparse_of, valued


def sparse_add(a: Any, b: Any, threshold: Any, thresh: Any, what: str) -> Any:
    """The sum; sparse, if both are.

    Args:
        threshold: of elements that both have, smaller sums are left out, as in TensorFlow.
    """
    least = thresh if threshold is None else threshold
    if not (K.is_sparse(a) and K.is_sparse(b)):
        sparse, dense = (a, b) if K.is_sparse(a) else (b, a)
        x, y = sparse_of(sparse, what), as_tensor(dense, what)
        return y + to_dense(x)
    values = promoted((a.values, b.values), what)
    indices = K.concatenate([a.indices, b.indices], axis=0)
    column = K.concatenate(values, axis=0)
    ones = full_like(K.cast(column, "int32"), 1)
    pair = merged(indices, [column, ones], sparse_dims(a), a.dense_shape, a.shape)
    found, times = pair[0], pair[1].values
    if least is None or (not K.is_tensor(least) and least == 0):
        return found
    large = K.greater_equal(K.abs(found.values), least)
    return sparse_retain(found, ew.logical_or(large, K.equal(times, 1)), what)


def _either(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Of two sparse tensors element by element; what one of them lacks is 0."""

    def call(sp_a: Any, sp_b: Any, what: str) -> SparseTensor:
        a, b = sparse_of(sp_a, what), sparse_of(sp_b, what)
        x, y = promoted((a.values, b.values), what)
        indices = K.concatenate([a.indices, b.indices], axis=0)
        first = K.concatenate([x, full_like(y, 0)], axis=0)
        second = K.concatenate([full_like(x, 0), y], axis=0)
        pair = merged(indices, [first, second], sparse_dims(a), a.dense_shape, a.shape)
        return valued(pair[0], function(pair[0].values, pair[1].values))

    return call


def _kept(x: SparseTensor, axis: Any, what: str) -> list[int]:
    rank = len(x.shape)
    gone = range(rank) if axis is None else normalize_axes(what, axis, rank)
    return [i for i in range(rank) if i not in gone]


def _reduced(largest: bool) -> Callable[..., Any]:
    """Sums (or the largest) of the elements along axes, 0 where there are none; dense."""

    def call(sp_input: Any, axis: Any, keepdims: Any, what: str) -> Any:
        x = sparse_of(sp_input, what)
        kept, dims = _kept(x, axis, what), sparse_dims(x)
        if not largest:
            gone = [i for i in range(len(x.shape)) if i not in kept]
            return K.sum(to_dense(x), gone, bool(keepdims)) if gone else to_dense(x)
        sizes = [dims[i] for i in kept]
        count = functools.reduce(operator.mul, sizes, 1)
        columns = columns_of(x)
        at = full_like(columns[0], 0)
        for i in kept:
            at = at * K.cast(as_tensor(dims[i], what), "int64") + columns[i]
        found = segments(True, "max")(x.values, at, _int32(count), what)
        there = unsorted_segment_sum(full_like(K.cast(at, "int32"), 1), at, _int32(count))
        found = chosen(K.greater(there, 0), found, full_like(found, 0))
        if keepdims:
            sizes = [dims[i] if i in kept else 1 for i in range(len(x.shape))]
        return K.reshape(found, [_int32(n) for n in sizes])

    return call


def _int32(size: Any) -> Any:
    return K.cast(size, "int32") if isinstance(size, Node) else size


def _reduced_sparse(largest: bool) -> Callable[..., Any]:
    """As `_reduced`, with the elements alone that there are; sparse."""
    dense = _reduced(largest)

    def call(sp_input: Any, axis: Any, keepdims: Any, what: str) -> SparseTensor:
        x = sparse_of(sp_input, what)
        ones = valued(x, full_like(K.cast(x.values, "int32"), 1))
        total, there = (
            f(v, axis, keepdims, what) for f, v in ((dense, x), (_reduced(False), ones))
        )
        places = nonzero(K.not_equal(there, 0))
        return made(places, parts.pick(total, places), K.shape(total), total.shape)

    return call


def sparse_softmax(sp_input: Any, what: str) -> SparseTensor:
    """The softmax of the elements of each row that there are."""
    x = sparse_of(sp_input, what)
    rows = x.indices[:, :-1]
    order, group, first = grouped(rows, sparse_dims(x)[:-1])
    values, count = K.gather(x.values, order), size_of(first, 0)
    largest = K.stop_gradient(segments(True, "max")(values, group, count, what))
    powers = ew.exp(values - K.gather(largest, group))
    shares = powers / K.gather(scatter_add(powers, group, count, 0), group)
    back = argsort(order, axis=0)
    return valued(x, K.gather(shares, back))


# Products -------------------------------------------------------------------------------------


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool, adjoint_b: bool, what: str
) -> Any:
    """The product of a sparse matrix and a dense one, each perhaps transposed."""
    x = sparse_of(sp_a, what)
    x = sparse_transpose(x, None, what) if adjoint_a else x
    y = K.transpose(as_tensor(b, what)) if adjoint_b else as_tensor(b, what)
    return K.dot(x, y)


def sparse_matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool, what: str) -> Any:
    """The product of dense matrices that hold many zeros."""
    x, y = promoted((a, b), what)
    return K.dot(K.transpose(x) if transpose_a else x, K.transpose(y) if transpose_b else y)


PLAIN = called({
    "sparse_add": sparse_add,
    "sparse_maximum": _either(K.maximum), "sparse_minimum": _either(K.minimum),
    "sparse_reduce_sum": _reduced(False), "sparse_reduce_max": _reduced(True),
    "sparse_reduce_sum_sparse": _reduced_sparse(False),
    "sparse_reduce_max_sparse": _reduced_sparse(True), "sparse_softmax": sparse_softmax,
    "sparse_tensor_dense_matmul": sparse_tensor_dense_matmul, "sparse_matmul": sparse_matmul,
})  # fmt: skip
