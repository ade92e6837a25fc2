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


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **options: Any
) -> Any:
    """`func` of the parts of nests at the leaves of a shallower one, in that one's structure.

    >>> map_structure_up_to([0, 0], len, ["ab", [1, 2, 3]])
    [2, 3]
    """
    return pack(shallow_tree, map(func, *(flatten_up_to(shallow_tree, nest) for nest in inputs)))


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that a nest goes on where a shallower one ends.

    Raises:
        TypeError: there's a leaf in the place of a nest, or a nest of another type.
        ValueError: nests have other lengths or keys.
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree) or (check_types and type(shallow_tree) is not type(input_tree)):
        raise TypeError(
            f"The two structures don't have the same sequence type: {type(input_tree)} in the place"
            f" of {type(shallow_tree)}"
        )
    keys, given = _keys(shallow_tree), _keys(input_tree)
    if keys != given:
        raise ValueError(f"The two structures don't have the same parts: {given}, not {keys}")
    for key in keys:
        assert_shallow_structure(shallow_tree[key], input_tree[key], check_types)


def _keys(nest: Any) -> list[Any]:
    return sorted(nest) if isinstance(nest, Mapping) else list(range(len(nest)))


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], bool], structure: Any, expand_composites: bool = False
) -> Any:
    """A nest with False where `traverse_fn` of a part is false, and there no deeper.

    >>> get_traverse_shallow_structure(lambda part: isinstance(part, list), [1, (2, 3), [4]])
    [False, False, [False]]
    """
    if not traverse_fn(structure):
        return False
    if not is_nested(structure):
        return True
    children = [get_traverse_shallow_structure(traverse_fn, structure[k]) for k in _keys(structure)]
    return pack(_ends(structure), children)


def _ends(structure: Any) -> Any:
    """A nest of which the first level alone is left."""
    if isinstance(structure, Mapping):
        return type(structure)((k, 0) for k in structure)  # type: ignore[call-arg]
    parts = [0] * len(structure)
    return type(structure)(*parts) if is_named_tuple(structure) else type(structure)(parts)


def is_named_tuple(instance: Any, strict: bool = False) -> bool:
    """Whether it's a tuple whose parts have names."""
    if not isinstance(instance, tuple) or (strict and type(instance).__base__ is not tuple):
        return False
    fields = getattr(instance, "_fields", None)
    return isinstance(fields, tuple) and all(isinstance(name, str) for name in fields)


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """A dict in which keys and values that are nests have been taken apart together.

    >>> flatten_dict_items({(1, 2): ("a", "b"), 3: "c"})
    {1: 'a', 2: 'b', 3: 'c'}
    """
    found: dict[Any, Any] = {}
    for keys, values in dictionary.items():
        parts = flatten_up_to(keys, values) if is_nested(keys) else [values]
        for key, value in zip(flatten(keys), parts, strict=True):
            if key in found:
                raise ValueError(f"Could not flatten dictionary: key {key} is not unique.")
            found[key] = value
    return found


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
    "map_structure_up_to": map_structure_up_to,
    "assert_shallow_structure": assert_shallow_structure,
    "get_traverse_shallow_structure": get_traverse_shallow_structure,
    "flatten_dict_items": flatten_dict_items,
}
PLAIN: dict[str, Any] = {
    f"{place}.{name}": function
    for place in ("nest", "contrib.framework.nest")
    for name, function in FUNCTIONS.items()
} | {"python.util.nest._is_namedtuple": is_named_tuple}
NAMES: dict[str, Any] = {}
