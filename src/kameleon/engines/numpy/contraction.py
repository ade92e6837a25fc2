"""Contractions as products of matrices: axes are brought together by views where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.node import Node
from ...prims.linalg import free_axes

if TYPE_CHECKING:
    from .engine import Emitter


def _ordered(node: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The contracted axes of both operands, in pairs, ascending in the first."""
    over = node.attrs["over"]
    pairs = sorted(zip(*over, strict=True))
    return tuple(i for i, _ in pairs), tuple(j for _, j in pairs)


def _dims_product(x: Node, axes: tuple[int, ...], hole: int) -> str:
    parts = [str(x.shape[i]) if x.shape[i] is not None else f"{{{hole}}}.shape[{i}]" for i in axes]
    return "*".join(parts) or "1"


def _matrix(
    x: Node, hole: int, batch: tuple[int, ...], rows: tuple[int, ...], columns: tuple[int, ...]
) -> str:
    """Text of operand `hole` as (*batch, rows, columns), by views where possible."""
    order, swapped = (*batch, *rows, *columns), (*batch, *columns, *rows)
    rank = len(x.shape)
    flip = order != tuple(range(rank)) and swapped == tuple(range(rank)) and not batch
    if flip:
        rows, columns, order = columns, rows, swapped
    text = f"{{{hole}}}"
    if order != tuple(range(rank)):
        text += f".transpose({order})"
    if len(rows) != 1 or len(columns) != 1 or len(batch) > 1:
        dims = [_dims_product(x, axes, hole) for axes in (rows, columns)]
        if batch:
            dims.insert(0, _dims_product(x, batch, hole))
        text += f".reshape({', '.join(dims)})"
    return text + (".T" if flip else "")


def contract(e: Emitter, node: Node) -> None:
    a, b = node.operands
    batch_a, batch_b = node.attrs["batch"]
    over_a, over_b = _ordered(node)
    free_a = free_axes(len(a.shape), over_a, batch_a)
    free_b = free_axes(len(b.shape), over_b, batch_b)
    left = _matrix(a, 0, batch_a, free_a, over_a)
    right = _matrix(b, 1, batch_b, over_b, free_b)
    for i, j in zip(batch_a, batch_b, strict=True):
        _check_batch(e, node, i, j)
    text = f"{'matmul' if batch_a else 'dot'}({left}, {right}{{out}})"
    rows, columns = _dims_product(a, free_a, 0), _dims_product(b, free_b, 1)
    lead = f"{_dims_product(a, batch_a, 0)}, " if batch_a else ""
    flat = f"({lead}{rows}, {columns})" if free_a and free_b else None
    if len(free_a) != 1 or len(free_b) != 1 or len(batch_a) > 1:
        holes = [(a, i, 0) for i in (*batch_a, *free_a)] + [(b, j, 1) for j in free_b]
        dims = [_dims_product(x, (i,), hole) for x, i, hole in holes]
        text += f".reshape({', '.join(dims)})" if dims else "[0, 0]"
    if flat is None:
        text = text.replace("{out}", "")
    e.emit(node, text, [a, b], dims=flat)


def _check_batch(e: Emitter, node: Node, i: int, j: int) -> None:
    """Batch sizes that aren't provably equal: matmul would stretch a 1."""
    a, b = node.operands
    roots = e.sizes.of(a, i), e.sizes.of(b, j)
    if roots[0] != roots[1]:
        x, y = f"{{0}}.shape[{i}]", f"{{1}}.shape[{j}]"
        e.code.emit(node, f"{x} == {y} or mismatch({x}, {y})", [e.slot(a), e.slot(b)])
        e.sizes.state(*roots)
