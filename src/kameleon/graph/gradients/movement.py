"""Gradients of primitives that move, pick or place elements: each is another one's adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.node import Node
from ..primitives.elementwise import add, mul
from ..primitives.indexing import gather, put_along, scatter_add, take_along
from ..primitives.movement import (
    broadcast_to,
    inverse,
    iota,
    reshape,
    reverse,
    slice_,
    slice_axis,
    transpose,
    unslice,
)
from ..primitives.reduce import reduce_sum
from ..primitives.sizes import as_node, dims_of, size_of
from ..primitives.sparse import column, pick, sparse_dense_dot
from ..primitives.stretching import stretch, stretched_axes, sum_to
from .rules import Rule, flat, jointly, of_first


def _broadcast_back(g: Node, x: Node) -> Node:
    """The sum of `g` over the axes that stretched `x`."""
    offset = len(g.shape) - len(x.shape)
    stretched = [i + offset for i, d in enumerate(x.shape) if d == 1 and g.shape[i + offset] != 1]
    axes = (*range(offset), *stretched)
    total = reduce_sum(g, axes) if axes else g
    if not stretched:
        return total
    return reshape(total, [1 if i in stretched else d for i, d in enumerate(dims_of(g))][offset:])


def _stretch_back(g: Node, y: Node) -> Node:
    """The sum of `g` over the axes that stretched the operand of `y`, if only at run time."""
    x = y.operands[0]
    total = _broadcast_back(g, x)
    axes = stretched_axes(y)
    if not axes:
        return total
    return sum_to(total, [size_of(x, i) if i in axes else d for i, d in enumerate(dims_of(total))])


def _concatenate_back(
    y: Node, gs: tuple[Node | None, ...], needed: tuple[bool, ...]
) -> Sequence[Node | None]:
    """Each operand's part of the cotangent."""
    axis, g = y.attrs["axis"], gs[0]
    assert g is not None
    dims = [x.shape[axis] for x in y.operands]
    if None in dims:
        return _split_unknown(y, g, axis)
    parts: list[Node | None] = []
    start = 0
    for dim, want in zip(dims, needed, strict=True):
        stop = start + int(dim or 0)
        parts.append(slice_axis(g, axis, start, stop) if want else None)
        start = stop
    return parts


def _split_unknown(y: Node, g: Node, axis: int) -> list[Node | None]:
    parts: list[Node | None] = []
    offset: Node | None = None
    for x in y.operands:
        size = as_node(size_of(x, axis))
        index = iota([size], 0)
        if offset is not None:
            index = add(index, broadcast_to(offset, [size]))
        parts.append(gather(g, index, axis))
        offset = size if offset is None else add(offset, size)
    return parts


def _dense_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    return [None, pick(gs[0], y.operands[0])] + [None] * (len(needed) - 2)


def _sparse_dot_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    """values: g[i] . dense[j] for each element (i, j); dense: the transposed matrix times g."""
    (g,), (indices, values, dense) = gs, y.operands[:3]
    back: list[Node | None] = [None] * len(needed)
    if needed[1]:
        lines = mul(gather(g, column(indices, 0), 0), gather(dense, column(indices, 1), 0))
        back[1] = reduce_sum(lines, (1,))
    if needed[2]:
        swapped = reverse(indices, axes=(1,))
        back[2] = sparse_dense_dot(swapped, values, g, size_of(dense, 0))
    return back


RULES: dict[str, Rule] = {
    "reshape": of_first(lambda g, y, shape: reshape(g, dims_of(y.operands[0]))),
    "broadcast_to": of_first(lambda g, y, shape: _broadcast_back(g, y.operands[0])),
    "stretch": of_first(lambda g, y, shape: _stretch_back(g, y)),
    "sum_to": of_first(lambda g, y, shape: stretch(g, dims_of(y.operands[0]))),
    "transpose": [lambda g, y, x, perm: transpose(g, inverse(perm))],
    "reverse": [lambda g, y, x, axes: reverse(g, axes=axes)],
    "slice": [lambda g, y, x, windows: unslice(g, dims_of(x), windows)],
    "unslice": of_first(lambda g, y, shape, windows: slice_(g, windows)),
    "pad": [
        lambda g, y, x, margins, value: slice_(
            g, [(low or None, -high or None, 1) for low, high in margins]
        )
    ],
    "concatenate": jointly(_concatenate_back),
    "gather": [lambda g, y, x, index, axis: scatter_add(g, index, size_of(x, axis), axis), None],
    "scatter_add": of_first(lambda g, y, size, axis: gather(g, y.operands[1], axis)),
    "take_along": [
        lambda g, y, x, index, axis: put_along(g, index, size_of(x, axis), axis),
        None,
    ],
    "put_along": of_first(lambda g, y, size, axis: take_along(g, y.operands[1], axis)),
    "sparse_to_dense": jointly(_dense_back),
    "sparse_dense_dot": jointly(_sparse_dot_back),
    **flat("size common_size iota one_hot argsort nonzero"),
}
