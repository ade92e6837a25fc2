"""Functions and factors of matrices, in stacks: (…, rows, columns)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def adjoint(a: Array) -> Array:
    """The transposed matrices, of conjugate numbers."""
    return np.conj(np.swapaxes(a, -1, -2))


def eigen(a: Array) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors of symmetric matrices, whose lower triangle is read."""
    values, vectors = np.linalg.eigh(a)
    return values.astype(a.dtype), vectors


def lu(a: Array) -> tuple[Array, Array]:
    """Both factors in one matrix, the lower one's ones left out, and the order of the rows."""
    found, rows = a.copy(), a.shape[-1]
    order = np.broadcast_to(np.arange(rows), a.shape[:-1]).copy()
    for batch in np.ndindex(a.shape[:-2]):
        m, p = found[batch], order[batch]
        for k in range(rows):
            pivot = k + int(np.argmax(np.abs(m[k:, k])))
            m[[k, pivot]], p[[k, pivot]] = m[[pivot, k]], p[[pivot, k]]
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return found, order


def cholesky_gradient(factor: Array, g: Array) -> Array:
    """The gradient of matrices, given their factors and the gradients of these.

    Source: Murray, "Differentiation of the Cholesky decomposition" (2016).
    """
    inverse = np.linalg.inv(np.tril(factor))
    middle = np.tril(adjoint(factor) @ np.tril(g))
    middle = middle - 0.5 * middle * np.eye(factor.shape[-1], dtype=factor.dtype)
    found = adjoint(inverse) @ middle @ inverse
    symmetric: Array = 0.5 * (found + adjoint(found))
    return symmetric


def least_squares(a: Array, b: Array, ridge: Any, *, fast: bool) -> Array:
    """X with the least |A X - B|² + ridge |X|²; of many such, the shortest.

    Args:
        fast: solves the normal equations; else nothing is added for `ridge`.
    """
    if not fast:
        shortest: Array = np.linalg.pinv(a) @ b
        return shortest
    rows, columns = a.shape[-2:]
    small = np.eye(min(rows, columns), dtype=a.dtype) * a.dtype.type(ridge)
    if rows >= columns:
        found: Array = np.linalg.solve(adjoint(a) @ a + small, adjoint(a) @ b)
    else:
        found = adjoint(a) @ np.linalg.solve(a @ adjoint(a) + small, b)
    return found


def tridiagonal_solve(diagonals: Array, b: Array) -> Array:
    """X with A X = B; the diagonals above, on and below the main one are rows of a matrix."""
    above, on, below = (diagonals[..., k, :, None] for k in range(3))
    size = b.shape[-2]
    whole = np.zeros((*np.broadcast_shapes(on.shape[:-2], b.shape[:-2]), size, size), b.dtype)
    at = np.arange(size)
    whole[..., at, at] = on[..., 0]
    whole[..., at[:-1], at[1:]] = above[..., :-1, 0]
    whole[..., at[1:], at[:-1]] = below[..., 1:, 0]
    return np.linalg.solve(whole, b)


def tridiagonal_product(above: Array, on: Array, below: Array, b: Array) -> Array:
    """A B; each diagonal is a matrix of one row."""
    up, middle, down = (np.swapaxes(x, -1, -2) for x in (above, on, below))
    found = middle * b
    found[..., :-1, :] += up[..., :-1, :] * b[..., 1:, :]
    found[..., 1:, :] += down[..., 1:, :] * b[..., :-1, :]
    return found


# Functions of matrices ------------------------------------------------------------------------

# The coefficients of the (13, 13) Padé approximant of exp, over the last of them.
_PADE = [math.factorial(26 - k) * math.comb(13, k) / math.factorial(13) for k in range(14)]


def exponential(a: Array) -> Array:
    """By scaling and squaring; Higham, "The scaling and squaring method" (2005)."""
    x = a.astype(np.promote_types(a.dtype, "float64"))
    norm = np.abs(x).sum(-2).max() if x.size else 0.0
    halvings = max(0, math.ceil(math.log2(norm / 5.4))) if norm > 5.4 else 0
    x = x / 2.0**halvings
    power = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    above, below = np.zeros_like(x), np.zeros_like(x)
    for k, c in enumerate(_PADE):
        above, below = above + c * power, below + (-1) ** k * c * power
        power = power @ x
    found = np.linalg.solve(below, above)
    for _ in range(halvings):
        found = found @ found
    return found.astype(a.dtype)


def _inverse(a: Array) -> Array:
    """The inverses; a singular matrix has one that isn't of numbers."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        alone = a.ndim == 2
        return np.full_like(a, np.nan) if alone else np.stack([_inverse(each) for each in a])


def square_root(a: Array) -> Array:
    """The principal square roots.

    Source: Denman and Beavers, "The matrix sign function and computations in systems" (1976).
    """
    y = a.astype(np.promote_types(a.dtype, "float64"))
    z = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    for _ in range(60):
        before = y
        y, z = 0.5 * (y + _inverse(z)), 0.5 * (z + _inverse(y))
        if np.allclose(y, before, rtol=1e-14, atol=0):
            break
    return y.astype(a.dtype)


def logarithm(a: Array) -> Array:
    """The principal logarithms: roots until they are near one, there a series of their own.

    Source: Higham, "Functions of matrices" (2008), chapter 11.
    """
    x, unit = a.astype("complex128"), np.eye(a.shape[-1])
    doublings = 0
    while np.abs(x - unit).sum(-2).max(initial=0) > 0.1 and doublings < 60:
        x, doublings = square_root(x), doublings + 1
    ratio = (x - unit) @ np.linalg.inv(x + unit)  # log x = 2 artanh of this
    power, found = ratio, np.zeros_like(x)
    for k in range(1, 30, 2):
        found, power = found + power / k, power @ ratio @ ratio
    return (found * 2.0 ** (doublings + 1)).astype(a.dtype)
