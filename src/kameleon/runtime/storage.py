"""Compiled functions in files: the graph as JSON and the variables' values, in one safetensors."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .. import files
from ..errors import GraphError
from ..ir.node import NO_ATTRS, Node, Print, Variable, unique_name
from ..ir.primitive import SOURCE, VARIABLE
from ..ir.program import Graph
from ..ir.rewrite import substitute
from ..ir.serial import FORMAT, graph_from_data, graph_to_data
from ..ir.types import TensorType, as_dtype
from ..prims.random import KEY
from .function import Function
from .pure import pure_graph
from .state import Cell, draws, numpy_values


def save(function: Function, path: str | os.PathLike[str]) -> None:
    """Write a function with its variables to a file (needs the package `safetensors`).

    Args:
        function: what to save.
        path: the file; one that exists is replaced, at once.

    Raises:
        GraphError: the graph holds something without a written form.
        TargetError: the path is that of something else than a file: a folder, a device.
    """
    from safetensors.numpy import save as to_bytes

    program = function.program
    arrays: dict[str, np.ndarray] = {}
    graph = graph_to_data(pure_graph(program), arrays)
    for i, value in enumerate(numpy_values(program.variables, copy=False)):
        arrays[f"variable.{i}"] = np.array(value, order="C")  # also where it has no axes
    description = {
        "format": FORMAT,
        "graph": graph,
        "inputs": [n.name[:-2] for n in program.inputs],
        "defaults": [getattr(n, "default", None) for n in program.inputs],
        "phase": [bool(getattr(n, "is_phase", False)) for n in program.inputs],
        "outputs": len(program.outputs),
        "prints": [p.message for p in program.prints],
        "variables": [v.name[:-2] for v in program.variables],
        "updated": [program.variables.index(v) for v, _ in program.updates],
        "streams": [[s.attrs["seed"], draws(s).value] for s in program.sources],
    }
    files.replace(path, to_bytes(arrays, {"kameleon": json.dumps(description)}))


def load(path: str | os.PathLike[str]) -> Function:
    """The function that `save` wrote, with new variables. Loading runs no code from the file.

    Raises:
        GraphError: it's no such file, or one of another version.
    """
    from safetensors import safe_open

    with safe_open(os.fspath(path), framework="numpy") as file:
        written = (file.metadata() or {}).get("kameleon")
        if written is None:
            raise GraphError(f"{path} holds no function saved by Kameleon")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    description = json.loads(written)
    if description.get("format") != FORMAT:
        raise GraphError(f"{path} has format {description.get('format')}, not {FORMAT}")
    return _restored(description, arrays)


def _restored(description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Function:
    graph: Graph = graph_from_data(description["graph"], arrays)
    names = description["inputs"]
    inputs = list(graph.inputs[: len(names)])
    for node, name, default, phase in zip(
        inputs, names, description["defaults"], description["phase"], strict=True
    ):
        node._name = name
        if phase:
            node.default, node.is_phase = default, True
    variables = [
        _variable(name, arrays[f"variable.{i}"]) for i, name in enumerate(description["variables"])
    ]
    streams = [_stream(*pair) for pair in description["streams"]]
    given = dict(zip(graph.inputs[len(names) :], [*variables, *streams], strict=True))
    roots = substitute(graph.outputs, given)
    count = description["outputs"]
    updated = [variables[i] for i in description["updated"]]
    new = zip(updated, roots[count : count + len(updated)], strict=True)
    shown = zip(description["prints"], roots[count + len(updated) :], strict=True)
    return Function(
        inputs, roots[:count], list(new), prints=[Print(text, node) for text, node in shown]
    )


def _variable(name: str, value: np.ndarray) -> Variable:
    type = TensorType(value.shape, as_dtype(value.dtype))
    made = Variable(VARIABLE, (), NO_ATTRS, type, unique_name(name))
    made.cell = Cell(np.array(value))
    return made


def _stream(seed: int, drawn: int) -> Node:
    source = Node(SOURCE, (), {"seed": seed}, KEY)
    source.__dict__["draws"] = Cell(drawn)
    return source
