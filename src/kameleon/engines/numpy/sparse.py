"""Sparse tensors for the NumPy engine: scattered sums, and sparse times dense by runs of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .kernels import check_index

Array = Any

# From so many products a row on, a vector times a matrix for each row beats adding up runs.
_LONG_ROW: Final = 2048
# Products held at a time: they should stay in cache between being made and being added.
_BLOCK: Final = 65_536


def sparse_to_dense(indices: Array, values: Array, shape: Sequence[int]) -> Array:
    """Zeros of `shape` to which the values are added at the rows of indices."""
    out = np.zeros(shape, values.dtype)
    flat = np.zeros(len(values), np.int64)
    for axis, size in enumerate(shape):
        index = indices[:, axis]
        check_index(index, size)
        flat *= size
        flat += index
    np.add.at(out.reshape(-1), flat, values)
    return out


def sparse_dot(indices: Array, values: Array, y: Array, rows: int) -> Array:
    """The product of a sparse matrix (rows, len(y)), given by its elements, and y."""
    row, column = indices[:, 0], indices[:, 1]
    check_index(row, rows)
    check_index(column, len(y))
    out = np.zeros((rows, y.shape[1]), y.dtype)
    if not out.size or not row.size:
        return out
    if (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        row, column, values = row[order], column[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], row[1:] != row[:-1])))
    by_row = row.size * y.shape[1] >= _LONG_ROW * starts.size
    (_add_rows if by_row else _add_runs)(out, row[starts], starts, column, values, y)
    return out


def _add_rows(
    out: Array, rows: Array, starts: Array, column: Array, values: Array, y: Array
) -> None:
    """out[rows[i]] = values[run i] @ y[column[run i]]"""
    bounds = [*starts.tolist(), len(column)]
    for row, a, b in zip(rows.tolist(), bounds, bounds[1:], strict=False):
        out[row] = np.matmul(values[a:b], y[column[a:b]])  # `dot` leaves out a single 0


def _add_runs(
    out: Array, rows: Array, starts: Array, column: Array, values: Array, y: Array
) -> None:
    """The same for short runs, many of them at a time."""
    ends = np.append(starts[1:], len(column))
    at, most = 0, max(1, _BLOCK // y.shape[1])
    while at < len(rows):
        a = starts[at]
        to = max(at + 1, int(np.searchsorted(ends, a + most, side="right")))
        products = y[column[a : ends[to - 1]]]
        products *= values[a : ends[to - 1], None]
        out[rows[at:to]] = np.add.reduceat(products, starts[at:to] - a, axis=0)
        at = to
