"""Annotations that gradients alone read.

with_gradient(y, *xs, rule) -> y
"""

from __future__ import annotations

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.rewrite import rebuilt
from ..primitives.control import with_gradient


def without_custom_gradients(graph: Graph) -> Graph:
    """The graph without `with_gradient`, whose rules are functions and can't be serialised."""
    return rebuilt(graph, _change, without_custom_gradients)


def _change(node: Node, operands: tuple[Node, ...]) -> Node | None:
    return operands[0] if node.primitive is with_gradient else None
