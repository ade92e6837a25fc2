"""Which primitives the precision of a dtype matters to."""

from __future__ import annotations

from collections.abc import Container

from ..ir.node import REGISTRY
from ..ir.program import Graph, all_dtypes, all_nodes

CONVOLUTIONS = frozenset(name for name, p in REGISTRY.items() if "kernel" in p.parts)
# Sums of many products, which hardware is quick at in half precision: each sum is rounded once,
# and its order is the engine's own.
CONTRACTIONS = CONVOLUTIONS | {"contract"}

EXACT = frozenset(name for name, p in REGISTRY.items() if p.accuracy == "exact")


def convolves(graph: Graph) -> bool:
    """Whether some node is a convolution, in a body too."""
    return any(node.primitive.name in CONVOLUTIONS for node in all_nodes(graph))


def has_dtype(graph: Graph, dtypes: Container[str]) -> bool:
    """Whether some node gives tensors of these dtypes, in a body too."""
    return any(dtype in dtypes for _, dtype in all_dtypes(graph))
