"""In which order the nodes of a graph are computed."""

from __future__ import annotations

from collections.abc import Iterable

from ...graph.ir.node import Node
from ...graph.ir.program import Graph

# Primitives that make no line of their own: constants are written out or bound, and broadcasts
# are left to the lines that use them.
WHEN_NEEDED = frozenset({"constant", "broadcast_to"})


def scheduled(graph: Graph) -> list[Node]:
    """The nodes in the order in which they were made, but endings as soon as possible.

    An ending leads to outputs by elementwise nodes alone: the update of a weight, say. It comes
    right behind its last operand, so the weight's gradient is used while it's in the cache, and
    doesn't wait in memory for all other gradients.
    """
    nodes = graph.nodes[len(graph.inputs) :]
    consumers = consumers_of(nodes)
    endings = _endings(nodes, consumers)
    if not endings:
        return nodes
    # By node, behind how many others it comes; an ending along with its last operand.
    place = {node: i for i, node in enumerate(nodes) if node not in endings}
    for node in nodes:
        known = [place[x] for x in node.operands if x in place] if node in endings else ()
        if known:
            place[node] = max(known)
    for node in reversed(nodes):
        if node not in place:  # it follows from inputs and constants alone: with who needs it first
            users = consumers.get(node, ())
            place[node] = min((place[user] for user in users), default=len(nodes))
    return sorted(nodes, key=place.__getitem__)


def consumers_of(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """By node, the nodes that use it as an operand."""
    consumers: dict[Node, list[Node]] = {}
    for node in nodes:
        for operand in set(node.operands):
            consumers.setdefault(operand, []).append(node)
    return consumers


def _endings(nodes: list[Node], consumers: dict[Node, list[Node]]) -> set[Node]:
    found: set[Node] = set()
    for node in reversed(nodes):
        waits = node.primitive.elementwise or node.primitive.name in WHEN_NEEDED
        if waits and found.issuperset(consumers.get(node, ())):
            found.add(node)
    return found
