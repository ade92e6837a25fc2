"""Graphs as messages of the kind GraphDef, both ways."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..dtypes import REFERENCE, shown
from ..failures import invalid
from ..graph import Graph, Operation, Value, add_definition, messages, types_of
from ..walks import in_order
from .constants import CONSTANTS
from .exports import as_text, constantly, export
from .graphs import finish, output, replace_input


class Buffer:
    """Bytes that the C API hands over."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data


class Status:
    """A code and a message; failures are raised, so it says that all is well."""

    code, message = 0, ""

    def ok(self) -> bool:
        """All is well."""
        return True


export("TF_NewBuffer", "TF_NewBufferFromString")(Buffer)
export("TF_GetBuffer")(lambda buffer: buffer.data)
export("TF_NewStatus")(Status)
export("TF_GetCode")(lambda status: status.code)
export("TF_Message")(lambda status: status.message)
constantly(None, "Set_TF_Status_from_Status")


# Out --------------------------------------------------------------------------------------------


def node_def(operation: Operation, numbered: Collection[int] = ()) -> Any:
    """An operation as a message NodeDef.

    Args:
        operation: the operation.
        numbered: places of inputs that are written with their number, also if it's 0: those which
            were so in a message, or came when the operation had been made.
    """
    made = messages("node_def_pb2").NodeDef(
        name=operation.name, op=operation.type, device=operation.device
    )
    for place, (source, index) in enumerate(operation.inputs):
        shown = index or place in numbered
        made.input.append(f"{source.name}:{index}" if shown else source.name)
    made.input.extend(f"^{before.name}" for before in operation.control)
    for name, value in operation.attributes.items():
        made.attr[name].CopyFrom(value)
    return made


@export("TF_OperationToNodeDef")
def _write_node(operation: Operation, buffer: Buffer) -> None:
    buffer.data = node_def(operation, operation.numbered).SerializeToString()


def graph_def(graph: Graph, operations: Iterable[Operation]) -> Any:
    """Some operations of a graph, and its functions, as a message GraphDef."""
    made = messages("graph_pb2").GraphDef()
    made.versions.CopyFrom(versions_of(graph))
    made.node.extend(map(node_def, operations))
    for function in graph.functions.values():
        made.library.function.add().CopyFrom(function.definition)
        for gradient in function.gradients:
            made.library.gradient.add(function_name=function.name, gradient_func=gradient)
    return made


def versions_of(graph: Graph) -> Any:
    """The message VersionDef of a graph: the oldest producer that it has a part of, and so on."""
    if graph.versions is None:
        producer = CONSTANTS["GRAPH_DEF_VERSION"]
        graph.versions = messages("versions_pb2").VersionDef(producer=producer)
    return graph.versions


@export("TF_GraphToGraphDef")
def _write_graph(graph: Graph, buffer: Buffer) -> None:
    buffer.data = graph_def(graph, graph.operations).SerializeToString()


@export("TF_GraphVersions")
def _versions(graph: Graph, buffer: Buffer) -> None:
    buffer.data = versions_of(graph).SerializeToString()


# In ---------------------------------------------------------------------------------------------


class Import:
    """How a GraphDef becomes a part of a graph, and what came of it."""

    def __init__(self) -> None:
        self.prefix = ""
        self.values: dict[tuple[str, int], Value] = {}  # in place of the message's
        self.controls: dict[str, Operation] = {}
        self.wanted: list[tuple[str, int]] = []
        self.wanted_operations: list[str] = []
        self.made: dict[str, Operation] = {}
        self.used: set[tuple[str, int]] = set()

    def value(self, name: str, index: int) -> Value:
        """What an input or a wanted output of the message is in the graph."""
        if (name, index) in self.values:
            self.used.add((name, index))
            return self.values[name, index]
        return self.made[name], index

    def demand(self) -> None:
        """Refuse the import where the message lacks what is wanted of it.

        Raises:
            InvalidArgumentError: (TensorFlow's) so it is.
        """
        lacks = "Requested return {} '{}' not found in graph def"
        for name, index in self.wanted:
            if (name, index) in self.values:
                continue
            if name not in self.made:
                raise invalid(lacks.format("tensor", f"{name}:{index}"))
            if index >= (count := len(self.made[name].types)):
                raise invalid(
                    f"Invalid return output {index} of node '{name}', which has {count} output(s)"
                )
        for name in self.wanted_operations:
            if name not in self.made:
                raise invalid(lacks.format("node", name))


export("TF_NewImportGraphDefOptions")(Import)
constantly(
    None,
    "TF_ImportGraphDefOptionsSetUniquifyNames"
    " TF_ImportGraphDefOptionsSetValidateColocationConstraints",
)


export("TF_ImportGraphDefOptionsSetPrefix")(
    lambda options, prefix: setattr(options, "prefix", as_text(prefix))
)
export("TF_ImportGraphDefOptionsAddInputMapping")(
    lambda options, name, index, given: options.values.update({(as_text(name), index): given.value})
)
export("TF_ImportGraphDefOptionsRemapControlDependency")(
    lambda options, name, operation: options.controls.update({as_text(name): operation})
)
export("TF_ImportGraphDefOptionsAddReturnOutput")(
    lambda options, name, index: options.wanted.append((as_text(name), index))
)
export("TF_ImportGraphDefOptionsAddReturnOperation")(
    lambda options, name: options.wanted_operations.append(as_text(name))
)
export("TF_ImportGraphDefResultsReturnOutputs")(
    lambda options: [output(*options.value(*wanted)) for wanted in options.wanted]
)
export("TF_ImportGraphDefResultsReturnOperations")(
    lambda options: [options.made[name] for name in options.wanted_operations]
)


@export("TF_ImportGraphDefResultsMissingUnusedInputMappings_wrapper")
def _unused(options: Import) -> list[str]:
    return [
        f"{name}:{index}"
        for name, index in options.values
        if (name, index) not in options.used and name not in options.made
    ]


@export("TF_GraphImportGraphDefWithResults")
def import_graph(graph: Graph, buffer: Buffer, options: Import) -> Import:
    """Make the operations of a message that is written in a buffer."""
    message = messages("graph_pb2").GraphDef.FromString(buffer.data)
    _take_versions(versions_of(graph), message.versions)
    count = len(graph.operations)
    try:
        return import_message(graph, message, options)
    except Exception:
        _take_back(graph, count)
        raise


def _take_back(graph: Graph, count: int) -> None:
    """Remove the operations of a graph but the first ones."""
    while len(graph.operations) > count:
        operation = graph.operations.pop()
        del graph.by_name[operation.name]
        for place, (source, index) in enumerate(operation.inputs):
            source.consumers[index].remove((operation, place))
        for before in operation.control:
            before.controlled.remove(operation)
    graph.version += 1


def import_message(graph: Graph, message: Any, options: Import) -> Import:
    """Make the operations that a message names, in an order in which each follows what it takes."""
    for definition in message.library.function:
        add_definition(graph, definition)
    nodes = {node.name: node for node in message.node}
    prefix = f"{options.prefix.rstrip('/')}/" if options.prefix else ""
    loops: list[tuple[Operation, int, str, int]] = []
    for name in _in_order(nodes):
        operation = _started(graph, nodes[name], prefix, nodes)
        for text in nodes[name].input:
            _connect(operation, text, options, loops)
        closing = {place for taker, place, _, _ in loops if taker is operation}
        operation.define(graph.definition(operation.type))
        _demand_types(operation, closing)
        options.made[name] = finish(operation)
    for operation, place, name, index in loops:
        replace_input(operation, place, options.value(name, index))
    options.demand()
    return options


def _demand_types(operation: Operation, closing: Collection[int]) -> None:
    """Refuse inputs of other types than the operation takes.

    Args:
        operation: it has its inputs.
        closing: places of inputs that stand for those which come later.
    """
    expected = types_of(operation, operation.definition.input_arg)
    for place, (kind, (source, index)) in enumerate(zip(expected, operation.inputs, strict=False)):
        given = source.types[index]
        if place in closing or given in (kind, kind + REFERENCE):
            continue
        raise invalid(
            f"Input {place} of node {operation.name} was passed {shown(given)} from"
            f" {source.name}:{index} incompatible with expected {shown(kind)}."
        )


def _take_versions(ours: Any, theirs: Any) -> None:
    """Have a graph be as old as a message: so operations that have gone since can be added."""
    today = CONSTANTS["GRAPH_DEF_VERSION"]
    if theirs.min_consumer > today:
        message = (
            f"GraphDef min consumer version {theirs.min_consumer} above current version {today}"
        )
        raise invalid(f"{message} for TensorFlow 1.15.5.  Please upgrade TensorFlow.")
    if today in theirs.bad_consumers:
        message = f"GraphDef disallows consumer version {today}.  Please upgrade TensorFlow"
        raise invalid(f"{message}: this version is likely buggy.")
    ours.producer = min(ours.producer, theirs.producer)
    ours.min_consumer = max(ours.min_consumer, theirs.min_consumer)
    ours.bad_consumers[:] = sorted({*ours.bad_consumers, *theirs.bad_consumers})


def _started(graph: Graph, node: Any, prefix: str, nodes: dict[str, Any]) -> Operation:
    """An operation like a node, without its inputs."""
    graph.definition(node.op, f" (node '{node.name}')")  # or else an error
    name, number = f"{prefix}{node.name}", 0
    while name in graph.by_name:
        number += 1
        name = f"{prefix}{node.name}_{number}"
    operation = Operation(graph, node.op, name)
    operation.device = node.device
    operation.attributes.update(node.attr)
    operation.attributes.pop("_output_shapes", None)  # that was said of another graph's operation
    if prefix and "_class" in node.attr:
        made = type(node.attr["_class"])()
        made.list.s.extend(_prefixed(text, prefix, nodes) for text in node.attr["_class"].list.s)
        operation.attributes["_class"] = made
    return operation


def _prefixed(text: bytes, prefix: str, nodes: dict[str, Any]) -> bytes:
    """A constraint of colocation, which names another node."""
    mark = b"loc:@"
    if text.startswith(mark) and text.removeprefix(mark).decode() in nodes:
        return mark + prefix.encode() + text.removeprefix(mark)
    return text


def _connect(
    operation: Operation, text: str, options: Import, loops: list[tuple[Operation, int, str, int]]
) -> None:
    """Add an input that a node names; one that isn't made yet closes a loop, and comes later."""
    if text.startswith("^"):
        name = text[1:]
        operation.control.append(options.controls.get(name) or options.made[name])
        return
    name, _, number = text.partition(":")
    index = int(number or 0)
    if number:
        operation.numbered.add(len(operation.inputs))
    if name in options.made or (name, index) in options.values:
        operation.inputs.append(options.value(name, index))
        return
    if not operation.inputs:
        raise invalid(f"Node '{operation.name}': Unknown input node '{text}'")
    loops.append((operation, len(operation.inputs), name, index))
    operation.inputs.append(operation.inputs[0])


def _in_order(nodes: dict[str, Any]) -> Iterator[str]:
    """Names of nodes, each after those it takes, but for a NextIteration, which closes a loop."""

    def sources(name: str) -> Iterator[str]:
        for text in nodes[name].input:
            needed = text.lstrip("^").partition(":")[0]
            if needed in nodes and nodes[needed].op != "NextIteration":
                yield needed

    return in_order(nodes, sources)
