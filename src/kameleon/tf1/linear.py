"""Matrices in TensorFlow 1: inverses and factors, which NumPy computes, with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, promoted
from ..backend.calling import call
from ..backend.operators import matmul
from ..errors import ShapeError
from ..prims.filling import full_like
from ..prims.sizes import size_of
from .algebra import diag_part
from .calling import called
from .networks import turned


def matrices(x: Any, what: str) -> Any:
    found = as_float(x, what)
    if len(found.shape) < 2:
        raise ShapeError(f"{what}: matrices are expected, not {found!r}")
    return found


def inverse(x: Any) -> Any:
    """The inverses of matrices; d(X^-1) = -X^-1 dX X^-1."""

    def back(x: Any, g: Any) -> Any:
        y = turned(inverse(x))
        return -matmul(matmul(y, g), y)

    return call(np.linalg.inv, x, "numpy", like=x, gradient=back)


def matrix_inverse(input: Any, adjoint: bool, what: str) -> Any:
    y = inverse(matrices(input, what))
    return turned(y) if adjoint else y


def determinant(x: Any) -> Any:
    """The determinants of matrices; d det X = det X tr(X^-1 dX)."""

    def back(x: Any, g: Any) -> Any:
        factor = g * determinant(x)
        return K.expand_dims(K.expand_dims(factor, -1), -1) * turned(inverse(x))

    shape = x.type.shape[:-2]
    return call(np.linalg.det, x, "numpy", shapes=shape, dtypes=x.dtype, gradient=back)


def system(matrix: Any, rhs: Any, what: str) -> tuple[Any, Any]:
    """Matrices, and as many right sides with as many rows."""
    a, b = promoted((matrices(matrix, what), matrices(rhs, what)), what)
    pairs = zip(a.shape[:-1], b.shape[:-1], strict=False)
    if len(a.shape) != len(b.shape) or any(n != m for n, m in pairs if None not in (n, m)):
        raise ShapeError(f"{what}: {a!r} and the right side {b!r} don't fit")
    return a, b


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool, what: str) -> Any:
    a, b = system(matrix, rhs, what)
    return solve(turned(a) if adjoint else a, b)


def solve(a: Any, b: Any) -> Any:
    """X with A X = B."""

    def back(a: Any, b: Any, g: Any) -> list[Any]:
        part = solve(turned(a), g)
        return [-matmul(part, turned(solve(a, b))), part]

    return call(np.linalg.solve, [a, b], "numpy", like=b, gradient=back)


def cholesky(x: Any) -> Any:
    """Lower triangles L with L L' = X.

    Source of the gradient: Murray, "Differentiation of the Cholesky decomposition" (2016),
    equation 10.
    """

    def back(x: Any, g: Any) -> Any:
        lower = cholesky(x)
        inner = _half_lower(matmul(turned(lower), g))
        left = solve(turned(lower), inner)
        whole = turned(solve(turned(lower), turned(left)))
        return (whole + turned(whole)) / 2

    return call(np.linalg.cholesky, x, "numpy", like=x, gradient=back)


def band(x: Any, lower: int, upper: int) -> Any:
    """1 where an element lies in the band around the diagonal, else 0; -1: all on that side."""
    rows = K.expand_dims(K.arange(size_of(x, -2)), 1)
    columns = K.expand_dims(K.arange(size_of(x, -1)), 0)
    off = columns - rows
    inside = K.ones_like(off)
    if lower >= 0:
        inside = inside * K.cast(K.greater_equal(off, -lower), inside.dtype)
    if upper >= 0:
        inside = inside * K.cast(K.less_equal(off, upper), inside.dtype)
    return K.cast(inside, x.dtype)


def _half_lower(x: Any) -> Any:
    """The lower triangle, its diagonal halved."""
    return x * (band(x, -1, 0) - band(x, 0, 0) / 2)


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, what: str) -> Any:
    x = as_tensor(input, what)
    return x * band(x, int(num_lower), int(num_upper))


def trace(x: Any, what: str) -> Any:
    return K.sum(diag_part(as_tensor(x, what)), axis=-1)


def matrix_set_diag(input: Any, diagonal: Any, what: str) -> Any:
    x, d = promoted((input, diagonal), what)
    on = band(x, 0, 0)
    wide = K.expand_dims(d, -1) + full_like(x, 0) if x.shape[-1] == x.shape[-2] else None
    if wide is None:
        raise ShapeError(f"{what}: the matrices must be square, not {x!r}")
    return x * (1 - on) + wide * on


def matvec(a: Any, b: Any, transpose_a: bool, what: str) -> Any:
    x, y = promoted((a, b), what)
    return K.squeeze(matmul(turned(x) if transpose_a else x, K.expand_dims(y, -1)), -1)


def logdet(matrix: Any, what: str) -> Any:
    lower = cholesky(matrices(matrix, what))
    return 2.0 * K.sum(K.log(diag_part(lower)), axis=-1)


def cross(a: Any, b: Any, what: str) -> Any:
    x, y = promoted((a, b), what)
    part: Callable[[Any, int], Any] = lambda v, i: v[..., i % 3]  # noqa: E731
    return K.stack(
        [part(x, i + 1) * part(y, i + 2) - part(x, i + 2) * part(y, i + 1) for i in range(3)],
        axis=-1,
    )


PLAIN = called(
    {
        "matrix_inverse": matrix_inverse,
        "matrix_determinant": lambda input, what: determinant(matrices(input, what)),
        "matrix_solve": matrix_solve,
        "cholesky": lambda input, what: cholesky(matrices(input, what)),
        "trace": trace,
        "matrix_band_part": matrix_band_part,
        "matrix_set_diag": matrix_set_diag,
        "linalg.matvec": matvec,
        "linalg.logdet": logdet,
        "cross": cross,
    }
)
