"""Shapes of matrices by their diagonals, of their factors, inverses and functions, and of what
keeps or joins rows by older types.
"""

from __future__ import annotations

import numpy as np

from ..graph import Operation, Shape
from .known import value_at
from .notation import table
from .rules import (
    UNKNOWN,
    ShapeMismatchError,
    at_least,
    axis_of,
    merged,
    shape_of,
    smaller,
    with_rank,
)

table(
    """
    Diag : (*s,n) -> (*s,n,*s,n)
    MatrixBandPart : x -> x
    BatchMatrixBandPart : x:(*b,?,?) -> x
    MatrixDiag BatchMatrixDiag : (*b,n) -> (*b,n,n)
    MatrixDiagPart BatchMatrixDiagPart : (*b,m,n) -> (*b,min(m,n))
    DataFormatDimMap DataFormatVecPermute : x -> x
    StridedSliceGrad Empty : =(*s) -> (*s)
    CompareAndBitpack : (*b,n) () -> (*b,n/8)

    Cholesky BatchCholesky CholeskyGrad BatchCholeskyGrad MatrixInverse BatchMatrixInverse
        MatrixExponential MatrixLogarithm MatrixSquareRoot : (*b,n,n) -> (*b,n,n)
    MatrixDeterminant BatchMatrixDeterminant : (*b,n,n) -> (*b)
    LogMatrixDeterminant : (*b,n,n) -> (*b) (*b)
    MatrixSolve BatchMatrixSolve MatrixTriangularSolve BatchMatrixTriangularSolve :
        (*b,n,n) (*b,n,k) -> (*b,n,k)
    MatrixSolveLs BatchMatrixSolveLs : (*b,m,n) (*b,m,k) () -> (*b,n,k)
    TridiagonalSolve : (*b,3,n) x:(*b,n,?) -> x
    TridiagonalMatMul : (*b,1,n) (*b,1,n) (*b,1,n) x:(*b,n,?) -> x
    SelfAdjointEig BatchSelfAdjointEig : (*b,n,n) -> (*b,n+1,n)
    SelfAdjointEigV2 BatchSelfAdjointEigV2 :
        (*b,n,n) -> (*b,n) (*b,n,n) if compute_v else (*b,n) (0)
    Lu : (*b,n,n) -> (*b,n,n) (*b,n)
    Qr : (*b,m,n) -> (*b,m,m) (*b,m,n) if full_matrices
        else (*b,m,min(m,n)) (*b,min(m,n),n)
    Svd BatchSvd : (*b,m,n) -> (*b,min(m,n)) (0) (0) if not compute_uv
        else (*b,min(m,n)) (*b,m,m) (*b,n,n) if full_matrices
        else (*b,min(m,n)) (*b,m,min(m,n)) (*b,n,min(m,n))
    Cross : x:(*b,3) x:(*b,3) -> x
    """
)


@shape_of("DiagPart")
def _big_diag_part(operation: Operation, given: list[Shape]) -> Shape:
    shape = given[0]
    if shape is None:
        return None
    if not shape or len(shape) % 2:
        raise ShapeMismatchError(f"Input must have even and non-zero rank, input rank {len(shape)}")
    return merged(shape[: len(shape) // 2], shape[len(shape) // 2 :])


@shape_of("MatrixSetDiag BatchMatrixSetDiag")
def _set_diag(operation: Operation, given: list[Shape]) -> Shape:
    shape, diagonal = at_least(given[0], 2), at_least(given[1], 1)
    if diagonal is not None:
        shape = (UNKNOWN,) * (len(diagonal) + 1) if shape is None else shape
        part = merged(with_rank(diagonal, len(shape) - 1), (*shape[:-2], smaller(*shape[-2:])))
        assert part is not None
        return (*part[:-1], *shape[-2:])
    return shape


# Several diagonals ------------------------------------------------------------------------------


def diagonals(operation: Operation, place: int) -> tuple[int, int] | None:
    """The lowest and the highest diagonal that an input tells; None, if they aren't known."""
    found = value_at(operation, place)
    if found is None:
        return None
    numbers = np.ravel(found)
    if len(numbers) > 2:
        raise ShapeMismatchError(f"diag_index must have one or two elements, not {len(numbers)}")
    low, high = int(numbers[0]), int(numbers[-1])
    if low > high:
        raise ShapeMismatchError(f"lower_diag_index {low} is above upper_diag_index {high}")
    return low, high


@shape_of("MatrixDiagV2")
def _diag_of_several(operation: Operation, given: list[Shape]) -> Shape:
    shape, band = at_least(given[0], 1), diagonals(operation, 1)
    with_rank(given[4], 0)
    if shape is None or band is None:
        return None
    low, high = band
    rows, columns = (value_at(operation, place) for place in (2, 3))
    batch = shape[:-1] if low == high else shape[:-2]
    if low != high and shape[-2] >= 0 and shape[-2] != high - low + 1:
        raise ShapeMismatchError(f"{high - low + 1} diagonals were expected, not {shape[-2]}")
    sizes = [UNKNOWN if value is None else int(value) for value in (rows, columns)]
    if shape[-1] < 0:
        return (*batch, *sizes)
    return (*batch, *matrix_sizes(shape[-1], low, high, *sizes))


def matrix_sizes(longest: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    """The sizes of the matrix with diagonals of some length; -1 stands for the smallest that fit.

    >>> matrix_sizes(3, 1, 1, -1, -1)
    (4, 4)
    """
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == UNKNOWN:
        return (max(least_rows, least_columns),) * 2
    if rows == UNKNOWN:
        rows = least_rows
    elif columns == UNKNOWN:
        columns = least_columns
    if (
        rows < least_rows
        or columns < least_columns
        or (rows != least_rows and columns != least_columns)
    ):
        raise ShapeMismatchError(f"{rows} rows and {columns} columns don't fit the diagonals")
    return rows, columns


@shape_of("MatrixDiagPartV2")
def _part_of_several(operation: Operation, given: list[Shape]) -> Shape:
    shape, band = at_least(given[0], 2), diagonals(operation, 1)
    with_rank(given[2], 0)
    if shape is None or band is None:
        return None
    low, high = band
    rows, columns = shape[-2:]
    count = () if low == high else (high - low + 1,)
    if UNKNOWN in (rows, columns):
        return (*shape[:-2], *count, UNKNOWN)
    return (*shape[:-2], *count, longest_diagonal(rows, columns, low, high))


def longest_diagonal(rows: int, columns: int, low: int, high: int) -> int:
    """The length of the longest of some diagonals of a matrix."""
    return min(rows + min(high, 0), columns - max(low, 0))


@shape_of("MatrixSetDiagV2")
def _set_several(operation: Operation, given: list[Shape]) -> Shape:
    shape, diagonal, band = at_least(given[0], 2), at_least(given[1], 1), diagonals(operation, 2)
    if shape is None or diagonal is None or band is None:
        return shape
    batch = diagonal[:-1] if band[0] == band[1] else diagonal[:-2]
    front = merged(shape[:-2], batch)
    assert front is not None
    return (*front, *shape[-2:])


# Rows -------------------------------------------------------------------------------------------


@shape_of("Roll")
def _roll(operation: Operation, given: list[Shape]) -> Shape:
    shape = at_least(given[0], 1)
    shift, axes = given[1:]
    if shift is not None and axes is not None and (len(shift) > 1 or shift != axes):
        if len(shift) > 1 or len(axes) > 1 or len(shift) != len(axes):
            raise ShapeMismatchError("shift and axis must be scalars, or vectors of one length")
        merged(shift, axes)
    return shape


@shape_of("Reverse")
def _reverse(operation: Operation, given: list[Shape]) -> Shape:
    shape, dims = given[0], with_rank(given[1], 1)
    return shape if shape is None or dims[0] < 0 else with_rank(shape, dims[0])


@shape_of("ReverseV2")
def _reverse_axes(operation: Operation, given: list[Shape]) -> Shape:
    shape, axes = given[0], value_at(operation, 1)
    with_rank(given[1], 1)
    if shape is None or axes is None:
        return shape
    seen = set()
    for at, each in enumerate(axes):
        about = f"'axis'[{at}] = {{axis}} is out of valid range [0, {{last}}"
        axis = axis_of(int(each), len(shape), about)
        if axis in seen:
            raise ShapeMismatchError(f"axis {axis} specified more than once.")
        seen.add(axis)
    return shape


@shape_of("ReverseSequence")
def _reverse_sequences(operation: Operation, given: list[Shape]) -> Shape:
    shape, lengths = given[0], with_rank(given[1], 1)
    if shape is None:
        return None
    time, batch = operation.attribute("seq_dim"), operation.attribute("batch_dim")
    for axis in (time, batch):
        if axis >= len(shape):
            raise ShapeMismatchError(f"axis {axis} must be < input rank {len(shape)}")
    sizes = list(shape)
    found = merged((shape[batch],), lengths)
    assert found is not None
    sizes[batch] = found[0]
    return tuple(sizes)


@shape_of("ConcatOffset")
def _offsets(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [shape if shape is None else with_rank(shape, 1) for shape in given[1:]]


@shape_of("ParallelConcat")
def _parallel(operation: Operation, given: list[Shape]) -> Shape:
    found: Shape = operation.attribute("shape")
    if found is None or UNKNOWN in found:
        raise ShapeMismatchError("shape attr must be fully defined.")
    for shape in given:
        if shape is None or UNKNOWN in shape:
            raise ShapeMismatchError("All input shapes must be fully defined.")
        merged(shape[1:], None if found is None else found[1:])
    return found
