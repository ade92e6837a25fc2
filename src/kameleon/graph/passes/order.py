"""Order among floats for engines whose kernels skip NaN, or put NaN in no certain place.

The docstring of each rule is its equation. A rule is applied where an engine says that its own
rule doesn't hold for a node (`Engine.where`): only orders of integers and bools are left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.node import Node
from ..ir.types import FLOAT32
from ..primitives import elementwise as ew
from ..primitives.choices import SAME_WIDTH
from ..primitives.filling import full_like
from ..primitives.indexing import argsort
from ..primitives.reduce import argmax, reduce_max, reduce_min, spread

Rule = Callable[[Node], Node | None]


def skips_no_nan(node: Node) -> bool:
    """Whether a kernel that skips NaN does right by a node: it isn't of floats."""
    return not node.operands[0].dtype.is_float


def first_extremum(extremum: Callable[[Node, tuple[int, ...]], Node]) -> Rule:
    """argmax(x) -> argmax(x = max x, or x is NaN); argmin likewise"""

    def rule(node: Node) -> Node | None:
        (x,), axis = node.operands, node.attrs["axis"]
        if not x.dtype.is_float:
            return None
        best = ew.eq(x, spread(extremum(x, (axis,)), x, (axis,)))
        return argmax(ew.logical_or(best, ew.is_nan(x)), axis=axis)

    return rule


def sorted_keys(node: Node) -> Node | None:
    """argsort(x) -> argsort(k), where k are integers in the order of x: the bits of x, all but the
    sign bit flipped where x is negative. Both zeros have the same bits here, and so have all NaN.
    """
    (x,) = node.operands
    if not x.dtype.is_float:
        return None
    x = ew.cast(x, FLOAT32) if x.dtype.itemsize < FLOAT32.itemsize else x
    zero = full_like(x, 0)
    x = ew.select(ew.is_nan(x), full_like(x, float("nan")), x)
    bits = ew.bitcast(ew.select(ew.eq(x, zero), zero, x), dtype=SAME_WIDTH[x.dtype])
    flipped = ew.bit_xor(bits, full_like(bits, int(np.iinfo(bits.dtype).max)))
    keys = ew.select(ew.lt(bits, full_like(bits, 0)), flipped, bits)
    return argsort(keys, axis=node.attrs["axis"])


RULES: dict[str, Rule] = {
    "argmax": first_extremum(reduce_max),
    "argmin": first_extremum(reduce_min),
    "argsort": sorted_keys,
}
