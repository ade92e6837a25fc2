"""Sizes of inputs that a graph takes as equal, compared before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.sizes import Root, Sizes
from ..kernels.arrays import mismatch
from ..prims.movement import kept_axes
from ._literal import literal
from ._written import numbered, written


class Agreement(NamedTuple):
    """What has to hold of the inputs of a graph.

    condition: as text, of the inputs x0, x1 ….
    check: given the inputs, fails where it doesn't hold.
    """

    condition: str
    check: Callable[..., Any]


def agreement(graph: Graph, sizes: Sizes) -> Agreement | None:
    """What has to hold; None where that's nothing.

    Args:
        graph: a closed graph.
        sizes: what is known of the graph; it learns that this holds.
    """
    condition = " and ".join(_equalities(graph, sizes))
    if not condition:
        return None
    names = ", ".join(numbered("x", len(graph.inputs)))
    rows = [f"def written({names}):", f" {condition} or mismatch()"]
    return Agreement(condition, written(rows, mismatch=mismatch))


def _equalities(graph: Graph, sizes: Sizes) -> Iterator[str]:
    """Sizes that elementwise operations and broadcasts take as equal."""
    number = {x: i for i, x in enumerate(graph.inputs)}
    for node in graph.nodes[len(number) :]:
        for roots in _taken_as_equal(node, sizes):
            given: list[Any] = [r for r in roots if isinstance(r, tuple) and r[0] in number]
            base = next((r for r in roots if isinstance(r, int)), given[0] if given else None)
            for root in given:
                if root != base:
                    yield f"{_text(root, number)} == {_text(base, number)}"
                    sizes.state(root, base)


def _taken_as_equal(node: Node, sizes: Sizes) -> Iterator[list[Root]]:
    """Groups of sizes, without repetition."""
    if node.primitive.elementwise:
        for axis in range(len(node.shape)):
            yield list(dict.fromkeys(sizes.of(x, axis) for x in node.operands))
    elif node.primitive.name == "broadcast_to":
        for i, _, asked in kept_axes(node):
            yield list(dict.fromkeys((sizes.of(node.operands[0], i), sizes.of_scalar(asked))))


def _text(root: Any, number: Mapping[Node, int]) -> str:
    """How a size is read: of NumPy arrays, the first one is so in half the time."""
    if isinstance(root, int):
        return literal(root)
    x, axis = f"x{number[root[0]]}", root[1]
    return f"{x}.shape[{literal(axis)}]" if axis else f"len({x})"
