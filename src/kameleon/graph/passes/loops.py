"""Loops that may have no steps, for engines whose own loops need at least one.

    scan(body, …, xs) -> cond(len(xs) > 0, scan(body, …, xs), (carry, zeros))

The zeros have no rows. How large a row would be is known from a step over zeros, of which nothing
but sizes is computed. Zero wouldn't do for a row of `xs` that is itself a size; where another loop
stacked such sizes, the row is what that loop's own step over zeros gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..ir.leaves import input_node
from ..ir.node import ITEM, Node
from ..ir.program import Graph, bodies
from ..ir.rewrite import attrs_with, substitute
from ..ir.types import DType, Shape
from ..primitives.control import cond, scan
from ..primitives.elementwise import constant, gt
from ..primitives.filling import full_like, zeros
from ..primitives.movement import broadcast_to
from ..primitives.shaping import shape_inputs
from ..primitives.sizes import as_node, dims_of, size_of


def with_steps(graph: Graph) -> Graph:
    """The graph with conditions around loops that may have no steps."""
    return graph.to(substitute(graph.outputs, {}, _Change()))


class _Loop(NamedTuple):
    """A loop as it stands in the new graph."""

    operands: tuple[Node, ...]
    body: Graph


class _Change:
    """Gives the condition that takes a loop's place."""

    def __init__(self) -> None:
        self.loops: dict[Node, _Loop] = {}  # those met so far

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The new node, or None."""
        if not bodies(node):
            return None
        attrs = attrs_with(node, with_steps)
        if node.primitive is scan:
            self.loops[node] = _Loop(operands, attrs["body"])
            if not any(x.shape[0] for x in _sequences(node)):
                return self._where_some(node, operands, attrs)
        return None if attrs is node.attrs else node.primitive(*operands, **attrs)

    def _where_some(self, node: Node, operands: tuple[Node, ...], attrs: Mapping[str, Any]) -> Node:
        states = slice(node.attrs["consts"], node.attrs["consts"] + node.attrs["carry"])
        outer = dict.fromkeys(x for loop in self._behind(node) for x in self.loops[loop].operands)
        inside = {x: input_node(x.type) for x in outer}
        inputs = list(inside.values())
        given = [inside[x] for x in operands]
        rows = self._tried(node, inside, {})[node.attrs["carry"] :]
        known = [result.shape for result in node.results]
        nothing = [zeros([0, *dims_of(y)], y.dtype) for y in rows]
        length = as_node(size_of(operands[states.stop], 0))
        return cond(
            gt(length, full_like(length, 0)),
            *outer,
            then=Graph(inputs, node.primitive(*given, **attrs).results),
            otherwise=Graph(inputs, list(map(_of_sizes, [*given[states], *nothing], known))),
        )

    def _sizes_made_before(self, loop: Node) -> list[Node | None]:
        """The loop's sequences; None where rows decide no shape, or aren't stacked by a loop."""
        deciding, sequences = shape_inputs(loop.attrs["body"], outer=False), _sequences(loop)
        first = len(loop.operands) - len(sequences)
        return [
            x
            if i in deciding
            and x.primitive is ITEM
            and x.operands[0] in self.loops
            and x.attrs["index"] >= x.operands[0].attrs["carry"]
            else None
            for i, x in enumerate(sequences, first)
        ]

    def _behind(self, loop: Node) -> dict[Node, None]:
        """The loop, and all loops that stacked the sizes among the rows of its sequences."""
        found: dict[Node, None] = {}
        pending = [loop]
        while pending:
            at = pending.pop()
            if at not in found:
                found[at] = None
                pending += [x.operands[0] for x in self._sizes_made_before(at) if x is not None]
        return found

    def _tried(
        self, loop: Node, inside: Mapping[Node, Node], found: dict[Node, Sequence[Node]]
    ) -> Sequence[Node]:
        """What a step over zeros gives; `found` keeps that for each loop."""
        if loop not in found:
            body, operands = self.loops[loop].body, [inside[x] for x in self.loops[loop].operands]
            makers = self._sizes_made_before(loop)
            rest = len(operands) - len(makers)
            blanks = [
                broadcast_to(_blank(sequence.dtype), dims_of(sequence)[1:])
                if made is None
                else self._tried(made.operands[0], inside, found)[made.attrs["index"]]
                for made, sequence in zip(makers, operands[rest:], strict=True)
            ]
            step = dict(zip(body.inputs, [*operands[:rest], *blanks], strict=True))
            found[loop] = substitute(body.outputs, step)
        return found[loop]


def _blank(dtype: DType) -> Node:
    """An element of what a tried step is given: zero, and true, so that checks hold."""
    return constant(dtype.is_bool, dtype)


def _of_sizes(x: Node, shape: Shape) -> Node:
    """`x` with the known sizes of `shape`: a loop may know more of a state than its first value."""
    pairs = enumerate(zip(x.shape, shape, strict=True))
    return broadcast_to(x, [size_of(x, i) if d is None or own == 0 else d for i, (own, d) in pairs])


def _sequences(loop: Node) -> Sequence[Node]:
    return loop.operands[loop.attrs["consts"] + loop.attrs["carry"] :]
