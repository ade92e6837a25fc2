"""float16 by way of float32: for engines that have no arithmetic in half precision, or whose
compilers round less often than a program says.

    f(x, y) -> float16(f(float32(x), float32(y)))

for every node that computes with float16. What only moves elements keeps them as they are. The
rounding is a node of its own, so that an engine can't skip it between two nodes.

Sums, products, quotients and roots of float16 are exact to half a unit so, also where a compiler
divides by multiplying with the reciprocal of a constant: but for quotients below the least normal
number that lie in the middle between two.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from ..ir.leaves import CONSTANT
from ..ir.node import ITEM, Node
from ..ir.program import Graph, bodies
from ..ir.rewrite import attrs_with, substitute
from ..ir.types import FLOAT16, FLOAT32, TensorType
from ..prims.elementwise import cast, constant
from ..prims.precision import MOVES, computes_half, has_half


def half_in_single(graph: Graph, kept: Container[str] = ()) -> Graph:
    """The graph with float16 computed in float32, and each node's result rounded.

    Args:
        graph: a simplified graph. Its inputs stay, and the dtypes of its outputs.
        kept: names of primitives that the engine computes in float16 itself.
    """
    if not has_half(graph):
        return graph
    wide: dict[Node, Node] = {}

    def widened(x: Node) -> Node:
        """`x` in float32; broadcasts stay, for engines to elide."""
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
    outputs = substitute(graph.outputs, given, lambda n, xs: _change(n, xs, widened, kept))
    return Graph(graph.inputs, outputs)


def _change(
    node: Node,
    operands: tuple[Node, ...],
    widened: Callable[[Node], Node],
    kept: Container[str],
) -> Node | None:
    if node.primitive is ITEM:
        return cast(operands[0].results[node.attrs["index"]], node.dtype)
    if bodies(node):
        attrs = attrs_with(node, lambda body: half_in_single(body, kept))
        return None if attrs is node.attrs else node.primitive(*operands, **attrs)
    name = node.primitive.name
    if name in MOVES or name in kept or not computes_half(node):
        return None
    made = node.primitive(*map(widened, operands), **node.attrs)
    return cast(made, node.dtype) if isinstance(node.type, TensorType) else made
