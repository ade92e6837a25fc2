"""Contractions as products of matrices: axes are brought together by views where possible."""

from __future__ import annotations

from math import prod

from ...graph.ir.node import Node
from ...graph.primitives.linalg import free_axes
from .emitter import Emitter, laid_out
from .literal import literal

Axes = tuple[int, ...]


def _count(x: Node) -> int:
    """About how many elements there are; unknown sizes count 32."""
    return prod(32 if d is None else d for d in x.shape)


def _in_order(a: Node, b: Node, over: tuple[Axes, Axes]) -> tuple[Axes, Axes]:
    """The contracted axes of both operands, in pairs, ascending in the larger one.

    An operand whose axes aren't in order is copied.
    """
    larger = int(_count(b) > _count(a))
    pairs = sorted(zip(*over, strict=True), key=lambda pair: pair[larger])
    return tuple(i for i, _ in pairs), tuple(j for _, j in pairs)


def _dims_product(x: Node, axes: tuple[int, ...], hole: int) -> str:
    parts = [
        f"{{{hole}}}.shape[{literal(i)}]" if x.shape[i] is None else literal(x.shape[i])
        for i in axes
    ]
    return "*".join(parts) or "1"


def _matrix(
    x: Node,
    hole: int,
    batch: tuple[int, ...],
    rows: tuple[int, ...],
    columns: tuple[int, ...],
    transpose: str,
) -> str:
    """Text of operand `hole` as (*batch, rows, columns), by views where possible."""
    order, swapped = (*batch, *rows, *columns), (*batch, *columns, *rows)
    rank = len(x.shape)
    # Where a copy has to be made, whole rows are moved.
    in_rows = order[-1:] != (rank - 1,) and swapped[-1:] == (rank - 1,)
    flip = order != tuple(range(rank)) and (swapped == tuple(range(rank)) or in_rows) and not batch
    if flip:
        rows, columns, order = columns, rows, swapped
    text = f"{{{hole}}}"
    if order != tuple(range(rank)):
        text += f".{transpose}({literal(order)})"
    if len(rows) != 1 or len(columns) != 1 or len(batch) > 1:
        dims = [_dims_product(x, axes, hole) for axes in (rows, columns)]
        if batch:
            dims.insert(0, _dims_product(x, batch, hole))
        text += f".reshape({', '.join(dims)})"
    return text + (".T" if flip else "")


class Factors:
    """A contraction as a product of two matrices, or of two batches of them.

    Attributes:
        operands: the nodes that the texts are over, numbered from `hole` on.
        free, batch: for each operand its axes of that kind.
        left, right: the texts of the matrices.
        dims: the text of the shape of their product.
    """

    def __init__(self, node: Node, transpose: str, hole: int = 0):
        (a, at_a), (b, at_b) = map(laid_out, node.operands)
        (over_a, over_b), (batch_a, batch_b) = node.attrs["over"], node.attrs["batch"]
        free_a = tuple(at_a[i] for i in free_axes(len(at_a), over_a, batch_a))
        free_b = tuple(at_b[j] for j in free_axes(len(at_b), over_b, batch_b))
        batch_a, batch_b = tuple(at_a[i] for i in batch_a), tuple(at_b[j] for j in batch_b)
        over = tuple(at_a[i] for i in over_a), tuple(at_b[j] for j in over_b)
        over_a, over_b = _in_order(a, b, over)
        self.operands, self.hole = (a, b), hole
        self.free, self.batch = (free_a, free_b), (batch_a, batch_b)
        self.left = _matrix(a, hole, batch_a, free_a, over_a, transpose)
        self.right = _matrix(b, hole + 1, batch_b, over_b, free_b, transpose)
        rows, columns = _dims_product(a, free_a, hole), _dims_product(b, free_b, hole + 1)
        lead = f"{_dims_product(a, batch_a, hole)}, " if batch_a else ""
        self.dims = f"({lead}{rows}, {columns})" if free_a and free_b else None

    def shaped(self, text: str) -> str:
        """The text of the product, brought into the shape of the contraction."""
        (a, b), (free_a, free_b), (batch_a, _) = self.operands, self.free, self.batch
        if self.dims is None:
            text = text.replace("{out}", "")
        if len(free_a) == len(free_b) == 1 and len(batch_a) < 2:
            return text
        holes = [(a, i, self.hole) for i in (*batch_a, *free_a)]
        holes += [(b, j, self.hole + 1) for j in free_b]
        dims = [_dims_product(x, (i,), hole) for x, i, hole in holes]
        return text + (f".reshape({', '.join(dims)})" if dims else "[0, 0]")


def contract(e: Emitter, node: Node) -> None:
    """One product of matrices, or of batches of them, by the function that `e.product` names."""
    made = Factors(node, e.transpose)
    text = f"{e.product(node)}({made.left}, {made.right}{{out}})"
    e.emit(node, made.shaped(text), list(made.operands), dims=made.dims)
