"""float16 by way of float32: for engines without arithmetic in half precision.

    f(x, y) -> float16(f(float32(x), float32(y)))

for every node that computes with float16. What only moves elements keeps them as they are. The
rounding is a node of its own, so that an engine can't skip it between two nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.node import Node
from ..ir.primitive import CONSTANT, ITEM, LEAVES
from ..ir.program import Graph, bodies
from ..ir.rewrite import substitute
from ..ir.types import FLOAT16, FLOAT32, TensorType
from ..prims.elementwise import cast, constant

# What gives the elements that it was given, or says something about them that their dtype
# doesn't matter for. Loops and conditions are as their bodies.
MOVES = frozenset(
    "identity stop_gradient with_gradient check item size reshape broadcast_to iota transpose "
    "slice unslice reverse pad concatenate gather take_along cast bitcast is_nan "
    "cond while scan".split()
) | {leaf.name for leaf in LEAVES}


def half_in_single(graph: Graph) -> Graph:
    """The graph with float16 computed in float32, and each node's result rounded.

    Args:
        graph: a simplified graph. Its inputs stay, and the dtypes of its outputs.
    """
    if not _has_half(graph):
        return graph
    wide: dict[Node, Node] = {}

    def widened(x: Node) -> Node:
        """`x` in float32; broadcasts stay where an engine finds that they needn't happen."""
        if x.dtype != FLOAT16:
            return x
        if x not in wide:
            if x.primitive is CONSTANT:
                wide[x] = constant(x.attrs["value"].array, FLOAT32)
            elif x.primitive.name == "broadcast_to":
                wide[x] = x.primitive(widened(x.operands[0]), *x.operands[1:], **x.attrs)
            else:
                wide[x] = cast(x, FLOAT32)
        return wide[x]

    given = {x: x for x in graph.inputs}
    outputs = substitute(graph.outputs, given, lambda n, xs: _change(n, xs, widened))
    return Graph(graph.inputs, outputs)


def _change(node: Node, operands: tuple[Node, ...], widened: Callable[[Node], Node]) -> Node | None:
    if node.primitive is ITEM:
        return cast(operands[0].results[node.attrs["index"]], node.dtype)
    if bodies(node):
        attrs = {k: half_in_single(v) if isinstance(v, Graph) else v for k, v in node.attrs.items()}
        return node.primitive(*operands, **attrs)
    if node.primitive.name in MOVES or not _computes_half(node):
        return None
    made = node.primitive(*map(widened, operands), **node.attrs)
    return cast(made, node.dtype) if isinstance(node.type, TensorType) else made


def _computes_half(node: Node) -> bool:
    return any(x.dtype == FLOAT16 for x in (*node.operands, *node.results))


def _has_half(graph: Graph) -> bool:
    return any(
        _computes_half(n) or any(map(_has_half, bodies(n)))
        for n in graph.nodes
        if n.primitive is not ITEM
    )
