"""Carrier dtypes: what an engine has no kernels for is computed in another dtype, and cast back.

    f(x, y) -> dtype(f(carrier(x), carrier(y)))

for every node whose operands have a dtype that the engine doesn't compute with. The cast back is a
node of its own, so that an engine can't leave the cast out between two nodes. Which carrier keeps
the values depends on f: any dtype with room for them where f moves elements, any wider integers
for sums and products modulo 2**bits, any dtype that keeps the order for comparisons. Unsigned
integers may be carried in signed ones of the same size: then `graph.passes.storage` says what takes
the place of f.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..ir.leaves import CONSTANT
from ..ir.node import ITEM, Node
from ..ir.program import Graph
from ..ir.rewrite import rebuilt
from ..ir.types import TensorType
from ..primitives.elementwise import cast, constant
from . import extrema, storage

# For a node: by name of a dtype of its operands, the dtype that carries this dtype.
Carriers = Callable[[Node], Mapping[str, str]]
# By primitive: how many operands come before those that are carried. (A condition stays a bool.)
BEFORE = {"select": 1}


def in_carriers(graph: Graph, carriers: Carriers) -> Graph:
    """The graph with nodes computed in other dtypes; the same graph where nothing changes.

    Args:
        graph: a simplified graph. Its inputs and the dtypes of its outputs stay.
        carriers: in which dtypes a node is computed.
    """
    return rebuilt(graph, _Change(carriers), lambda body: in_carriers(body, carriers))


class _Change:
    """Gives what takes a node's place, given the node and its new operands."""

    def __init__(self, carriers: Carriers):
        self.carriers = carriers
        self.carried: dict[tuple[Node, str], Node] = {}

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The new node; None where nothing but the operands changes."""
        if node.primitive is ITEM:
            return cast(operands[0].results[node.attrs["index"]], node.dtype)
        carriers, before = self.carriers(node), BEFORE.get(node.primitive.name, 0)
        if not any(x.dtype in carriers for x in operands[before:]):
            return None
        wide = [self.wide(x, carriers.get(x.dtype, x.dtype)) for x in operands[before:]]
        made = _computed(node, (*operands[:before], *wide))
        return cast(made, node.dtype) if isinstance(node.type, TensorType) else made

    def wide(self, x: Node, dtype: str) -> Node:
        """`x` as `dtype`; broadcasts stay, for engines to elide."""
        if x.dtype == dtype:
            return x
        if (x, dtype) not in self.carried:
            if x.primitive is CONSTANT:
                made = constant(x.attrs["value"].array, dtype)
            elif x.primitive.name == "broadcast_to":
                made = x.primitive(self.wide(x.operands[0], dtype), *x.operands[1:], **x.attrs)
            else:
                made = cast(x, dtype)
            self.carried[x, dtype] = made
        return self.carried[x, dtype]


def _computed(node: Node, operands: tuple[Node, ...]) -> Node:
    """The node over operands that are carried."""
    before, now = node.operands[-1].dtype, operands[-1].dtype
    if before.kind == "unsigned" and now.kind == "signed" and before.itemsize == now.itemsize:
        rule = storage.RULES.get(node.primitive.name)
        if rule is not None:
            return rule(node, *operands)
    if node.primitive.name in extrema.EXTREMES and not extrema.of_some(node):
        return extrema.padded(node, *operands)
    return node.primitive(*operands, **node.attrs)
