"""Sparse tensors: made, fed, made dense, multiplied, joined.

Values come and go as SciPy sparse matrices; SciPy is imported when one is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import FeedError, MissingLibraryError, ShapeError
from ..graph.ir.context import context, unique_name
from ..graph.ir.leaves import input_node
from ..graph.ir.node import Node
from ..graph.ir.types import INT64, DType, Shape, TensorType, join_dims, normalize_axis, show_shape
from ..graph.primitives import sparse as parts
from ..graph.primitives.control import check
from ..graph.primitives.elementwise import add, constant, eq
from ..graph.primitives.movement import broadcast_to, concatenate, reshape, slice_axis, stack
from ..graph.primitives.sizes import Size, dims_of, size_of
from ..runtime.feeds import as_numpy
from ..runtime.state import variable_of
from ._tensors import Tensor, TensorLike, promoted
from .sparse_tensor import SparseTensor

__all__ = ["is_sparse", "to_dense"]


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is sparse.

    Args:
        tensor: anything.

    >>> from kameleon import backend as K
    >>> K.is_sparse(K.placeholder((2, 2))), K.is_sparse(K.placeholder((2, 2), sparse=True))
    (False, True)
    """
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: TensorLike) -> Tensor:
    """A sparse tensor as a dense one.

    Args:
        tensor: a tensor, sparse or not.

    Returns:
        A dense tensor of the same shape; a dense tensor itself.

    >>> import numpy as np
    >>> from kameleon import backend as K
    >>> x = K.placeholder((2, 3), sparse=True)
    >>> f = K.function([x], [K.to_dense(x)])
    >>> f([np.array([[0., 5., 0.], [6., 0., 0.]])])[0]
    array([[0., 5., 0.],
           [6., 0., 0.]], dtype=float32)
    """
    if not isinstance(tensor, SparseTensor):
        return tensor  # type: ignore[no-any-return]
    return parts.sparse_to_dense(tensor.indices, tensor.values, sparse_dims(tensor))


# Making ------------------------------------------------------------------------------------


def _part_types(shape: Shape, dtype: DType) -> tuple[TensorType, TensorType, TensorType]:
    """Types of indices, values and dense shape; the number of elements is always unknown."""
    rank = len(shape)
    return (
        TensorType((None, rank), INT64),
        TensorType((None,), dtype),
        TensorType((rank,), INT64),
    )


PART_NAMES = ("indices", "values", "shape")


def sparse_placeholder(shape: Shape, dtype: DType, name: str | None = None) -> SparseTensor:
    """A sparse tensor whose three parts are inputs."""
    label = unique_name(context.scope + (name or "Placeholder"))
    pairs = zip(_part_types(shape, dtype), PART_NAMES, strict=True)
    nodes = [input_node(type, f"{label}/{part}") for type, part in pairs]
    for node in nodes:
        node.effects = ()
    return SparseTensor(nodes[0], nodes[1], nodes[2], shape, label + ":0")


def sparse_variable(value: Any, dtype: DType, name: str | None = None) -> SparseTensor:
    """A sparse tensor whose three parts are variables, with the elements of a SciPy matrix."""
    shape = tuple(map(int, value.shape))
    label = unique_name(context.scope + (name or "Variable"))
    indices, values, dense_shape = elements_of(value)
    arrays = (indices, values.astype(dtype), dense_shape)
    rows = zip(arrays, PART_NAMES, _part_types(shape, dtype), strict=True)
    nodes = [variable_of(array, f"{label}/{part}", type) for array, part, type in rows]
    return SparseTensor(nodes[0], nodes[1], nodes[2], shape, label + ":0")


# Values ------------------------------------------------------------------------------------


def elements_of(matrix: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """Indices in row-major order, values and shape of a SciPy matrix, or of a dense array."""
    if not hasattr(matrix, "tocoo"):
        array = np.asarray(as_numpy(matrix))
        indices = np.argwhere(array)
        return indices, array[tuple(indices.T)], np.array(array.shape, np.int64)
    shape = np.array(matrix.shape, np.int64)
    if matrix.ndim != 2:
        matrix = matrix.tocoo()
        return _side_by_side(matrix.coords), matrix.data, shape
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the user's matrix stays as it is
        matrix.sum_duplicates()
    starts = matrix.indptr
    rows = np.repeat(np.arange(starts.size - 1, dtype=starts.dtype), np.diff(starts))
    return _side_by_side((rows, matrix.indices)), matrix.data, shape


def _side_by_side(columns: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Columns as an array (count, len(columns)) in column-major order, because kernels read one
    column after the other.
    """
    return np.array(columns, np.int64).T


def feed_parts(matrix: Any, sparse: SparseTensor) -> list[np.ndarray[Any, Any]]:
    """What a sparse placeholder's three parts are fed with.

    Args:
        matrix: a SciPy sparse matrix or array, or a dense array.
        sparse: the placeholder.

    Raises:
        FeedError: the shape is another one than the placeholder's.
    """
    indices, values, dense_shape = elements_of(matrix)
    given = tuple(dense_shape.tolist())
    if not TensorType(sparse.shape, sparse.dtype).accepts(given):
        raise FeedError(
            f"input '{sparse.name}' has shape {show_shape(sparse.shape)}, the sparse value given"
            f" for it {given}"
        )
    return [indices, values, dense_shape]


def to_scipy(values: Sequence[Any]) -> Any:
    """The value of a sparse tensor from those of its three parts.

    Returns:
        A `scipy.sparse.csr_matrix`; a dense array for other than 2 axes, and for float16, of
        which SciPy has no matrices.

    Raises:
        MissingLibraryError: SciPy isn't installed.
    """
    indices, elements, dense_shape = values
    shape = tuple(map(int, dense_shape))
    if len(shape) != 2 or elements.dtype == np.float16:
        dense = np.zeros(shape, elements.dtype)
        np.add.at(dense, tuple(indices.T), elements)
        return dense
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise MissingLibraryError(
            "the value of a sparse tensor is a SciPy matrix, and SciPy isn't installed: pip"
            " install scipy; or make the tensor dense: K.to_dense(x)"
        ) from error
    return csr_matrix((elements, tuple(indices.T)), shape=shape)


# Computing ---------------------------------------------------------------------------------


def sparse_dims(x: SparseTensor) -> list[Size]:
    """The sizes of all axes."""
    return [
        reshape(slice_axis(x.dense_shape, 0, axis, axis + 1), ()) if dim is None else dim
        for axis, dim in enumerate(x.shape)
    ]


def sparse_dot(x: SparseTensor, y: Node) -> Tensor:
    """The product of a sparse matrix (m, k) and a dense one (k, n).

    Raises:
        ShapeError: one of them isn't a matrix, or their sizes differ.
    """
    if len(x.shape) != 2 or len(y.shape) != 2:
        raise ShapeError(
            f"dot: a sparse matrix and a dense one were expected, got shapes"
            f" {show_shape(x.shape)} and {show_shape(y.shape)}"
        )
    try:
        join_dims(x.shape[1], y.shape[0])
    except ValueError:
        raise ShapeError(
            f"dot: the columns of x, shape {show_shape(x.shape)}, don't match the rows of y,"
            f" shape {show_shape(y.shape)}"
        ) from None
    values, y = promoted((x.values, y), "dot")
    if None in (x.shape[1], y.shape[0]):
        columns, rows = (parts.as_int64(d) for d in (sparse_dims(x)[1], size_of(y, 0)))
        message = "dot: x has more or fewer columns than y has rows"
        values = check(values, eq(columns, rows), message=message)
    return parts.sparse_dense_dot(x.indices, values, y, sparse_dims(x)[0])


def sparse_concatenate(tensors: Sequence[SparseTensor], axis: int) -> SparseTensor:
    """Sparse tensors joined along an axis.

    Raises:
        ShapeError: the tensors differ in their number of axes, or in the size of another axis.
    """
    values = promoted([x.values for x in tensors], "concatenate")
    axis = normalize_axis("concatenate", axis, len(tensors[0].shape))
    models = [input_node(TensorType(x.shape, values[0].dtype)) for x in tensors]
    shape = concatenate(models, axis).shape  # dense tensors of these shapes meet the same checks
    dims = [[parts.as_int64(d) for d in sparse_dims(x)] for x in tensors]
    offset, indices = constant(0, INT64), []
    for x, sizes in zip(tensors, dims, strict=True):
        indices.append(_moved(x.indices, axis, offset))
        offset = add(offset, sizes[axis])
    joined = [_agreed(sizes) for sizes in zip(*dims, strict=True)]
    joined[axis] = offset
    return SparseTensor(
        concatenate(indices, 0),
        concatenate(values, 0),
        stack(joined, 0),
        shape,
        unique_name(context.scope + "SparseConcat") + ":0",
    )


def _moved(indices: Node, axis: int, offset: Node) -> Node:
    """Indices with `offset` added along one axis of the dense tensor."""
    zero = constant(0, INT64)
    row = stack([offset if i == axis else zero for i in range(indices.shape[1] or 0)], 0)
    return add(indices, broadcast_to(row, dims_of(indices)))


def _agreed(sizes: Sequence[Node]) -> Node:
    """The first of sizes that are taken as equal, with a check of that at run time."""
    first, *others = sizes
    for other in others:
        message = "concatenate: the sparse tensors differ in the size of another axis"
        first = check(first, eq(first, other), message=message)
    return first
