"""Matrices as products of others, found by weighted alternating least squares. They run on the
host.
"""

from __future__ import annotations

import numpy as np

from ..failures import invalid
from .table import host

Array = np.ndarray

WEIGHTS = (
    "To specify the weights for observed entries, either (1) entry_weights must be set or"
    " (2) input_weights and factor_weights must be set, but not both."
)


@host("WALSComputePartialLhsAndRhs")
def _sides(
    factors: Array, of_factors: Array, unobserved: Array, of_inputs: Array, at: Array,
    values: Array, weights: Array, count: int, is_transposed: Array,
) -> list[Array]:  # fmt: skip
    """For each row of the input, the sums over its entries of what least squares have on both
    sides: of products of factors, and of factors and values.
    """
    rows, columns = (at[:, ::-1] if is_transposed else at).T
    sizes = len(of_inputs), len(of_factors), len(weights)
    if sizes == (count, len(factors), 0):
        weights = of_inputs[rows] * of_factors[columns]
    elif sizes != (0, 0, len(values)):
        raise invalid(WEIGHTS)
    taken = factors[columns]
    products = weights[:, None, None] * taken[:, :, None] * taken[:, None, :]
    left = np.zeros((count, *products.shape[1:]), np.float32)
    right = np.zeros((count, factors.shape[1]), np.float32)
    np.add.at(left, rows, products)
    np.add.at(right, rows, (values * (unobserved + weights))[:, None] * taken)
    return [left, right]


@host("MaskedMatmul")
def _masked(a: Array, b: Array, at: Array, turned: Array, other_turned: Array) -> Array:
    """Some elements of a product."""
    rows, columns = a.T if turned else a, b if other_turned else b.T
    found: Array = np.einsum("ij,ij->i", rows[at[:, 0]], columns[at[:, 1]])
    return found
