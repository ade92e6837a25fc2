"""Factors, inverses and functions of matrices, which NumPy computes; gradients are Python rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import indexing as I

from ..arithmetic import matrices as A
from ..failures import failure
from .kernels import kernel
from .table import fold, pure
from .values import tensor

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


def _tried(compute: Callable[..., Any], message: str, *arrays: Array) -> Any:
    """What a function gives, or the error that no matrix fits."""
    try:
        return compute(*arrays)
    except np.linalg.LinAlgError:
        raise failure("INVALID_ARGUMENT", message) from None


def _turned(operation: Operation, a: Array) -> Array:
    return A.adjoint(a) if operation.attribute("adjoint") else a


# Inverses ---------------------------------------------------------------------------------------


@kernel("MatrixInverse BatchMatrixInverse")
def _inverse(operation: Operation, a: Array) -> Any:
    return _tried(np.linalg.inv, "Input is not invertible.", _turned(operation, a))


@kernel("MatrixDeterminant BatchMatrixDeterminant")
def _determinant(operation: Operation, a: Array) -> Any:
    return np.linalg.det(a)


@kernel("LogMatrixDeterminant")
def _log_determinant(operation: Operation, a: Array) -> list[Any]:
    return list(np.linalg.slogdet(a))


@kernel("MatrixSolve BatchMatrixSolve")
def _solve(operation: Operation, a: Array, b: Array) -> Any:
    return _tried(np.linalg.solve, "Input matrix is not invertible.", _turned(operation, a), b)


@kernel("MatrixTriangularSolve BatchMatrixTriangularSolve")
def _triangular_solve(operation: Operation, a: Array, b: Array) -> Any:
    part = A.triangle(a, operation.attribute("lower"))
    return _tried(np.linalg.solve, "Input matrix is not invertible.", _turned(operation, part), b)


@kernel("MatrixSolveLs BatchMatrixSolveLs")
def _least_squares(operation: Operation, a: Array, b: Array, ridge: Any) -> Any:
    fast, added = operation.attribute("fast"), a.dtype.type(ridge)
    message = "Input matrix was rank deficient or ill-conditioned."
    return _tried(lambda a, b: A.least_squares(a, b, added, fast), message, a, b)


@kernel("TridiagonalSolve")
def _tridiagonal_solve(operation: Operation, diagonals: Array, b: Array) -> Any:
    return _tried(A.tridiagonal_solve, "The matrix is not invertible.", diagonals, b)


@kernel("TridiagonalMatMul")
def _tridiagonal_product(operation: Operation, *arrays: Array) -> Array:
    return A.tridiagonal_product(*arrays)


# Factors ----------------------------------------------------------------------------------------


@kernel("Cholesky BatchCholesky")
def _cholesky(operation: Operation, a: Array) -> Any:
    message = "Cholesky decomposition was not successful. The input might not be valid."
    return _tried(np.linalg.cholesky, message, a)


@kernel("CholeskyGrad BatchCholeskyGrad")
def _cholesky_gradient(operation: Operation, factor: Array, g: Array) -> Array:
    return A.cholesky_gradient(factor, g)


@kernel("Lu")
def _lu(operation: Operation, a: Array) -> list[Array]:
    found = list(A.lu(a))
    if not np.all(np.diagonal(found[0], axis1=-2, axis2=-1)):
        raise failure("INVALID_ARGUMENT", "Input is not invertible.")
    return found


@kernel("Qr")
def _qr(operation: Operation, a: Array) -> list[Array]:
    mode: Any = "complete" if operation.attribute("full_matrices") else "reduced"
    return list(np.linalg.qr(a, mode))


@kernel("SelfAdjointEigV2 BatchSelfAdjointEigV2")
def _eigen(operation: Operation, a: Array) -> list[Array]:
    values, vectors = A.eigen(a)
    return [values, vectors if operation.attribute("compute_v") else np.zeros(0, a.dtype)]


@kernel("SelfAdjointEig BatchSelfAdjointEig")
def _eigen_together(operation: Operation, a: Array) -> Array:
    values, vectors = A.eigen(a)
    return np.concatenate([values[..., None, :], vectors], -2)


@kernel("Svd BatchSvd")
def _svd(operation: Operation, a: Array) -> list[Array]:
    if not operation.attribute("compute_uv"):
        nothing = np.zeros(0, a.dtype)
        return [np.linalg.svd(a, compute_uv=False), nothing, nothing]
    u, s, v = np.linalg.svd(a, full_matrices=operation.attribute("full_matrices"))
    return [s, u, A.adjoint(v)]


# Functions --------------------------------------------------------------------------------------


@kernel("MatrixExponential")
def _exponential(operation: Operation, a: Array) -> Array:
    return A.exponential(a)


@kernel("MatrixLogarithm")
def _logarithm(operation: Operation, a: Array) -> Array:
    return A.logarithm(a)


@kernel("MatrixSquareRoot")
def _square_root(operation: Operation, a: Array) -> Array:
    return A.square_root(a)


@fold("Cross")
def _cross_known(operation: Operation, a: Array, b: Array) -> Array:
    return np.cross(a, b)


@pure("Cross")
def _cross(operation: Operation, a: Any, b: Any) -> Node:
    one, other = tensor(a), tensor(b)
    axis = len(one.shape) - 1

    def turned(x: Node, by: int) -> Node:
        return I.gather(x, tensor(np.roll(np.arange(3, dtype=np.int32), -by)), axis)

    return turned(one, 1) * turned(other, 2) - turned(one, 2) * turned(other, 1)
