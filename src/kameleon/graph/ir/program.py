"""Closed graphs: `Graph` (a body of `scan`, `cond` …) and `Program` (what `K.function` runs)."""

from __future__ import annotations

import struct
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from typing import Any

from .context import built_for
from .forms import Applied, Form
from .leaves import CONSTANT, INPUT, Constant
from .node import REGISTRY, Node, Print, Update, Variable, walk
from .types import DType

# A size of an input, as (number of the input, axis); a number; or a formula of such sizes.
Given = tuple[int, int] | int | Form | Applied
# Constants of up to this many elements count by value in a graph's key, larger ones by identity.
KEYED_CONSTANT = 64


class Graph:
    """Outputs as a function of inputs; closed: every leaf but constants is an input.

    Immutable. As an attribute of a node, a graph is equal only to itself; `key` tells whether two
    graphs have the same structure.

    Attributes:
        equal: pairs of sizes that are equal wherever the graph runs, since a guard compares them:
            each is (number of an input, axis), a number, or a formula (`forms`).
    """

    __slots__ = ("__weakref__", "_depth", "_key", "_nodes", "equal", "inputs", "outputs")

    def __init__(
        self,
        inputs: Iterable[Node],
        outputs: Iterable[Node],
        equal: Iterable[tuple[Given, Given]] = (),
    ):
        self.inputs, self.outputs, self.equal = tuple(inputs), tuple(outputs), tuple(equal)
        self._nodes: list[Node] | None = None
        self._key: tuple[Hashable, ...] | None = None
        self._depth: int | None = None

    @property
    def roots(self) -> tuple[Node, ...]:
        """All nodes whose values are wanted."""
        return self.outputs

    @property
    def nodes(self) -> list[Node]:
        """The inputs, then every node that is needed, operands first."""
        if self._nodes is None:
            stop = set(self.inputs)
            rest = [n for n in walk(self.roots, stop) if n not in stop]
            self._nodes = [*self.inputs, *_placed(rest, self.roots)]
        return self._nodes

    def to(self, outputs: Iterable[Node]) -> Graph:
        """The graph from the same inputs to these outputs; itself, where they're its own."""
        outputs = tuple(outputs)
        return self if outputs == self.outputs else Graph(self.inputs, outputs, self.equal)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Equal for graphs of equal structure (a renumbering of nodes doesn't matter)."""
        if self._key is None:
            number = {node: i for i, node in enumerate(self.nodes)}
            count = len(self.inputs)
            self._key = (
                tuple(n.type for n in self.inputs),
                tuple(_node_key(n, number) for n in self.nodes[count:]),
                tuple(number[n] for n in self.roots),
                self.equal,
            )
        return self._key

    @property
    def depth(self) -> int:
        """How many loops and conditions lie within one another, at most."""
        if self._depth is None:
            self._depth = max(map(depth, self.nodes), default=0)
        return self._depth


class Program(Graph):
    """A graph with effects: updates of variables, and values to print.

    `variables` are those read or written, `sources` the random streams, both in order of
    first use; `updates` has one new value for each written variable.
    """

    __slots__ = ("prints", "sources", "updates", "variables")

    def __init__(
        self,
        inputs: Iterable[Node],
        outputs: Iterable[Node],
        updates: Iterable[tuple[Variable, Node]] = (),
        prints: Iterable[Print] = (),
    ):
        super().__init__(inputs, outputs)
        self.updates, self.prints = tuple(updates), tuple(prints)
        leaves = [n for n in self.nodes[len(self.inputs) :] if not n.operands]
        read = [n for n in leaves if isinstance(n, Variable)]
        written = [v for v, _ in self.updates]
        self.variables: tuple[Variable, ...] = tuple(dict.fromkeys([*read, *written]))
        self.sources = tuple(n for n in leaves if n.primitive.name == "random_source")

    @property
    def unfed(self) -> list[Node]:
        """Placeholders that are needed and not among the inputs."""
        return [n for n in self.nodes[len(self.inputs) :] if n.primitive is INPUT]

    @property
    def roots(self) -> tuple[Node, ...]:
        """Outputs, new values, printed values."""
        new = (value for _, value in self.updates)
        return (*self.outputs, *new, *(p.value for p in self.prints))


def _placed(nodes: Sequence[Node], roots: Iterable[Node]) -> Iterable[Node]:
    """The nodes in order, but what expressions share before what first takes it: others may have
    made it before, so that its age would tell graphs of equal structure apart.
    """
    shared: set[Node] = set()
    for node in nodes:
        if _is_shared(node, shared):
            shared.add(node)
    found: dict[Node, None] = {}

    def place(node: Node) -> None:
        if node in shared and node not in found:
            for x in node.operands:
                place(x)
            found[node] = None

    for node in nodes:
        if node not in shared:
            for x in node.operands:
                place(x)
            found[node] = None
    for node in roots:
        place(node)
    return found


def _is_shared(node: Node, shared: Container[Node]) -> bool:
    """Whether a node is a constant, a size, or stretches a constant to sizes, of which all are."""
    if node.primitive.name == "broadcast_to":
        return all(x in shared for x in node.operands)
    return node.primitive is CONSTANT or node.primitive.name == "size"


def bodies(node: Node) -> Sequence[Graph]:
    """The bodies of a loop or a condition."""
    names = node.primitive.bodies
    return [node.attrs[name] for name in names] if names else ()


def all_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph, each before those of its bodies."""
    for node in graph.nodes:
        yield node
        if node.primitive.bodies:
            for body in bodies(node):
                yield from all_nodes(body)


def depth(node: Node) -> int:
    """How many loops and conditions lie within one another, this node being the first."""
    return max((1 + body.depth for body in bodies(node)), default=0)


def has_effects(node: Node) -> bool:
    """Whether it matters how often a node is computed: it calls a function with effects, itself or
    in a body.
    """
    if node.primitive.host_callback:
        return not node.attrs["callee"].pure
    return any(has_effects(n) for body in bodies(node) for n in body.nodes)


def _node_key(node: Node, number: dict[Node, int]) -> Hashable:
    operands = tuple(number[n] for n in node.operands)
    return (node.primitive.name, operands, attrs_key(node), node.type)


class _Same:
    """A key for the very same array, which lives on, so that no other array takes its id."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.array is other.array

    def __hash__(self) -> int:
        return id(self.array)


def attrs_key(node: Node, structure: bool = True) -> Hashable:
    """The attributes of a node as something hashable: equal where types and bits of them are.

    Args:
        node: any node.
        structure: whether bodies of equal structure are equal; else each is equal to itself only.
            An attribute with a `key` says by that what counts for the structure of a graph.
    """
    if node.primitive is CONSTANT:
        constant: Constant = node.attrs["value"]
        return constant if constant.array.size <= KEYED_CONSTANT else _Same(constant.array)
    if not node.attrs:
        return ()
    if len(node.attrs) < 2:
        return tuple([(k, _value_key(v, structure)) for k, v in node.attrs.items()])
    return tuple((k, _value_key(v, structure)) for k, v in sorted(node.attrs.items()))


def _value_key(value: Any, structure: bool) -> Hashable:
    """Python's own equality won't do: -0.0 == 0.0, 1 == 1.0 == True, and NaN != NaN."""
    if value is None or type(value) in (int, str, DType):
        return value  # type: ignore[no-any-return]
    if isinstance(value, float):
        return float, struct.pack("<d", value)
    if isinstance(value, tuple):
        return type(value), tuple([_value_key(v, structure) for v in value])
    if structure and hasattr(value, "key"):
        return value.key  # type: ignore[no-any-return]
    return type(value), value


def collect(
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    updates: Sequence[Update | tuple[Variable, Node]] = (),
    shown: Sequence[Print] = (),
) -> Program:
    """The program with these outputs, updates and prints, and all effects that its nodes carry.

    Inputs are fed and not computed: effects that they carry don't happen.
    """
    prints = dict.fromkeys(shown)
    wanted = [*outputs, *(u if isinstance(u, Update) else u[1] for u in updates)]
    made = carried_updates([*wanted, *(p.value for p in shown)], inputs, prints)
    pairs = [u for u in updates if not isinstance(u, Update)]
    return Program(inputs, outputs, new_values([*made, *pairs]), prints)


def carried_updates(
    nodes: Sequence[Node], inputs: Iterable[Node] = (), prints: dict[Print, None] | None = None
) -> list[Update]:
    """The updates that computing `nodes` performs, in the order in which they were made.

    Args:
        nodes: what is computed.
        inputs: nodes that are fed: effects that they carry don't happen.
        prints: gets what is printed.
    """
    seen, carried, pending = set(inputs), list[Update](), list(nodes)
    while pending:
        found = [n for n in walk(pending, seen) if n not in seen]
        seen.update(found)
        carried += (n for n in found if isinstance(n, Update))
        pending = []
        for effect in (e for n in found for e in n.effects):
            if isinstance(effect, Print):
                if prints is not None:
                    prints[effect] = None
                pending.append(effect.value)
            elif isinstance(effect, Update):
                pending.append(effect)
    return sorted(carried, key=lambda u: u.serial)


def new_values(updates: Iterable[Update | tuple[Variable, Node]]) -> list[tuple[Variable, Node]]:
    """One new value for each variable: increments add up; of other updates the last one counts.

    The updates come in the order in which they were made: an update under control dependencies on
    another one is behind that one.
    """
    new: dict[Variable, Node] = {}
    for update in updates:
        if not isinstance(update, Update):
            new[update[0]] = update[1]
        elif update.increment is not None and update.variable in new:
            old, add = new[update.variable], REGISTRY["add"]
            new[update.variable] = built_for(update, add, old, update.increment)
        else:
            new[update.variable] = update.value
    return list(new.items())
