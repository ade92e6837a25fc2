"""Graphs that other graphs call, as entries of a library of functions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from .. import library  # noqa: F401 the shapes of what is called
from ..graph import Graph, LibraryFunction, Operation, Value, messages, types_of
from .exports import as_text, export
from .graph_defs import Buffer, node_def
from .graphs import Output


@export("TF_GraphCopyFunction")
def _add(graph: Graph, function: LibraryFunction, gradient: LibraryFunction | None) -> None:
    known = graph.functions.setdefault(function.name, function)
    if gradient is not None:
        graph.functions.setdefault(gradient.name, gradient)
        known.gradients.append(gradient.name)


@export("TF_FunctionToFunctionDef")
def _write(function: LibraryFunction, buffer: Buffer) -> None:
    buffer.data = function.definition.SerializeToString()


@export("TF_FunctionImportFunctionDef")
def _read(data: bytes) -> LibraryFunction:
    return LibraryFunction(messages("function_pb2").FunctionDef.FromString(data))


@export("TF_FunctionSetAttrValueProto")
def _set_attribute(function: LibraryFunction, name: str, data: bytes) -> None:
    value = messages("attr_value_pb2").AttrValue.FromString(data)
    function.definition.attr[name].CopyFrom(value)


# From a graph -----------------------------------------------------------------------------------


class _Names:
    """Names in a function: letters, digits and underscores, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def argument(self, name: str) -> str:
        """The name of an argument or a result: lower case, too."""
        kept = "".join(c if c.isalnum() and c.isascii() else "_" for c in name).lower()
        kept = kept.lstrip("_0123456789") or "unknown"
        return self.unused(kept)

    def unused(self, name: str) -> str:
        """The name, or one with a number behind."""
        found, number = name, 0
        while found in self._taken:
            found, number = f"{name}_{number}", number + 1
        self._taken.add(found)
        return found


@export("TF_GraphToFunction_wrapper")
def from_graph(
    graph: Graph,
    name: str | bytes,
    add_hash: bool,
    body: Sequence[Operation] | None,
    inputs: Sequence[Output],
    outputs: Sequence[Output],
    output_names: Sequence[str] | None,
    control_outputs: Sequence[Operation],
    control_names: Sequence[str] | None,
    options: Any,
    description: str | bytes | None,
) -> LibraryFunction:
    """A part of a graph as a function: its inputs become arguments, the rest its nodes."""
    made = messages("function_pb2").FunctionDef()
    taken, names = _Names(), {}
    results = _results(made, outputs, output_names, taken)
    values: dict[Value, str] = {}
    for given in inputs:
        argument = made.signature.input_arg.add(name=taken.argument(given.oper.name))
        argument.type = given.oper.types[given.index]
        values[given.value] = argument.name
    arguments = {given.oper for given in inputs}
    nodes = graph.operations if body is None else sorted(body, key=lambda node: node.serial)
    nodes = [node for node in nodes if node not in arguments]
    for node in nodes:
        names[node] = taken.unused(node.name)
        values.update(_values_of(node, names[node]))
    for node in nodes:
        made.node_def.add().CopyFrom(_node(node, names, values))
    for label, given in zip(results, outputs, strict=True):
        made.ret[label] = values[given.value]
    for place, node in enumerate(control_outputs):
        label = control_names[place] if control_names else node.name
        made.control_ret[label] = names[node]
        made.signature.control_output.append(label)
    made.signature.is_stateful = any(node.definition.is_stateful for node in nodes)
    text = as_text(name)
    digest = hashlib.sha256(made.SerializeToString(deterministic=True)).hexdigest()
    made.signature.name = f"{text}_{digest[:16]}" if add_hash else text
    if description:
        made.signature.description = description
    return LibraryFunction(made)


def _values_of(node: Operation, name: str) -> dict[Value, str]:
    """What nodes of a function call the outputs of one: node, argument, number in the argument."""
    found: dict[Value, str] = {}
    for argument in node.definition.output_arg:
        for number in range(len(types_of(node, [argument]))):
            found[node, len(found)] = f"{name}:{argument.name}:{number}"
    return found


def _node(node: Operation, names: dict[Operation, str], values: dict[Value, str]) -> Any:
    made = node_def(node)
    made.name = names[node]
    del made.input[:]
    made.input.extend(values[value] for value in node.inputs)
    made.input.extend(f"^{names[before]}" for before in node.control if before in names)
    return made


def _results(
    made: Any, outputs: Sequence[Output], given_names: Sequence[str] | None, taken: _Names
) -> list[str]:
    """Name the results: before all else is named."""
    names = given_names or [taken.argument(given.oper.name) for given in outputs]
    for name, given in zip(names, outputs, strict=True):
        made.signature.output_arg.add(name=name, type=given.oper.types[given.index])
    return list(names)
