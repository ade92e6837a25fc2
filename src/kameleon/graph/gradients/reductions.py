"""Gradients of reductions, cumulative primitives and contractions."""

from __future__ import annotations

from typing import Any

from ..ir.node import Node
from ..primitives.control import identity
from ..primitives.elementwise import cast, div, eq, mul, select
from ..primitives.filling import full_like
from ..primitives.linalg import Axes, contract, free_axes
from ..primitives.movement import inverse, reverse, transpose
from ..primitives.reduce import (
    before,
    cumprod_slope,
    cumsum,
    linear_scan,
    product_of_others,
    reduce_sum,
    spread,
)
from .rules import Rule, flat, jointly
from .sweep import pullback


def _share_ties(g: Node, y: Node, x: Node, axes: Axes) -> Node:
    """Equal extrema share the cotangent evenly."""
    hit = eq(x, spread(y, x, axes))
    ones = cast(hit, g.dtype)
    return select(hit, spread(div(g, reduce_sum(ones, axes)), x, axes), full_like(x, 0))


def _through_expansion(y: Node, gs: Any, needed: tuple[bool, ...]) -> list[Node | None]:
    """The cotangents of a composite's operands, by the reverse sweep of its expansion."""
    assert y.primitive.expand is not None
    operands = [identity(x) for x in y.operands]  # distinct: one node may be several operands
    expanded = y.primitive.expand(*operands, **y.attrs)
    wrt = [x for x, want in zip(operands, needed, strict=True) if want]
    parts = iter(pullback([expanded], [gs[0]], wrt, operands))
    return [next(parts) if want else None for want in needed]


def _cumsum_back(g: Node, y: Node, x: Node, axis: int) -> Node:
    return reverse(cumsum(reverse(g, axes=(axis,)), axis=axis), axes=(axis,))


def _linear_scan_sums(g: Node, a: Node, axis: int) -> Node:
    """s[i] = g[i] + a[i+1] * s[i+1]: the cotangent of each sum."""
    axes = (axis,)
    factor = before(reverse(a, axes=axes), axis)
    return reverse(linear_scan(factor, reverse(g, axes=axes), axis=axis), axes=axes)


def _back_to_a(
    g: Node, y: Node, a: Node, b: Node, over: tuple[Axes, Axes], batch: tuple[Axes, Axes]
) -> Node:
    """Contract g with b over b's free axes, then put the axes in a's order."""
    free_a = free_axes(len(a.shape), over[0], batch[0])
    free_b = free_axes(len(b.shape), over[1], batch[1])
    lead = len(batch[0])
    g_free_b = tuple(range(lead + len(free_a), len(g.shape)))
    product = contract(g, b, (g_free_b, free_b), (tuple(range(lead)), batch[1]))
    # The product has: batch, a's free axes, b's contracted axes in b's order.
    paired = [over[0][over[1].index(j)] for j in sorted(over[1])]
    return transpose(product, inverse((*batch[0], *free_a, *paired)))


def _back_to_b(
    g: Node, y: Node, a: Node, b: Node, over: tuple[Axes, Axes], batch: tuple[Axes, Axes]
) -> Node:
    """Contract a with g over a's free axes, then put the axes in b's order."""
    free_a = free_axes(len(a.shape), over[0], batch[0])
    free_b = free_axes(len(b.shape), over[1], batch[1])
    lead = len(batch[0])
    g_free_a = tuple(range(lead, lead + len(free_a)))
    product = contract(a, g, (free_a, g_free_a), (batch[0], tuple(range(lead))))
    # The product has: batch, a's contracted axes in a's order, b's free axes.
    paired = [over[1][over[0].index(i)] for i in sorted(over[0])]
    return transpose(product, inverse((*batch[1], *paired, *free_b)))


RULES: dict[str, Rule] = {
    "reduce_sum": [lambda g, y, x, axes: spread(g, x, axes)],
    "reduce_prod": [lambda g, y, x, axes: mul(spread(g, x, axes), product_of_others(x, axes=axes))],
    "product_of_others": jointly(_through_expansion),
    "reduce_max": [_share_ties],
    "reduce_min": [_share_ties],
    "cumsum": [_cumsum_back],
    "cumprod": [lambda g, y, x, axis: cumprod_slope(g, x, axis=axis)],
    "cumprod_slope": jointly(_through_expansion),
    "linear_scan": [
        lambda g, y, a, b, axis: mul(_linear_scan_sums(g, a, axis), before(y, axis)),
        lambda g, y, a, b, axis: _linear_scan_sums(g, a, axis),
    ],
    "contract": [_back_to_a, _back_to_b],
    **flat("reduce_any reduce_all argmax argmin"),
}
