"""Which primitives the precision of a dtype matters to."""

from __future__ import annotations

from ..ir.leaves import LEAVES
from ..ir.node import ITEM
from ..ir.program import Graph, bodies
from ..ir.types import DType

# Primitives that give elements of their operands, or facts about these for which the dtype doesn't
# matter. For loops and conditions their bodies decide, and a function of Python has its own types.
MOVES = frozenset(
    "identity stop_gradient with_gradient check item size reshape broadcast_to iota transpose "
    "slice unslice reverse pad concatenate gather take_along cast bitcast is_nan "
    "cond while scan call".split()
) | {leaf.name for leaf in LEAVES}
CONVOLUTIONS = frozenset(
    "conv conv_input conv_kernel depthwise_conv depthwise_input depthwise_kernel".split()
)
# Sums of many products, which hardware is quick at in half precision: each sum is rounded once,
# and its order is the engine's own.
CONTRACTIONS = CONVOLUTIONS | {"contract"}

# Primitives that give an operand's elements, up to the sign, whole numbers or bools: exact in any
# precision, so that they need no other one wherever their operands are really rounded.
EXACT = frozenset(
    "abs neg sign ceil floor round maximum minimum relu select eq ne lt le gt ge argmax argmin"
    " argsort nonzero reduce_max reduce_min max_pool pool_pick patches".split()
)


def convolves(graph: Graph) -> bool:
    """Whether some node is a convolution, in a body too."""
    return any(
        n.primitive.name in CONVOLUTIONS or any(map(convolves, bodies(n))) for n in graph.nodes
    )


def has_dtype(graph: Graph, *dtypes: DType) -> bool:
    """Whether some node has operands or results of these dtypes, in a body too."""
    return any(
        any(x.dtype in dtypes for x in (*n.operands, *n.results))
        or any(has_dtype(body, *dtypes) for body in bodies(n))
        for n in graph.nodes
        if n.primitive is not ITEM
    )
