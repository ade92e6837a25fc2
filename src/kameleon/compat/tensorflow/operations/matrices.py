"""Factors, inverses and functions of matrices, which NumPy computes; gradients are Python rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import indexing as I

from ..arithmetic import matrices as A
from ..failures import invalid
from .kernels import kernel
from .table import pure
from .values import tensor

Array = np.ndarray

SINGULAR = "Input is not invertible."
SINGULAR_MATRIX = "Input matrix is not invertible."
DEFICIENT = "Input matrix was rank deficient or ill-conditioned."
NOT_POSITIVE = "Cholesky decomposition was not successful. The input might not be valid."
NOT_ADJOINT = "Self-adjoint eigen decomposition was not successful. The input might not be valid."


def _or(message: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """What a function gives, or the error that no matrix fits."""

    @wraps(compute)
    def tried(*arrays: Array, **how: Any) -> Any:
        try:
            return compute(*arrays, **how)
        except np.linalg.LinAlgError:
            raise invalid(message) from None

    return tried


def _of_numbers(a: Array) -> Array:
    """Matrices as they are; what isn't a number has neither an inverse nor factors."""
    if np.isnan(a).any():
        raise np.linalg.LinAlgError
    return a


def _turned(a: Array, adjoint: bool) -> Array:
    return A.adjoint(a) if adjoint else a


def _triangular_solve(a: Array, b: Array, *, lower: bool, adjoint: bool) -> Array:
    return np.linalg.solve(_turned(np.tril(a) if lower else np.triu(a), adjoint), b)


def _lu(a: Array) -> list[Array]:
    found = list(A.lu(a))
    if not np.all(np.abs(np.diagonal(found[0], axis1=-2, axis2=-1)) > 0):
        raise invalid(SINGULAR)
    return found


def _qr(a: Array, *, full_matrices: bool) -> list[Array]:
    mode: Any = "complete" if full_matrices else "reduced"
    return list(np.linalg.qr(a, mode))


def _eigen(a: Array, *, compute_v: bool) -> list[Array]:
    values, vectors = A.eigen(_of_numbers(a))
    return [values, vectors if compute_v else np.zeros(0, a.dtype)]


def _eigen_together(a: Array) -> Array:
    values, vectors = A.eigen(_of_numbers(a))
    return np.concatenate([values[..., None, :], vectors], -2)


def _svd(a: Array, *, compute_uv: bool, full_matrices: bool) -> list[Array]:
    if not compute_uv:
        return [np.linalg.svd(a, compute_uv=False), *[np.zeros(0, a.dtype)] * 2]
    u, s, v = np.linalg.svd(a, full_matrices=full_matrices)
    return [s, u, A.adjoint(v)]


KERNELS: dict[str, Callable[..., Any]] = {
    "MatrixInverse BatchMatrixInverse": _or(
        SINGULAR, lambda a, *, adjoint: np.linalg.inv(_turned(_of_numbers(a), adjoint))
    ),
    "MatrixDeterminant BatchMatrixDeterminant": np.linalg.det,
    "LogMatrixDeterminant": lambda a: list(np.linalg.slogdet(a)),
    "MatrixSolve BatchMatrixSolve": _or(
        SINGULAR_MATRIX,
        lambda a, b, *, adjoint: np.linalg.solve(_turned(_of_numbers(a), adjoint), b),
    ),
    "MatrixTriangularSolve BatchMatrixTriangularSolve": _or(SINGULAR_MATRIX, _triangular_solve),
    "MatrixSolveLs BatchMatrixSolveLs": _or(DEFICIENT, A.least_squares),
    "TridiagonalSolve": _or("The matrix is not invertible.", A.tridiagonal_solve),
    "TridiagonalMatMul": A.tridiagonal_product,
    # Factors.
    "Cholesky BatchCholesky": _or(NOT_POSITIVE, lambda a: np.linalg.cholesky(a)),
    "CholeskyGrad BatchCholeskyGrad": A.cholesky_gradient,
    "Lu": _lu,
    "Qr": _qr,
    "SelfAdjointEigV2 BatchSelfAdjointEigV2": _or(NOT_ADJOINT, _eigen),
    "SelfAdjointEig BatchSelfAdjointEig": _or(NOT_ADJOINT, _eigen_together),
    "Svd BatchSvd": _svd,
    # Functions.
    "MatrixExponential": A.exponential,
    "MatrixLogarithm": A.logarithm,
    "MatrixSquareRoot": A.square_root,
}
for _names, _function in KERNELS.items():
    kernel(_names)(_function)


@pure("Cross")
def _cross(one: Node, other: Node) -> Node:
    axis = len(one.shape) - 1

    def turned(x: Node, by: int) -> Node:
        return I.gather(x, tensor(np.roll(np.arange(3, dtype=np.int32), -by)), axis)

    return turned(one, 1) * turned(other, 2) - turned(one, 2) * turned(other, 1)
