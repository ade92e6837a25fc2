"""Sparse tensors: how many elements there are depends on data, so that they're on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.sizes import Size, are_one_size, as_node, size_of
from kameleon.graph.primitives.sparse import sparse_dense_dot

from ..arithmetic import sparse as A
from ..arithmetic.matrices import adjoint
from ..dtypes import in_numpy
from ..failures import invalid
from ..graph import Operation, shape_text
from ..tensors import dims
from .arrays import reshaped
from .elementwise import AT_ONCE
from .table import fold, pure
from .values import result_type, tensor, vector_of

Array = np.ndarray


def checked(x: A.Sparse) -> A.Sparse:
    """The sparse tensor, whose indices must lie in its shape."""
    if x.indices.ndim != 2 or x.indices.shape[1] != len(x.shape):
        shape = shape_text(x.indices.shape)
        raise invalid(f"indices of shape {shape} aren't places in {x.shape.tolist()}")
    outside = (x.indices < 0) | (x.indices >= x.shape)
    if outside.any():
        at = int(np.flatnonzero(outside.any(1))[0])
        where = f"indices[{at}] = [{','.join(map(str, x.indices[at]))}]"
        raise invalid(f"{where} is out of bounds: need 0 <= index < {shape_text(tuple(x.shape))}")
    return x


def same_shape(a: A.Sparse, b: A.Sparse) -> None:
    """Refuse operands of different shapes."""
    if len(a.shape) != len(b.shape):
        shapes = " and ".join(" ".join(map(str, x.shape)) for x in (a, b))
        raise invalid(f"Operands do not have the same ranks; got shapes: {shapes}")
    for axis in np.flatnonzero(a.shape != b.shape)[:1]:
        sizes = f"got {a.shape[axis]} and {b.shape[axis]} for dimension {axis}"
        raise invalid(f"Operands' shapes do not match: {sizes}")


# To dense tensors, and products -----------------------------------------------------------------


@fold("SparseToDense")
def _to_dense(operation: Operation, at: Any, shape: Any, values: Any, default: Any) -> Array:
    indices, sizes = np.asarray(at, np.int64), np.asarray(shape)
    if indices.ndim > 2:
        about = "sparse_indices should be a scalar, vector, or matrix"
        raise invalid(f"{about}, got shape {shape_text(indices.shape)}")
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if len(sizes) != indices.shape[1]:
        counts = f"{len(sizes)} should be: {indices.shape[1]}"
        raise invalid(f"output_shape has incorrect number of elements: {counts}")
    given = np.asarray(values, in_numpy(result_type(operation)))
    if given.ndim and given.shape != (len(indices),):
        shapes = f"{shape_text(given.shape)}, should be [] or [{len(indices)}]"
        raise invalid(f"sparse_values has incorrect shape {shapes}")
    column = np.broadcast_to(given, (len(indices),))
    x = checked(A.sparse(indices, column, sizes))
    if operation.attribute("validate_indices") and len(indices) > 1:
        _check_order(indices)
    return A.dense(x, np.asarray(default).item())


def _check_order(indices: Array) -> None:
    """Refuse rows that don't rise."""
    rises = np.diff(indices, axis=0)
    first = np.take_along_axis(rises, (rises != 0).argmax(1)[:, None], 1)[:, 0]
    if (first <= 0).any():
        at = int(np.flatnonzero(first <= 0)[0]) + 1
        said = "is repeated" if first[at - 1] == 0 else _UNORDERED
        raise invalid(f"indices[{at}] = {shape_text(indices[at])} {said}")


_UNORDERED = (
    "is out of order. Many sparse ops require sorted indices.\n"
    "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
)


@fold("SparseTensorDenseMatMul")
def _product_known(
    at: Any, values: Any, shape: Any, b: Array, *, adjoint_a: bool, adjoint_b: bool
) -> Array:
    a = A.dense(checked(A.sparse(at, values, shape)))
    # The kernel transposes the sparse matrix, and leaves complex numbers in it as they are.
    found: Array = (a.T if adjoint_a else a) @ (adjoint(b) if adjoint_b else b)
    return found


@pure("SparseTensorDenseMatMul")
def _product(
    indices: Node, values: Node, shape: list[Size], right: Node, *, adjoint_a: bool, adjoint_b: bool
) -> Node:
    rows, columns = shape
    if adjoint_b:
        right = M.transpose(right, [1, 0])
    if adjoint_a:
        rows, columns = columns, rows
        parts = [M.slice_axis(indices, 1, 1, 2), M.slice_axis(indices, 1, 0, 1)]
        indices = M.concatenate(parts, 1)
    if not are_one_size(columns, inner := size_of(right, 0)):
        message = "Cannot multiply A and B because inner dimension does not match"
        if isinstance(columns, int) and isinstance(inner, int):
            raise invalid(f"{message}: {columns}")
        right = check(right, E.eq(as_node(columns), as_node(inner)), message=message)
    limits = tensor(vector_of([rows, columns], "int64"))
    inside = E.lt(indices, M.broadcast_to(limits, dims(indices)))
    indices = check(indices, inside, message="an index of a sparse matrix is out of bounds")
    return sparse_dense_dot(indices, values, right, rows)


@fold("SparseTensorDenseAdd")
def _add_dense(at: Any, values: Any, shape: Any, b: Any) -> Array:
    x, found = checked(A.sparse(at, values, shape)), np.array(b)
    if len(x.shape) != found.ndim:
        ranks = f"{len(x.shape)} and {found.ndim}"
        raise invalid(f"Two operands have different ranks; received: {ranks}")
    for axis in np.flatnonzero(x.shape != found.shape)[:1]:
        sizes = f"sparse side {x.shape[axis]} vs dense side {found.shape[axis]}"
        about = f"Dimension {axis} does not equal (no broadcasting is supported)"
        raise invalid(f"{about}: {sizes}")
    np.add.at(found, tuple(x.indices.T), x.values)
    return found


DENSE = {"Add": np.add, "Mul": np.multiply, "Div": np.divide}


@fold("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv")
def _with_dense(operation: Operation, at: Any, values: Any, shape: Any, b: Any) -> Array:
    x = checked(A.sparse(at, values, shape))
    try:
        wide = np.broadcast_to(b, tuple(x.shape))
    except ValueError:
        about = "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible"
        shapes = f"{shape_text(tuple(x.shape))} vs. {shape_text(np.shape(b))}"
        raise invalid(f"{about} shapes: {shapes}") from None
    with np.errstate(all="ignore"):
        found = DENSE[operation.type[-3:]](x.values, wide[tuple(x.indices.T)])
    return np.asarray(found, x.values.dtype)


# Order and shape --------------------------------------------------------------------------------


@fold("SparseReorder")
def _reorder(*parts: Any) -> list[Array]:
    """In row-major order; indices outside of the shape, too: `tf.sparse.slice` drops them."""
    return A.ordered(A.sparse(*parts)).parts()[:2]


@fold("SparseReshape")
def _reshape(at: Array, sizes: list[int], new_sizes: list[int]) -> list[Array]:
    count, opened = math.prod(sizes), [axis for axis, n in enumerate(new_sizes) if n == -1]
    if len(opened) > 1:
        raise invalid(f"only one output dimension may be -1, not both {opened[0]} and {opened[1]}")
    for axis, size in enumerate(new_sizes):
        if size < -1:
            raise invalid(f"size {axis} must be non-negative, not {size}")
    known = math.prod(size for size in new_sizes if size >= 0)
    if opened and not known:
        about = "reshape cannot infer the missing input size for an empty tensor"
        raise invalid(f"{about} unless all specified input sizes are non-zero")
    wanted = reshaped(new_sizes, [count])
    if math.prod(wanted) != count:
        kind, asked = "tensor", f"has {known}"
        if opened:
            kind, asked = "SparseTensor", f"requires a multiple of {known}"
        shapes = f"input_shape={shape_text(tuple(sizes))} output_shape={shape_text(tuple(wanted))}"
        about = f"Input to reshape is a {kind} with {count} dense values, but the requested shape"
        raise invalid(f"{about} {asked}. {shapes}")
    return [A.reshaped(at, sizes, wanted), np.array(wanted, np.int64)]


@fold("SparseSlice")
def _slice(at: Any, values: Any, shape: Any, start: Array, size: Array) -> list[Array]:
    for name, given in (("start", start), ("size", size)):
        if len(given) != len(shape):
            about = f"Expected {name} to be a vector of length {len(shape)}"
            raise invalid(f"{about} but got length {len(given)}")
    return A.cut(A.sparse(at, values, shape), start, size).parts()


fold("SparseSliceGrad")(lambda g, at, start, kept: A.slopes_at(g, at, kept + start))


@fold("SparseSplit")
def _split(axis: int, at: Any, values: Any, shape: Any, *, num_split: int) -> list[Array]:
    x = A.sparse(at, values, shape)
    if not 0 <= axis < len(x.shape):
        raise invalid(f"Input split_dim should be between 0 and rank ({len(x.shape)}), got {axis}")
    if not 0 < num_split <= x.shape[axis]:
        most = f"the splitting dimension size ({x.shape[axis]})"
        raise invalid(f"Input num_split should be between 1 and {most}, got {num_split}")
    parts = [part.parts() for part in A.split(x, axis, num_split)]
    return [column for columns in zip(*parts, strict=True) for column in columns]


def sparse_inputs(values: tuple[Any, ...], count: int) -> list[A.Sparse]:
    """Several sparse tensors: first all indices, then all values, then all shapes."""
    return [A.sparse(*values[place : 3 * count : count]) for place in range(count)]


@fold("SparseConcat")
def _concat(*values: Any, N: int, concat_dim: int) -> list[Array]:
    parts = sparse_inputs(values, N)
    rank, shapes = len(parts[0].shape), [part.shape for part in parts]
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    for place, shape in enumerate(shapes):
        for axis in np.flatnonzero(shape != shapes[0]):
            if axis != concat_dim % rank:
                sizes = f"expected {shapes[0][axis]} for dimension {axis} but got {shape[axis]}"
                raise invalid(f"Input shapes must match: {sizes} at position {place}")
    return A.joined(parts, concat_dim % rank).parts()


# Of two -----------------------------------------------------------------------------------------


@fold("SparseAdd")
def _add(*values: Any) -> list[Array]:
    a, b = A.sparse(*values[:3]), A.sparse(*values[3:6])  # of which no place is looked at
    same_shape(a, b)
    return A.total(a, b, values[6]).parts()


fold("SparseAddGrad")(lambda g, a, b, both: [A.slopes_at(g, each, both) for each in (a, b)])


@fold("SparseSparseMaximum SparseSparseMinimum")
def _either(operation: Operation, *values: Any) -> list[Array]:
    a, b = checked(A.sparse(*values[:3])), checked(A.sparse(*values[3:]))
    same_shape(a, b)
    return A.either(AT_ONCE[operation.type[12:]][1], a, b).parts()[:2]


# Sums -------------------------------------------------------------------------------------------


@fold("SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse")
def _reduce(
    operation: Operation, at: Any, values: Any, shape: Any, axes: list[int], *, keep_dims: bool
) -> Array | list[Array]:
    function = np.fmax if "Max" in operation.type else np.add
    x = checked(A.sparse(at, values, shape))
    for axis in axes:
        if not -len(x.shape) <= axis < len(x.shape):
            about = f"for input with {len(x.shape)} dimensions."
            raise invalid(f"Invalid reduction dimension {axis}, {about}")
    found = A.reduced(x, axes, keep_dims, function)
    return found.parts() if operation.type.endswith("Sparse") else A.dense(found)


@fold("SparseSoftmax")
def _softmax(*parts: Any) -> Array:
    x = checked(A.sparse(*parts))
    if len(x.shape) < 2:
        raise invalid("Input should have rank >= 2")
    return A.softmax(x)


# Rows -------------------------------------------------------------------------------------------


@fold("SparseFillEmptyRows")
def _fill_rows(at: Any, values: Any, shape: Any, default: Array) -> list[Array]:
    x = A.sparse(at, values, shape)
    rows, count = x.indices[:, 0], x.shape[0]
    for at in np.flatnonzero((rows < 0) | (rows >= count))[:1]:
        raise invalid(f"indices({at}, 0) is invalid: {rows[at]} >= {count}")
    found = A.filled(x, default.item())
    return [found.whole.indices, found.whole.values, found.empty, found.places]


@fold("SparseFillEmptyRowsGrad")
def _fill_rows_gradient(places: Array, g: Array) -> list[Array]:
    return [g[places], np.asarray(np.delete(g, places).sum(), g.dtype)]


def _demand_segments(rows: Array, places: Array, ids: Array) -> None:
    """Refuse numbers of segments that don't rise, and rows that aren't there."""
    if len(places) != len(ids):
        raise invalid("segment_ids and indices should have same size.")
    for segment in ids[ids < 0][:1]:
        about = "possibly because 'segment_ids' input is not sorted."
        raise invalid(f"Segment id {segment} out of range [0, {ids[-1] + 1}), {about}")
    if (np.diff(ids) < 0).any():
        raise invalid("segment ids are not increasing")
    if ((places < 0) | (places >= len(rows))).any():
        at_fault = int(np.flatnonzero((places < 0) | (places >= len(rows)))[0])
        raise invalid(
            f"Bad: indices[{at_fault}] == {places[at_fault]} out of range [0, {len(rows)})"
        )


def _kind(operation: Operation) -> str:
    return next(kind for kind in A.DIVISORS if operation.type[13:].startswith(kind))


@fold(
    "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN SparseSegmentSumWithNumSegments"
    " SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments"
)
def _segment(operation: Operation, rows: Array, places: Array, ids: Array, *number: int) -> Array:
    _demand_segments(rows, places, ids)
    count = number[0] if number else int(ids[-1]) + 1 if len(ids) else 0
    if len(ids) and ids[-1] >= count:
        raise invalid("segment ids must be < num_segments")
    return A.segment_sums(rows[places], ids, count, _kind(operation))


@fold("SparseSegmentMeanGrad SparseSegmentSqrtNGrad")
def _segment_gradient(
    operation: Operation, g: Array, places: Array, ids: Array, count: int
) -> Array:
    if ((ids < 0) | (ids >= len(g))).any():
        raise invalid(f"Segment id out of range [0, {len(g)}).")
    if ((places < 0) | (places >= count)).any():
        raise invalid(f"Index out of range [0, {count}).")
    return A.segment_slopes(g, places, ids, count, _kind(operation))
