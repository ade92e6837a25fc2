"""Sparse tensors for the NumPy engine: scattered sums, and sparse times dense row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .kernels import check_index

Array = Any

# A row of so many products is a vector times a matrix; others are summed side by side.
_LONG_ROW: Final = 2048
# Sums made at a time: they should stay in the cache while products are added.
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
    counts = np.diff(np.append(starts, row.size))
    long = counts * y.shape[1] >= _LONG_ROW
    _add_rows(out, row[starts[long]], starts[long], counts[long], column, values, y)
    # The rest with the longest rows first.
    rest = np.flatnonzero(~long)
    rest = rest[np.argsort(-counts[rest], kind="stable")]
    rows_at_once = max(1, _BLOCK // y.shape[1])
    for at in range(0, rest.size, rows_at_once):
        some = rest[at : at + rows_at_once]
        out[row[starts[some]]] = _sums(starts[some], counts[some], column, values, y)
    return out


def _add_rows(
    out: Array, rows: Array, starts: Array, counts: Array, column: Array, values: Array, y: Array
) -> None:
    """out[rows[i]] = values[run i] @ y[column[run i]]"""
    for row, a, count in zip(rows.tolist(), starts.tolist(), counts.tolist(), strict=True):
        b = a + count
        out[row] = np.matmul(values[a:b], y[column[a:b]])  # `dot` leaves out a single 0


def _sums(starts: Array, counts: Array, column: Array, values: Array, y: Array) -> Array:
    """The same for short runs, of descending lengths: the first element of each, then the second
    of those that have one, and so on.
    """
    sums = y[column[starts]]
    sums *= values[starts, None]
    products = np.empty_like(sums)
    for number in range(1, int(counts[0])):
        places = starts[: np.searchsorted(-counts, -number)] + number
        product = np.take(y, column[places], 0, out=products[: places.size], mode="clip")
        product *= values[places, None]
        sums[: places.size] += product
    return sums
