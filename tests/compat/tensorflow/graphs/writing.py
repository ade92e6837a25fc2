"""Definitions of types of operations as the lines of `protocol/signatures.txt`."""

from __future__ import annotations

import json
from typing import Any

from kameleon.compat.tensorflow.dtypes import name_of
from kameleon.compat.tensorflow.graph import FIELDS


def line_of(definition: Any) -> str:
    """A definition as a line."""
    parts = [definition.name + "!" * definition.is_stateful]
    parts += map(_argument, definition.input_arg)
    parts += ["->", *map(_argument, definition.output_arg)]
    told = [
        f"{each.name}:{each.type}={_shown(each.type, each.default_value)}"
        for each in definition.attr
        if each.HasField("default_value") and each.type != "tensor"
    ]
    return " ".join([*parts, *(["|", *told] if told else [])])


def _argument(argument: Any) -> str:
    kind = f"@{argument.type_list_attr}" if argument.type_list_attr else argument.type_attr
    if argument.type:
        kind = name_of(argument.type)
    count = f"{argument.number_attr}*" if argument.number_attr else ""
    return f"{argument.name}:{'&' * argument.is_ref}{count}{kind}"


def _shown(kind: str, value: Any) -> str:
    if kind.startswith("list("):
        inner = kind[5:-1]
        found: Any = [_plain(inner, each) for each in getattr(value.list, FIELDS[inner])]
    else:
        found = _plain(kind, getattr(value, FIELDS[kind]))
    return json.dumps(found, separators=(",", ":")).replace(" ", "\\u0020")


def _plain(kind: str, value: Any) -> Any:
    if kind == "shape":
        return None if value.unknown_rank else [each.size for each in value.dim]
    if kind == "string":
        return value.decode("latin-1")
    if kind == "float":
        return float(f"{value:.9g}")
    return name_of(value) if kind == "type" else value
