"""Factors of matrices in TensorFlow 1: triangles, eigenvalues, singular values; with gradients.

NumPy computes the factors; the gradients are K's, so that there are second ones, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float
from ..backend.calling import call
from ..backend.operators import matmul
from ..compat.tensorflow.arithmetic.matrices import exponential
from ..errors import ArgumentError
from ..ir.types import normalize_axes
from ..prims import elementwise as ew
from ..prims.filling import full_like
from .arrays import known, unit_matrix
from .calling import called
from .elementwise import chosen
from .linear import band, inverse, matrices, solve, system
from .networks import turned

Array = np.ndarray[Any, Any]


def _column(v: Any) -> Any:
    return K.expand_dims(v, -1)


def _row(v: Any) -> Any:
    return K.expand_dims(v, -2)


def _on_diagonal(v: Any) -> Any:
    """Matrices with vectors on their diagonals."""
    size = v.shape[-1] if v.shape[-1] is not None else K.shape(v)[-1]
    return _column(v) * unit_matrix(size, size, v.dtype)


def _inverse_gaps(v: Any) -> Any:
    """1 / (v_j - v_i), and 0 where i is j."""
    gaps = _row(v) - _column(v)
    same = K.equal(gaps, 0.0)
    return chosen(same, full_like(gaps, 0), 1.0 / chosen(same, full_like(gaps, 1), gaps))


# Triangles ------------------------------------------------------------------------------------


class Qr(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    q: Any
    r: Any


def qr(input: Any, full_matrices: bool, what: str) -> Qr:
    """Q and R with A = Q R. Which of two opposite columns Q has is up to the library.

    Source of the gradient: Walter and Lehmann, "Algorithmic differentiation of linear algebra
    functions with application in optimum experimental design" (2010).
    """
    x = matrices(input, what)
    rows, columns = known(x, -2, what), known(x, -1, what)
    inner = rows if full_matrices else min(rows, columns)
    first = x.type.shape[:-2]

    def factors(a: Array) -> Any:
        q, r = np.linalg.qr(a, "complete" if full_matrices else "reduced")
        return [q, r]

    def back(x: Any, gq: Any, gr: Any) -> Any:
        if full_matrices and rows > columns:
            raise ArgumentError(f"{what}: no gradient for all columns of {rows} x {columns}")
        q, r = qr(x, full_matrices, what)
        if rows >= columns:
            return _back_of_tall(q, r, gq, gr)
        # The first columns have a factor of their own, with which the others turn.
        first, others = gr[..., :rows], gr[..., rows:]
        turning = gq + matmul(x[..., rows:], turned(others))
        tall = _back_of_tall(q, r[..., :rows], turning, first)
        return K.concatenate([tall, matmul(q, others)], axis=-1)

    shapes = [(*first, rows, inner), (*first, inner, columns)]
    return Qr(*call(factors, x, "numpy", shapes=shapes, dtypes=[x.dtype] * 2, gradient=back))


def _back_of_tall(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    """The gradient of a factorisation of as many rows as columns, or more."""
    m = matmul(r, turned(gr)) - matmul(turned(gq), q)
    lower = m * band(m, -1, 0)
    mirrored = lower + turned(lower) - m * band(m, 0, 0)
    return turned(solve(r, turned(gq + matmul(q, mirrored))))


def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool, adjoint: bool, what: str) -> Any:
    """X with A X = B, of one triangle of A."""
    a, b = system(matrix, rhs, what)
    triangle = a * (band(a, -1, 0) if lower else band(a, 0, -1))
    return solve(turned(triangle) if adjoint else triangle, b)


def cholesky_solve(chol: Any, rhs: Any, what: str) -> Any:
    """X with L L' X = B."""
    half = matrix_triangular_solve(chol, rhs, True, False, what)
    return matrix_triangular_solve(chol, half, True, True, what)


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: float, fast: bool, what: str) -> Any:
    """X with the least |A X - B|^2 + l2_regularizer |X|^2; of many such, the shortest.

    Args:
        fast: makes no difference: the normal equations are solved.
    """
    a, b = system(matrix, rhs, what)
    rows, columns = known(a, -2, what), known(a, -1, what)
    small = min(rows, columns)
    ridge = unit_matrix(small, small, a.dtype) * float(l2_regularizer)
    if rows >= columns:
        return solve(matmul(turned(a), a) + ridge, matmul(turned(a), b))
    return matmul(turned(a), solve(matmul(a, turned(a)) + ridge, b))


# Eigenvalues ----------------------------------------------------------------------------------


class Eigen(NamedTuple):
    """Eigenvalues, rising, and eigenvectors, as columns."""

    e: Any
    v: Any


def _triangle_of(g: Any) -> Any:
    """The gradient of a symmetric matrix as one of its lower triangle, which alone is read."""
    return (g + turned(g)) * band(g, -1, 0) - g * band(g, 0, 0)


def self_adjoint_eig(tensor: Any, what: str) -> Eigen:
    """Of symmetric matrices, of which the lower triangle is read.

    Source of the gradient: Giles, "Collected matrix derivative results for forward and reverse
    mode algorithmic differentiation" (2008), section 3.1.
    """
    x = matrices(tensor, what)

    def back(x: Any, ge: Any, gv: Any) -> Any:
        e, v = self_adjoint_eig(x, what)
        inner = _on_diagonal(ge) + _inverse_gaps(e) * matmul(turned(v), gv)
        return _triangle_of(matmul(v, matmul(inner, turned(v))))

    shapes = [x.type.shape[:-1], x.type.shape]
    return Eigen(*call(
        lambda a: list(np.linalg.eigh(a)), x, "numpy", shapes=shapes, dtypes=[x.dtype] * 2,
        gradient=back,
    ))  # fmt: skip


# Singular values ------------------------------------------------------------------------------


class Svd(NamedTuple):
    """Singular values, falling, and vectors, as columns."""

    s: Any
    u: Any
    v: Any


def _svd(x: Any, full: bool, what: str) -> Svd:
    rows, columns = known(x, -2, what), known(x, -1, what)
    small, first = min(rows, columns), x.type.shape[:-2]
    sizes = (rows, columns) if full else (small, small)

    def factors(a: Array) -> Any:
        u, s, v = np.linalg.svd(a, full_matrices=full)
        return [s, u, np.swapaxes(v, -1, -2)]

    def back(x: Any, gs: Any, gu: Any, gv: Any) -> Any:
        s, u, v = _svd(x, full, what)
        (u, gu), (v, gv) = _within(u, gu, small), _within(v, gv, small)
        gaps = _inverse_gaps(K.square(s))
        left, right = matmul(turned(u), gu), matmul(turned(v), gv)
        inner = (
            _on_diagonal(gs)
            + gaps * (left - turned(left)) * _row(s)
            + _column(s) * gaps * (right - turned(right))
        )
        found = matmul(u, matmul(inner, turned(v)))
        if rows > columns:
            found = found + matmul((gu - matmul(u, left)) / _row(s), turned(v))
        if columns > rows:
            found = found + matmul(u / _row(s), turned(gv - matmul(v, right)))
        return found

    shapes = [(*first, small), (*first, rows, sizes[0]), (*first, columns, sizes[1])]
    return Svd(*call(factors, x, "numpy", shapes=shapes, dtypes=[x.dtype] * 3, gradient=back))


def _within(vectors: Any, g: Any, count: int) -> tuple[Any, Any]:
    """The first columns, and their cotangent: others turn with them, for all are orthonormal."""
    own, rest = vectors[..., :count], vectors[..., count:]
    if vectors.shape[-1] == count:
        return own, g
    return own, g[..., :count] - matmul(rest, matmul(turned(g[..., count:]), own))


def svd(tensor: Any, full_matrices: bool, compute_uv: bool, what: str) -> Any:
    """s, U and V with A = U diag(s) V'. The signs of the vectors are up to the library.

    Source of the gradient: Townsend, "Differentiating the singular value decomposition" (2016).
    """
    found = _svd(matrices(tensor, what), full_matrices if compute_uv else False, what)
    return found if compute_uv else found.s


def pinv(a: Any, rcond: Any, what: str) -> Any:
    """The pseudo-inverse: singular values below `rcond` times the largest count as 0."""
    x = matrices(a, what)
    rows, columns = known(x, -2, what), known(x, -1, what)
    if rcond is None:
        rcond = 10.0 * max(rows, columns) * float(np.finfo(np.dtype(x.dtype)).eps)
    s, u, v = _svd(x, False, what)
    small = K.less_equal(s, rcond * K.max(s, axis=-1, keepdims=True))
    inverted = 1.0 / chosen(small, full_like(s, np.inf), s)
    return matmul(v * _row(inverted), turned(u))


def matrix_rank(a: Any, tol: Any, what: str) -> Any:
    """How many singular values aren't negligible."""
    x = matrices(a, what)
    s = _svd(x, False, what).s
    if tol is None:
        size = max(known(x, -2, what), known(x, -1, what))
        eps = float(np.finfo(np.dtype(x.dtype)).eps)
        tol = eps * size * K.max(s, axis=-1, keepdims=True)
    return K.sum(K.cast(K.greater(s, tol), "int32"), axis=-1)


# Functions of matrices ------------------------------------------------------------------------


class LogDeterminant(NamedTuple):
    """The sign, and the logarithm of the size."""

    sign: Any
    log_abs_determinant: Any


def slogdet(input: Any, what: str) -> LogDeterminant:
    """The sign of determinants, and the logarithms of their sizes."""
    x = matrices(input, what)

    def back(x: Any, gsign: Any, glog: Any) -> Any:
        return _column(_column(glog)) * turned(inverse(x))

    first = x.type.shape[:-2]
    return LogDeterminant(*call(
        lambda a: list(np.linalg.slogdet(a)), x, "numpy", shapes=[first, first],
        dtypes=[x.dtype] * 2, gradient=back,
    ))  # fmt: skip


def _expm(x: Any) -> Any:
    """The exponentials of matrices.

    The gradient is a block of the exponential of a matrix twice as large; Najfeld and Havel,
    "Derivatives of the matrix exponential and their computation" (1995).
    """

    def back(x: Any, g: Any) -> Any:
        lines = turned(x)
        above = K.concatenate([lines, g], axis=-1)
        below = K.concatenate([K.zeros_like(lines), lines], axis=-1)
        size = K.shape(x)[-1]
        return _expm(K.concatenate([above, below], axis=-2))[..., :size, size:]

    return call(exponential, x, "numpy", like=x, gradient=back)


# Norms ----------------------------------------------------------------------------------------


def norm(tensor: Any, ord: Any, axis: Any, keepdims: Any, what: str) -> Any:
    """The length of vectors, or of matrices if `axis` names two axes.

    Args:
        ord: 'euclidean' (or 'fro', of matrices), a positive number, or inf; of matrices 1, 2, inf.
    """
    x, keep = as_float(tensor, what), bool(keepdims)
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        return _norm_of_matrices(x, ord, normalize_axes(what, axis, len(x.shape)), keep, what)
    over = None if axis is None else axis
    if ord in ("euclidean", 2):
        return K.sqrt(K.sum(K.square(x), over, keep))
    if ord == 1:
        return K.sum(K.abs(x), over, keep)
    if ord == np.inf:
        return K.max(K.abs(x), over, keep)
    if isinstance(ord, str) or ord <= 0:
        raise ArgumentError(f"{what}: ord is {ord!r}; there are 'euclidean' and positive numbers")
    return K.pow(K.sum(K.pow(K.abs(x), float(ord)), over, keep), 1.0 / ord)


def _norm_of_matrices(x: Any, ord: Any, axes: Any, keep: bool, what: str) -> Any:
    down, across = axes
    if ord in ("euclidean", "fro"):
        return K.sqrt(K.sum(K.square(x), axes, keep))
    if ord in (1, np.inf):
        first, second = (down, across) if ord == 1 else (across, down)
        return _without(K.max(K.sum(K.abs(x), first, True), second, True), axes, keep)
    if ord != 2:
        raise ArgumentError(f"{what}: ord is {ord!r}; of matrices there are 'fro', 1, 2 and inf")
    order = [i for i in range(len(x.shape)) if i not in axes]
    s = K.max(_svd(K.permute_dimensions(x, [*order, down, across]), False, what).s, axis=-1)
    for axis in sorted(axes) if keep else ():
        s = K.expand_dims(s, axis)
    return s


def _without(x: Any, axes: Any, keep: bool) -> Any:
    for axis in () if keep else sorted(axes, reverse=True):
        x = K.squeeze(x, axis)
    return x


def normalize(tensor: Any, ord: Any, axis: Any, what: str) -> tuple[Any, Any]:
    """`tensor` over its norm, and the norm."""
    length = norm(tensor, ord, axis, True, what)
    return as_float(tensor, what) / length, length


def cumulative_logsumexp(x: Any, axis: int, exclusive: bool, reverse: bool, what: str) -> Any:
    """The logarithms of the sums of the exponentials of the elements so far."""
    x = as_float(x, what)
    (along,) = normalize_axes(what, axis, len(x.shape))
    y = K.reverse(x, along) if reverse else x
    top = K.max(y, axis=along, keepdims=True)
    top = K.stop_gradient(chosen(K.less(K.abs(top), np.inf), top, full_like(top, 0)))
    sums = K.cumsum(ew.exp(y - top), axis=along)
    if exclusive:
        first = [slice(None)] * along
        sums = sums[(*first, slice(None, -1))]
    found = ew.log(sums) + top
    if exclusive:  # of nothing it's the least number
        start = full_like(top, float(np.finfo(np.dtype(str(x.dtype))).min))
        found = K.concatenate([start, found], axis=along)
    return K.reverse(found, along) if reverse else found


PLAIN = called({
    "qr": qr, "matrix_triangular_solve": matrix_triangular_solve,
    "cholesky_solve": cholesky_solve, "matrix_solve_ls": matrix_solve_ls,
    "self_adjoint_eig": self_adjoint_eig,
    "self_adjoint_eigvals": lambda tensor, what: self_adjoint_eig(tensor, what).e,
    "svd": svd, "linalg.pinv": pinv, "linalg.matrix_rank": matrix_rank,
    "linalg.slogdet": slogdet, "linalg.expm": lambda input, what: _expm(matrices(input, what)),
    "norm": norm, "linalg.normalize": normalize,
    "math.cumulative_logsumexp": cumulative_logsumexp,
})  # fmt: skip
