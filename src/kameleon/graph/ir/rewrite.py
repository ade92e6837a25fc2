"""Rebuilding a graph with some nodes replaced; cutting it at its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .context import context, rewriting
from .leaves import INPUT, SOURCE, VARIABLE, input_node
from .node import Node, walk
from .program import Graph

# Leaves of which a graph shows nothing but the type.
OPAQUE = frozenset({INPUT, VARIABLE, SOURCE})

# Given a node and its new operands: another node in its place, or None.
Change = Callable[[Node, tuple[Node, ...]], Node | None]


def substitute(
    outputs: Sequence[Node], replaced: Mapping[Node, Node], change: Change | None = None
) -> list[Node]:
    """`outputs` with nodes exchanged: those of `replaced`, and those for which `change` gives
    another node; what depends on none of these is shared."""
    return rewriting(_substitute, outputs, replaced, change)


def _substitute(
    outputs: Sequence[Node], replaced: Mapping[Node, Node], change: Change | None
) -> list[Node]:
    new = dict(replaced)
    for node in walk(outputs, set(replaced)):
        if node not in new:
            operands = tuple(new.get(n, n) for n in node.operands)
            context.source = node._source
            changed = change(node, operands) if change else None
            if changed is not None:
                new[node] = changed
            elif operands != node.operands:
                new[node] = copy = node.primitive(*operands, **node.attrs)
                copy.effects = node.effects
    return [new.get(n, n) for n in outputs]


def attrs_with(node: Node, change: Callable[[Graph], Graph]) -> Mapping[str, Any]:
    """The attributes of a node with its bodies changed; `node.attrs` itself where all stay."""
    names = node.primitive.bodies
    if not names:
        return node.attrs
    changed = {name: change(node.attrs[name]) for name in names}
    if all(graph is node.attrs[k] for k, graph in changed.items()):
        return node.attrs
    return {**node.attrs, **changed}


def rebuilt(graph: Graph, change: Change, inner: Callable[[Graph], Graph]) -> Graph:
    """A graph with nodes exchanged, and so its bodies; itself, where all stays.

    Args:
        graph: its inputs stay.
        change: see `substitute`; it isn't asked for nodes with bodies.
        inner: gives what takes the place of a body.
    """

    def changed(node: Node, operands: tuple[Node, ...]) -> Node | None:
        if not node.primitive.bodies:
            return change(node, operands)
        attrs = attrs_with(node, inner)
        if attrs is node.attrs:
            return None
        made = node.primitive(*operands, **attrs)
        made.effects = node.effects
        return made

    return graph.to(substitute(graph.outputs, {x: x for x in graph.inputs}, changed))


def closed(inputs: Sequence[Node], outputs: Sequence[Node]) -> Graph:
    """The graph from `inputs` to `outputs`, cut there for good.

    Inputs whose nodes say more than their type (what computes them, or the value of a constant)
    are replaced by parameters, so that no rule can look behind them.
    """
    cut = {n: input_node(n.type) for n in inputs if n.primitive not in OPAQUE}
    return Graph([cut.get(n, n) for n in inputs], substitute(outputs, cut) if cut else outputs)
