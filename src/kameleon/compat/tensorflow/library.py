"""Functions of a library as graphs: what is called, made of its definition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .capi.graph_defs import Import, import_message
from .dtypes import HANDLES
from .failures import failure
from .graph import Graph, LibraryFunction, Operation, Shape, Value
from .shapes import infer
from .shapes.rules import shape_of
from .walks import reached

# What directs values, by type, of references the same.
DIRECTING = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})


def _directs(operation: Operation, types: Collection[str] = DIRECTING) -> bool:
    return operation.type.removeprefix("Ref") in types


@dataclass(eq=False)
class Body:
    """A function as a graph.

    Attributes:
        operations: all that a call runs, in an order in which each follows what it takes.
        arguments: placeholders for what it's called with.
        results: what it gives.
        effects: what runs though no result may need it.
        in_loops: effects in the bodies of loops.
        prepared: what runs it, once it was called.
    """

    operations: list[Operation]
    arguments: list[Operation]
    results: list[Value]
    effects: list[Operation]
    in_loops: list[Operation]
    prepared: Any = None


def function_named(graph: Graph, name: str) -> LibraryFunction:
    """A function of a graph's library.

    Raises:
        NotFoundError: (TensorFlow's) it isn't there.
    """
    found: LibraryFunction | None = graph.functions.get(name)
    if found is None:
        raise failure("NOT_FOUND", f"Function {name} is not defined.")
    return found


def body_of(
    graph: Graph, name: str, attributes: Mapping[str, Any] | None = None, is_called: bool = True
) -> Body:
    """A function of a graph's library as a graph; attributes are what its own are set to.

    In a function that is called all effects happen; in one that becomes a branch, or the turns of a
    loop, those that it names, or that a result needs.
    """
    function = function_named(graph, name)
    own = {
        each.name: (attributes or {})[each.name]
        for each in function.signature.attr
        if each.name in (attributes or {})
    }
    key = (is_called, *((name, value.SerializeToString()) for name, value in own.items()))
    if key not in function.bodies:
        function.bodies[key] = _made(graph, Reading(graph, function.definition, own), is_called)
    body: Body = function.bodies[key]
    return body


def _made(graph: Graph, read: Reading, is_called: bool) -> Body:
    into = Graph().like(graph)
    into.function = read.name
    made = import_message(into, read.message, Import()).made
    results = [(made[name], index) for name, index in read.results]
    controls = [made[name] for name in read.controls]
    return pruned(into, [made[name] for name in read.arguments], results, controls, is_called)


class Reading:
    """A definition as a message GraphDef.

    Attributes:
        name: the function's.
        message: the nodes; the arguments are placeholders.
        arguments: their names.
        results: names of nodes, and numbers of their outputs.
        controls: names of nodes that must run.
    """

    def __init__(self, graph: Graph, definition: Any, attributes: Mapping[str, Any]) -> None:
        self._graph, self._definition, self._attributes = graph, definition, attributes
        self.name = str(definition.signature.name)
        self._names: dict[str, str] = {}  # of values: in the definition, and in a graph
        self.message = graph.messages("graph_pb2").GraphDef()
        places = range(len(definition.signature.input_arg))
        self.arguments = [self._argument(self.message, place) for place in places]
        for node in definition.node_def:
            self._names.update(self._outputs(node))
        for node in definition.node_def:
            self.message.node.add().CopyFrom(self._node(node))
        self.results = [self._result(each.name) for each in definition.signature.output_arg]
        self.controls = list(definition.control_ret.values())

    def _result(self, argument: str) -> tuple[str, int]:
        name, _, index = self._names[self._definition.ret[argument]].partition(":")
        return name, int(index or 0)

    def _argument(self, message: Any, place: int) -> str:
        argument = self._definition.signature.input_arg[place]
        node = message.node.add(name=argument.name, op="Placeholder")
        kind = argument.type or self._attributes[argument.type_attr].type
        node.attr["dtype"].type = kind
        known = self._definition.arg_attr.get(place)
        shapes = known.attr.get("_output_shapes") if known is not None else None
        if shapes is not None and shapes.list.shape:
            node.attr["shape"].shape.CopyFrom(shapes.list.shape[0])
        else:
            node.attr["shape"].shape.unknown_rank = True
        self._names[argument.name] = self._names[f"{argument.name}:0"] = argument.name
        return str(argument.name)

    def _outputs(self, node: Any) -> Iterator[tuple[str, str]]:
        """What a definition calls a node's outputs, and what a graph does."""
        index = 0
        for argument in self._graph.definition(node.op).output_arg:
            for number in range(self._count(node, argument)):
                yield f"{node.name}:{argument.name}:{number}", f"{node.name}:{index}"
                index += 1

    def _count(self, node: Any, argument: Any) -> int:
        if argument.number_attr:
            return int(self._value(node.attr[argument.number_attr]).i)
        if argument.type_list_attr:
            return len(self._value(node.attr[argument.type_list_attr]).list.type)
        return 1

    def _value(self, attribute: Any) -> Any:
        return self._attributes[attribute.placeholder] if attribute.placeholder else attribute

    def _node(self, node: Any) -> Any:
        made = type(node)()
        made.CopyFrom(node)
        del made.input[:]
        made.input.extend(
            text if text.startswith("^") else self._names[text] for text in node.input
        )
        for name, attribute in node.attr.items():
            if attribute.placeholder:
                made.attr[name].CopyFrom(self._value(attribute))
        made.attr.pop("_class", None)  # where it runs: beside what an argument stands for, perhaps
        return made


def pruned(
    graph: Graph,
    arguments: list[Operation],
    results: list[Value],
    controls: list[Operation],
    is_called: bool = True,
) -> Body:
    """The body without what nothing needs: effects and results, and what these take."""
    is_argument = set(arguments)
    effects = list(controls)
    effects += [
        operation
        for operation in (graph.operations if is_called else ())
        if operation.definition.is_stateful
        and operation not in is_argument
        and operation not in effects
    ]
    directing = [each for each in graph.operations if _directs(each)]
    needed = reached(
        [*effects, *directing, *(source for source, _ in results)], lambda each: each.before
    )
    operations = [each for each in graph.operations if each in needed and each not in is_argument]
    depths = _depths(operations)
    in_loops = [each for each in effects if depths.get(each)]
    return Body(operations, arguments, results, effects, in_loops)


def _depths(operations: list[Operation]) -> dict[Operation, int]:
    """In how many loops each operation is."""
    depths: dict[Operation, int] = {}
    for operation in operations:
        around = [
            depths[each] + _directs(each, ("Enter",)) - _directs(each, ("Exit",))
            for each in operation.before
            if each in depths
        ]
        depths[operation] = max(around, default=0)
    return depths


# Shapes -----------------------------------------------------------------------------------------


@shape_of("PartitionedCall StatefulPartitionedCall")
def _shapes(operation: Operation, given: list[Shape]) -> list[Shape]:
    """What the function gives, inferred in it for this call."""
    call = operation.attribute("f")
    if call.name not in operation.graph.functions:
        return [None] * len(operation.types)
    body, graph = body_of(operation.graph, call.name, call.attr), Graph().like(operation.graph)
    made: dict[Operation, Operation] = {}
    for argument, value, shape in zip(body.arguments, operation.inputs, given, strict=True):
        made[argument] = _stand_in(argument, graph, value, shape)
    needed = reached([source for source, _ in body.results], lambda each: each.before)
    for each in filter(needed.__contains__, body.operations):
        copy = made[each] = each.like(graph, each.name)
        copy.shapes = [None] * len(each.types)
        if all(source in made for source, _ in each.inputs):  # else it goes on a loop
            copy.inputs = [(made[source], index) for source, index in each.inputs]
            copy.shapes = infer(copy)
    return [made[source].shapes[index] for source, index in body.results]


def _stand_in(argument: Operation, graph: Graph, value: Value, shape: Shape) -> Operation:
    """What stands for an argument: its value isn't known, but what is behind a handle."""
    made = argument.like(graph, argument.name)
    made.shapes = [shape]
    if argument.types[0] in HANDLES:
        made.type, made.inputs = "Identity", [value]
    return made
