"""Graphs as plain data: what JSON can hold, and arrays beside it. Loading never runs code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import GraphError
from .node import Node
from .primitive import CONSTANT, LEAVES, REGISTRY, Constant, input_node
from .program import Graph
from .types import DType, TensorType, as_dtype
from .verify import verify

FORMAT = 1

# Named tuples that occur among attributes, by the name they have in files.
RECORDS: dict[str, Callable[..., Any]] = {}


def graph_to_data(graph: Graph, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The graph as JSON data; its constants go to `arrays`, under new names.

    Raises:
        GraphError: an attribute has no written form (the rule of `K.custom_gradient`).
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    rows = [
        {
            "primitive": node.primitive.name,
            "operands": [number[n] for n in node.operands],
            "attrs": {k: _encode(v, arrays) for k, v in node.attrs.items()},
        }
        for node in graph.nodes[len(graph.inputs) :]
    ]
    return {
        "inputs": [_type_to_data(n.type) for n in graph.inputs],
        "nodes": rows,
        "outputs": [number[n] for n in graph.roots],
    }


def graph_from_data(data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Graph:
    """The graph that `graph_to_data` wrote; it's verified.

    Raises:
        GraphError: a primitive is unknown here, or the data are no graph.
    """
    try:
        inputs = [input_node(_type_from_data(t)) for t in data["inputs"]]
        nodes: list[Node] = list(inputs)
        for row in data["nodes"]:
            nodes.append(_node(row, nodes, arrays))
        graph = Graph(inputs, [nodes[i] for i in data["outputs"]])
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise GraphError(f"these data are no graph of this version: {error!r}") from error
    verify(graph)
    return graph


def _node(row: Mapping[str, Any], nodes: list[Node], arrays: Mapping[str, np.ndarray]) -> Node:
    primitive = REGISTRY.get(row["primitive"])
    if primitive is None:
        raise GraphError(f"primitive {row['primitive']!r} is unknown to this version")
    attrs = {k: _decode(v, arrays) for k, v in row["attrs"].items()}
    if primitive in LEAVES:
        if primitive is not CONSTANT:
            raise GraphError(f"a closed graph has no {primitive.name} but its inputs")
        array = attrs["value"].array
        return Node(CONSTANT, (), attrs, TensorType(array.shape, as_dtype(array.dtype)))
    return primitive(*(nodes[i] for i in row["operands"]), **attrs)


def _type_to_data(type: TensorType) -> list[Any]:
    return [list(type.shape), str(type.dtype)]


def _type_from_data(data: list[Any]) -> TensorType:
    return TensorType(tuple(data[0]), as_dtype(data[1]))


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A value of an attribute; what JSON lacks is a dict with one tag."""
    if isinstance(value, Graph):
        return {"graph": graph_to_data(value, arrays)}
    if isinstance(value, Constant):
        name = f"constant.{len(arrays)}"
        arrays[name] = np.ascontiguousarray(value.array).reshape(value.array.shape)
        return {"array": name}
    if isinstance(value, DType):
        return {"dtype": str(value)}
    if isinstance(value, tuple):
        items = [_encode(v, arrays) for v in value]
        record = type(value).__name__
        return {"tuple": items} if record == "tuple" else {"record": record, "items": items}
    if isinstance(value, float):
        return {"float": value.hex()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise GraphError(f"{value!r} has no written form: a graph with it can't be saved")


def _decode(data: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if not isinstance(data, dict):
        return data
    if "graph" in data:
        return graph_from_data(data["graph"], arrays)
    if "array" in data:
        array = np.array(arrays[data["array"]])
        array.flags.writeable = False
        return Constant(array)
    if "dtype" in data:
        return as_dtype(data["dtype"])
    if "float" in data:
        return float.fromhex(data["float"])
    encoded: Any = data.get("tuple", data.get("items", ()))
    items = [_decode(v, arrays) for v in encoded]
    return RECORDS[data["record"]](*items) if "record" in data else tuple(items)
