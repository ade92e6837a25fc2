"""The functions of the C API that make, read and change graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import shapes
from ..dtypes import REFERENCE, shown
from ..failures import invalid
from ..graph import Graph, Operation, Shape, Value, messages, shape_message, types_of
from ..shapes import ShapeMismatchError, known_value, merged
from ..shapes.handles import behind, message
from ..shapes.known import COMPUTERS
from .exports import as_text, constantly, export
from .fitting import fit


class Output:
    """One of an operation's outputs."""

    __slots__ = ("index", "oper")
    oper: Operation
    index: int

    @property
    def value(self) -> Value:
        """The same as the graph has it."""
        return self.oper, self.index


export("TF_Output")(Output)
export("TF_Input")(type("TF_Input", (), {"__slots__": ("oper", "index")}))
export("TF_NewGraph")(Graph)
export("TF_NewOperation")(Operation)
constantly(None, "SetRequireShapeInferenceFns ExtendSession")


def _computer(operation: Operation) -> Callable[..., Any] | None:
    from ..operations import table  # late: it loads the K surface

    return table.computed(operation)


COMPUTERS.append(_computer)


def output(operation: Operation, index: int) -> Output:
    """The output of that number, as the C API names it."""
    made = Output()
    made.oper, made.index = operation, index
    return made


# Making operations ------------------------------------------------------------------------------


@export("TF_SetDevice", "SetRequestedDevice")
def _set_device(*arguments: Any) -> None:
    operation, device = arguments[-2:]
    operation.device = device


export("TF_AddInput")(lambda operation, given: operation.inputs.append(given.value))
export("TF_AddInputList")(lambda operation, given: operation.inputs.extend(x.value for x in given))


@export("TF_AddControlInput")
def _add_control(operation: Operation, before: Operation) -> None:
    if before not in operation.control:
        operation.control.append(before)


@export("TF_SetAttrValueProto")
def _set_attribute(operation: Operation, name: str, data: bytes) -> None:
    operation.attributes[name] = messages("attr_value_pb2").AttrValue.FromString(data)


@export("TF_FinishOperation")
def _finish(operation: Operation) -> Operation:
    fit(operation, operation.graph.definition(operation.type))
    return finish(operation)


def finish(operation: Operation) -> Operation:
    """Put an operation into its graph: attributes that weren't set get their defaults."""
    graph, definition = operation.graph, operation.graph.definition(operation.type)
    if operation.name in graph.by_name:
        raise invalid(f"Duplicate node name in graph: '{operation.name}'")
    operation.define(definition)
    operation.types = types_of(operation, definition.output_arg)
    operation.shapes = shapes.infer(operation)
    operation.consumers = [[] for _ in operation.types]
    for place, (source, index) in enumerate(operation.inputs):
        source.consumers[index].append((operation, place))
    for before in operation.control:
        before.controlled.append(operation)
    operation.serial = len(graph.operations)
    graph.operations.append(operation)
    graph.by_name[operation.name] = operation
    graph.version += 1
    return operation


# Reading them -----------------------------------------------------------------------------------

export("TF_OperationNumOutputs")(lambda operation: len(operation.types))
export("TF_OperationNumInputs")(lambda operation: len(operation.inputs))
export("TF_OperationOutputType")(lambda given: given.oper.types[given.index])
export("TF_OperationName")(lambda operation: operation.name)
export("TF_OperationDevice")(lambda operation: operation.device)
export("TF_OperationOpType")(lambda operation: operation.type)
export("TF_OperationGetControlInputs_wrapper")(lambda operation: list(operation.control))
export("TF_OperationGetControlOutputs_wrapper")(lambda operation: list(operation.controlled))
export("GetOperationInputs")(lambda operation: [output(*value) for value in operation.inputs])
export("TF_OperationOutputConsumers_wrapper")(
    lambda given: [operation.name for operation, _ in given.oper.consumers[given.index]]
)
export("TF_TryEvaluateConstant_wrapper")(lambda graph, given: known_value(*given.value))
export("TF_OperationGetAttrType")(lambda operation, name: operation.attributes[name].type)


@export("TF_OperationInputType")
def _input_type(given: Output) -> int:
    source, index = given.oper.inputs[given.index]
    return source.types[index]


@export("TF_OperationGetAttrValueProto")
def _attribute(operation: Operation, name: str, buffer: Any) -> None:
    if name not in operation.attributes:
        raise invalid(f"Operation '{operation.name}' has no attr named '{name}'.")
    buffer.data = operation.attributes[name].SerializeToString()


@export("TF_GraphNextOperation")
def _next_operation(graph: Graph, place: int) -> tuple[Operation | None, int]:
    if place < len(graph.operations):
        return graph.operations[place], place + 1
    return None, place


@export("TF_GraphGetOpDef")
def _op_def(graph: Graph, name: str | bytes, buffer: Any) -> None:
    buffer.data = graph.definition(as_text(name)).SerializeToString()


# Changing them ----------------------------------------------------------------------------------


@export("SetAttr")
def _replace_attribute(graph: Graph, operation: Operation, name: str, buffer: Any) -> None:
    _set_attribute(operation, name, buffer.data)
    operation.known.pop(name, None)
    operation.types = types_of(operation, operation.definition.output_arg)
    new = len(operation.types) - len(operation.shapes)
    operation.shapes += [None] * new
    operation.consumers += [[] for _ in range(new)]
    graph.version += 1


@export("ClearAttr")
def _clear_attribute(graph: Graph, operation: Operation, name: str) -> None:
    operation.attributes.pop(name, None)
    operation.known.pop(name, None)
    graph.version += 1


@export("AddControlInput")
def _add_control_later(graph: Graph, operation: Operation, before: Operation) -> None:
    if before not in operation.control:
        operation.control.append(before)
        before.controlled.append(operation)
        graph.version += 1


@export("RemoveAllControlInputs")
def _remove_control(graph: Graph, operation: Operation) -> None:
    for before in operation.control:
        before.controlled.remove(operation)
    operation.control.clear()
    graph.version += 1


@export("UpdateEdge")
def _update_edge(graph: Graph, source: Output, target: Any) -> None:
    (before, at), name = target.oper.inputs[target.index], f"{source.oper.name}:{source.index}"
    wanted, given = before.types[at] % REFERENCE, source.oper.types[source.index] % REFERENCE
    if given != wanted:
        pair = f"{shown(given)} from {name} incompatible with expected {shown(wanted)}."
        graph.mistyped.append(f"Input {target.index} of node {target.oper.name} was passed {pair}")
    replace_input(target.oper, target.index, source.value)
    target.oper.numbered.add(target.index)


def replace_input(operation: Operation, place: int, value: Value) -> None:
    """Let an operation take another value."""
    source, index = operation.inputs[place]
    source.consumers[index].remove((operation, place))
    operation.inputs[place] = value
    value[0].consumers[value[1]].append((operation, place))
    operation.graph.version += 1


@export("AddWhileInputHack")
def _add_loop_input(graph: Graph, source: Output, operation: Operation) -> None:
    source.oper.consumers[source.index].append((operation, len(operation.inputs)))
    operation.inputs.append(source.value)
    operation.numbered.update(range(len(operation.inputs)))
    graph.version += 1


# Shapes -----------------------------------------------------------------------------------------


@export("TF_GraphGetTensorShapeHelper")
def _shape(graph: Graph, given: Output) -> tuple[list[int], bool]:
    found = given.oper.shapes[given.index]
    return ([], True) if found is None else (list(found), False)


@export("TF_GraphSetTensorShape_wrapper")
def _set_shape(graph: Graph, given: Output, sizes: Sequence[int], is_unknown: bool) -> None:
    if is_unknown:
        return
    try:
        found = merged(given.oper.shapes[given.index], tuple(sizes))
    except ShapeMismatchError as error:
        raise invalid(str(error)) from None
    given.oper.shapes[given.index] = found


@export("GetHandleShapeAndType")
def _handle_data(graph: Graph, given: Output) -> bytes:
    known = given.oper.handles.get(given.index)
    if known is not None:
        return known
    pairs = behind(*given.value)
    return _described(pairs) if pairs else b""


def _described(pairs: Sequence[tuple[Shape, int]]) -> bytes:
    """Shapes and types behind a handle, as a message."""
    made = message()(is_set=True)
    for shape, kind in pairs:
        entry = made.shape_and_type.add(dtype=kind)
        entry.shape.CopyFrom(shape_message(type(entry.shape), shape))
    return bytes(made.SerializeToString())


@export("SetHandleShapeAndType")
def _set_handle_data(graph: Graph, given: Output, data: bytes) -> None:
    given.oper.handles[given.index] = data


@export("TF_GraphSetOutputHandleShapesAndTypes_wrapper")
def _set_handle_shapes(
    graph: Graph,
    given: Output,
    shapes: Sequence[Sequence[int]],
    ranks: Sequence[int],
    types: Sequence[int],
) -> None:
    given.oper.handles[given.index] = _described(
        [
            (None if rank < 0 else tuple(sizes), kind)
            for sizes, rank, kind in zip(shapes, ranks, types, strict=True)
        ]
    )
