"""Shapes of sparse tensors' parts, of sets, and of sequences."""

from __future__ import annotations

from ..graph import Operation, Shape
from .elementwise import reduced
from .known import sizes_at, value_at
from .notation import table
from .rules import UNKNOWN, at_least, known_sizes, merged, rank_of, same, shape_of, with_rank

table(
    """
    SparseToDense : ? =(*s) -> (*s)
    SparseTensorDenseMatMul : (?,?) (?) =(m,k)^adjoint_a (k,n)^adjoint_b -> (m,n)
    SparseTensorDenseAdd : ? ? ? x -> x
    SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv : (n,?) -> (n)
    SparseSoftmax : (?,?) (n) -> (n)
    SparseReorder : (n,r) (m) -> (n,r) (m)
    SparseReshape : (n,?) ? (r) -> (n,r) (r)
    SparseSlice : ? ? x:(r) -> (?,r) (?) x
    SparseSliceGrad : ? (n,?) -> (n)
    SparseSplit : ? ? ? (r) -> (?,r)*@num_split (?)*@num_split (r)*@num_split
    SparseAdd : ? ? (r) -> (?,r) (?) (r)
    SparseAddGrad : ? (m,?) (n,?) -> (m) (n)
    SparseSparseMaximum SparseSparseMinimum : (?,?) (?) (?) (?,?) (?) (?) -> (?,?) (?)
    SparseReduceSumSparse SparseReduceMaxSparse : -> ? ? ?
    SparseFillEmptyRowsGrad : (n) -> (n) ()
    SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN : (?,*s) i:(?) i:(?) -> (?,*s)
    SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments
        SparseSegmentSqrtNWithNumSegments SparseSegmentMeanGrad SparseSegmentSqrtNGrad :
        (?,*s) i:(?) i:(?) =n -> (n,*s)
    SetSize : -> ?
    DenseToSparseSetOperation : x (?,?) (?) (?) -> (?,#x) (?) (#x)
    SparseToSparseSetOperation : (?,?) (?) (r) (?,?) (?) (r) -> (?,r) (?) (r)
    """
)


LINE: Shape = (UNKNOWN,)


def length(shape: Shape) -> int:
    """The size of a vector."""
    return with_rank(shape, 1)[0]


@shape_of("SparseConcat")
def _concat(operation: Operation, given: list[Shape]) -> list[Shape]:
    count = len(given) // 3
    total, columns, rank = 0, UNKNOWN, UNKNOWN
    for at in range(count):
        rows, own = with_rank(given[at], 2)
        rows = same(rows, length(given[count + at]))
        columns = same(columns, own)
        rank = same(rank, length(given[2 * count + at]))
        total = UNKNOWN if UNKNOWN in (total, rows) else total + rows
    return [(total, columns), (total,), (rank,)]


@shape_of("SparseReduceSum SparseReduceMax")
def _reduce(operation: Operation, given: list[Shape]) -> Shape:
    axes, sizes = value_at(operation, 3), known_sizes(value_at(operation, 2))
    keep = operation.attribute("keep_dims")
    if axes is None or sizes is None:
        return None
    if not all(-len(sizes) <= axis < len(sizes) for axis in axes.ravel()):
        return None  # it fails when it's run
    return reduced(sizes, axes, keep)


@shape_of("SparseFillEmptyRows")
def _fill_rows(operation: Operation, given: list[Shape]) -> list[Shape]:
    at, values, rank = with_rank(given[0], 2), length(given[1]), length(given[2])
    same(at[0], values)
    with_rank(given[3], 0)
    shape = sizes_at(operation, 2)
    rows = shape[0] if shape else UNKNOWN
    return [(UNKNOWN, same(at[1], rank)), LINE, (rows,), (at[0],)]


@shape_of("DenseToDenseSetOperation")
def _dense_sets(operation: Operation, given: list[Shape]) -> list[Shape]:
    ranks = {rank_of(at_least(shape, 2)) for shape in given} - {UNKNOWN}
    if all(shape is not None for shape in given):
        one, other = given
        assert one is not None
        assert other is not None
        merged(one[:-1], other[:-1])
    rank = max(ranks, default=UNKNOWN)
    return [(UNKNOWN, rank), LINE, (rank,)]
