"""Annotations that gradients alone read.

with_gradient(y, *xs, rule) -> y
"""

from __future__ import annotations

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.rewrite import attrs_with, substitute
from ..primitives.control import with_gradient


def without_custom_gradients(graph: Graph) -> Graph:
    """The graph without `with_gradient`, whose rules are functions and can't be serialised."""
    outputs = substitute(graph.outputs, {}, _change)
    return graph if outputs == list(graph.outputs) else Graph(graph.inputs, outputs)


def _change(node: Node, operands: tuple[Node, ...]) -> Node | None:
    if node.primitive is with_gradient:
        return operands[0]
    attrs = attrs_with(node, without_custom_gradients)
    return None if attrs is node.attrs else node.primitive(*operands, **attrs)
