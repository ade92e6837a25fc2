"""Checks of indices, for engines that don't look whether one is out of range.

    f(x, index, …) -> f(x, check(index, 0 <= index < size), …)

The size is `Primitive.bound`.
"""

from __future__ import annotations

from collections.abc import Collection

from ..ir.node import REGISTRY, Node
from ..ir.program import Graph
from ..ir.rewrite import rebuilt
from ..primitives.indexing import Bound, within

# Primitives that have indices.
INDEXED = frozenset(name for name, p in REGISTRY.items() if p.bound is not None)


def with_checked_indices(graph: Graph, unchecked: Collection[str]) -> Graph:
    """The graph with checks of what indexes in it.

    Args:
        graph: a simplified graph.
        unchecked: names of primitives whose indices the engine takes as they are.
    """
    change = _Change(graph, unchecked)
    return rebuilt(graph, change, lambda body: with_checked_indices(body, unchecked))


class _Change:
    """Gives the node over checked indices that takes a node's place."""

    def __init__(self, graph: Graph, unchecked: Collection[str]):
        self.unchecked = unchecked
        # What is checked, as (index, bound), and what stands for the index then.
        self.checked: dict[tuple[Node, Bound], Node] = {}
        for node in graph.nodes:
            bound = node.primitive.bound
            if bound is not None and node.primitive.name not in unchecked:
                index = node.operands[node.primitive.index or 0]
                self.checked[index, bound(node)] = index

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The new node, or None."""
        bound, at = node.primitive.bound, node.primitive.index or 0
        if bound is None or node.primitive.name not in self.unchecked:
            return None
        index, limit = operands[at], bound(node.primitive(*operands, **node.attrs))
        found = self.checked.get((index, limit))
        if found is None:
            found = self.checked[index, limit] = within(index, limit, node.primitive.name)
        if found is index:
            return None
        return node.primitive(*operands[:at], found, *operands[at + 1 :], **node.attrs)
