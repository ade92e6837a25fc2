"""Shapes of sparse tensors' parts, of sets, and of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .elementwise import reduced
from .known import value_at
from .rules import (
    UNKNOWN,
    at_least,
    known_sizes,
    merged,
    rank_of,
    same,
    shape_of,
    unknown,
    with_rank,
)

if TYPE_CHECKING:
    from ..graph import Operation, Shape

LINE: Shape = (UNKNOWN,)


def length(shape: Shape) -> int:
    """The size of a vector."""
    return with_rank(shape, 1)[0]


def sizes_at(operation: Operation, place: int) -> Shape:
    """The shape that a vector of sizes tells; of unknown sizes, if its length alone is known."""
    sizes = known_sizes(value_at(operation, place))
    if sizes is None:
        source, index = operation.inputs[place]
        shape = source.shapes[index]
        return unknown(None if shape is None else length(shape))
    return sizes


def any_sparse(rank: int = UNKNOWN) -> list[Shape]:
    """The parts of a sparse tensor with so many axes."""
    return [(UNKNOWN, rank), LINE, (rank,)]


# To dense tensors, and products -----------------------------------------------------------------


@shape_of("SparseToDense")
def _to_dense(operation: Operation, given: list[Shape]) -> Shape:
    return sizes_at(operation, 1)


@shape_of("SparseTensorDenseMatMul")
def _product(operation: Operation, given: list[Shape]) -> Shape:
    a, b = with_rank(sizes_at(operation, 2), 2), with_rank(given[3], 2)
    a = a[::-1] if operation.attribute("adjoint_a") else a
    b = b[::-1] if operation.attribute("adjoint_b") else b
    same(a[1], b[0])
    return (a[0], b[1])


@shape_of("SparseTensorDenseAdd")
def _add_dense(operation: Operation, given: list[Shape]) -> Shape:
    return given[3]


@shape_of("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv")
def _with_dense(operation: Operation, given: list[Shape]) -> Shape:
    return (with_rank(given[0], 2)[0],)


@shape_of("SparseSoftmax")
def _softmax(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[0], 2)
    return with_rank(given[1], 1)


# Order and shape --------------------------------------------------------------------------------


@shape_of("SparseReorder")
def _reorder(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [with_rank(given[0], 2), with_rank(given[1], 1)]


@shape_of("SparseReshape")
def _reshape(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(with_rank(given[0], 2)[0], length(given[2])), with_rank(given[2], 1)]


@shape_of("SparseSlice")
def _slice(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(UNKNOWN, length(given[2])), LINE, given[2]]


@shape_of("SparseSliceGrad")
def _slice_gradient(operation: Operation, given: list[Shape]) -> Shape:
    return (with_rank(given[1], 2)[0],)


@shape_of("SparseSplit")
def _split(operation: Operation, given: list[Shape]) -> list[Shape]:
    count, shape = len(operation.types) // 3, with_rank(given[3], 1)
    return [*[(UNKNOWN, shape[0])] * count, *[LINE] * count, *[shape] * count]


@shape_of("SparseConcat")
def _concat(operation: Operation, given: list[Shape]) -> list[Shape]:
    count = len(given) // 3
    total, rank = 0, UNKNOWN
    for at in range(count):
        rows, columns = with_rank(given[at], 2)
        rows = same(rows, length(given[count + at]))
        rank = same(same(rank, columns), length(given[2 * count + at]))
        total = UNKNOWN if UNKNOWN in (total, rows) else total + rows
    return [(total, rank), (total,), (rank,)]


# Of two -----------------------------------------------------------------------------------------


@shape_of("SparseAdd")
def _add(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape = with_rank(given[2], 1)
    return [(UNKNOWN, shape[0]), LINE, shape]


@shape_of("SparseAddGrad")
def _add_gradient(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(with_rank(given[1], 2)[0],), (with_rank(given[2], 2)[0],)]


@shape_of("SparseSparseMaximum SparseSparseMinimum")
def _either(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(UNKNOWN, UNKNOWN), LINE]


# Sums -------------------------------------------------------------------------------------------


@shape_of("SparseReduceSum SparseReduceMax")
def _reduce(operation: Operation, given: list[Shape]) -> Shape:
    axes, sizes = value_at(operation, 3), known_sizes(value_at(operation, 2))
    keep = operation.attribute("keep_dims")
    if axes is None or sizes is None:
        return None
    if not all(-len(sizes) <= axis < len(sizes) for axis in axes.ravel()):
        return None  # it fails when it's run
    return reduced(sizes, axes if axes.size else np.arange(len(sizes)), keep)


@shape_of("SparseReduceSumSparse SparseReduceMaxSparse")
def _reduce_sparse(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [None, None, None]


@shape_of("SparseMatMul")
def _dense_product(operation: Operation, given: list[Shape]) -> Shape:
    one, other = with_rank(given[0], 2), with_rank(given[1], 2)
    one = one[::-1] if operation.attribute("transpose_a") else one
    other = other[::-1] if operation.attribute("transpose_b") else other
    same(one[1], other[0])
    return (one[0], other[1])


# Rows -------------------------------------------------------------------------------------------


@shape_of("SparseFillEmptyRows")
def _fill_rows(operation: Operation, given: list[Shape]) -> list[Shape]:
    at, shape = with_rank(given[0], 2), sizes_at(operation, 2)
    rows = UNKNOWN if shape is None else shape[0]
    return [(UNKNOWN, same(at[1], length(given[2]))), LINE, (rows,), (at[0],)]


@shape_of("SparseFillEmptyRowsGrad")
def _fill_rows_gradient(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [with_rank(given[0], 1), ()]


@shape_of(
    "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN SparseSegmentSumWithNumSegments"
    " SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments SparseSegmentMeanGrad"
    " SparseSegmentSqrtNGrad"
)
def _segments(operation: Operation, given: list[Shape]) -> Shape:
    rows = at_least(given[0], 1)
    merged(with_rank(given[1], 1), with_rank(given[2], 1))
    count = value_at(operation, 3) if len(given) > 3 else None
    if rows is None:
        return None
    return (UNKNOWN if count is None else int(count), *rows[1:])


# Sets -------------------------------------------------------------------------------------------


@shape_of("SetSize")
def _set_size(operation: Operation, given: list[Shape]) -> Shape:
    return None


@shape_of("DenseToDenseSetOperation")
def _dense_sets(operation: Operation, given: list[Shape]) -> list[Shape]:
    ranks = {rank_of(shape) for shape in given} - {UNKNOWN}
    if all(shape is not None for shape in given):
        one, other = given
        assert one is not None
        assert other is not None
        merged(one[:-1], other[:-1])
    return any_sparse(max(ranks, default=UNKNOWN))


@shape_of("DenseToSparseSetOperation")
def _dense_and_sparse_sets(operation: Operation, given: list[Shape]) -> list[Shape]:
    return any_sparse(rank_of(given[0]))


@shape_of("SparseToSparseSetOperation")
def _sparse_sets(operation: Operation, given: list[Shape]) -> list[Shape]:
    return any_sparse(same(length(given[2]), length(given[5])))
