"""What is shown of a graph: a box for each node, in which boxes of its bodies lie."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..ir.context import Source
from ..ir.leaves import CONSTANT, INPUT, SOURCE, VARIABLE, Constant
from ..ir.node import ITEM, Node
from ..ir.program import Graph, Program, bodies
from ..ir.text import attributes, type_of

# What a node is: leaves by their primitive. All others are "operation", "loop" or "python".
LEAVES = {INPUT: "input", VARIABLE: "variable", CONSTANT: "constant", SOURCE: "random"}


class Box(NamedTuple):
    """A node, as it's shown.

    Attributes:
        key: what it's called: `%3`, as in the graph's text; `%3.body.%1` in a body.
        title: what it computes; of a constant, its value.
        name: the name that it was given, or that of the operation that it's made of; empty, if it
            has none yet.
        type: dtype and shape, or those of all results.
        kind: "input", "variable", "constant", "random", "operation", "loop", or "python" for what
            calls a function of Python.
        is_gradient: whether a gradient made it.
        source: the user's line.
        attributes: as the graph's text has them.
        notes: what becomes of its value: that it's an output, or new for a variable.
        operands: numbers of boxes of the same sheet.
        bodies: by the name of an attribute, what is in a loop or a condition.
    """

    key: str
    title: str
    name: str
    type: str
    kind: str
    is_gradient: bool
    source: Source
    attributes: str
    notes: tuple[str, ...]
    operands: tuple[int, ...]
    bodies: dict[str, Sheet]

    @property
    def scope(self) -> str:
        """The name scope that it's in; where a pass made it, that of the user's node."""
        return self.name.rpartition("/")[0] or self.source.scope.rstrip("/")

    @property
    def lines(self) -> list[str]:
        """What stands in the box."""
        lines = [self.title, self.name, self.type, *(f"→ {note}" for note in self.notes)]
        return [line for line in lines if line]


class Sheet(NamedTuple):
    """The boxes of a graph, operands first; and how many nodes are left out."""

    boxes: list[Box]
    left_out: int

    @property
    def total_left_out(self) -> int:
        """How many nodes are left out, those of bodies with them."""
        return self.left_out + sum(s.total_left_out for b in self.boxes for s in b.bodies.values())

    def rest(self, more: str) -> str:
        """A line that tells of the nodes that are left out, and what shows them; or nothing."""
        left = self.total_left_out
        return f"{left:,} more node{'s' * (left > 1)}: {more}" if left else ""


def sheet_of(graph: Graph, limit: int | None = None, path: str = "") -> Sheet:
    """What is shown of a graph.

    Args:
        graph: any graph. A node with several results is one box, whatever takes them.
        limit: at most so many nodes, and of each body; those that are nearest to the outputs.
        path: of a body, what its nodes' keys begin with.

    >>> from kameleon.graph.ir.leaves import input_node
    >>> from kameleon.graph.ir.types import FLOAT32, TensorType
    >>> from kameleon.graph.primitives.elementwise import exp
    >>> x = input_node(TensorType((None, 3), FLOAT32), "x")
    >>> for box in sheet_of(Graph([x], [exp(x)])).boxes:
    ...     print(box.key, box.kind, box.title, box.type, box.operands, box.notes)
    %0 input Placeholder float32[?, 3] () ()
    %1 operation Exp float32[?, 3] (0,) ('output',)
    """
    given = set(graph.inputs)
    inner = [n for n in graph.nodes if n in given or n.primitive is not ITEM]
    shown = inner if limit is None or len(inner) <= limit else _nearest(graph, given, limit)
    keys = {node: f"{path}%{i}" for i, node in enumerate(graph.nodes)}
    places = {node: i for i, node in enumerate(shown)}
    notes = _notes(graph, given)
    boxes = []
    for node in shown:
        operands = (_producer(n, given) for n in node.operands) if node not in given else ()
        boxes.append(
            Box(
                keys[node],
                _title(node),
                f"{node._name}:0" if node._name else node.source.name,
                type_of(node),
                _kind(node, given),
                node.source.is_gradient,
                node.source,
                ", ".join(attributes(node)),
                tuple(notes.get(node, ())),
                tuple(places[n] for n in operands if n in places),
                {
                    name: sheet_of(node.attrs[name], limit, f"{keys[node]}.{name}.")
                    for name in node.primitive.bodies
                },
            )
        )
    return Sheet(boxes, len(inner) - len(shown))


def every_box(sheet: Sheet) -> Iterator[Box]:
    """All boxes of a sheet, those of bodies with them."""
    for box in sheet.boxes:
        yield box
        for body in box.bodies.values():
            yield from every_box(body)


def _producer(node: Node, given: Collection[Node]) -> Node:
    """The node whose box stands for this one."""
    return node.operands[0] if node.primitive is ITEM and node not in given else node


def _nearest(graph: Graph, given: Collection[Node], limit: int) -> list[Node]:
    """The nodes that are fewest steps away from an output, operands first."""
    near = dict.fromkeys(_producer(n, given) for n in graph.roots)
    pending = deque(near)
    while pending and len(near) < limit:
        node = pending.popleft()
        for operand in node.operands if node not in given else ():
            found = _producer(operand, given)
            if found not in near:
                near[found] = None
                pending.append(found)
    kept = set(list(near)[:limit])
    return [n for n in graph.nodes if n in kept]


def _title(node: Node) -> str:
    if node.primitive is not CONSTANT:
        return node.primitive.title
    value: Constant = node.attrs["value"]
    return repr(value) if value.array.ndim else str(value.array[()])


def _kind(node: Node, given: Collection[Node]) -> str:
    if node.primitive in LEAVES:
        return LEAVES[node.primitive]
    if node in given:  # a value is given for it, so nothing computes it
        return "input"
    if node.primitive.host_callback:
        return "python"
    return "loop" if bodies(node) else "operation"


def _notes(graph: Graph, given: Collection[Node]) -> dict[Node, list[str]]:
    """What becomes of values, by the nodes that compute them."""
    found: dict[Node, list[str]] = {}

    def note(node: Node, text: str) -> None:
        found.setdefault(_producer(node, given), []).append(text)

    for i, output in enumerate(graph.outputs):
        note(output, "output" if len(graph.outputs) == 1 else f"output {i}")
    if isinstance(graph, Program):
        for variable, value in graph.updates:
            note(value, f"new {variable._name or 'variable'}")
        for effect in graph.prints:
            note(effect.value, "printed")
    return found
