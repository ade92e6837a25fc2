"""Which primitives the precision of a dtype matters to."""

from __future__ import annotations

from ..ir.node import ITEM, REGISTRY
from ..ir.program import Graph, bodies
from ..ir.types import DType

CONVOLUTIONS = frozenset(name for name, p in REGISTRY.items() if "kernel" in p.parts)
# Sums of many products, which hardware is quick at in half precision: each sum is rounded once,
# and its order is the engine's own.
CONTRACTIONS = CONVOLUTIONS | {"contract"}

EXACT = frozenset(name for name, p in REGISTRY.items() if p.accuracy == "exact")


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
