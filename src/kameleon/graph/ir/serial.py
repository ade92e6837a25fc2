"""Graphs as plain data: what JSON can hold, and arrays beside it. Loading never runs code.

Nothing that is read is trusted: every value is held against the declared type of its attribute,
and the type of every node is inferred anew and compared with the type that is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ...errors import FileFormatError, GraphError
from .attributes import check_attributes
from .kinds import MOST_ELEMENTS, elements, is_int, is_shape
from .leaves import CONSTANT, LEAVES, Constant, input_node
from .node import REGISTRY, Node
from .program import Graph
from .types import DTYPES, DType, TensorType, as_dtype
from .verify import verify

FORMAT = 3
NUMBERED = 2  # an earlier format, in which the arrays of variables have numbers for names
UNTYPED = 1  # the first one, in which nodes have no types, either

# Named tuples that occur among attributes, by the name they have in files.
RECORDS: dict[str, Callable[..., Any]] = {}

T = TypeVar("T")

# Writing -------------------------------------------------------------------------------------


def graph_to_data(graph: Graph, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The graph as JSON data; its constants go to `arrays`, under new names.

    Raises:
        GraphError: an attribute has no written form: the rule of a `with_gradient`, say.
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    rows = [
        {
            "primitive": node.primitive.name,
            "operands": [number[n] for n in node.operands],
            "attrs": {k: _encode(v, arrays) for k, v in node.attrs.items()},
            "types": [_type_to_data(t) for t in _types_of(node)],
        }
        for node in graph.nodes[len(graph.inputs) :]
    ]
    return {
        "inputs": [_type_to_data(n.type) for n in graph.inputs],
        "nodes": rows,
        "outputs": [number[n] for n in graph.roots],
    }


def _types_of(node: Node) -> tuple[TensorType, ...]:
    """The types of all results."""
    return (node.type,) if isinstance(node.type, TensorType) else node.type


def _type_to_data(type: TensorType) -> list[Any]:
    return [list(type.shape), str(type.dtype)]


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A value of an attribute; what JSON lacks is a dict whose keys say what it is."""
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


# Reading -------------------------------------------------------------------------------------


def expect(condition: bool, message: str) -> None:
    """Go on if a condition holds.

    Raises:
        FileFormatError: the condition doesn't hold.
    """
    if not condition:
        raise FileFormatError(message)


def field(data: Any, name: str, kind: type[T]) -> T:
    """What a JSON object holds under a name; its type must be exactly `kind`."""
    if type(data) is not dict:
        raise FileFormatError(f"an object is expected, not {_shown(data)}")
    value = data.get(name)
    if type(value) is not kind:
        raise FileFormatError(f"{name!r} must be a {kind.__name__}, not {_shown(value)}")
    return value


def _shown(data: Any) -> str:
    text = ascii(data)
    return text if len(text) < 60 else f"{text[:56]} ..."


def graph_from_data(
    data: Any, arrays: Mapping[str, np.ndarray], typed: bool = True, place: str = "graph"
) -> Graph:
    """The graph that `graph_to_data` wrote, verified.

    Args:
        data: any JSON data.
        arrays: the arrays that the data may name.
        typed: whether every node must be written with its types.
        place: the place of the data in the file, for errors.

    Raises:
        FileFormatError: the data are no graph of primitives of this version; says where, and why.
    """
    graph = at_place(place, _Reader(arrays, typed).graph, data, place)
    at_place(place, verify, graph)
    return graph


def at_place(place: str, make: Callable[..., T], *given: Any) -> T:
    """What a function makes of something at a place in a file.

    Raises:
        FileFormatError: the function raised anything but MemoryError: that is a fault of the file.
    """
    try:
        return make(*given)
    except MemoryError:
        raise
    except FileFormatError as error:
        raise error.at(place) from error.__cause__
    except RecursionError:
        raise FileFormatError("it's nested too deeply").at(place) from None
    except Exception as error:
        raise FileFormatError(str(error) or type(error).__name__).at(place) from error


class _Reader:
    """Makes nodes of data; its errors name the place of what is wrong."""

    def __init__(self, arrays: Mapping[str, np.ndarray], typed: bool):
        self.arrays, self.typed = arrays, typed

    def graph(self, data: Any, place: str) -> Graph:
        inputs, rows, outputs = (field(data, key, list) for key in ("inputs", "nodes", "outputs"))
        nodes = [
            input_node(at_place(f"{place}.inputs[{i}]", _type, row)) for i, row in enumerate(inputs)
        ]
        made = tuple(nodes)
        for i, row in enumerate(rows):
            at = f"{place}.nodes[{i}]"
            nodes.append(at_place(at, self._node, row, nodes, at))
        for i in outputs:
            expect(is_int(i, 0, len(nodes)), f"output {_shown(i)} is no node")
            expect(isinstance(nodes[i].type, TensorType), f"output {i} isn't one tensor")
        return Graph(made, [nodes[i] for i in outputs])

    def _node(self, row: Any, nodes: list[Node], place: str) -> Node:
        primitive = REGISTRY.get(field(row, "primitive", str))
        if primitive is None or (primitive in LEAVES and primitive is not CONSTANT):
            raise FileFormatError(f"primitive {_shown(row['primitive'])} can't be in a saved graph")
        numbers = field(row, "operands", list)
        for i in numbers:
            expect(is_int(i, 0, len(nodes)), f"operand {_shown(i)} is no node before this one")
        operands = [nodes[i] for i in numbers]
        attrs = {
            name: self._decode(value, f"{place}.attrs.{ascii(name)[1:-1]}")
            for name, value in field(row, "attrs", dict).items()
        }
        check_attributes(primitive, operands, attrs)
        if primitive is CONSTANT:
            expect(not operands, "a constant has no operands")
            array = attrs["value"].array
            node = Node(CONSTANT, (), attrs, TensorType(array.shape, as_dtype(array.dtype)))
        else:
            node = primitive(*operands, **attrs)
        self._check_types(node, row)
        return node

    def _check_types(self, node: Node, row: Any) -> None:
        """Refuse a node that isn't what the file says, or is too large."""
        types = _types_of(node)
        for type in types:
            expect(
                elements(type.shape) <= MOST_ELEMENTS,
                f"{node.primitive.name} has {type}: more than 2**40 elements",
            )
        if self.typed or "types" in row:
            stated = [_type(t) for t in field(row, "types", list)]
            expect(
                stated == [*types],
                f"{node.primitive.name} has {', '.join(map(str, types))} where the file says"
                f" {', '.join(map(str, stated))}",
            )

    def _decode(self, data: Any, place: str) -> Any:
        """A value of an attribute: see `_encode`."""
        if type(data) is not dict:
            return data
        tags = set(data)
        if tags == {"graph"}:
            return self.graph(data["graph"], place)
        if tags == {"array"}:
            return self._constant(field(data, "array", str))
        if tags == {"dtype"}:
            return _dtype(data["dtype"])
        if tags == {"float"}:
            return float.fromhex(field(data, "float", str))
        if tags == {"tuple"}:
            return tuple(self._decode(v, place) for v in field(data, "tuple", list))
        if tags != {"record", "items"}:
            raise FileFormatError(f"{_shown(data)} is no value of an attribute")
        record = RECORDS.get(field(data, "record", str))
        if record is None:
            raise FileFormatError(f"record {_shown(data['record'])} is unknown")
        return record(*(self._decode(v, place) for v in field(data, "items", list)))

    def _constant(self, name: str) -> Constant:
        expect(name in self.arrays, f"array {_shown(name)} is missing")
        array = np.array(self.arrays[name])
        array.flags.writeable = False
        return Constant(array)


def _type(data: Any) -> TensorType:
    expect(
        type(data) is list and len(data) == 2 and type(data[0]) is list,
        f"{_shown(data)} is no type: [sizes, dtype] is expected",
    )
    shape = tuple(data[0])
    expect(is_shape(shape), f"{_shown(data[0])} are no sizes of a tensor")
    return TensorType(shape, _dtype(data[1]))


def _dtype(data: Any) -> DType:
    expect(type(data) is str and data in DTYPES, f"{_shown(data)} is no dtype")
    return as_dtype(data)
