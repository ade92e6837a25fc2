"""What a type of operation takes and gives, prepared for calls with Python values."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..capi.constants import CONSTANTS
from ..capi.exports import as_text, export
from ..dtypes import REFERENCE
from ..failures import failure, invalid
from ..graph import definitions, messages, one_of, put, shape_of

# How many tensors an argument stands for, and how their types are told.
ONE, SAME, MIXED = "one", "same", "mixed"


class Argument(NamedTuple):
    """An input of an operation.

    Attributes:
        name: what it's called.
        many: `ONE` tensor, a list of the `SAME` type, or a list of `MIXED` types.
        size: the attribute that holds how many there are; "".
        attribute: the attribute that holds the type, or the types; "".
        type: the number of the type, where it's always the same; 0.
        is_ref: whether it's a reference.
    """

    name: str
    many: str
    size: str
    attribute: str
    type: int
    is_ref: bool


class Signature:
    """What a type of operation takes and gives.

    Attributes:
        name: the type.
        definition: the message OpDef.
        inputs: its inputs.
        attributes: the kinds of its attributes, by name.
        defaults: numbers of types that attributes have where nothing is said.
    """

    def __init__(self, definition: Any) -> None:
        self.name, self.definition = definition.name, definition
        self.inputs = [_argument(each) for each in definition.input_arg]
        self.attributes = {each.name: each.type for each in definition.attr}
        self.defaults = {
            each.name: each.default_value.type
            for each in definition.attr
            if each.type == "type" and each.HasField("default_value")
        }
        self._optional = {each.name for each in definition.attr if each.HasField("default_value")}

    def has_default(self, name: str) -> bool:
        """Whether an attribute may be left out."""
        return name in self._optional

    def attribute(self, name: str, value: Any) -> Any:
        """An attribute's value as what tells it from others: hashable, without Python's variety.

        Raises:
            TypeError, ValueError, AttributeError: it's of no such kind.
        """
        kind = self.attributes.get(name)
        if kind is None:  # an option of how functions are called
            return value
        if kind.startswith("list("):
            plain = PLAIN[kind[5:-1]]
            return tuple([plain(each) for each in value])
        return PLAIN[kind](value)

    def pairs(self, raw: Sequence[Any]) -> tuple[Any, ...]:
        """Names of attributes, each with its value, as what tells them from others.

        Raises:
            InvalidArgumentError: (TensorFlow's) the operation has no such attribute, or not of
                that kind.
        """
        if len(raw) % 2:
            raise invalid("Expecting attrs tuple to have even length.")
        made: list[Any] = []
        for name, value in zip(raw[::2], raw[1::2], strict=True):
            if name not in self.attributes:
                raise invalid(f"Attribute '{name}' does not exist for this operation")
            try:
                made += [name, self.attribute(name, value)]
            except (TypeError, ValueError, AttributeError):
                kind = one_of(self.attributes[name])
                given = value[0] if value and isinstance(value, list | tuple) else value
                wanted = EXPECTED.get(kind, kind)
                message = f"Expecting {wanted} for attr {name}, got {type(given).__name__}"
                raise invalid(message) from None
        return tuple(made)

    def message(self, name: str, value: Any) -> Any:
        """The message AttrValue of such a value."""
        made = messages("attr_value_pb2").AttrValue()
        put(made, self.attributes[name], value)
        return made


def _argument(arg: Any) -> Argument:
    many = MIXED if arg.type_list_attr else SAME if arg.number_attr else ONE
    attribute = arg.type_list_attr or arg.type_attr
    return Argument(arg.name, many, arg.number_attr, attribute, arg.type, arg.is_ref)


@cache
def signature(name: str) -> Signature | None:
    """The signature of a type of operation, if TensorFlow has that."""
    definition = definitions().get(name)
    return None if definition is None else Signature(definition)


# Attributes -------------------------------------------------------------------------------------


def _type(value: Any) -> int:
    if isinstance(value, int):
        return value % REFERENCE
    number = getattr(value, "_type_enum", None)
    if number is None:
        dtypes: Any = importlib.import_module("tensorflow_core.python.framework.dtypes")
        number = dtypes.as_dtype(value)._type_enum
    return int(number) % REFERENCE


def _shape(value: Any) -> Any:
    if value is None:
        return None
    if hasattr(value, "unknown_rank"):
        return shape_of(value)
    sizes = getattr(value, "_dims", value)
    if sizes is None:
        return None
    sizes = [getattr(size, "value", size) for size in sizes]
    return tuple(-1 if size is None else int(size) for size in sizes)


def _text(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise TypeError(f"expected a text, not {value!r}")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, float | str | bytes):
        raise TypeError(f"expected an integer, not {value!r}")
    return int(value)


def _real(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError(f"expected a number, not {value!r}")
    return float(value)


def _function(value: Any) -> bytes:
    """A function as the message that names it, serialized."""
    if hasattr(value, "SerializeToString"):
        return bytes(value.SerializeToString())
    name = _text(getattr(value, "name", value)).decode()
    made: bytes = messages("attr_value_pb2").NameAttrList(name=name).SerializeToString()
    return made


PLAIN: dict[str, Callable[[Any], Any]] = {
    "type": _type,
    "shape": _shape,
    "string": _text,
    "int": _whole,
    "float": _real,
    "bool": bool,
    "tensor": lambda value: value.SerializeToString(),
    "func": _function,
}


# What an operation expects of an attribute, as it complains of others.
EXPECTED = {
    "type": "a DType.dtype",
    "shape": "None or sequence value",
    "string": "a string value",
    "int": "int64_t value",
    "float": "float value",
}


@export("TFE_OpNameGetAttrType")
def attribute_type(context: Any, name: str | bytes, attribute: str) -> Any:
    """The number of an attribute's kind; in a list, where it's a list."""
    found = signature(as_text(name))
    if found is None:
        raise failure("NOT_FOUND", f"Op type not registered '{as_text(name)}'")
    kind = found.attributes.get(attribute)
    if kind is None:
        raise invalid(f"Attribute '{attribute}' does not exist for this operation")
    number = CONSTANTS[f"TF_ATTR_{one_of(kind).upper()}"]
    return [number] if kind.startswith("list(") else number
