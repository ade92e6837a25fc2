"""Matrices by their diagonals: made of them, read off, set; bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import are_one_size, plus, size_of, sizes_product

from ..shapes.diagonals import longest_diagonal, matrix_sizes
from .table import pure
from .values import broadcast, dims, sizes_of, tensor

Array = np.ndarray


class Band:
    """Neighbouring diagonals of a matrix, the highest first: where their elements lie.

    Attributes:
        rows, columns: by diagonal and place, of the element in the matrix.
        inside: whether there is one; shorter diagonals are filled up behind.
    """

    def __init__(self, rows: int, columns: int, low: int, high: int) -> None:
        longest = longest_diagonal(rows, columns, low, high)
        offsets, places = np.arange(high, low - 1, -1)[:, None], np.arange(longest)
        self.rows = places - np.minimum(offsets, 0)
        self.columns = places + np.maximum(offsets, 0)
        self.inside = (self.rows < rows) & (self.columns < columns)
        self._sizes = (rows, columns)

    def in_matrix(self) -> Array:
        """Where in the matrix, as one number, each element lies; 0 outside."""
        return np.where(self.inside, self.rows * self._sizes[1] + self.columns, 0)

    def in_band(self) -> tuple[Array, Array]:
        """For each element of the matrix, its place in the band, as one number; and whether it
        has one."""
        at, has = np.zeros(self._sizes, np.int64), np.zeros(self._sizes, bool)
        places = self.rows[self.inside], self.columns[self.inside]
        at[places], has[places] = np.flatnonzero(self.inside), True
        return at, has


def _picked(x: Node, taken: int, at: Array, has: Array, other: Any) -> Node:
    """Elements of the last axes of a tensor, by place; others where there are none."""
    shape = sizes_of(x)
    batch = shape[: len(shape) - taken]
    flat = M.reshape(x, [*batch, int(np.prod(shape[len(batch) :]))])
    found = I.gather(flat, tensor(at.astype(np.int32)), len(batch))
    if has.all():
        return found
    return E.select(M.broadcast_to(tensor(has), sizes_of(found)), *broadcast(found, other))


def _zero(x: Node) -> Array:
    return np.zeros((), str(x.dtype))


# One diagonal -----------------------------------------------------------------------------------

MAIN = np.zeros(1, np.int32)  # the number of the diagonal in the middle
MOST = np.iinfo(np.int32).max


@pure("MatrixDiag BatchMatrixDiag MatrixDiagV2")
def _diag(x: Node, k: Array = MAIN, rows: int = -1, columns: int = -1, other: Any = None) -> Node:
    low, high = _bounds(k)
    if x.shape[-1] is None and (low, high, rows, columns) == (0, 0, -1, -1):
        around = tensor(_zero(x) if other is None else other)
        return _on_diagonal(x, M.broadcast_to(around, [*dims(x), size_of(x, -1)]))
    count = 1 if low == high else 2
    shape = matrix_sizes(sizes_of(x)[-1], low, high, rows, columns)
    at, has = Band(*shape, low, high).in_band()
    return _picked(x, count, at, has, _zero(x) if other is None else other)


@pure("MatrixDiagPart BatchMatrixDiagPart MatrixDiagPartV2")
def _diag_part(x: Node, k: Array = MAIN, other: Any = None) -> Node:
    low, high = _bounds(k)
    if None in x.shape[-2:] and low == high == 0 and are_one_size(*dims(x)[-2:]):
        size = size_of(x, -1)
        flat = M.reshape(x, [*dims(x)[:-2], sizes_product([size, size])])
        places = M.iota([size])
        steps = M.broadcast_to(plus(size, 1), [size])  # type: ignore[arg-type]
        return I.gather(flat, E.mul(places, steps), len(x.shape) - 2)
    rows, columns = sizes_of(x)[-2:]
    if not -rows < low <= high < columns and (low, high) != (0, 0):
        raise ValueError(f"diagonals {low} to {high} of {rows} rows and {columns} columns")
    band = Band(rows, columns, low, high)
    at, has = band.in_matrix(), band.inside
    if low == high:
        at, has = at[0], has[0]
    return _picked(x, 2, at, has, _zero(x) if other is None else other)


@pure("MatrixSetDiag BatchMatrixSetDiag MatrixSetDiagV2")
def _set_diag(x: Node, diagonal: Node, k: Array = MAIN) -> Node:
    low, high = _bounds(k)
    if None in x.shape[-2:] and low == high == 0:
        return _on_diagonal(diagonal, x)
    rows, columns = sizes_of(x)[-2:]
    band = Band(rows, columns, low, high)
    if sizes_of(diagonal)[-1] != band.inside.shape[1]:
        raise ValueError(f"diagonals {sizes_of(diagonal)} of a matrix {sizes_of(x)}")
    at, has = band.in_band()
    return _picked(diagonal, 1 if low == high else 2, at, has, x)


def _on_diagonal(diagonal: Node, matrix: Node) -> Node:
    """Square matrices with other elements on their diagonals."""
    gap, wide = _gap(matrix), M.expand_dims(diagonal, len(diagonal.shape) - 1)
    here = M.broadcast_to(E.eq(gap, full_like(gap, 0)), dims(matrix))
    return E.select(here, M.broadcast_to(wide, dims(matrix)), matrix)


def _gap(x: Node) -> Node:
    """By place in a matrix, its row less its column."""
    if None not in x.shape[-2:]:
        places = (np.arange(size, dtype=np.int32) for size in sizes_of(x, -2))
        return tensor(np.subtract.outer(*places))
    sizes = dims(x)[-2:]
    return E.sub(M.iota(sizes, 0), M.iota(sizes, 1))


def _bounds(k: Array) -> tuple[int, int]:
    numbers = k.ravel().tolist()
    return numbers[0], numbers[-1]


# Of tensors -------------------------------------------------------------------------------------


@pure("Diag")
def _big_diag(x: Node) -> Node:
    shape, count = sizes_of(x), int(np.prod(sizes_of(x)))
    at, has = Band(count, count, 0, 0).in_band()
    flat = M.reshape(x, [count])
    return M.reshape(_picked(flat, 1, at, has, _zero(x)), [*shape, *shape])


@pure("DiagPart")
def _big_diag_part(x: Node) -> Node:
    shape = sizes_of(x)[: len(x.shape) // 2]
    count = int(np.prod(shape))
    flat = M.reshape(x, [count * count])
    return M.reshape(I.gather(flat, tensor(np.arange(count) * (count + 1)), 0), list(shape))


@pure("MatrixBandPart BatchMatrixBandPart")
def _band(x: Node, below: int, above: int) -> Node:
    gap, (low, high) = _gap(x), (MOST if limit < 0 else limit for limit in (below, above))
    inside = E.logical_and(E.le(gap, full_like(gap, low)), E.ge(gap, full_like(gap, -high)))
    return E.select(M.broadcast_to(inside, dims(x)), *broadcast(x, _zero(x)))
