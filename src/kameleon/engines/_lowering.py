"""From a graph to an engine's own graph: every node gets a value, by the engine's table.

`Lowering` is for engines that trace (JAX, TensorFlow) or build graphs of their own (PyTensor,
ONNX). A value is whatever an engine's rules make of a node: a tracer, a symbolic tensor, a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ..errors import FOREIGN, EngineError, KameleonError
from ..graph.analysis.agreement import sizes_of, unproven
from ..graph.analysis.broadcasts import AxisSize, Read
from ..graph.ir.leaves import CONSTANT, input_node
from ..graph.ir.node import ITEM, Node
from ..graph.ir.program import Graph
from ..graph.primitives.sizes import stated_dims

# While graphs are lowered for a profile: given a node, a block in which the library gives
# operations names that tell whose they are.
marking: ContextVar[Callable[[Node], Any] | None] = ContextVar("kameleon_marking", default=None)

Value = Any
# (lowering, node, values of its operands) -> value; a tuple of them, if it has several results.
Rule = Callable[..., Any]


class Lowering:
    """Gives the nodes of one graph their values. Engines derive from it.

    Attributes:
        title: of the engine, for errors.
        rules: the table. Elementwise rules get operands that the engine's own broadcasting
            stretches; the rule of `broadcast_to` is called only for what no such rule stretches.
        used: nodes whose value is needed; other results needn't be computed.
    """

    title: str
    rules: Mapping[str, Rule]

    def __init__(self, graph: Graph, arguments: Sequence[Value]):
        self.graph = graph
        self.values: dict[Node, Value] = dict(zip(graph.inputs, arguments, strict=True))
        self.used = set(graph.nodes)
        self.sizes = sizes_of(graph)

    # What engines say ------------------------------------------------------------------------

    def constant(self, array: Any) -> Value:
        """The value of a constant."""
        raise NotImplementedError

    def size(self, value: Value, axis: int) -> Value:
        """The size of an axis, for `agree`."""
        raise NotImplementedError

    def agree(self, node: Node, sizes: list[Value]) -> None:
        """Let it be an error if these sizes (ints, or what `size` gives) differ at run time."""
        raise NotImplementedError

    # The walk ----------------------------------------------------------------------------------

    def run(self) -> list[Value]:
        """The values of the outputs."""
        for node in self.graph.nodes[len(self.graph.inputs) :]:
            if node.primitive.name == "broadcast_to":
                self.stretched(node)
            elif node.primitive is not CONSTANT:
                self._visit(node)
        return [self.value(n) for n in self.graph.outputs]

    def inner(self, graph: Graph, arguments: Sequence[Value]) -> list[Value]:
        """The values of a body's outputs, given those of its inputs."""
        return type(self)(graph, arguments).run()

    def expanded(self, node: Node, values: Sequence[Value]) -> list[Value]:
        """The results of a composite by its expansion, for rules that hold for some values only."""
        expand = node.primitive.expand
        assert expand is not None
        inputs = [input_node(x.type) for x in node.operands]
        found = expand(*inputs, **node.attrs)
        return self.inner(Graph(inputs, found if isinstance(found, tuple) else [found]), values)

    def value(self, node: Node) -> Value:
        """The value of a node; constants and broadcasts are made when first needed."""
        if node not in self.values:
            if node.primitive is CONSTANT:
                self.values[node] = self.constant(node.attrs["value"].array)
            else:
                self._visit(node)
        return self.values[node]

    def _visit(self, node: Node) -> None:
        if node.primitive is ITEM:
            self.values[node] = self.values[node.operands[0]][node.attrs["index"]]
            return
        broadcast = node.primitive.name == "broadcast_to"  # `run` has seen to its sizes
        operands = node.operands if broadcast else self.stretched(node)
        rule = self.rules.get(node.primitive.name)
        if rule is None:
            raise EngineError(f"{self.title} has no rule for {node.primitive.name}{made(node)}")
        try:
            given = list(map(self.value, operands))
            mark = marking.get()
            if mark is None:
                self.values[node] = rule(self, node, *given)
            else:
                with mark(node):
                    self.values[node] = rule(self, node, *given)
        except (KameleonError, *FOREIGN):
            raise
        except Exception as error:
            types = ", ".join(str(x.type) for x in node.operands)
            what = f"{node.primitive.name}({types})"
            raise EngineError(f"{self.title} can't do {what}: {error}{made(node)}") from error

    def stretched(self, node: Node) -> Sequence[Node]:
        """The operands of a node, with broadcasts left to the engine where it's elementwise.

        Sizes that were taken as equal, and might differ, are checked (`agree`).
        """
        operands, groups = unproven(node, self.sizes)
        for reads in groups:
            self.agree(node, [self._read(r, operands) for r in reads])
        return operands

    def _read(self, read: Read, operands: Sequence[Node]) -> Value:
        if isinstance(read, AxisSize):
            return self.size_of(operands[read.operand], read.axis)
        return self.value(read) if isinstance(read, Node) else read

    def size_of(self, x: Node, axis: int) -> Value:
        """The size of an axis, without the need for the value itself where another has it, too."""
        root = self.sizes.of(x, axis % len(x.shape))
        if isinstance(root, Node):
            return self.value(root)
        return self.size(self.value(root[0]), root[1]) if isinstance(root, tuple) else root

    def extent(self, size: Node) -> Value:
        """The value of a size operand, as a size."""
        return self.value(size)

    def dims(self, node: Node) -> tuple[Value, ...]:
        """The sizes that a node states: see `stated_dims`."""
        return tuple(d if isinstance(d, int) else self.extent(d) for d in stated_dims(node))


def first(low: Lowering, node: Node, x: Value, *rest: Value) -> Value:
    """A rule: the first operand as it is."""
    return x


def expanded(low: Lowering, node: Node, *values: Value) -> Value:
    """A rule: a composite of one result by its expansion."""
    return low.expanded(node, values)[0]


def made(node: Node) -> str:
    """The end of an error message: where a node was made."""
    return f"\n  which was made at {node.source}"
