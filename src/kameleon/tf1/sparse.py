"""Sparse tensors of TensorFlow 1 over K's: indices, values and a dense shape, all in the graph.

Results have their elements in row-major order, as TensorFlow's have.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, promoted
from ..backend.sparse import sparse_dims, sparse_placeholder, to_dense
from ..backend.sparse_tensor import SparseTensor
from ..errors import ArgumentError, ShapeError
from ..ir.context import context, unique_name
from ..ir.node import Node
from ..ir.types import as_dtype, normalize_axes
from ..prims import elementwise as ew
from ..prims import sparse as parts
from ..prims.filling import full_like
from ..prims.indexing import argsort, nonzero, scatter_add
from ..prims.sizes import size_of
from .algebra import unsorted_segment_sum
from .arrays import ints_in, known
from .calling import called
from .elementwise import chosen
from .networks import look_up
from .sequences import segments
from .shapes import TensorShape
from .tensors import boolean_mask

# Making ---------------------------------------------------------------------------------------


class _Sparse(type):
    """Lets `isinstance(x, tf.SparseTensor)` ask for sparse tensors of K."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, SparseTensor)


class SparseTensorClass(metaclass=_Sparse):
    """`tf.SparseTensor(indices, values, dense_shape)` gives a sparse tensor of K.

    Args:
        indices: (count, rank), a row for each element.
        values: (count,).
        dense_shape: (rank,).

    >>> from kameleon import backend as K
    >>> x = SparseTensorClass([[0, 1], [1, 0]], [3., 4.], [2, 2])
    >>> K.eval(K.to_dense(x)).tolist()
    [[0.0, 3.0], [4.0, 0.0]]
    """

    def __new__(  # type: ignore[misc]
        cls, indices: Any, values: Any, dense_shape: Any
    ) -> SparseTensor:
        what = "tf.SparseTensor"
        index = K.cast(as_tensor(np.asarray(indices, "int64") if not K.is_tensor(indices)
                                 else indices, what), "int64")  # fmt: skip
        if len(index.shape) != 2:
            raise ShapeError(f"{what}: indices must have two axes, not {index!r}")
        return made(index, as_tensor(values, what), dense_shape)

    @staticmethod
    def from_value(value: Any) -> SparseTensor:
        """Of a `SparseTensorValue`, or of a sparse tensor."""
        return value if isinstance(value, SparseTensor) else SparseTensorClass(*value)


def made(indices: Any, values: Any, dense_shape: Any, shape: Any = None) -> SparseTensor:
    """A sparse tensor; its static shape is what's known of `dense_shape`."""
    if shape is None:
        shape = _static(dense_shape, indices.shape[1])
    if not K.is_tensor(dense_shape):
        dense_shape = np.asarray(dense_shape, "int64")
    sizes = K.cast(as_tensor(dense_shape, "tf.SparseTensor"), "int64")
    name = unique_name(context.scope + "SparseTensor") + ":0"
    return SparseTensor(indices, values, sizes, tuple(shape), name)


def _static(dense_shape: Any, rank: int | None) -> tuple[int | None, ...]:
    if K.is_tensor(dense_shape):
        found = dims_of_vector(dense_shape, rank)
    else:
        found = [int(n) for n in dense_shape]
    return tuple(found)


def dims_of_vector(vector: Any, rank: int | None) -> list[int | None]:
    """The elements of a vector that are known before it runs."""
    count = vector.shape[0] if rank is None else rank
    if count is None:
        raise ShapeError("tf.SparseTensor: the number of axes must be known")
    try:
        return list(ints_in(vector, "tf.SparseTensor"))
    except ShapeError:
        return [None] * count


def sparse_of(x: Any, what: str) -> SparseTensor:
    """A sparse tensor; also of a `SparseTensorValue`."""
    if isinstance(x, tuple) and len(x) == 3:
        return SparseTensorClass(*x)
    if not isinstance(x, SparseTensor):
        raise TypeError(f"{what}: expected a tf.SparseTensor, not {x!r}")
    return x


def placeholder(dtype: Any, shape: Any, name: Any) -> SparseTensor:
    """A sparse input, fed by a `SparseTensorValue` or a SciPy matrix; a matrix, without a shape."""
    sizes = (None, None) if shape is None else tuple(TensorShape(shape).as_list())
    return sparse_placeholder(sizes, as_dtype(dtype), name)


def from_dense(tensor: Any, what: str) -> SparseTensor:
    """The elements of a tensor that aren't 0."""
    x = as_tensor(tensor, what)
    at = nonzero(K.not_equal(x, 0))
    return made(at, parts.pick(x, at), K.shape(x), x.shape)


def sparse_eye(num_rows: Any, num_columns: Any, dtype: Any, what: str) -> SparseTensor:
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    index = np.arange(min(rows, columns), dtype="int64")
    values = K.ones((index.size,), dtype)
    return made(K.constant(np.stack([index] * 2, 1), "int64"), values, [rows, columns])


# To dense tensors -----------------------------------------------------------------------------


def sparse_tensor_to_dense(sp_input: Any, default_value: Any, what: str) -> Any:
    x = sparse_of(sp_input, what)
    return _with_default(x, to_dense(x), default_value, what)


def _with_default(x: SparseTensor, dense: Any, default: Any, what: str) -> Any:
    if default is None or (not K.is_tensor(default) and default == 0):
        return dense
    ones = to_dense(_valued(x, full_like(K.cast(x.values, "int32"), 1)))
    other = K.cast(as_tensor(default, what), dense.dtype)
    return chosen(K.greater(ones, 0), dense, other)


def _valued(x: SparseTensor, values: Any) -> SparseTensor:
    """The same places with other values."""
    return SparseTensor(x.indices, values, x.dense_shape, x.shape, x.name)


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, what: str
) -> Any:
    """A tensor with values at some indices: one, a vector of them, or a row for each."""
    index = K.cast(as_tensor(sparse_indices, what), "int64")
    index = K.reshape(index, (1, 1)) if not index.shape else index
    index = K.expand_dims(index, 1) if len(index.shape) == 1 else index
    values = as_tensor(sparse_values, what)
    if not values.shape:
        values = values + full_like(K.cast(index[:, 0], values.dtype), 0)
    x = made(index, values, output_shape)
    return _with_default(x, to_dense(x), default_value, what)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, what: str) -> Any:
    """Which numbers below `vocab_size` the last axis holds."""
    x = sparse_of(sp_input, what)
    places = K.concatenate([x.indices[:, :-1], K.expand_dims(K.cast(x.values, "int64"), 1)], axis=1)
    dims = [*sparse_dims(x)[:-1], int(vocab_size)]
    ones = full_like(K.cast(x.values, "int32"), 1)
    return K.greater(parts.sparse_to_dense(places, ones, dims), 0)


# Order ----------------------------------------------------------------------------------------


def _keys(indices: Any, dims: Sequence[Any]) -> Any:
    return parts.row_major(indices, dims)


def ordered(x: SparseTensor) -> SparseTensor:
    """With the elements in row-major order."""
    order = argsort(_keys(x.indices, sparse_dims(x)), axis=0)
    moved = _valued(x, K.gather(x.values, order))
    moved.indices = K.gather(x.indices, order)
    return moved


def _groups(indices: Any, dims: Sequence[Any]) -> tuple[Any, Any, Any]:
    """An order of elements, which group of equal places each then belongs to, and each's first."""
    keys = _keys(indices, dims)
    order = argsort(keys, axis=0)
    sorted_keys = K.gather(keys, order)
    new = K.cast(K.not_equal(sorted_keys[1:], sorted_keys[:-1]), "int64")
    begins = K.concatenate([full_like(K.cast(sorted_keys[:1], "int64"), 1), new], axis=0)
    return order, K.cumsum(begins) - 1, nonzero(begins)[:, 0]


def merged(
    indices: Any, columns: Sequence[Any], dims: Sequence[Any], dense_shape: Any, shape: Any
) -> list[SparseTensor]:
    """Sparse tensors of some columns of values, those at one place added up."""
    order, group, first = _groups(indices, dims)
    places = K.gather(K.gather(indices, order), first)
    count = size_of(first, 0)
    sums = [scatter_add(K.gather(c, order), group, count, 0) for c in columns]
    return [made(places, s, dense_shape, shape) for s in sums]


# Shapes ---------------------------------------------------------------------------------------


def _columns(x: SparseTensor) -> list[Any]:
    return [x.indices[:, i] for i in range(len(x.shape))]


def _of_columns(columns: Sequence[Any]) -> Any:
    return K.stack([K.cast(c, "int64") for c in columns], axis=1)


def sparse_transpose(sp_input: Any, perm: Any, what: str) -> SparseTensor:
    x = sparse_of(sp_input, what)
    axes = list(range(len(x.shape)))[::-1] if perm is None else ints_in(perm, what)
    columns, sizes = _columns(x), x.dense_shape
    indices = _of_columns([columns[a] for a in axes])
    shape = K.stack([sizes[a] for a in axes])
    return ordered(made(indices, x.values, shape, [x.shape[a] for a in axes]))


def sparse_reshape(sp_input: Any, shape: Any, what: str) -> SparseTensor:
    """The same elements in row-major order in another shape, one size of which may be -1."""
    x = sparse_of(sp_input, what)
    keys, whole = _keys(x.indices, sparse_dims(x)), K.prod(x.dense_shape)
    given = shape if not K.is_tensor(shape) else [shape[i] for i in range(known(shape, 0, what))]
    sizes = [n if K.is_tensor(n) else int(n) for n in given]
    others = [n for n in sizes if not (isinstance(n, int) and n == -1)]
    rest = whole // functools.reduce(operator.mul, others, K.constant(1, "int64"))
    dims = [rest if isinstance(n, int) and n == -1 else K.cast(K.constant(n, "int64")
            if isinstance(n, int) else n, "int64") for n in sizes]  # fmt: skip
    columns = []
    for size in reversed(dims):
        columns.append(keys % size)
        keys = keys // size
    known_sizes = [n if isinstance(n, int) and n >= 0 else None for n in sizes]
    return made(_of_columns(columns[::-1]), x.values, K.stack(dims), known_sizes)


def sparse_expand_dims(sp_input: Any, axis: Any, what: str) -> SparseTensor:
    x = sparse_of(sp_input, what)
    rank = len(x.shape)
    at = -1 if axis is None else int(axis)
    at = at + rank + 1 if at < 0 else at
    columns = _columns(x)
    columns.insert(at, full_like(columns[0], 0))
    sizes = [x.dense_shape[i] for i in range(rank)]
    sizes.insert(at, K.constant(1, "int64"))
    shape = [*x.shape[:at], 1, *x.shape[at:]]
    return made(_of_columns(columns), x.values, K.stack(sizes), shape)


def sparse_retain(sp_input: Any, to_retain: Any, what: str) -> SparseTensor:
    """Those elements for which a bool is True."""
    x = sparse_of(sp_input, what)
    held = as_tensor(to_retain, what)
    return made(boolean_mask(x.indices, held), boolean_mask(x.values, held), x.dense_shape, x.shape)


def sparse_slice(sp_input: Any, start: Any, size: Any, what: str) -> SparseTensor:
    """A part that begins at some place and has some size."""
    x = sparse_of(sp_input, what)
    begin, extent = (K.cast(as_tensor(v, what), "int64") for v in (start, size))
    ends = K.minimum(begin + extent, x.dense_shape)
    inside = ew.logical_and(K.greater_equal(x.indices, begin), K.less(x.indices, ends))
    held = K.all(inside, axis=1)
    sizes = K.maximum(ends - begin, full_like(ends, 0))
    places = boolean_mask(x.indices, held) - begin
    return made(places, boolean_mask(x.values, held), sizes, [None] * len(x.shape))


def sparse_split(sp_input: Any, num_split: Any, axis: Any, what: str) -> list[SparseTensor]:
    """Parts along an axis; the first ones are larger by 1, where the size isn't a multiple."""
    x, count = sparse_of(sp_input, what), int(num_split)
    (along,) = normalize_axes(what, int(axis), len(x.shape))
    whole = known(to_dense(x), along, what)
    sizes = [whole // count + (i < whole % count) for i in range(count)]
    found, at = [], 0
    for size in sizes:
        start = [at if i == along else 0 for i in range(len(x.shape))]
        extent = K.stack([
            K.constant(size, "int64") if i == along else x.dense_shape[i]
            for i in range(len(x.shape))
        ])  # fmt: skip
        part = sparse_slice(x, start, extent, what)
        part.shape = tuple(size if i == along else n for i, n in enumerate(x.shape))
        found.append(part)
        at += size
    return found


def sparse_concat(axis: int, sp_inputs: Any, what: str) -> SparseTensor:
    xs = [sparse_of(x, what) for x in sp_inputs]
    if len(xs) == 1:
        return xs[0]
    joined: Any = K.concatenate(xs, axis=int(axis))
    return ordered(joined)


def sparse_reset_shape(sp_input: Any, new_shape: Any, what: str) -> SparseTensor:
    """In a larger shape; in the smallest one that holds all elements, by default."""
    x = sparse_of(sp_input, what)
    if new_shape is not None:
        return made(x.indices, x.values, new_shape)
    return made(x.indices, x.values, K.max(x.indices, axis=0) + 1, [None] * len(x.shape))


# Sums and others ------------------------------------------------------------------------------


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
        return _valued(pair[0], function(pair[0].values, pair[1].values))

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
        columns = _columns(x)
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
        ones = _valued(x, full_like(K.cast(x.values, "int32"), 1))
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
    order, group, first = _groups(rows, sparse_dims(x)[:-1])
    values, count = K.gather(x.values, order), size_of(first, 0)
    largest = K.stop_gradient(segments(True, "max")(values, group, count, what))
    powers = ew.exp(values - K.gather(largest, group))
    shares = powers / K.gather(scatter_add(powers, group, count, 0), group)
    back = argsort(order, axis=0)
    return _valued(x, K.gather(shares, back))


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


# Rows by their numbers ------------------------------------------------------------------------


def sparse_mask(a: Any, mask_indices: Any, what: str) -> Any:
    """The rows of `tf.IndexedSlices` whose numbers aren't in a list."""
    out = as_tensor(mask_indices, what)
    held = K.any(K.equal(K.expand_dims(a.indices, 1), K.expand_dims(out, 0)), axis=1)
    kept = ew.logical_not(held)
    return type(a)(boolean_mask(a.values, kept), boolean_mask(a.indices, kept), a.dense_shape)


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, what: str) -> Any:
    """A matrix that has an element in each row, and which rows had none."""
    x = sparse_of(sp_input, what)
    count = sparse_dims(x)[0]
    found = scatter_add(full_like(K.cast(x.values, "int32"), 1), x.indices[:, 0], count, 0)
    empty = K.equal(found, 0)
    missing = nonzero(empty)
    places = K.concatenate([missing, full_like(missing, 0)], axis=1)
    fill = K.cast(as_tensor(default_value, what), x.values.dtype)
    values = fill + full_like(K.cast(missing[:, 0], x.values.dtype), 0)
    indices = K.concatenate([x.indices, places], axis=0)
    whole = made(indices, K.concatenate([x.values, values], axis=0), x.dense_shape, x.shape)
    return ordered(whole), empty


def sparse_merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, already_sorted: bool, what: str
) -> SparseTensor:
    """Values at places whose last axis is what another sparse tensor holds there."""
    ids, values = sparse_of(sp_ids, what), sparse_of(sp_values, what)
    places = [ids.indices[:, :-1], K.expand_dims(K.cast(ids.values, "int64"), 1)]
    size = K.constant([int(vocab_size)], "int64")
    shape = K.concatenate([ids.dense_shape[:-1], size], axis=0)
    found = made(
        K.concatenate(places, axis=1), values.values, shape, [*ids.shape[:-1], int(vocab_size)]
    )
    return found if already_sorted else ordered(found)


COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda weights, squares: full_like(weights, 1),
    "mean": lambda weights, squares: weights,
    "sqrtn": lambda weights, squares: K.sqrt(squares),
}


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: Any, max_norm: Any, what: str
) -> Any:
    """For each row of numbers the sum, or a mean, of the rows of a matrix with these numbers."""
    ids = sparse_of(sp_ids, what)
    combiner = combiner or "mean"
    if combiner not in COMBINERS:
        raise ArgumentError(f"{what}: combiner is {combiner!r}; there are {', '.join(COMBINERS)}")
    rows = look_up(params, ids.values, "mod", max_norm, what)
    at = ids.indices[:, 0]
    weights = full_like(rows[:, 0], 1) if sp_weights is None else K.cast(
        sparse_of(sp_weights, what).values, rows.dtype)  # fmt: skip
    count = K.cast(K.max(at), "int32") + 1
    total = scatter_add(rows * K.expand_dims(weights, 1), at, count, 0)
    sums = [scatter_add(w, at, count, 0) for w in (weights, K.square(weights))]
    whole = K.expand_dims(COMBINERS[combiner](*sums), 1)
    if sp_weights is not None:
        return total / whole  # TensorFlow's 0 / 0, of a row without numbers, is NaN
    nothing = K.equal(whole, 0.0)
    shares = total / chosen(nothing, full_like(whole, 1), whole)
    return chosen(nothing, full_like(shares, 0), shares)


PLAIN = {
    "SparseTensor": SparseTensorClass, "sparse.SparseTensor": SparseTensorClass,
    **called({
        "sparse_placeholder": placeholder,
        "sparse.from_dense": from_dense, "sparse.eye": sparse_eye,
        "sparse_tensor_to_dense": sparse_tensor_to_dense, "sparse_to_dense": sparse_to_dense,
        "sparse_to_indicator": sparse_to_indicator,
        "sparse_reorder": lambda sp_input, what: ordered(sparse_of(sp_input, what)),
        "sparse_transpose": sparse_transpose, "sparse_reshape": sparse_reshape,
        "sparse.expand_dims": sparse_expand_dims, "sparse_retain": sparse_retain,
        "sparse_slice": sparse_slice, "sparse_split": sparse_split, "sparse_concat": sparse_concat,
        "sparse_reset_shape": sparse_reset_shape, "sparse_add": sparse_add,
        "sparse_maximum": _either(K.maximum), "sparse_minimum": _either(K.minimum),
        "sparse_reduce_sum": _reduced(False), "sparse_reduce_max": _reduced(True),
        "sparse_reduce_sum_sparse": _reduced_sparse(False),
        "sparse_reduce_max_sparse": _reduced_sparse(True), "sparse_softmax": sparse_softmax,
        "sparse_tensor_dense_matmul": sparse_tensor_dense_matmul, "sparse_matmul": sparse_matmul,
        "sparse_mask": sparse_mask, "sparse_fill_empty_rows": sparse_fill_empty_rows,
        "sparse_merge": sparse_merge, "nn.embedding_lookup_sparse": embedding_lookup_sparse,
    }),
}  # fmt: skip
