"""Loops over no steps, for engines whose own need one.

    scan(body, …, xs) -> cond(len(xs) > 0, scan(body, …, xs), (carry, zeros))

The zeros have no rows; how large a row would be tells a step over zeros, of which nothing but that
is computed. Where a row of `xs` is one that such a step gave before (it may be a size, for which
zero wouldn't do), that's taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.node import Node
from ..ir.primitive import ITEM, input_node
from ..ir.program import Graph, bodies
from ..ir.rewrite import substitute
from ..prims.control import cond, scan
from ..prims.elementwise import constant, full_like, gt
from ..prims.movement import broadcast_to
from ..prims.sizes import as_node, dims_of, size_of


def with_steps(graph: Graph) -> Graph:
    """The graph with conditions around loops that may have no steps."""
    outputs = substitute(graph.outputs, {}, _Change())
    return graph if outputs == list(graph.outputs) else Graph(graph.inputs, outputs)


class _Change:
    """Gives the condition that takes a loop's place."""

    def __init__(self) -> None:
        # The loops so far, with their new operands.
        self.operands: dict[Node, tuple[Node, ...]] = {}

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The new node, or None."""
        if not bodies(node):
            return None
        graphs = {k: v for k, v in node.attrs.items() if isinstance(v, Graph)}
        changed = {k: with_steps(v) for k, v in graphs.items()}
        attrs = {**node.attrs, **changed}
        if node.primitive is scan:
            self.operands[node] = operands
            first = node.operands[node.attrs["consts"] + node.attrs["carry"]]
            if not first.shape[0]:
                return self._where_some(node, operands, attrs)
        return node.primitive(*operands, **attrs) if changed != graphs else None

    def _where_some(
        self, node: Node, operands: tuple[Node, ...], attrs: Mapping[str, object]
    ) -> Node:
        states = slice(node.attrs["consts"], node.attrs["consts"] + node.attrs["carry"])
        outer = dict.fromkeys(x for loop in self._behind(node) for x in self.operands[loop])
        inside = {x: input_node(x.type) for x in outer}
        inputs = list(inside.values())
        given = [inside[x] for x in operands]
        rows = self._tried(node, inside)[node.attrs["carry"] :]
        nothing = [broadcast_to(constant(0, y.dtype), [0, *dims_of(y)]) for y in rows]
        length = as_node(size_of(operands[states.stop], 0))
        return cond(
            gt(length, full_like(length, 0)),
            *outer,
            then=Graph(inputs, node.primitive(*given, **attrs).results),
            otherwise=Graph(inputs, [*given[states], *nothing]),
        )

    def _behind(self, loop: Node) -> list[Node]:
        """The loop, and those that rows of its sequences come from."""
        found = {loop: None}
        for source in _sequences(loop):
            maker = source.operands[0] if source.primitive is ITEM else None
            if maker in self.operands and maker is not None:
                found |= dict.fromkeys(self._behind(maker))
        return list(found)

    def _tried(self, loop: Node, inside: Mapping[Node, Node]) -> Sequence[Node]:
        """What a step over zeros gives."""
        body, operands = loop.attrs["body"], [inside[x] for x in self.operands[loop]]
        sources = _sequences(loop)
        rest = len(operands) - len(sources)
        blanks = []
        for source, sequence in zip(sources, operands[rest:], strict=True):
            maker = source.operands[0] if source.primitive is ITEM else None
            if maker in self.operands and source.attrs["index"] >= maker.attrs["carry"]:
                blanks.append(self._tried(maker, inside)[source.attrs["index"]])
            else:
                blanks.append(broadcast_to(constant(0, sequence.dtype), dims_of(sequence)[1:]))
        step = dict(zip(body.inputs, [*operands[:rest], *blanks], strict=True))
        return substitute(body.outputs, step)


def _sequences(loop: Node) -> Sequence[Node]:
    return loop.operands[loop.attrs["consts"] + loop.attrs["carry"] :]
