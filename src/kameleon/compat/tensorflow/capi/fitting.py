"""Whether inputs fit the definition of a type of operation, and what they tell of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..dtypes import REFERENCE, enumerated, shown
from ..eager.signatures import MIXED, Argument, Signature, signature
from ..failures import invalid
from ..graph import Operation, messages, shape_of, shape_text

MOST, ENDS = 15, 5  # of a list's values that are written; else so many from either end


def fit(operation: Operation, definition: Any) -> None:
    """Set the attributes that inputs tell, where they weren't set.

    Raises:
        InvalidArgumentError: (TensorFlow's) inputs don't fit the definition.
    """
    types: dict[str, Any] = {}  # a type, or types
    is_function = operation.type in operation.graph.functions
    prepared = None if is_function else signature(operation.type)
    faults = list(_faults(operation, (prepared or Signature(definition)).inputs, types))
    for name, kind in types.items():
        known = operation.attributes.get(name)
        if known is None:
            operation.attributes[name] = messages("attr_value_pb2").AttrValue(type=kind)
            continue
        held = list(known.list.type) if isinstance(kind, list) else known.type
        if held != kind:
            faults.append(_inconsistent(name, kind, held))
    if faults:
        about = f"while building NodeDef '{operation.name}' using {summary(definition)}"
        if len(faults) == 1:
            raise invalid(f"{faults[0]} {about}")
        raise invalid("\n".join([f"{len(faults)} errors {about}:", *faults]))


def _faults(
    operation: Operation, arguments: Iterable[Argument], types: dict[str, Any]
) -> Iterator[str]:
    """What doesn't fit among the inputs alone; `types` takes what they say."""
    rest = [source.types[index] for source, index in operation.inputs]
    attributes = operation.attributes
    for argument in arguments:
        if argument.many == MIXED:
            count = len(attributes[argument.attribute].list.type)
        else:
            count = attributes[argument.size].i if argument.size else 1
        given, rest = rest[:count], rest[count:]
        kinds: Any = [kind % REFERENCE for kind in given]
        if given and argument.many != MIXED:
            kinds = argument.type or kinds[0]
            yield from _strangers(argument, given, kinds)
        name = argument.attribute
        if given and name and types.setdefault(name, kinds) != kinds:
            yield _inconsistent(name, types[name], kinds)


def _strangers(argument: Argument, given: Sequence[int], kind: int) -> Iterator[str]:
    """What is of another type than one, or no reference where that's asked for."""
    for each in given:
        if each % REFERENCE != kind:
            expected = shown(kind + REFERENCE * argument.is_ref)
        elif argument.is_ref and each < REFERENCE:
            expected = "ref type"
        else:
            continue
        yield f"Input '{argument.name}' passed {shown(each)} expected {expected}"


def _inconsistent(name: str, *kinds: Any) -> str:
    one, other = (
        _listed(map(enumerated, kind)) if isinstance(kind, list) else enumerated(kind)
        for kind in kinds
    )
    return f"Inconsistent values for attr '{name}' {one} vs. {other}"


# Definitions as messages show them --------------------------------------------------------------


def summary(definition: Any) -> str:
    """The definition of a type of operation."""
    arguments = (definition.input_arg, definition.output_arg)
    left, right = (", ".join(map(_argument, each)) for each in arguments)
    parts = [f"name={definition.name}", f"signature={left} -> {right}"]
    parts += map(_attribute, definition.attr)
    parts += [f"{name}=true" for name in FLAGS if getattr(definition, name)]
    return f"Op<{'; '.join(parts)}>"


FLAGS = "is_commutative is_aggregate is_stateful allows_uninitialized_input".split()


def _argument(argument: Any) -> str:
    kind = shown(argument.type) if argument.type else argument.type_attr
    kind = f"{argument.number_attr}*{kind}" if argument.number_attr else kind
    return f"{argument.name}:{f'Ref({kind})' if argument.is_ref else kind}"


def _attribute(attr: Any) -> str:
    text = f"attr={attr.name}:{attr.type}"
    if attr.HasField("default_value"):
        text += f",default={_value(attr.default_value)}"
    if attr.has_minimum:
        text += f",min={attr.minimum}"
    allowed = f",allowed={_value(attr.allowed_values)}" if attr.HasField("allowed_values") else ""
    return text + allowed


WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "type": enumerated,
    "s": lambda value: f'"{value.decode("latin-1")}"',
    "b": lambda value: str(value).lower(),
    "f": lambda value: f"{value:g}",
    "shape": lambda value: shape_text(shape_of(value)),
}


def _value(attribute: Any) -> str:
    kind = attribute.WhichOneof("value")
    if kind != "list":
        return WRITTEN.get(kind, str)(getattr(attribute, kind))
    fields = attribute.list.ListFields()
    return _listed(WRITTEN.get(field.name, str)(x) for field, values in fields for x in values)


def _listed(texts: Iterable[str]) -> str:
    parts = list(texts)
    if len(parts) >= MOST:
        parts[ENDS:-ENDS] = ["..."]
    return f"[{', '.join(parts)}]"
