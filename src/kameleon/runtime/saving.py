"""Compiled functions in files: the graph as JSON and variables' values, in safetensors format."""

from __future__ import annotations

import copyreg
import json
import os
import stat
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._utils import files
from .._utils.names import untaken
from ..errors import FileFormatError, UncheckedFileWarning, warn
from ..graph.ir.context import unique_name
from ..graph.ir.kinds import is_int
from ..graph.ir.node import Node, Print, Variable, Watch
from ..graph.ir.program import Graph
from ..graph.ir.rewrite import substitute
from ..graph.ir.serial import (
    FORMAT,
    NUMBERED,
    UNTYPED,
    at_place,
    expect,
    field,
    graph_from_data,
    graph_to_data,
)
from ..graph.passes.annotations import without_custom_gradients
from ..graph.primitives.control import joined_type
from . import engines
from .container import CHECKSUM, TEXTS, packed, unpacked
from .function import Function
from .pure import with_values
from .state import draws, numpy_values, stream_of, variable_of

TEXT = "kameleon"  # under this name the file holds the description

# Writing -------------------------------------------------------------------------------------


def save(function: Function, path: str | os.PathLike[str]) -> None:
    """Write a function with its variables to a file.

    Args:
        function: what to save.
        path: the file; one that exists is replaced, at once.

    Raises:
        ArgumentError: it's no path.
        FileNotFoundError: its folder doesn't exist.
        GraphError: the graph holds something without a written form.
        TargetError: the path is that of something other than a file: a folder, a device.
    """
    name = files.checked("save", path)  # before anything is computed
    files.replace(name, to_bytes(function))


def to_bytes(function: Function) -> bytes:
    """What `save` writes."""
    program, inputs = function.program, function.inputs
    arrays: dict[str, np.ndarray] = {}
    graph = graph_to_data(_open_graph(function), arrays)
    values = numpy_values(program.variables, copy=False)
    keys = [_new_key(v, arrays) for v in program.variables]
    arrays |= {key: np.asarray(value) for key, value in zip(keys, values, strict=True)}
    description = {
        "format": FORMAT,
        "graph": graph,
        "inputs": [n.name[:-2] for n in inputs],
        "defaults": [int(n.default) if n.is_phase else None for n in inputs],
        "phase": [n.is_phase for n in inputs],
        "outputs": len(program.outputs),
        "prints": [p.message for p in program.prints],
        "watched": [i for i, p in enumerate(program.prints) if isinstance(p, Watch)],
        "variables": [v.name[:-2] for v in program.variables],
        "arrays": keys,  # of the variables
        "updated": [program.variables.index(v) for v, _ in program.updates],
        "streams": [[s.attrs["seed"], draws(s).value] for s in program.sources],
    }
    return packed(arrays, {TEXT: json.dumps(description)})


def program_of(function: Function) -> Any:
    """The graph of a function and what it replaces, as JSON data without the arrays."""
    variables = function.program.variables
    updated = [variables.index(v) for v, _ in function.program.updates]
    return [graph_to_data(_open_graph(function), {}), updated]


def _new_key(variable: Variable, arrays: dict[str, np.ndarray]) -> str:
    """The name of a variable among the arrays: its own, or with a number where that is taken."""
    name = variable.name[:-2].encode("utf-8", "replace").decode()
    key = untaken(name, ChainMap(arrays, {TEXTS: np.zeros(0)}))
    arrays[key] = np.zeros(0)  # it's taken
    return key


def _open_graph(function: Function) -> Graph:
    """The graph over inputs, variables and keys; `function.constants` are constants in it."""
    graph, values = function.graph(equal=False), function.constants.values()
    return without_custom_gradients(with_values(graph, len(function.inputs), values))


# Reading -------------------------------------------------------------------------------------


class SavedFunction(Function):
    """A function that was read, and can be written again."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function with its variables to a file; see `save`."""
        save(self, path)


def load(path: str | os.PathLike[str]) -> SavedFunction:
    """The function that `save` wrote, with new variables. Loading runs no code from the file.

    Raises:
        ArgumentError: it's no path.
        FileFormatError: the file isn't one that `save` writes, of another version, or damaged; says
            where.
        FileNotFoundError: there's no such file.
    """
    name = files.path_of("load", path)
    if not stat.S_ISREG(mode := os.stat(name).st_mode):
        raise FileFormatError(f"{name} is {files.kind_of(mode)}, it holds no function")
    with open(name, "rb") as file:
        data = file.read()
    try:
        return from_bytes(data)
    except FileFormatError as error:
        raise FileFormatError(f"{name}: {error}") from error.__cause__


def _pickled(function: Function) -> tuple[Any, ...]:
    """A function is pickled as it's saved: with the variables' values, without compiled code."""
    options = function.options
    engine = options.pop("engine")
    return unpickled, (to_bytes(function), engine and engine.name, *options.values())


for _kind in (Function, SavedFunction):
    copyreg.pickle(_kind, _pickled)  # here, as `runtime.function` doesn't import this module


def unpickled(
    data: bytes, engine: str | None, name: str, as_numpy: bool, check: str | None = None
) -> SavedFunction:
    """The function that was pickled as these bytes."""
    runs_on = engines.load(engine) if engine else None
    return from_bytes(data, engine=runs_on, name=name, as_numpy=as_numpy, check=check)


def from_bytes(data: bytes, **options: Any) -> SavedFunction:
    """The function that `to_bytes` wrote; see `Function` for the options."""
    arrays, texts = unpacked(data)
    if TEXT not in texts:
        raise FileFormatError("it holds no function saved by Kameleon")
    if CHECKSUM not in texts:
        warn(
            "a saved function without a checksum is loaded: nothing tells whether it was changed;"
            " if you trust it, save it anew",
            UncheckedFileWarning,
        )
    parts = at_place("description", _restored, texts[TEXT], arrays)
    return at_place("description", lambda: SavedFunction(**parts, **options))


def _restored(text: str, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What a function is made of, by the names of its parts."""
    data = json.loads(text)
    version = field(data, "format", int)
    known = (UNTYPED, NUMBERED, FORMAT)
    expect(version in known, f"format {version} is none of {', '.join(map(str, known))}")
    graph = graph_from_data(data.get("graph"), arrays, typed=version != UNTYPED)
    names, variables = _list(data, "inputs", _is_text), _variables(data, arrays)
    streams = [stream_of(*pair) for pair in _list(data, "streams", _is_stream)]
    own = [*variables, *streams]
    expect(len(graph.inputs) == len(names) + len(own), "the graph has other inputs than named")
    inputs = graph.inputs[: len(names)]
    for node, value in zip(graph.inputs[len(names) :], own, strict=True):
        expect(node.type == value.type, f"{value.type} is given for {node.type} in the graph")
    _name_inputs(inputs, names, data)
    roots = substitute(graph.outputs, dict(zip(graph.inputs[len(names) :], own, strict=True)))
    prints = _list(data, "prints", _is_text)
    watched = _numbers(data, "watched", len(prints)) if "watched" in data else ()
    updated = [variables[i] for i in _numbers(data, "updated", len(variables))]
    outputs = field(data, "outputs", int)
    expect(outputs >= 0, "there is a negative number of outputs")
    expect(len(roots) == outputs + len(updated) + len(prints), "the graph has other outputs")
    new, shown = roots[outputs : outputs + len(updated)], roots[outputs + len(updated) :]
    for variable, node in zip(updated, new, strict=True):
        joined_type(node.type, variable.type, f"the new value of {str(variable)!a}")
    return {
        "inputs": inputs,
        "outputs": roots[:outputs],
        "updates": list(zip(updated, new, strict=True)),
        "prints": [
            (Watch if i in watched else Print)(text, node)
            for i, (text, node) in enumerate(zip(prints, shown, strict=True))
        ],
    }


def _list(data: Any, name: str, is_item: Callable[[Any], bool]) -> list[Any]:
    """A list of the description, each item of which is as it should be."""
    found = field(data, name, list)
    expect(all(map(is_item, found)), f"{name!r} holds something else than it should")
    return found


def _is_text(item: Any) -> bool:
    return type(item) is str


def _is_stream(item: Any) -> bool:
    return type(item) is list and len(item) == 2 and all(is_int(n, 0, 2**32) for n in item)


def _numbers(data: Any, name: str, count: int) -> list[int]:
    """A list of the description: distinct numbers below `count`."""
    found = _list(data, name, lambda i: is_int(i, 0, count))
    expect(len(set(found)) == len(found), f"{name!r} holds a number twice")
    return found


def _variables(data: Any, arrays: Mapping[str, np.ndarray]) -> list[Variable]:
    names = _list(data, "variables", _is_text)
    keys = [f"variable.{i}" for i in range(len(names))]
    if data["format"] == FORMAT:
        keys = _list(data, "arrays", _is_text)
        expect(len(keys) == len(names), "not every variable has an array")
    for key in keys:
        expect(key in arrays, f"the array {key!a} is missing")
    pairs = zip(names, keys, strict=True)
    return [variable_of(np.array(arrays[key]), unique_name(name)) for name, key in pairs]


def _name_inputs(inputs: tuple[Node, ...], names: list[str], data: Any) -> None:
    """Give inputs their names, and the learning phase its default."""
    defaults = _list(data, "defaults", lambda d: d is None or is_int(d, 0, 2))
    phase = _list(data, "phase", lambda p: type(p) is bool)
    expect(len(defaults) == len(phase) == len(names), "not every input has a name and a default")
    for node, name, default, is_phase in zip(inputs, names, defaults, phase, strict=True):
        node._name = name
        if is_phase:
            phases = node.shape == () and not node.dtype.is_float and default in (0, 1)
            expect(phases, "the learning phase is a scalar, 0 or 1")
            node.default, node.is_phase = default, True
