"""Shapes of factors, inverses and functions of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .diagonals import smaller
from .rules import UNKNOWN, ShapeMismatchError, at_least, merged, same, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape


def square(shape: Shape) -> Shape:
    """The shape of square matrices."""
    found = at_least(shape, 2)
    if found is None:
        return None
    size = same(found[-2], found[-1])
    return (*found[:-2], size, size)


@shape_of(
    "Cholesky BatchCholesky CholeskyGrad BatchCholeskyGrad MatrixInverse BatchMatrixInverse"
    " MatrixExponential MatrixLogarithm MatrixSquareRoot"
)
def _square(operation: Operation, given: list[Shape]) -> Shape:
    return square(given[0])


@shape_of("MatrixDeterminant BatchMatrixDeterminant")
def _determinant(operation: Operation, given: list[Shape]) -> Shape:
    shape = square(given[0])
    return None if shape is None else shape[:-2]


@shape_of("LogMatrixDeterminant")
def _log_determinant(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [_determinant(operation, given)] * 2


@shape_of(
    "MatrixSolve BatchMatrixSolve MatrixTriangularSolve BatchMatrixTriangularSolve MatrixSolveLs"
    " BatchMatrixSolveLs"
)
def _solve(operation: Operation, given: list[Shape]) -> Shape:
    a, b = at_least(given[0], 2), at_least(given[1], 2)
    if "Ls" not in operation.type:
        a = square(a)
    batch = merged(None if a is None else a[:-2], None if b is None else b[:-2])
    if a is not None and b is not None:
        same(a[-2], b[-2])
    if batch is None:
        return None
    return (*batch, UNKNOWN if a is None else a[-1], UNKNOWN if b is None else b[-1])


@shape_of("TridiagonalSolve")
def _tridiagonal_solve(operation: Operation, given: list[Shape]) -> Shape:
    diagonals, b = at_least(given[0], 2), at_least(given[1], 2)
    if diagonals is None or b is None:
        return b
    same(diagonals[-2], 3)
    batch = merged(diagonals[:-2], b[:-2])
    assert batch is not None
    return (*batch, same(diagonals[-1], b[-2]), b[-1])


@shape_of("TridiagonalMatMul")
def _tridiagonal_product(operation: Operation, given: list[Shape]) -> Shape:
    return at_least(given[3], 2)


@shape_of("SelfAdjointEig BatchSelfAdjointEig")
def _eigen_together(operation: Operation, given: list[Shape]) -> Shape:
    shape = square(given[0])
    if shape is None:
        return None
    return (*shape[:-2], UNKNOWN if shape[-1] < 0 else shape[-1] + 1, shape[-1])


@shape_of("SelfAdjointEigV2 BatchSelfAdjointEigV2 Lu")
def _eigen(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape = square(given[0])
    first = None if shape is None else shape[:-1]
    if operation.type == "Lu":
        return [shape, first]
    return [first, shape if operation.attribute("compute_v") else (0,)]


@shape_of("Qr")
def _qr(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape = at_least(given[0], 2)
    if shape is None:
        return [None, None]
    *batch, rows, columns = shape
    inner = rows if operation.attribute("full_matrices") else smaller(rows, columns)
    return [(*batch, rows, inner), (*batch, inner, columns)]


@shape_of("Svd BatchSvd")
def _svd(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape, vectors = at_least(given[0], 2), operation.attribute("compute_uv")
    if shape is None:
        return [None, *([None] * 2 if vectors else [(0,)] * 2)]
    *batch, rows, columns = shape
    small = smaller(rows, columns)
    left, right = (rows, columns) if operation.attribute("full_matrices") else (small, small)
    found: list[Shape] = [(*batch, rows, left), (*batch, columns, right)]
    return [(*batch, small), *(found if vectors else [(0,), (0,)])]


@shape_of("Cross")
def _cross(operation: Operation, given: list[Shape]) -> Shape:
    shape = at_least(merged(given[0], given[1]), 1)
    if shape is not None and shape[-1] not in (3, UNKNOWN):
        raise ShapeMismatchError(f"Dimension must be 3 but is {shape[-1]}")
    return shape
