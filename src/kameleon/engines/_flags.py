"""Checks as values, for engines that can't raise: a graph with one more output, the flags.

A flag is a bool that is true where a check failed. Flags of bodies are carried out of the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import EvaluationError
from ..graph.analysis.agreement import sizes_of, unproven
from ..graph.analysis.broadcasts import AxisSize, Read
from ..graph.ir.context import built_for
from ..graph.ir.leaves import input_node
from ..graph.ir.node import ITEM, Node
from ..graph.ir.program import Graph
from ..graph.ir.rewrite import substitute
from ..graph.ir.sizes import Sizes
from ..graph.ir.types import TensorType
from ..graph.primitives.elementwise import cast, constant, logical_and, logical_not, logical_or, ne
from ..graph.primitives.movement import concatenate, reshape
from ..graph.primitives.reduce import reduce_all, reduce_any
from ..graph.primitives.sizes import Size, as_node, size_of


class Flag(NamedTuple):
    """The node that a check is about, and the message of its failure."""

    node: Node
    message: str


def flagged(graph: Graph, sizes: Sizes | None = None) -> tuple[Graph, list[Flag]]:
    """The graph with a bool vector as its last output, true where a check failed.

    Args:
        graph: a simplified graph.
        sizes: what the engine knows of the graph's sizes, if it doesn't check those that were
            taken as equal: then there are flags for them.

    Returns:
        The new graph and, for each element of the vector, its flag. The graph itself and an
        empty list, where there's nothing to check.
    """
    work = _Flagging(graph, sizes)
    outputs = work.run()
    if not work.flags:
        return graph, []
    return graph.to([*outputs, work.vector()]), work.flags


def checked(results: Sequence[Any], flags: Sequence[Flag]) -> list[Any]:
    """The results without the last one, the vector of flags.

    Raises:
        EvaluationError: a check failed.
    """
    *outputs, vector = results
    failed = np.asarray(vector)
    if failed.any():
        raise EvaluationError(flags[int(failed.argmax())].message)
    return outputs


class _Flagging:
    """Rebuilds a graph without its checks, and collects flags in their place."""

    def __init__(self, graph: Graph, sizes: Sizes | None):
        self.graph, self.sizes = graph, sizes
        self.new: dict[Node, Node] = {n: n for n in graph.inputs}
        self.flags: list[Flag] = []
        self.failed: list[Node] = []  # bools: a scalar, or a vector for a body's flags

    def run(self) -> list[Node]:
        """The outputs, rebuilt."""
        for node in self.graph.nodes[len(self.graph.inputs) :]:
            built_for(node, self._visit, node)
        return [self.new[n] for n in self.graph.outputs]

    def vector(self) -> Node:
        """All flags in order."""
        return concatenate([reshape(f, [-1]) for f in self.failed], 0)

    def _visit(self, node: Node) -> None:
        name = node.primitive.name
        operands = [self.new[n] for n in node.operands]
        if node.primitive is ITEM:
            self.new[node] = operands[0].results[node.attrs["index"]]
        elif name == "check":
            self.new[node] = operands[0]
            holds = reduce_all(operands[1], range(len(operands[1].shape)))
            self._flag(logical_not(holds), node, node.attrs["message"])
        elif name in BODIES:
            self.new[node] = BODIES[name](self, node, operands)
        else:
            same = tuple(operands) == node.operands
            self.new[node] = node if same else node.primitive(*operands, **node.attrs)
            if self.sizes is not None:
                self._check_sizes(self.new[node], self.sizes)

    def _flag(self, failed: Node, node: Node, message: str) -> None:
        self.failed.append(failed)
        self.flags.append(Flag(node, message))

    def _check_sizes(self, node: Node, sizes: Sizes) -> None:
        operands, groups = unproven(node, sizes)
        for reads in groups:
            first, *rest = [as_node(_size_read(r, operands)) for r in reads]
            differ = [ne(first, cast(x, first.dtype)) for x in rest]
            failed = differ[0]
            for d in differ[1:]:
                failed = logical_or(failed, d)
            self._flag(failed, node, "sizes that were taken as equal differ at run time")

    # Bodies ----------------------------------------------------------------------------------

    def inner(self, body: Graph) -> _Flagging:
        """A body, rebuilt; its outputs are in `new`."""
        work = _Flagging(body, None if self.sizes is None else sizes_of(body))
        work.run()
        return work

    def adopt(self, vector: Node, flags: Sequence[Flag]) -> None:
        """Take over flags that came out of a body."""
        self.failed.append(vector)
        self.flags += flags


def _size_read(read: Read, operands: Sequence[Node]) -> Size:
    if isinstance(read, AxisSize):
        operand = operands[read.operand]
        return size_of(operand, read.axis + len(operand.shape))
    return read


def _again(node: Node, operands: Sequence[Node], **bodies: Graph) -> Node:
    """A loop or a condition over other operands, with other bodies."""
    return node.primitive(*operands, **{**node.attrs, **bodies})


def _outputs(work: _Flagging) -> list[Node]:
    return [work.new[n] for n in work.graph.outputs]


def _none(count: int) -> Node:
    """A vector of so many flags, none of which is set."""
    return constant(np.zeros(count, bool))


def _scan(outer: _Flagging, node: Node, operands: Sequence[Node]) -> Node:
    """The flags of each step are stacked; a flag that any step sets is set."""
    work = outer.inner(node.attrs["body"])
    outputs = [*_outputs(work), *([work.vector()] if work.flags else [])]
    body = node.attrs["body"].to(outputs)
    made = _again(node, operands, body=body)
    if work.flags:
        outer.adopt(reduce_any(made.results[-1], (0,)), work.flags)
    return made


def _cond(outer: _Flagging, node: Node, operands: Sequence[Node]) -> Node:
    """Each branch gives the flags of both branches, and sets only its own."""
    branches = [node.attrs["then"], node.attrs["otherwise"]]
    works = [outer.inner(b) for b in branches]
    flags = [f for w in works for f in w.flags]
    graphs = []
    for branch, work in zip(branches, works, strict=True):
        parts = [(w.vector() if w is work else _none(len(w.flags))) for w in works if w.flags]
        extra = [concatenate(parts, 0)] if flags else []
        graphs.append(Graph(branch.inputs, [*_outputs(work), *extra]))
    made = _again(node, operands, then=graphs[0], otherwise=graphs[1])
    if flags:
        outer.adopt(made.results[-1], flags)
    return made


def _while(outer: _Flagging, node: Node, operands: Sequence[Node]) -> Node:
    """The flags are one more state; those of the condition's last test are made behind the loop."""
    body, condition = outer.inner(node.attrs["body"]), outer.inner(node.attrs["condition"])
    flags = [*body.flags, *condition.flags]
    tested, stepped = condition.graph.inputs, body.graph.inputs
    if not flags:
        same = Graph(stepped, _outputs(body)), Graph(tested, _outputs(condition))
        return _again(node, operands, body=same[0], condition=same[1])
    state = input_node(TensorType((len(flags),), constant(False).dtype))
    parts = [body.vector()] if body.flags else []
    if condition.flags:
        parts += substitute([condition.vector()], dict(zip(tested, stepped, strict=True)))
    new = logical_or(state, concatenate(parts, 0))
    made = _again(
        node,
        [*operands, _none(len(flags))],
        body=Graph([*stepped, state], [*_outputs(body), new]),
        condition=_unless_failed(condition, state.type),
    )
    outer.adopt(made.results[-1], flags)
    if condition.flags:
        consts = operands[: node.attrs["consts"]]
        last = dict(zip(tested, [*consts, *made.results[:-1]], strict=True))
        outer.adopt(substitute([condition.vector()], last)[0], condition.flags)
    return made


def _unless_failed(condition: _Flagging, flags: TensorType) -> Graph:
    """The condition, and that nothing has failed yet: a failed loop might never end otherwise."""
    state = input_node(flags)
    goes_on = logical_and(_outputs(condition)[0], logical_not(reduce_any(state, (0,))))
    return Graph([*condition.graph.inputs, state], [goes_on])


BODIES: dict[str, Callable[[_Flagging, Node, Sequence[Node]], Node]] = {
    "scan": _scan,
    "cond": _cond,
    "while": _while,
}
