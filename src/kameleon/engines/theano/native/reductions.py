"""Reductions, running sums and products, extrema and order."""

from __future__ import annotations

from collections.abc import Callable

import pytensor.tensor as pt

from ....graph.ir.node import Node
from ..._lowering import Rule
from .lowering import NativeLowering, Value, along, over

L = NativeLowering


def _summed(function: Callable[..., Value]) -> Rule:
    """A reduction that must say its dtype, or PyTensor takes a wider one for integers."""

    def rule(low: L, node: Node, x: Value) -> Value:
        dtype = str(node.dtype)
        return function(x, axis=node.attrs["axes"], dtype=dtype, acc_dtype=dtype)

    return rule


def _max(low: L, node: Node, x: Value) -> Value:
    """The maximum; integers of 64 bits are picked by position, as in C they go through floats."""
    axes = node.attrs["axes"]
    if node.dtype.is_float or node.dtype.itemsize < 8:
        return pt.max(x, axis=axes)
    kept = [i for i in range(x.type.ndim) if i not in axes]
    lines = pt.transpose(x, [*kept, *axes]).flatten(len(kept) + 1)
    where = pt.expand_dims(pt.argmax(lines, axis=len(kept)), len(kept))
    return along(lines, where, len(kept))[..., 0]


def _min(low: L, node: Node, x: Value) -> Value:
    """PyTensor negates and takes the maximum, but the least integer has no negative."""
    return pt.min(x, axis=node.attrs["axes"]) if node.dtype.is_float else ~_max(low, node, ~x)


def _argmin(low: L, node: Node, x: Value) -> Value:
    axis, integers = node.attrs["axis"], node.operands[0].dtype.is_integer
    return pt.argmax(~x, axis=axis) if integers else pt.argmin(x, axis=axis)


RULES: dict[str, Rule] = {
    "reduce_sum": _summed(pt.sum),
    "reduce_prod": _summed(pt.prod),
    "reduce_any": over(pt.any, "axes"),
    "reduce_all": over(pt.all, "axes"),
    "reduce_max": _max,
    "reduce_min": _min,
    "argmax": over(pt.argmax, "axis"),
    "argmin": _argmin,
    "argsort": over(pt.argsort, "axis", kind="stable"),
    "cumsum": over(pt.cumsum, "axis"),
    "cumprod": over(pt.cumprod, "axis"),
}
