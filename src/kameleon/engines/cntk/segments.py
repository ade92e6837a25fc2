"""Programs for the worker: lines of NumPy, some of which call a segment, that CNTK computes.

Sizes, integers, loops and whatever else CNTK lacks are lines of the NumPy engine; so all of it means
what it means there. What CNTK does is taken together: everything that can be computed at one point
of the program is one segment, or several in turn where it's long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..._threads import counter
from ...ir.node import ITEM, Node
from ...ir.program import Graph
from ...ir.rewrite import closed
from ...ir.serial import graph_to_data
from ...ir.types import TensorType
from ..numpy.engine import NumpyEmitter
from .._code.code import Code
from .._code.schedule import WHEN_NEEDED
from .rules import takes

# CNTK can't cope with some ten thousand nodes at once.
LONGEST = 500
# They make no line of their own: who uses one has it made.
LATE = WHEN_NEEDED
# Nodes that compute nothing.
UNCOUNTED = LATE | {"item"}

_next_number = counter(1)


class Segment:
    """Nodes that CNTK computes, as data, and as lines of NumPy that give the same.

    Attributes:
        number: what it's known by.
        nodes: those that it computes.
        graph: it, closed.
        plain: the lines.
    """

    def __init__(self, nodes: Sequence[Node], graph: Graph, plain: Code):
        self.number, self.nodes, self.graph, self.plain = _next_number(), nodes, graph, plain

    def __str__(self) -> str:
        first, last = self.nodes[0], self.nodes[-1]
        names = ", ".join(dict.fromkeys(n.primitive.name for n in self.nodes))
        return f"{names}\n  which were made from {first.source} to {last.source}"


class PlainEmitter(NumpyEmitter):
    """Emits lines of NumPy for the worker, which keeps no buffers and takes no blocks."""

    def __init__(
        self,
        graph: Graph,
        more: int = 0,
        results: Collection[Node] | None = None,
        pooled: bool = False,
    ):
        super().__init__(graph, more, results, pooled=False)

    def is_blocked(self, node: Node) -> bool:
        """See `Emitter.is_blocked`."""
        return False

    def function(self, code: Code) -> Callable[..., Any]:
        """See `Emitter.function`: it becomes one in the worker."""
        return code  # type: ignore[return-value]


class SegmentEmitter(PlainEmitter):
    """Emits lines of NumPy and calls of segments.

    Attributes:
        segments: all of them, those of bodies included.
        others: how many nodes NumPy computes.
    """

    def __init__(
        self,
        graph: Graph,
        more: int = 0,
        results: Collection[Node] | None = None,
        pooled: bool = False,
    ):
        super().__init__(graph, more, results)
        self.segments: list[Segment] = []
        self.others: list[Node] = []

    def inner(self, graph: Graph, more: int = 0, results: Collection[Node] = ()) -> SegmentEmitter:
        """See `Emitter.inner`."""
        found = type(self)(graph, more, results)
        found.segments, found.others = self.segments, self.others
        return found

    def _emit_all(self, order: Sequence[Node]) -> None:
        for others, together in self._parts(order):
            self.others += [n for n in others if n.primitive.name not in UNCOUNTED]
            super()._emit_all(others)
            rest = iter(together)
            while nodes := list(islice(rest, LONGEST)):
                self._emit_segment(nodes)

    def _is_ours(self, node: Node) -> bool:
        """Whether CNTK computes a node; it gives the maxima of windows, but not their places."""
        if node.primitive is ITEM:
            return self._is_ours(node.operands[0])
        if not takes(node):
            return False
        return node.primitive.name != "max_pool" or node.results[1] not in self._members

    def _parts(self, order: Sequence[Node]) -> Iterator[tuple[list[Node], list[Node]]]:
        """The nodes that NumPy computes and those that CNTK does behind them, time and again.

        A node of NumPy comes behind the part of each node of CNTK that it needs.
        """
        of_numpy: dict[Node, int] = {}  # the first part in which NumPy can use a node
        of_cntk: dict[Node, int] = {}
        parts: dict[int, tuple[list[Node], list[Node]]] = {}
        for node in order:
            first = max((of_numpy.get(x, 0) for x in node.operands), default=0)
            second = max((of_cntk.get(x, 0) for x in node.operands), default=0)
            if node.primitive.name in LATE:
                of_numpy[node], of_cntk[node] = first, second
                if all(map(self._is_ours, self._readers(node))):
                    continue
                number, ours = first, False
            elif self._is_ours(node):
                number, ours = second, True
                of_numpy[node], of_cntk[node] = number + 1, number
            else:
                number, ours = first, False
                of_numpy[node] = of_cntk[node] = number
            parts.setdefault(number, ([], []))[ours].append(node)
        for _, part in sorted(parts.items()):
            yield part

    def _readers(self, node: Node) -> Iterator[Node]:
        """Those that read a node, also through broadcasts; itself, if it's an output."""
        if node in self.graph.outputs:
            yield node
        for user in self.users.get(node, ()):
            if user.primitive.name == "broadcast_to":
                yield from self._readers(user)
            else:
                yield user

    def _emit_segment(self, nodes: Sequence[Node]) -> None:
        """One line that calls a segment, and one for each of its results."""
        inside = _with_late(nodes)
        wanted = [n for n in nodes if self._is_wanted(n, set(nodes))]
        used = dict.fromkeys(x for n in inside for x in n.operands)
        inputs = [x for x in used if x not in inside]
        graph = closed(inputs, wanted)
        segment = Segment(nodes, graph, PlainEmitter(graph).run(own_outputs=True))
        self.segments.append(segment)
        given = ", ".join(f"{{{i}}}" for i in range(len(inputs)))
        args = [*map(self.slot, inputs), self.constant(segment)]
        made = self.code.emit(wanted[-1], f"{{{len(inputs)}}}(({given},))", args)
        for i, node in enumerate(wanted):
            self._slots[node] = self.code.emit(node, f"{{0}}[{i}]", [made])

    def _is_wanted(self, node: Node, inside: Container[Node]) -> bool:
        """Whether the value of a node of a segment is needed outside of it."""
        if not isinstance(node.type, TensorType):
            return False
        if node in self.graph.outputs:
            return True
        return any(reader not in inside for reader in self._readers(node))


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
