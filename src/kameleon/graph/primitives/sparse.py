"""Sparse tensors as dense parts: indices (count, rank), values (count,), and the dense shape.

Elements that occur more than once add up; their order doesn't matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DTypeError, ShapeError
from ..ir.node import Node, Primitive
from ..ir.types import INT64, Dim, Shape, TensorType, join_shapes, show_shape
from .elementwise import add, cast, constant, mul
from .indexing import gather, scatter_add, within
from .movement import broadcast_to, reshape, slice_axis
from .sizes import Size, dims_of, merged, size_of, sizes_product, split, stated_dims


def _check_parts(what: str, indices: Node, values: Node, rank: int) -> None:
    if len(indices.shape) != 2 or indices.shape[1] != rank or not indices.dtype.is_integer:
        raise ShapeError(f"{what}: indices must be integers of shape (count, {rank}): {indices!r}")
    if len(values.shape) != 1:
        raise ShapeError(f"{what}: values must have shape (count,), not {values.shape}")
    join_shapes(indices.shape[:1], values.shape, f"{what}: indices and values")


def column(indices: Node, axis: int) -> Node:
    """The indices along one axis of the dense tensor: (count,)."""
    return reshape(slice_axis(indices, 1, axis, axis + 1), dims_of(indices)[:1])


def as_int64(size: Size) -> Node:
    """A size as an int64 scalar."""
    return cast(size, INT64) if isinstance(size, Node) else constant(size, INT64)


def row_major(indices: Node, dims: Sequence[Size]) -> Node:
    """Where the elements lie in the row-major order of a tensor of shape `dims`: int64 (count,)."""
    flat = cast(column(indices, 0), INT64)
    for axis, dim in enumerate(dims[1:], 1):
        flat = mul(flat, broadcast_to(as_int64(dim), dims_of(flat)))
        flat = add(flat, cast(column(indices, axis), INT64))
    return flat


def pick(x: Node, indices: Node) -> Node:
    """The elements of `x` at `indices` (count, rank): (count,)."""
    return gather(reshape(x, [-1]), row_major(indices, dims_of(x)), 0)


# To a dense tensor -------------------------------------------------------------------------


def _infer_dense(indices: Node, values: Node, *sizes: Node, shape: Shape) -> TensorType:
    _check_parts("to_dense", indices, values, len(shape))
    return TensorType(shape, values.dtype)


def _expand_dense(indices: Node, values: Node, *sizes: Node, shape: Shape) -> Node:
    dims = merged(shape, sizes)
    indices = within(indices, tuple(dims), "sparse_to_dense")
    flat = scatter_add(values, row_major(indices, dims), sizes_product(dims), 0)
    return reshape(flat, dims)


_sparse_to_dense = Primitive(
    "sparse_to_dense",
    _infer_dense,
    "zeros of `shape` to which the values are added at the indices; an index outside is an error",
    expand=_expand_dense,
    title="SparseToDense",
    index=0,
)


def sparse_to_dense(indices: Node, values: Node, dims: Sequence[Size]) -> Node:
    """A dense tensor of shape `dims`."""
    shape, sizes = split(dims)
    return _sparse_to_dense(indices, values, *sizes, shape=shape)


# Product with a dense matrix ---------------------------------------------------------------


def _infer_dot(indices: Node, values: Node, y: Node, *sizes: Node, rows: Dim) -> TensorType:
    _check_parts("dot", indices, values, 2)
    if len(y.shape) != 2:
        shown = show_shape(y.shape)
        raise ShapeError(f"dot: a sparse matrix is multiplied by a matrix, not by shape {shown}")
    if values.dtype != y.dtype:
        raise DTypeError(f"dot: dtypes {values.dtype} and {y.dtype} differ; K.cast one")
    return TensorType((rows, y.shape[1]), y.dtype)


def _expand_dot(indices: Node, values: Node, y: Node, *sizes: Node, rows: Dim) -> Node:
    size: Size = sizes[0] if rows is None else rows
    lines = gather(y, column(indices, 1), 0)
    dims = dims_of(lines)
    weights = broadcast_to(reshape(values, [dims[0], 1]), dims)
    return scatter_add(mul(weights, lines), column(indices, 0), size, 0)


def _dot_bounds(node: Node) -> tuple[Size, Size]:
    return stated_dims(node)[0], size_of(node.operands[2], 0)


_sparse_dense_dot = Primitive(
    "sparse_dense_dot",
    _infer_dot,
    "the product of a sparse matrix with `rows` rows and a dense one; an index outside is an error;"
    " what isn't stored adds nothing, even to NaN and infinity, but a stored 0 does",
    expand=_expand_dot,
    title="SparseMatMul",
    index=0,
    bound=_dot_bounds,
)


def sparse_dense_dot(indices: Node, values: Node, y: Node, rows: Size) -> Node:
    """The product of a sparse matrix with `rows` rows and the dense matrix `y`."""
    (known,), sizes = split([rows])
    return _sparse_dense_dot(indices, values, y, *sizes, rows=known)
