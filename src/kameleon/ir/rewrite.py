"""Rebuilding a graph with some nodes replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .node import Node, context, walk


def substitute(outputs: Sequence[Node], replaced: Mapping[Node, Node]) -> list[Node]:
    """`outputs` with the nodes of `replaced` exchanged; what doesn't depend on them is shared."""
    new = dict(replaced)
    saved = context.source, context.control, context.scope
    context.control, context.scope = (), ""
    try:
        for node in walk(outputs, set(replaced)):
            if node not in new:
                operands = tuple(new.get(n, n) for n in node.operands)
                if operands != node.operands:
                    context.source = node._source
                    new[node] = copy = node.primitive(*operands, **node.attrs)
                    copy.effects = node.effects
    finally:
        context.source, context.control, context.scope = saved
    return [new.get(n, n) for n in outputs]
