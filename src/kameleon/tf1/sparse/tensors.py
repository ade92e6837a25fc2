"""Sparse tensors: making them, to dense ones, and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...backend.sparse import sparse_dims, sparse_placeholder, to_dense
from ...backend.sparse_tensor import SparseTensor
from ...errors import ShapeError
from ...ir.context import context, unique_name
from ...ir.node import Node
from ...ir.types import as_dtype
from ...prims import sparse as parts
from ...prims.filling import full_like
from ...prims.indexing import argsort, nonzero, scatter_add
from ...prims.sizes import size_of
from ..arrays import ints_in
from ..calling import called
from ..elementwise import chosen
from ..shapes import TensorShape
from ..tensors import gather_nd

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
    if isinstance(shape, Node):
        sizes = tuple(dims_of_vector(shape, None))
    else:
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
    return with_default(x, to_dense(x), default_value, what)


def with_default(x: SparseTensor, dense: Any, default: Any, what: str) -> Any:
    if default is None or (not K.is_tensor(default) and default == 0):
        return dense
    ones = to_dense(valued(x, full_like(K.cast(x.values, "int32"), 1)))
    other = K.cast(as_tensor(default, what), dense.dtype)
    return chosen(K.greater(ones, 0), dense, other)


def valued(x: SparseTensor, values: Any) -> SparseTensor:
    """The same places with other values."""
    return SparseTensor(x.indices, values, x.dense_shape, x.shape, x.name)


def times_dense(operator: Callable[[Any, Any], Any]) -> Callable[[SparseTensor, Any], Any]:
    """An operator with a dense tensor, which is stretched to the sparse one's shape: the result has
    elements where the sparse one has them.
    """

    def apply(self: SparseTensor, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            return NotImplemented
        dense = as_tensor(other, "an operator of a sparse tensor", self.dtype)
        if dense.shape:
            columns = columns_of(self)[self.ndim - len(dense.shape) :]
            sized = zip(columns, dense.shape, strict=True)
            places = [full_like(c, 0) if size == 1 else c for c, size in sized]
            dense = gather_nd(dense, of_columns(places))
        return valued(self, operator(self.values, dense))

    return apply


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
    return with_default(x, to_dense(x), default_value, what)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, what: str) -> Any:
    """Which numbers below `vocab_size` the last axis holds."""
    x = sparse_of(sp_input, what)
    places = K.concatenate([x.indices[:, :-1], K.expand_dims(K.cast(x.values, "int64"), 1)], axis=1)
    dims = [*sparse_dims(x)[:-1], int(vocab_size)]
    ones = full_like(K.cast(x.values, "int32"), 1)
    return K.greater(parts.sparse_to_dense(places, ones, dims), 0)


# Order ----------------------------------------------------------------------------------------


def keys_of(indices: Any, dims: Sequence[Any]) -> Any:
    return parts.row_major(indices, dims)


def ordered(x: SparseTensor) -> SparseTensor:
    """With the elements in row-major order."""
    order = argsort(keys_of(x.indices, sparse_dims(x)), axis=0)
    moved = valued(x, K.gather(x.values, order))
    moved.indices = K.gather(x.indices, order)
    return moved


def grouped(indices: Any, dims: Sequence[Any]) -> tuple[Any, Any, Any]:
    """An order of elements, which group of equal places each then belongs to, and each's first."""
    keys = keys_of(indices, dims)
    order = argsort(keys, axis=0)
    sorted_keys = K.gather(keys, order)
    new = K.cast(K.not_equal(sorted_keys[1:], sorted_keys[:-1]), "int64")
    begins = K.concatenate([full_like(K.cast(sorted_keys[:1], "int64"), 1), new], axis=0)
    return order, K.cumsum(begins) - 1, nonzero(begins)[:, 0]


def merged(
    indices: Any, columns: Sequence[Any], dims: Sequence[Any], dense_shape: Any, shape: Any
) -> list[SparseTensor]:
    """Sparse tensors of some columns of values, those at one place added up."""
    order, group, first = grouped(indices, dims)
    places = K.gather(K.gather(indices, order), first)
    count = size_of(first, 0)
    sums = [scatter_add(K.gather(c, order), group, count, 0) for c in columns]
    return [made(places, s, dense_shape, shape) for s in sums]


# Columns ----------------------------------------------------------------------------------


def columns_of(x: SparseTensor) -> list[Any]:
    return [x.indices[:, i] for i in range(len(x.shape))]


def of_columns(columns: Sequence[Any]) -> Any:
    return K.stack([K.cast(c, "int64") for c in columns], axis=1)


PLAIN = {
    "SparseTensor": SparseTensorClass, "sparse.SparseTensor": SparseTensorClass,
    **called({
        "sparse_placeholder": placeholder,
        "sparse.from_dense": from_dense, "sparse.eye": sparse_eye,
        "sparse_tensor_to_dense": sparse_tensor_to_dense, "sparse_to_dense": sparse_to_dense,
        "sparse_to_indicator": sparse_to_indicator,
        "sparse_reorder": lambda sp_input, what: ordered(sparse_of(sp_input, what)),
    }),
}  # fmt: skip
