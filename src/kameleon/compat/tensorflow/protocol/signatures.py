"""The definitions of types of operations: what they take and give, and attributes' defaults.

`signatures.txt` has a line for each type in the table of operations: what TensorFlow's registry
says of it, as far as running it needs. (`tests/compat/tensorflow/graphs` has what writes it.)

    Conv2D input:T filter:T -> output:T | data_format:string="NHWC" dilations:list(int)=[1,1,1,1]

A type with `!` has effects. Behind a name: `T` is an attribute that holds a type, `N*T` many of
them, `@Ts` an attribute that holds a list of types, `&T` a reference; else it's a type itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..dtypes import NUMBERS
from ..graph import put
from .messages import message


class Definitions(Mapping[str, Any]):
    """The definitions by type; each is read when it's asked for.

    >>> definitions()["Relu"].output_arg[0].type_attr
    'T'
    """

    def __init__(self, lines: Mapping[str, str]) -> None:
        self._lines, self._read = lines, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            self._read[name] = definition_of(self._lines[name])
        return self._read[name]

    def __iter__(self) -> Any:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def definitions() -> Definitions:
    """The definitions of all types in the table, by name."""
    text = files(__package__).joinpath("signatures.txt").read_text("utf-8")
    return Definitions({line.split()[0].rstrip("!"): line for line in text.splitlines()})


def definition_of(line: str) -> Any:
    """The definition that a line tells.

    >>> definition_of('Sign! x:T -> y:&T | n:int=2').attr[0].default_value.i
    2
    """
    head, _, rest = line.partition(" |")
    left, _, right = head.partition(" ->")
    name, *inputs = left.split()
    made = message("OpDef")(name=name.rstrip("!"), is_stateful=name.endswith("!"))
    for arguments, texts in ((made.input_arg, inputs), (made.output_arg, right.split())):
        for text in texts:
            _read_argument(arguments.add(), text)
    for text in rest.split():
        pair, _, value = text.partition("=")
        attribute, _, kind = pair.partition(":")
        found = made.attr.add(name=attribute, type=kind)
        put(found.default_value, kind, _held(kind, json.loads(value)))
    return made


def _read_argument(argument: Any, text: str) -> None:
    argument.name, _, kind = text.partition(":")
    argument.is_ref, kind = kind.startswith("&"), kind.lstrip("&")
    if kind.startswith("@"):
        argument.type_list_attr = kind[1:]
        return
    argument.number_attr, _, kind = kind.rpartition("*")
    if kind in NUMBERS:
        argument.type = NUMBERS[kind]
    else:
        argument.type_attr = kind


def _held(kind: str, value: Any) -> Any:
    if kind.startswith("list("):
        return [_held(kind[5:-1], each) for each in value]
    if kind == "string":
        return value.encode("latin-1")
    return NUMBERS[value] if kind == "type" else value
