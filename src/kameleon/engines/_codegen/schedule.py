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
    return _Order(nodes, consumers, endings).run() if endings else nodes


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


class _Order:
    """Makes the order, node by node."""

    def __init__(self, nodes: list[Node], consumers: dict[Node, list[Node]], endings: set[Node]):
        self.nodes, self.consumers, self.endings = nodes, consumers, endings
        self.known = set(nodes)
        # Endings that follow from inputs and constants alone: they can come at any time.
        self.free: set[Node] = set()
        # For other endings: how many of their operands are still to come.
        self.missing: dict[Node, int] = {}
        for node in nodes:
            if node in endings:
                count = sum(n in self.known and n not in self.free for n in set(node.operands))
                if count:
                    self.missing[node] = count
                else:
                    self.free.add(node)
        self.order: list[Node] = []
        self.placed: set[Node] = set()

    def run(self) -> list[Node]:
        """All nodes, in order."""
        for node in self.nodes:
            if node not in self.endings:
                self._place(node)
        for node in self.nodes:
            if node not in self.placed:
                self._place(node)
        return self.order

    def _place(self, node: Node) -> None:
        """Place a node behind the free ones that it needs, then all endings that it completes."""
        pending = [node]
        while pending:
            n = pending.pop()
            if n in self.placed:
                continue
            before = [m for m in n.operands if m in self.free and m not in self.placed]
            if before:
                pending += [n, *before]
                continue
            self.placed.add(n)
            self.order.append(n)
            if n not in self.free:
                for c in self.consumers.get(n, ()):
                    if c in self.missing:
                        self.missing[c] -= 1
                        if not self.missing[c]:
                            pending.append(c)
