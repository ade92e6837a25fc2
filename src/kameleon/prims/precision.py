"""What the precision of a dtype matters to: sets of primitives, by name."""

from __future__ import annotations

from ..ir.primitive import LEAVES

# What gives the elements that it was given, or says something about them that their dtype
# doesn't matter for. Loops and conditions are as their bodies.
MOVES = frozenset(
    "identity stop_gradient with_gradient check item size reshape broadcast_to iota transpose "
    "slice unslice reverse pad concatenate gather take_along cast bitcast is_nan "
    "cond while scan".split()
) | {leaf.name for leaf in LEAVES}
# Sums of many products, which hardware is quick at in half precision: they are rounded once each,
# in an order of the engine's own.
CONTRACTIONS = frozenset(
    "contract conv conv_input conv_kernel depthwise_conv depthwise_input depthwise_kernel".split()
)

# What gives an operand's elements, up to the sign, whole numbers or bools is exact in any
# precision: wherever its operands are rounded in truth, it needn't be computed in another one.
EXACT = frozenset(
    "abs neg sign ceil floor round maximum minimum relu select eq ne lt le gt ge argmax argmin"
    " argsort nonzero reduce_max reduce_min max_pool pool_pick patches".split()
)
