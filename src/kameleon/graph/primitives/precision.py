"""Which primitives the precision of a dtype matters to."""

from __future__ import annotations

from collections.abc import Container, Iterator

from ..ir.node import REGISTRY, Node
from ..ir.program import Graph, all_nodes
from ..ir.types import DType, TensorType

CONVOLUTIONS = frozenset(name for name, p in REGISTRY.items() if "kernel" in p.parts)
# Sums of many products, which hardware is quick at in half precision: each sum is rounded once,
# and its order is the engine's own.
CONTRACTIONS = CONVOLUTIONS | {"contract"}

EXACT = frozenset(name for name, p in REGISTRY.items() if p.accuracy == "exact")


def convolves(graph: Graph) -> bool:
    """Whether some node is a convolution, in a body too."""
    return any(n.primitive.name in CONVOLUTIONS for n in all_nodes(graph))


def dtypes_in(graph: Graph) -> Iterator[tuple[Node, DType]]:
    """The nodes of a graph, in bodies too, each with the dtypes of what it gives."""
    for node in all_nodes(graph):
        for type in (node.type,) if isinstance(node.type, TensorType) else node.type:
            yield node, type.dtype


def has_dtype(graph: Graph, dtypes: Container[str]) -> bool:
    """Whether something in a graph, in a body too, is of one of these dtypes."""
    return any(dtype in dtypes for _, dtype in dtypes_in(graph))
