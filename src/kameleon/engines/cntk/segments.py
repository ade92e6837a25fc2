"""Programs for the worker: lines of NumPy, some of which call a segment, that CNTK computes.

Sizes, integers, loops and whatever else CNTK lacks are lines of the NumPy engine; so all of it
means what it means there. What CNTK does is taken together: everything that can be computed at one
point of the program is one segment, or several in turn where it's long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..._utils.threads import counter
from ...graph.ir.leaves import input_node
from ...graph.ir.node import ITEM, REGISTRY, Node
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import closed
from ...graph.ir.serial import graph_to_data
from ...graph.ir.types import TensorType
from .._codegen.code import Code
from .._codegen.emitter import Emitter, Rule
from .._codegen.rules import holes, unary
from .._codegen.schedule import WHEN_NEEDED
from ..numpy.engine import NumpyEmitter
from ..numpy.rules import RULES as NUMPY
from .memory import LINES
from .rules import BY_CNTK, Kind, kind_of

# CNTK can't cope with some ten thousand nodes at once.
LONGEST = 500
# They make no line of their own: who uses one has it made.
LATE = WHEN_NEEDED
# Nodes that compute nothing.
UNCOUNTED = LATE | {"item"}

_next_number = counter(LINES + 1)


class Segment:
    """Nodes that CNTK computes, as data, and as lines of NumPy that give the same.

    Args:
        nodes: those that it computes.
        inside: these, and the constants and broadcasts that they read, operands first.
        inputs: what they are given from outside.
        outputs: those that are needed outside.

    Attributes:
        number: what it's known by.
        nodes: see above.
        graph: it, closed.
        rows: the nodes that its rows as data stand for, in turn.
        plain: the lines.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inside: Sequence[Node],
        inputs: Sequence[Node],
        outputs: Sequence[Node],
    ):
        self.number, self.nodes = _next_number(), nodes
        whole = closed(inputs, [*outputs, *inside])
        self.graph = Graph(whole.inputs, whole.outputs[: len(outputs)])
        original = dict(zip(whole.outputs[len(outputs) :], inside, strict=True))
        self.rows = [original[node] for node in self.graph.nodes[len(inputs) :]]
        self.plain = PlainEmitter(self.graph).run(own_outputs=True)

    def __str__(self) -> str:
        first, last = self.nodes[0], self.nodes[-1]
        names = ", ".join(dict.fromkeys(n.primitive.name for n in self.nodes))
        return f"{names}\n  which were made from {first.source} to {last.source}"


def _expanded(e: Emitter, node: Node) -> None:
    """A composite that has no line of NumPy, by a function of simpler primitives."""
    inputs = [input_node(x.type) for x in node.operands]
    assert node.primitive.expand is not None
    body = PlainEmitter(Graph(inputs, [node.primitive.expand(*inputs, **node.attrs)]))
    function = e.constant(e.function(body.run(own_outputs=True)))
    text = f"{{{len(inputs)}}}({holes(0, len(inputs))})[0]"
    e.emit(node, text, [*e.operands(node), function])


RULES: dict[str, Rule] = {
    **dict.fromkeys(BY_CNTK - NUMPY.keys(), _expanded),
    **{name: rule for name, rule in NUMPY.items() if not REGISTRY[name].host_callback},
    # NumPy 1.19 gives wrong numbers where they write over infinite or large operands.
    **{name: unary(f"{name}({{0}})") for name in ("sin", "cos")},
}
"""How primitives are written as lines of NumPy: CNTK does some that NumPy has no line for. A host
callback stays in this process."""


class PlainEmitter(NumpyEmitter):
    """Emits lines of NumPy for the worker, which keeps no buffers and takes no blocks."""

    rules = RULES
    pooled = False

    def scalar(self, array: Any) -> None:
        """See `NumpyEmitter.scalar`: to NumPy 1 Python's numbers beside scalars are wide ones, and
        beside arrays, where they're nearly too large for the array's dtype.
        """

    def is_blocked(self, node: Node) -> bool:
        """See `Emitter.is_blocked`."""
        return False

    def function(self, code: Code) -> Callable[..., Any]:
        """See `Emitter.function`: it becomes one in the worker."""
        return code


class SegmentEmitter(PlainEmitter):
    """Emits lines of NumPy and calls of segments.

    Attributes:
        apart: nodes that NumPy computes, though CNTK could.
        segments: all of them, those of bodies included.
        others: how many nodes NumPy computes.
    """

    def __init__(
        self,
        graph: Graph,
        more: int = 0,
        results: Collection[Node] | None = None,
        apart: Container[Node] = (),
    ):
        super().__init__(graph, more, results)
        self.apart = apart
        self.segments: list[Segment] = []
        self.others: list[Node] = []

    def inner(self, graph: Graph, more: int = 0, results: Collection[Node] = ()) -> SegmentEmitter:
        """See `Emitter.inner`."""
        found = type(self)(graph, more, results, apart=self.apart)
        found.segments, found.others = self.segments, self.others
        return found

    def _emit_all(self, order: Sequence[Node]) -> None:
        for kind, nodes in self._parts(order):
            if kind is Kind.NUMPY:
                self.others += [n for n in nodes if n.primitive.name not in UNCOUNTED]
                super()._emit_all(nodes)
                continue
            rest = iter(nodes)
            while part := list(islice(rest, LONGEST)):
                self._emit_segment(part)

    def _kind(self, node: Node) -> Kind:
        """Who computes a node. CNTK gives the maxima of windows, but not their places."""
        if node.primitive is ITEM:
            return self._kind(node.operands[0])
        if node.primitive.name == "max_pool" and node.results[1] in self._members:
            return Kind.NUMPY
        if node in self.apart:
            return Kind.NUMPY
        return kind_of(node)

    def _parts(self, order: Sequence[Node]) -> Iterator[tuple[Kind, list[Node]]]:
        """What is computed together, in turn: by NumPy, in float32, in float64, and again.

        For each node it's noted in which round each of the three can use it first: in that in which
        it's computed, or, where their turn was before, in the next one.
        """
        first: dict[Node, list[int]] = {}
        parts: dict[tuple[int, Kind], list[Node]] = {}
        for node in order:
            known = [first[x] for x in node.operands if x in first]
            rounds = [max(column) for column in zip(*known, strict=True)] or [0, 0, 0]
            if node.primitive.name in LATE:
                first[node] = rounds
                if any(r is None or self._kind(r) is Kind.NUMPY for r in self._readers(node)):
                    parts.setdefault((rounds[0], Kind.NUMPY), []).append(node)
                continue
            kind = self._kind(node)
            here = rounds[kind]
            first[node] = [here + (other < kind) for other in Kind]
            parts.setdefault((here, kind), []).append(node)
        for (_, kind), nodes in sorted(parts.items()):
            yield kind, nodes

    def _readers(self, node: Node) -> Iterator[Node | None]:
        """Those that read a node, also through broadcasts; None where the caller does."""
        if node in self.graph.outputs:
            yield None
        for user in self.users.get(node, ()):
            if user.primitive.name in LATE:
                yield from self._readers(user)
            else:
                yield user

    def _emit_segment(self, nodes: Sequence[Node]) -> None:
        """One line that calls a segment, and one for each of its results."""
        inside = _with_late(nodes)
        wanted = [n for n in nodes if self._is_wanted(n, set(nodes))]
        used = dict.fromkeys(x for n in inside for x in n.operands)
        inputs = [x for x in used if x not in inside]
        segment = Segment(nodes, list(inside), inputs, wanted)
        self.segments.append(segment)
        given = "".join(f"{{{i}}}, " for i in range(len(inputs)))
        args = [*map(self.slot, inputs), self.constant(segment)]
        made = self.code.emit(wanted[-1], f"{{{len(inputs)}}}(({given}))", args)
        for i, node in enumerate(wanted):
            self._slots[node] = self.code.emit(node, f"{{0}}[{i}]", [made])

    def _is_wanted(self, node: Node, inside: Container[Node]) -> bool:
        """Whether the value of a node of a segment is needed outside of it."""
        if not isinstance(node.type, TensorType):
            return False
        return any(reader is None or reader not in inside for reader in self._readers(node))


def _with_late(nodes: Sequence[Node]) -> dict[Node, None]:
    """The nodes with the constants and broadcasts that they read, operands first."""
    found: dict[Node, None] = {}
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        late = [x for x in node.operands if x.primitive.name in LATE and x not in found]
        if late:
            pending += [node, *late]
        else:
            found[node] = None
    return found


# As data ------------------------------------------------------------------------------------------


def to_data(code: Code, arrays: dict[str, Any]) -> dict[str, Any]:
    """A program as the worker gets it; arrays go to `arrays`, under new names."""
    head, *lines = code.source().split("\n")
    names = head[head.index("(") + 1 : head.rindex(")")]
    unpack = [f" {names}, = _given"] if names else []  # Python 3.6 takes 255 parameters
    return {
        "source": "\n".join(["def program(*_given):", *unpack, *lines]),
        "constants": {f"c{i}": _constant(value, arrays) for i, value in code.constants.items()},
    }


def _constant(value: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """What a program names, with a word for what it is."""
    if isinstance(value, Code):
        return {"program": to_data(value, arrays)}
    if isinstance(value, Segment):
        graph = graph_to_data(value.graph, arrays)
        nodes = value.graph.nodes[len(value.graph.inputs) :]
        for row, node in zip(graph["nodes"], nodes, strict=True):
            row["first_size"] = node.primitive.first_size
        return {
            "segment": {
                "number": value.number,
                "graph": graph,
                "plain": to_data(value.plain, arrays),
            }
        }
    if isinstance(value, np.ndarray | np.generic):
        name = f"given.{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"array" if isinstance(value, np.ndarray) else "number": name}
    if isinstance(value, tuple):
        return {"slices": [[s.start, s.stop, s.step] for s in value]}
    return {"value": value}
