"""Which values decide shapes: what an engine with static shapes must know before it makes code."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ..ir.node import Node
from ..ir.primitive import CONSTANT, INPUT
from ..ir.program import Graph
from ..ir.types import TensorType

# By primitive: the number of the first operand that is a size; all behind it are sizes, too.
FIRST_SIZE = {
    "iota": 0,
    **dict.fromkeys(("reshape", "broadcast_to", "unslice", "fold", "sum_unpool", "random_bits"), 1),
    **dict.fromkeys(
        (
            *("scatter_add", "put_along", "conv_input", "depthwise_input", "unpool"),
            "sparse_to_dense",
        ),
        2,
    ),
    "sparse_dense_dot": 3,
}


def shape_operands(node: Node) -> Sequence[Node]:
    """The operands whose values decide the shape of something in `node` or in its bodies."""
    first = FIRST_SIZE.get(node.primitive.name)
    if first is not None:
        return node.operands[first:]
    bodies = [v for v in node.attrs.values() if isinstance(v, Graph)]
    if not bodies:
        return ()
    # A condition's bodies take what follows the condition; others take all operands.
    given = node.operands[1:] if node.primitive.name == "cond" else node.operands
    needed = {i for body in bodies for i in shape_inputs(body)}
    return [given[i] for i in sorted(needed)]


@functools.lru_cache(maxsize=1024)
def shape_inputs(graph: Graph) -> tuple[int, ...]:
    """The numbers of those inputs whose values decide shapes in the graph."""
    deciding = shape_nodes(graph)
    return tuple(i for i, x in enumerate(graph.inputs) if x in deciding)


def shape_nodes(graph: Graph) -> set[Node]:
    """The nodes whose values decide shapes; the search doesn't look behind sizes of axes."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        found.update(shape_operands(node))
        if node in found and node.primitive.name != "size":
            found.update(node.operands)
    return found


def follows_from_sizes(graph: Graph) -> set[Node]:
    """Nodes that are known while code is made: sizes of axes, constants, integer scalars that
    are fed, and scalars computed from these."""
    known: set[Node] = set()
    for node in graph.nodes:
        primitive = node.primitive
        if primitive is CONSTANT or primitive.name == "size":
            known.add(node)
        elif isinstance(node.type, TensorType) and node.shape == () and not node.dtype.is_float:
            computed = primitive.elementwise and known.issuperset(node.operands)
            if primitive is INPUT or computed:
                known.add(node)
    return known
