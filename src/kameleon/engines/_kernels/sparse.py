"""Sparse tensors for the NumPy engine: scattered sums, and sparse times dense by SciPy's kernels,
or row by row where SciPy isn't installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from .arrays import check_index

Array = Any

# Dtypes that are left to SciPy: it doesn't multiply bools and float16 as other engines do.
_COMPILED: Final = (np.float32, np.float64)
# A row of at least so many products is a vector times a matrix; shorter ones are summed side by
# side.
_LONG_ROW: Final = 2048
# Sums made at a time: few enough to stay in the cache while products are added.
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
    row, column = indices.T
    shape = int(rows), len(y)
    starts = row_starts(indices, shape)
    if not row.size or not y.size:
        return np.zeros((shape[0], y.shape[1]), y.dtype)
    own = compiled() if y.dtype in _COMPILED else None
    if starts is None:
        if own and _ascends(column):  # a transposed matrix, as in gradients
            return own.csc_array((values, row, _starts(column, shape[1])), shape) @ y
        order = np.argsort(row, kind="stable")
        row, column, values = row[order], column[order], values[order]
        starts = _starts(row, shape[0])
    if own:
        return own.csr_array((values, column, starts), shape) @ y
    return _summed(starts, column, values, y)


def row_starts(indices: Array, shape: Sequence[int]) -> Array | None:
    """Where in the elements of a sparse matrix each row starts, and the end; None if the rows
    don't ascend.

    Raises:
        EvaluationError: an index is outside of the matrix.
    """
    row, column = indices.T
    check_index(column, shape[1])
    if not _ascends(row):
        check_index(row, shape[0])
        return None
    check_index(row[:: max(1, row.size - 1)], shape[0])  # the smallest and the largest
    return _starts(row, shape[0])


@cache
def compiled() -> Any:
    """SciPy's matrices, where it's installed.

    Matrices of compressed rows or columns are used, for those of coordinates leave out the product
    of a stored 0 and NaN.
    """
    try:
        import scipy.sparse as found
    except ImportError:
        return None
    return found


def _ascends(index: Array) -> bool:
    return not (index[1:] < index[:-1]).any()


def _starts(index: Array, size: int) -> Array:
    """Where in an ascending index each of 0 … size - 1 starts, and the end."""
    return np.searchsorted(index, np.arange(size + 1))


def _summed(starts: Array, column: Array, values: Array, y: Array) -> Array:
    """The product of a matrix in compressed rows and y."""
    counts = np.diff(starts)
    out = np.zeros((counts.size, y.shape[1]), y.dtype)
    long = counts * y.shape[1] >= _LONG_ROW
    for row in np.flatnonzero(long).tolist():
        run = slice(starts[row], starts[row + 1])
        out[row] = np.matmul(values[run], y[column[run]])  # `dot` leaves out a single 0
    # The rest with the longest rows first.
    rest = np.flatnonzero((counts > 0) & ~long)
    rest = rest[np.argsort(-counts[rest], kind="stable")]
    rows_at_once = max(1, _BLOCK // y.shape[1])
    for at in range(0, rest.size, rows_at_once):
        some = rest[at : at + rows_at_once]
        out[some] = _sums(starts[some], counts[some], column, values, y)
    return out


def _sums(starts: Array, counts: Array, column: Array, values: Array, y: Array) -> Array:
    """Sums of products for runs of elements, of descending lengths: the first element of each,
    then the second of those that have one, and so on.
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
