"""Closed graphs: `Graph` (a body of `scan`, `cond` …) and `Program` (what `K.function` runs)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from .node import Node, Print, Update, Variable, walk
from .primitive import CONSTANT, INPUT, Constant

# Constants up to this many elements are part of a program's key; larger ones by identity.
KEYED_CONSTANT = 64


class Graph:
    """Outputs as a function of inputs; closed: every leaf but constants is an input.

    Immutable. As an attribute of a node it's equal only to itself; `key` tells whether two
    graphs have the same structure.
    """

    __slots__ = ("__weakref__", "_key", "_nodes", "inputs", "outputs")

    def __init__(self, inputs: Iterable[Node], outputs: Iterable[Node]):
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self._nodes: list[Node] | None = None
        self._key: tuple[Hashable, ...] | None = None

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
            self._nodes = [*self.inputs, *rest]
        return self._nodes

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
            )
        return self._key


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


def _node_key(node: Node, number: dict[Node, int]) -> Hashable:
    operands = tuple(number[n] for n in node.operands)
    return (node.primitive.name, operands, attrs_key(node), node.type)


def attrs_key(node: Node) -> Hashable:
    """The attributes of a node as something hashable that doesn't depend on object identity."""
    if node.primitive is CONSTANT:
        constant: Constant = node.attrs["value"]
        return constant if constant.array.size <= KEYED_CONSTANT else id(constant.array)
    if not node.attrs:
        return ()
    return tuple(
        (k, v.key if isinstance(v, Graph) else v) for k, v in sorted(node.attrs.items())
    )


def collect(
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    updates: Sequence[tuple[Variable, Node]] = (),
) -> Program:
    """The program with these outputs and updates, and with all effects that its nodes carry."""
    stop, prints, carried = set(inputs), [], []
    seen: set[Any] = set()
    pending: list[Node] = [*outputs, *(value for _, value in updates)]
    while pending:
        found = [n for n in walk(pending, stop) if n not in seen]
        seen.update(found)
        pending = []
        for node in found:
            own = (node,) if isinstance(node, Update) and node not in stop else ()
            for effect in (*node.effects, *own):
                if effect not in seen or effect in own:
                    seen.add(effect)
                    pending.append(effect.value)  # type: ignore[attr-defined]
                    (prints if isinstance(effect, Print) else carried).append(effect)
    explicit = [u for u in updates if u not in seen]
    return Program(inputs, outputs, merged([*explicit, *dict.fromkeys(carried)]), prints)


def merged(updates: Sequence[Any]) -> list[tuple[Variable, Node]]:
    """One new value a variable: increments add up; of other updates the last one counts."""
    new: dict[Variable, Node] = {}
    for update in updates:
        variable, value = (
            (update.variable, update.value) if isinstance(update, Update) else update
        )
        increment = getattr(update, "increment", None)
        if increment is not None and variable in new:
            from ..prims.elementwise import add  # the one arithmetic that closing a graph needs

            value = add(new[variable], increment)
        new[variable] = value
    return list(new.items())
