"""Checks of indices, for engines that don't look whether one is out of range.

    f(x, index, …) -> f(x, check(index, 0 <= index < size), …)

The size is `Primitive.bound`.
"""

from __future__ import annotations

from collections.abc import Collection

from ..ir.node import REGISTRY, Node
from ..ir.program import Graph, bodies
from ..ir.rewrite import attrs_with, substitute
from ..ir.types import INT64
from ..primitives.constants import known_array
from ..primitives.control import check
from ..primitives.elementwise import cast, constant, ge, logical_and, lt
from ..primitives.filling import full_like
from ..primitives.movement import broadcast_to, concatenate, reshape
from ..primitives.sizes import Size, dims_of

Bound = Size | tuple[Size, ...]
# Primitives that have indices.
INDEXED = frozenset(name for name, p in REGISTRY.items() if p.bound is not None)


def with_checked_indices(graph: Graph, unchecked: Collection[str]) -> Graph:
    """The graph with checks of what indexes in it.

    Args:
        graph: a simplified graph.
        unchecked: names of primitives whose indices the engine takes as they are.
    """
    outputs = substitute(graph.outputs, {}, _Change(graph, unchecked))
    return graph if outputs == list(graph.outputs) else Graph(graph.inputs, outputs)


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
        if bodies(node):
            attrs = attrs_with(node, lambda body: with_checked_indices(body, self.unchecked))
            return None if attrs is node.attrs else node.primitive(*operands, **attrs)
        bound, at = node.primitive.bound, node.primitive.index or 0
        if bound is None or node.primitive.name not in self.unchecked:
            return None
        index, limit = operands[at], bound(node.primitive(*operands, **node.attrs))
        if _lies_within(index, limit):
            return None
        found = self.checked.get((index, limit))
        if found is None:
            message = f"{node.primitive.name}: an index is out of range"
            found = check(index, _inside(index, limit), message=message)
            self.checked[index, limit] = found
        return node.primitive(*operands[:at], found, *operands[at + 1 :], **node.attrs)


def _lies_within(index: Node, bound: Bound) -> bool:
    """Whether indices are known, and in range."""
    array = known_array(index)
    if array is None or not isinstance(bound, int):
        return False
    return not array.size or bool(array.min() >= 0 and array.max() < bound)


def _inside(index: Node, bound: Bound) -> Node:
    """For each index, whether it lies in [0, bound)."""
    if index.dtype != "int32":
        index = cast(index, INT64)
    top = broadcast_to(_as_limit(bound, index), dims_of(index))
    return logical_and(ge(index, full_like(index, 0)), lt(index, top))


def _as_limit(bound: Bound, like: Node) -> Node:
    """A bound as a number; or as a vector, of one for each column."""
    if isinstance(bound, tuple):
        return concatenate([reshape(_as_limit(size, like), [1]) for size in bound], 0)
    return constant(bound, like.dtype) if isinstance(bound, int) else cast(bound, like.dtype)
