"""Structures of Python values: what is a sequence, its leaves, whether two are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MappingView, Sequence
from typing import Any

import numpy as np

from .exports import export

Test = Callable[[Any], bool]

# Classes that TensorFlow's Python files register, by what they are.
_REGISTERED: dict[str, Any] = {}
_LEAVES = frozenset({int, float, str, bytes, bool, type(None), np.ndarray})
# Specs of one tensor: a leaf each.
_SPECS_OF_TENSORS = ("TensorSpec", "VariableSpec", "BoundedTensorSpec")


export("RegisterType")(_REGISTERED.__setitem__)


def _is(name: str) -> Test:
    return lambda value: isinstance(value, _REGISTERED.get(name, ()))


is_tensor = export("IsTensor")(_is("Tensor"))
export("IsVariable")(_is("Variable"))
is_resource_variable = _is("ResourceVariable")
is_composite = export("IsCompositeTensor")(_is("CompositeTensor"))
export("IsMapping")(lambda value: isinstance(value, Mapping))
export("IsMappingView")(lambda value: isinstance(value, MappingView))


@export("IsAttrs")
def is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


@export("IsTypeSpec")
def _is_type_spec(value: Any) -> bool:
    kind = type(value)
    return _is("TypeSpec")(value) and kind.__name__ not in _SPECS_OF_TENSORS


@export("IsNamedtuple")
def _is_namedtuple(value: Any, strict: bool = False) -> bool:
    if not isinstance(value, tuple) or not isinstance(getattr(value, "_fields", None), Sequence):
        return False
    return not strict or type(value).__bases__ == (tuple,)


@export("IsSequence")
def _is_sequence(value: Any) -> bool:
    kind = type(value)
    if kind is list or kind is tuple or kind is dict:
        return True
    if kind in _LEAVES or isinstance(value, str | bytes | bytearray):
        return False
    return isinstance(value, Mapping | MappingView | Sequence) or is_attrs(value)


@export("IsSequenceOrComposite")
def _is_sequence_or_composite(value: Any) -> bool:
    return _is_sequence(value) or is_composite(value) or _is_type_spec(value)


@export("IsSequenceForData")
def _is_sequence_for_data(value: Any) -> bool:
    return isinstance(value, tuple | Mapping) or is_attrs(value)


def parts_of(value: Any, composites: bool) -> list[Any]:
    """What a sequence is made of, in the order of TensorFlow's: keys are sorted."""
    if isinstance(value, Mapping):
        try:
            return [value[key] for key in sorted(value)]
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
    if is_attrs(value):
        return [getattr(value, field.name) for field in type(value).__attrs_attrs__]
    if composites and is_composite(value):
        return [value._type_spec._to_components(value)]
    if composites and _is_type_spec(value):
        return [value._component_specs]
    return list(value)


def _leaves(value: Any, is_sequence: Test, composites: bool, found: list[Any]) -> list[Any]:
    if is_sequence(value):
        for part in parts_of(value, composites):
            _leaves(part, is_sequence, composites, found)
    else:
        found.append(value)
    return found


@export("Flatten")
def _flatten(value: Any, expand_composites: bool = False) -> list[Any]:
    test = _is_sequence_or_composite if expand_composites else _is_sequence
    return _leaves(value, test, expand_composites, [])


export("FlattenForData")(lambda value: _leaves(value, _is_sequence_for_data, False, []))


@export("SameNamedtuples")
def _are_same_namedtuples(one: Any, other: Any) -> bool:
    return type(one).__name__ == type(other).__name__ and bool(one._fields == other._fields)


def _are_of_one_kind(one: Any, other: Any) -> bool:
    """Whether two sequences count as the same type."""
    if type(one) is type(other) or _is_type_spec(one):
        return True
    if _is_namedtuple(one) and _is_namedtuple(other):
        return _are_same_namedtuples(one, other)
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (Mapping, list))


class _DifferError(Exception):
    """Two structures aren't alike; of which class the error is, and how they differ."""


def _demand_same(one: Any, other: Any, types: bool, is_sequence: Test, composites: bool) -> None:
    """Refuse two structures that aren't alike."""
    try:
        _compare(one, other, types, is_sequence, composites)
    except _DifferError as error:
        kind, how = error.args
        raise kind(
            "The two structures don't have the same nested structure.\n\nFirst structure:"
            f" {_shown(one)}\n\nSecond structure: {_shown(other)}\n\nMore specifically: {how}"
        ) from None


def _shown(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _compare(one: Any, other: Any, types: bool, is_sequence: Test, composites: bool) -> None:
    if is_sequence(one) != is_sequence(other):
        parted, whole = map(_shown, (one, other) if is_sequence(one) else (other, one))
        about = f'Substructure "{parted}" is a sequence, while substructure "{whole}" is not'
        raise _DifferError(ValueError, about)
    if not is_sequence(one):
        return
    if types:
        _compare_types(one, other)
    if composites:
        _compare_specs(*map(_spec_of, (one, other)))
    ones, others = parts_of(one, composites), parts_of(other, composites)
    for first, second in zip(ones, others, strict=False):
        _compare(first, second, types, is_sequence, composites)
    if len(ones) != len(others):
        about = "The two structures don't have the same number of elements."
        about = f"{about} First structure: {_shown(one)}. Second structure: {_shown(other)}"
        raise _DifferError(ValueError, about)


def _compare_types(one: Any, other: Any) -> None:
    """Compare the types of two sequences; of two mappings their keys."""
    if not _are_of_one_kind(one, other):
        first, second = (f"{_shown(x)} has type {type(x).__name__}" for x in (one, other))
        about = "The two namedtuples don't have the same sequence type. First structure"
        raise _DifferError(TypeError, f"{about} {first}, while second structure {second}")
    if isinstance(one, Mapping) and isinstance(other, Mapping) and set(one) != set(other):
        first, second = (_shown(list(x)) for x in (one, other))
        about = "The two dictionaries don't have the same set of keys. First structure has keys"
        raise _DifferError(ValueError, f"{about} {first}, while second structure has keys {second}")


def _spec_of(value: Any) -> Any:
    """What tells the type of what is composed of tensors; None for others."""
    return value._type_spec if is_composite(value) else value if _is_type_spec(value) else None


def _compare_specs(one: Any, other: Any) -> None:
    """Compare the types of what is composed of tensors, which may be of other sizes."""
    if one is None or other is None:
        return
    try:
        one.most_specific_compatible_type(other)
    except (TypeError, ValueError):
        about = f"Incompatible CompositeTensor TypeSpecs: {_shown(one)} vs. {_shown(other)}"
        raise _DifferError(ValueError, about) from None


@export("AssertSameStructure")
def _assert_same(one: Any, other: Any, types: bool, expand_composites: bool = False) -> None:
    test = _is_sequence_or_composite if expand_composites else _is_sequence
    _demand_same(one, other, types, test, expand_composites)


@export("AssertSameStructureForData")
def _assert_same_for_data(one: Any, other: Any, types: bool) -> None:
    _demand_same(one, other, types, _is_sequence_for_data, False)
