"""The variant of a program for unknown sizes that are equal where they meet.

Where axes of unknown sizes meet, the graph has a `stretch`, for one of them may turn out to have
size 1. Mostly it has not. So a guard compares the sizes of the inputs before each call, and the
program that runs where they're equal has no `stretch` left; the graph as it is runs otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..ir.context import rewriting
from ..ir.forms import Applied, Form, Root, atoms_of, is_counted, parts, substituted
from ..ir.node import ITEM, Node
from ..ir.program import Given, Graph, all_nodes, bodies
from ..ir.rewrite import rebuilt
from ..primitives.formulas import Formulas
from ..primitives.movement import broadcast_to
from ..primitives.sizes import merged, size_origin

NAMES = frozenset(("common_size", "stretch", "sum_to"))
# Of a node that stretches: pairs of what its operand's sizes are and what they become.
Pairs = Sequence[tuple[Root, Root]]


class Meeting(NamedTuple):
    """Sizes that must be equal or 1, and the node that broadcasts them.

    `is_certain`: the node is computed in each call.
    """

    sizes: tuple[Given, ...]
    node: Node
    is_certain: bool


def stretches(graph: Graph) -> bool:
    """Whether unknown sizes may turn out to be 1 anywhere in a graph."""
    return any(node.primitive.name in NAMES for node in all_nodes(graph))


class _Facts:
    """What is known of the sizes of a graph and of its bodies.

    Attributes:
        enters: whether the parameters of bodies are tied to what they stand for. They aren't where
            one body stands in two places, or a parameter is an input elsewhere.
    """

    def __init__(self, graph: Graph):
        self.sizes = Formulas(self._origin, self._numbers_of, self.inside)
        self._given: dict[Node, tuple[Node, int] | None] = dict.fromkeys(graph.inputs)
        self._invariant: set[Node] = set()  # parameters that stand for the same in each step
        self.enters = self._tie(graph)

    def _tie(self, graph: Graph) -> bool:
        """Tie the parameters of the bodies in a graph; whether none is tied in two ways."""
        for node in graph.nodes[len(graph.inputs) :]:
            for body in bodies(node):
                consts = node.attrs.get("consts", len(body.inputs))
                for i, (param, x) in enumerate(zip(body.inputs, _given(node), strict=True)):
                    if x != (param, 0) and self._given.setdefault(param, x) != x:
                        return False
                    if i < consts and x != (param, 0):
                        self._invariant.add(param)
                if not self._tie(body):
                    return False
        return True

    def inside(self, node: Node) -> Sequence[Graph]:
        """The bodies of a node, as far as they're known."""
        return bodies(node) if self.enters else ()

    def _origin(self, node: Node, axis: int) -> Any:
        given = self._given.get(node)
        return size_origin(node, axis) if given is None else (given[0], axis + given[1])

    def _numbers_of(self, node: Node) -> tuple[Node, bool] | None:
        x, offset = self._given.get(node) or (node, 0)
        if node in self._invariant or not offset:
            return (x, True) if node in self._invariant else None
        while x.primitive.name in ("reverse", "identity"):
            x = x.operands[0]
        if x.primitive is not ITEM or x.operands[0].primitive.name != "scan":
            return None
        index = x.attrs["index"]  # one of what a scan stacks, in each step
        stacked = index >= x.operands[0].attrs["carry"] and self.inside(x.operands[0])
        return (stacked[0].outputs[index], False) if stacked else None

    def pairs(self, node: Node) -> Pairs:
        """The sizes that a `stretch` or a `sum_to` takes as equal."""
        x, *sizes = node.operands
        dims = merged(node.attrs["shape"], sizes)[len(node.shape) - len(x.shape) :]
        summed = node.primitive.name == "sum_to"  # to a size that's compared, also if one is known
        return [
            (self.sizes.of(x, axis), self.sizes.of_scalar(want))
            for axis, want in enumerate(dims)
            if want != 1 and (x.shape[axis] is None or (summed and isinstance(want, Node)))
        ]


def _given(node: Node) -> Iterator[tuple[Node, int] | None]:
    """For each parameter of a body, the operand with its sizes, and how many more axes that has."""
    name, operands = node.primitive.name, node.operands
    if name == "cond":
        yield from ((x, 0) for x in operands[1:])
        return
    consts = node.attrs["consts"]
    carry = consts + node.attrs["carry"] if name == "scan" else len(operands)
    for i, x in enumerate(operands):
        if name == "while" and i >= consts:
            yield None  # a step may change the sizes
        else:
            yield x, int(i >= carry)


# The guard -----------------------------------------------------------------------------------


def meetings(graph: Graph, count: int) -> list[Meeting]:
    """The sizes of inputs that meet.

    Args:
        graph: a closed graph.
        count: so many of its inputs have values that a guard sees.
    """
    if not stretches(graph):
        return []
    facts, place = _Facts(graph), {x: i for i, x in enumerate(graph.inputs[:count])}
    found: dict[tuple[Given, ...], Meeting] = {}

    def given(roots: frozenset[Root]) -> tuple[Given, ...]:
        known = {substituted(r, lambda at: (place[at[0]], at[1])) for r in roots if is_sized(r)}
        return tuple(sorted(known, key=str))

    def is_sized(root: Root) -> bool:
        atoms = [x for x in atoms_of(root) if not isinstance(x, Applied)]
        return is_counted(root) and all(isinstance(x, tuple) and x[0] in place for x in atoms)

    def visit(inner: Graph, outside: bool) -> None:
        users: dict[Node, Node] = {}
        for node in inner.nodes[len(inner.inputs) :]:
            for x in node.operands:
                users.setdefault(x, node)
        for node in inner.nodes[len(inner.inputs) :]:
            for roots in _meeting(node, facts):
                sizes = given(roots)
                if len(sizes) > 1 and not (sizes in found and found[sizes].is_certain):
                    found[sizes] = Meeting(sizes, users.get(node, node), outside)
            for body in facts.inside(node):
                visit(body, False)

    visit(graph, True)
    return list(found.values())


def _meeting(node: Node, facts: _Facts) -> Iterator[frozenset[Root]]:
    """The sizes that meet in a node, in groups."""
    if node.primitive.name in NAMES and node.primitive.name != "common_size":
        yield from (parts(a) | parts(b) for a, b in facts.pairs(node))


def equalities(found: Sequence[Meeting]) -> list[tuple[Given, Given]]:
    """Pairs of sizes; where they're equal, no size that meets another differs from it."""
    pairs = []
    known = Formulas(lambda node, axis: None)
    # Most formulas are equal where the sizes are that they're made of.
    for meeting in sorted(found, key=lambda m: any(isinstance(s, Form | Applied) for s in m.sizes)):
        first, *rest = sorted(meeting.sizes, key=lambda size: isinstance(size, int))
        for other in rest:
            if known.representative(first) != known.representative(other):
                known.state(first, other)
                pairs.append((first, other))
    return pairs


# The variant -----------------------------------------------------------------------------------


def taking_equal_sizes(graph: Graph, count: int) -> Graph:
    """The graph where nothing guards it: sizes of the first `count` inputs that meet are taken as
    equal, and a mismatch is an error when it runs."""
    return with_equal_sizes(graph, equalities(meetings(graph, count)))


def with_equal_sizes(graph: Graph, equal: Sequence[tuple[Given, Given]]) -> Graph:
    """The graph for inputs whose sizes are equal, pair by pair.

    What is stretched there only if sizes differ is stretched no more. A `stretch` that other sizes
    decide, such as those that follow from data, stays.
    """
    if not stretches(graph):
        return graph
    facts = _Facts(graph)
    facts.sizes.state_equal(graph.inputs, equal)
    return rewriting(_Equalizing(facts).graph, graph)


class _Equalizing:
    """Rebuilds graphs without what stretches nothing."""

    def __init__(self, facts: _Facts):
        self.facts = facts
        self.kept: dict[Node, Node] = {}  # broadcasts that only tell a size, and their operands
        self.done: dict[Graph, Graph] = {}

    def graph(self, graph: Graph) -> Graph:
        """The graph, rebuilt; the same one where nothing changes."""
        if graph not in self.done:
            inner = self.graph if self.facts.enters else lambda body: body
            self.done[graph] = rebuilt(graph, self._change, inner)
        return self.done[graph]

    def _change(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        name, sizes = node.primitive.name, self.facts.sizes
        if name == "common_size":
            a, b = map(sizes.of_scalar, node.operands)
            if a == b or 1 in (a, b):
                return operands[1] if a == 1 else operands[0]
        elif name in NAMES:
            return self._unstretched(node, operands)
        elif node.primitive.elementwise and not self.kept.keys().isdisjoint(operands):
            made = node.primitive(*(self.kept.get(x, x) for x in operands), **node.attrs)
            made.effects = node.effects
            return made if made.type == node.type else None
        return None

    def _unstretched(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """A `stretch` or a `sum_to` of equal sizes is a broadcast that only tells them."""
        if any(a != b for a, b in self.facts.pairs(node)):
            return None
        x, *sizes = operands
        dims = merged(node.attrs["shape"], sizes)
        if x.type == node.type:
            return x
        if node.primitive.name == "sum_to" and 1 in dims:  # over an axis that is known to be 1
            return None
        made = broadcast_to(x, dims)
        if len(x.shape) == len(node.shape) and 1 not in x.shape:
            self.kept[made] = x
        return made
