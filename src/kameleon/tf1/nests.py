"""Nests of lists, tuples, named tuples and dicts: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def flatten(nest: Any) -> list[Any]:
    """The leaves of a nest, those of a dict in the order of its keys.

    >>> flatten([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    if isinstance(nest, Mapping):
        return [leaf for key in sorted(nest) for leaf in flatten(nest[key])]
    if isinstance(nest, (list, tuple)):
        return [leaf for item in nest for leaf in flatten(item)]
    return [nest]


def pack(structure: Any, leaves: Any) -> Any:
    """The leaves in the nest `structure`.

    >>> pack([0, (0, {"b": 0, "a": 0})], [1, 2, 3, 4])
    [1, (2, {'b': 4, 'a': 3})]
    """
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Any) -> Any:
    if isinstance(structure, Mapping):
        found = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)  # type: ignore[call-arg]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_packed(item, leaves) for item in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(_packed(item, leaves) for item in structure)
    return next(leaves)


def is_nested(seq: Any) -> bool:
    """Whether it's a list, tuple or dict."""
    return isinstance(seq, (list, tuple, Mapping))


def map_structure(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """`func` of the leaves of nests of one structure, in that structure."""
    return pack(structure[0], map(func, *(flatten(s) for s in structure)))


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True,
                          expand_composites: bool = False) -> None:  # fmt: skip
    """Raise a ValueError where two nests have different structures."""
    first, second = (map_structure(lambda leaf: 0, nest) for nest in (nest1, nest2))
    if first != second:
        raise ValueError(f"The two structures don't have the same nested structure: {first},"
                         f" {second}")  # fmt: skip


def flatten_up_to(shallow: Any, nest: Any) -> list[Any]:
    """The parts of a nest at the leaves of a shallower one."""
    if not is_nested(shallow):
        return [nest]
    keys = sorted(shallow) if isinstance(shallow, Mapping) else range(len(shallow))
    return [leaf for key in keys for leaf in flatten_up_to(shallow[key], nest[key])]


FUNCTIONS: dict[str, Any] = {
    "flatten": lambda structure, expand_composites=False: flatten(structure),
    "pack_sequence_as": lambda structure, flat_sequence, expand_composites=False: pack(
        structure, flat_sequence
    ),
    "map_structure": map_structure,
    "is_nested": is_nested,
    "is_sequence": is_nested,
    "assert_same_structure": assert_same_structure,
    "flatten_up_to": flatten_up_to,
}
PLAIN: dict[str, Any] = {
    f"{place}.{name}": function
    for place in ("nest", "contrib.framework.nest")
    for name, function in FUNCTIONS.items()
}
NAMES: dict[str, Any] = {}
