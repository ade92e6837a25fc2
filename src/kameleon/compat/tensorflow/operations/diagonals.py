"""Matrices by their diagonals: made of them, read off, set; bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M

from ..shapes.diagonals import longest_diagonal, matrix_sizes
from .table import pure
from .values import array, broadcast, integer, integers, sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation

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


def _bounds(k: Any) -> tuple[int, int]:
    numbers = integers(k)
    return numbers[0], numbers[-1]


def _zero(x: Node) -> Array:
    return np.zeros((), str(x.dtype))


# One diagonal -----------------------------------------------------------------------------------


@pure("MatrixDiag BatchMatrixDiag MatrixDiagV2")
def _diag(
    operation: Operation, x: Any, k: Any = 0, rows: Any = -1, columns: Any = -1, other: Any = None
) -> Node:
    node = tensor(x)
    low, high = _bounds(k)
    count = 1 if low == high else 2
    told = matrix_sizes(sizes_of(node)[-1], low, high, integer(rows), integer(columns))
    at, has = Band(*told, low, high).in_band()
    return _picked(node, count, at, has, _zero(node) if other is None else other)


@pure("MatrixDiagPart BatchMatrixDiagPart MatrixDiagPartV2")
def _diag_part(operation: Operation, x: Any, k: Any = 0, other: Any = None) -> Node:
    node = tensor(x)
    low, high = _bounds(k)
    rows, columns = sizes_of(node)[-2:]
    if not -rows < low <= high < columns and (low, high) != (0, 0):
        raise ValueError(f"diagonals {low} to {high} of {rows} rows and {columns} columns")
    band = Band(rows, columns, low, high)
    at, has = band.in_matrix(), band.inside
    if low == high:
        at, has = at[0], has[0]
    return _picked(node, 2, at, has, _zero(node) if other is None else other)


@pure("MatrixSetDiag BatchMatrixSetDiag MatrixSetDiagV2")
def _set_diag(operation: Operation, x: Any, diagonal: Any, k: Any = 0) -> Node:
    node, given = tensor(x), tensor(diagonal)
    low, high = _bounds(k)
    rows, columns = sizes_of(node)[-2:]
    band = Band(rows, columns, low, high)
    if sizes_of(given)[-1] != band.inside.shape[1]:
        raise ValueError(f"diagonals {sizes_of(given)} of a matrix {sizes_of(node)}")
    at, has = band.in_band()
    return _picked(given, 1 if low == high else 2, at, has, node)


# Of tensors -------------------------------------------------------------------------------------


@pure("Diag")
def _big_diag(operation: Operation, x: Any) -> Node:
    node = tensor(x)
    shape, count = sizes_of(node), int(np.prod(sizes_of(node)))
    at, has = Band(count, count, 0, 0).in_band()
    flat = M.reshape(node, [count])
    return M.reshape(_picked(flat, 1, at, has, _zero(node)), [*shape, *shape])


@pure("DiagPart")
def _big_diag_part(operation: Operation, x: Any) -> Node:
    node = tensor(x)
    shape = sizes_of(node)[: len(node.shape) // 2]
    count = int(np.prod(shape))
    flat = M.reshape(node, [count * count])
    return M.reshape(I.gather(flat, tensor(np.arange(count) * (count + 1)), 0), list(shape))


@pure("MatrixBandPart BatchMatrixBandPart")
def _band(operation: Operation, x: Any, lower: Any, upper: Any) -> Node:
    node = tensor(x)
    *_batch, rows, columns = sizes_of(node)
    gap = np.subtract.outer(np.arange(rows), np.arange(columns))
    below, above = (int(array(each)) for each in (lower, upper))
    inside = ((gap <= below) | (below < 0)) & ((-gap <= above) | (above < 0))
    return E.select(M.broadcast_to(tensor(inside), sizes_of(node)), *broadcast(node, _zero(node)))
