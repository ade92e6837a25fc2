"""Graphs of operations: what the C API makes, and all else reads."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from kameleon._utils.scopes import Scope
from kameleon.graph.ir.context import Context, Source, context, user_frame

from .dtypes import HANDLES, REFERENCE
from .failures import failure
from .location import PACKAGE

Shape = tuple[int, ...] | None  # -1: an unknown size; None: an unknown rank
Value = tuple["Operation", int]  # an operation and the number of one of its outputs
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"  # the only one, as TensorFlow names it


class Graph:
    """Operations in the order in which they were made, each after what it takes, but for loops.

    Args:
        messages: gives the messages that attributes are, by the name of TensorFlow's module.
        definitions: gives the definitions of types of operations, by name.
    """

    def __init__(
        self,
        messages: Callable[[str], Any] | None = None,
        definitions: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        self.messages = messages or _messages_of_files
        self.definitions = definitions or _definitions_of_files
        self.operations: list[Operation] = []
        self.by_name: dict[str, Operation] = {}
        self.functions: dict[str, Any] = {}  # by name, graphs that are called
        self.version = 0  # grows with each change
        self.mistyped: list[str] = []  # what is said, at a run, of inputs of other types
        self.versions: Any = None  # a message VersionDef, once it's asked for
        self.function = ""  # the name of the function whose body this is, if it's one's

    def definition(self, name: str, about: str = "") -> Any:
        """The definition of a type of operations, or of a function that is called by its name.

        Raises:
            NotFoundError: (TensorFlow's) there's none; the message goes on with `about`.
        """
        function = self.functions.get(name)
        found = self.definitions().get(name) or (function and function.signature)
        if found is None:
            raise failure("NOT_FOUND", f"Op type not registered '{name}'{about}")
        return found

    def like(self, other: Graph) -> Graph:
        """Have what another graph has: messages, definitions, functions, whose body it is."""
        self.messages, self.definitions = other.messages, other.definitions
        self.functions, self.function = other.functions, other.function
        return self


class Operation:
    """A node of a graph: its type, attributes, and edges of data and of control."""

    __slots__ = (
        "attributes", "consumers", "control", "controlled", "definition", "device",
        "graph", "handles", "inputs", "known", "name", "numbered", "place", "serial", "shapes",
        "type", "types", "value",
    )  # fmt: skip

    def __init__(self, graph: Graph, type: str, name: str) -> None:
        self.graph, self.type, self.name, self.device = graph, type, name, ""
        self.place = context.source or user_frame(PACKAGE)
        self.inputs: list[Value] = []
        self.numbered: set[int] = set()  # places of inputs that came later: see `node_def`
        self.control: list[Operation] = []  # run before this one
        self.controlled: list[Operation] = []  # run after this one
        self.attributes: dict[str, Any] = {}  # messages AttrValue
        self.known: dict[str, Any] = {}  # attributes as Python values
        self.handles: dict[int, bytes] = {}  # by output, shape and type behind a handle
        self.value: Any = None  # of a constant, once it was asked for
        self.types: list[int] = []
        self.shapes: list[Shape] = []
        self.consumers: list[list[tuple[Operation, int]]] = []
        self.serial = -1
        self.definition: Any = None  # the message OpDef of the type

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r}>"

    @property
    def before(self) -> list[Operation]:
        """The operations that run before this one: what it takes, and what it waits for."""
        return [*(source for source, _ in self.inputs), *self.control]

    @property
    def source(self) -> OperationSource:
        """The place in the user's code that made the operation."""
        place = Source.of(self.place)
        return OperationSource(place.filename, place.line, place.function, self.name)

    def like(self, graph: Graph, name: str) -> Operation:
        """A copy that takes nothing, and isn't among the graph's operations; who takes its values
        is as of the original.
        """
        made = Operation(graph, self.type, name)
        for part in ("device", "attributes", "known", "handles", "value", "types", "shapes",
                     "consumers", "definition", "place", "serial"):  # fmt: skip
            setattr(made, part, getattr(self, part))
        return made

    def define(self, definition: Any) -> None:
        """Say what the type is: attributes that weren't set get their defaults."""
        self.definition = definition
        for attribute in definition.attr:
            if attribute.name not in self.attributes and attribute.HasField("default_value"):
                self.attributes[attribute.name] = attribute.default_value

    def attribute(self, name: str) -> Any:
        """An attribute as a Python value; None where it isn't set."""
        if name not in self.known:
            message = self.attributes.get(name)
            self.known[name] = None if message is None else plain(message)
        return self.known[name]


class OperationSource(Source):
    """The place that made an operation. It ends with the operation's name, so written that
    TensorFlow's Python files know an error's operation by it.
    """

    __slots__ = ()

    def __init__(self, filename: str, line: int, function: str, name: str) -> None:
        head, slash, _ = name.rpartition("/")
        super().__init__(filename, line, function, head + slash, name)
        # As TensorFlow calls the scopes of gradients.
        self.is_gradient = any(part.startswith("gradients") for part in head.split("/"))

    def __str__(self) -> str:
        return f"{super().__str__()} [[{{{{node {self.name}}}}}]]"


# TensorFlow's Python files tell a C operation from a node's definition by this name.
Operation.__name__ = "SwigPyObject"


def made_of(operation: Operation) -> Scope[Any]:
    """A block whose nodes say that they're made of this operation, and by which line."""
    return Context.within("source", lambda outer: operation.source)


# Messages ---------------------------------------------------------------------------------------


@functools.cache
def messages(name: str, folder: str = "framework") -> Any:
    """A module of TensorFlow's messages, such as `graph_pb2`."""
    return importlib.import_module(f"tensorflow_core.core.{folder}.{name}")


def plain(message: Any) -> Any:
    """An AttrValue as a Python value: shapes as tuples, lists as lists, else what it holds."""
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    value = getattr(message, kind)
    if kind == "shape":
        return shape_of(value)
    if kind != "list":
        return value
    for field, found in value.ListFields():
        return [shape_of(x) for x in found] if field.name == "shape" else list(found)
    return []


def is_handle(value: Value) -> bool:
    """Whether a value is of a type that stands for what isn't an array, as resources do."""
    source, index = value
    return source.types[index] in HANDLES


def shape_of(message: Any) -> Shape:
    """A TensorShapeProto as a shape."""
    return None if message.unknown_rank else tuple(dim.size for dim in message.dim)


def fits(found: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    """Whether a shape is one that was declared, -1 for any size.

    >>> fits((2, 3), (-1, 3)), fits((2,), (-1, 3))
    (True, False)
    """
    return len(found) == len(declared) and all(
        size in (-1, other) for other, size in zip(found, declared, strict=True)
    )


def shape_text(shape: Shape) -> str:
    """A shape as messages show it.

    >>> shape_text((2, -1)), shape_text(None)
    ('[2,?]', '<unknown>')
    """
    if shape is None:
        return "<unknown>"
    return f"[{','.join('?' if size < 0 else str(size) for size in shape)}]"


def shape_message(kind: Any, shape: Shape) -> Any:
    """A shape as a message of the class TensorShapeProto."""
    if shape is None:
        return kind(unknown_rank=True)
    return kind(dim=[kind.Dim(size=size) for size in shape])


# By kind of attribute, as definitions name it, the field of AttrValue.
FIELDS = {
    "string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape",
    "tensor": "tensor", "func": "func",
}  # fmt: skip


def one_of(kind: str) -> str:
    """The kind of a single value: of a list, that of what it holds.

    >>> one_of("list(int)"), one_of("int")
    ('int', 'int')
    """
    return kind.removeprefix("list(").removesuffix(")")


def put(message: Any, kind: str, value: Any) -> None:
    """Let an AttrValue hold a value of some kind.

    Args:
        message: the AttrValue.
        kind: as definitions name it, such as 'list(int)'.
        value: as `plain` gives it, but a tensor or a function, which is a serialized message.
    """
    one = one_of(kind)
    field = FIELDS[one]
    if one != kind:
        message.list.SetInParent()
        getattr(message.list, field).extend([_held(message, one, each) for each in value])
    elif one in ("shape", "tensor", "func"):
        getattr(message, field).CopyFrom(_held(message, one, value))
        getattr(message, field).SetInParent()
    else:
        setattr(message, field, value)


def _held(message: Any, kind: str, value: Any) -> Any:
    if kind == "shape":
        return shape_message(type(message.shape), value)
    if kind in ("tensor", "func"):
        return type(getattr(message, kind)).FromString(value)
    return value


def definitions() -> Mapping[str, Any]:
    """The definitions of all types of operations, by name, which TensorFlow's own files hold."""
    registry: Any = importlib.import_module("tensorflow_core.python.framework.op_def_registry")
    found: Mapping[str, Any] = registry.get_registered_ops()
    return found


_messages_of_files, _definitions_of_files = messages, definitions


def types_of(operation: Operation, arguments: Any) -> list[int]:
    """The data types of an operation's inputs or outputs, as its definition says."""
    found: list[int] = []
    for argument in arguments:
        if argument.type_list_attr:
            types = list(operation.attributes[argument.type_list_attr].list.type)
        else:
            one = argument.type or operation.attributes[argument.type_attr].type
            count = argument.number_attr
            types = [one] * (operation.attributes[count].i if count else 1)
        found += [kind + REFERENCE for kind in types] if argument.is_ref else types
    return found


# Operations that hand a handle on.
PASSING = frozenset({"Identity", "Enter", "Switch", "Exit", "NextIteration", "Merge"})


# Functions --------------------------------------------------------------------------------------


class LibraryFunction:
    """A function of a library: its definition, and the functions that are its gradients."""

    def __init__(self, definition: Any) -> None:
        self.definition = definition
        self.gradients: list[str] = []
        self.bodies: dict[Any, Any] = {}  # by attributes, what it was read as

    @property
    def name(self) -> str:
        """What operations of this type are called."""
        return str(self.definition.signature.name)

    @property
    def signature(self) -> Any:
        """The definition of the type of operation that calls it."""
        return self.definition.signature


def add_definition(graph: Graph, definition: Any) -> None:
    """Let operations of a graph call a function."""
    graph.functions.setdefault(definition.signature.name, LibraryFunction(definition))
