"""The declared types of attributes: what a primitive may be told besides its operands.

A primitive has the attributes that its `infer` takes by keyword alone. An attribute of one name
is of one kind wherever it occurs, unless the primitive is declared with a kind of its own. Graphs
from files are held against these types before anything is inferred from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...errors import GraphError
from .kinds import (
    LONGEST,
    MOST_ELEMENTS,
    Kind,
    Use,
    are_axes,
    elements,
    is_int,
    is_shape,
    is_size,
    is_tuple,
)
from .node import Node, Primitive, frozen
from .program import Graph
from .types import DTYPES, DType, TensorType


def _is_margin(value: Any) -> bool:
    return is_tuple(value, lambda m: is_int(m, 0, LONGEST), 2)


def _is_slice(value: Any) -> bool:
    """(start, stop, step), as Python means them, of which the first two may be None."""
    if not is_tuple(value, lambda i: i is None or is_int(i, -(2**62), 2**62), 3):
        return False
    return is_int(value[2], 1, 2**62)


def _is_window(value: Any, use: Use) -> bool:
    """See `graph.primitives.windows.Window`."""
    if type(value).__name__ != "Window" or len(value) != 4:
        return False
    rank = len(value[0]) if type(value[0]) is tuple else 0
    positive: Callable[[Any], bool] = lambda n: is_int(n, 1, LONGEST)  # noqa: E731
    sizes, strides, padding, dilation = value
    return (
        rank > 0
        and rank == use.rank - 2
        and all(is_tuple(part, positive, rank) for part in (sizes, strides, dilation))
        and is_tuple(padding, _is_margin, rank)
        and elements(sizes) <= MOST_ELEMENTS
    )


def _is_number(value: Any, use: Use) -> bool:
    """Whether `value` is a number that the dtype of the first operand holds."""
    dtype = use.operands[0].dtype
    if type(value) is bool or not isinstance(value, (int, float)):
        return type(value) is bool
    if dtype.is_float:
        return type(value) is float or is_int(value, -(2**63), 2**64)
    try:
        return float(value).is_integer() and frozen(int(value), dtype).shape == ()
    except OverflowError:
        return False


def _are_pairs(value: Any, use: Use) -> bool:
    """Axes of the first operand, and as many of the second one."""
    return (
        type(value) is tuple
        and len(value) == len(use.operands) == 2
        and all(are_axes(v, len(x.shape)) for v, x in zip(value, use.operands, strict=True))
        and len(value[0]) == len(value[1])
    )


def _are_batch_axes(value: Any, use: Use) -> bool:
    """Pairs of axes, none of which is contracted."""
    over: Any = use.attrs.get("over")
    return (
        _are_pairs(value, use)
        and _are_pairs(over, use)
        and all(set(v).isdisjoint(o) for v, o in zip(value, over, strict=True))
    )


# The table -----------------------------------------------------------------------------------

AXIS = Kind("an axis of the first operand", lambda v, use: is_int(v, 0, use.rank))
AXES = Kind("distinct axes of the first operand", lambda v, use: are_axes(v, use.rank))
SHAPE = Kind("a tuple of sizes", lambda v, use: is_shape(v))
SIZE = Kind("a size or None", lambda v, use: v is None or is_size(v))
COUNT = Kind("a number of operands", lambda v, use: is_int(v, 0, len(use.operands) + 1))
SLICES = Kind(
    "(start, stop, step) for each axis",
    lambda v, use: is_tuple(v, _is_slice, len(use.attrs.get("shape", use.operands[0].shape))),
)
BODY = Kind("a graph", lambda v, use: isinstance(v, Graph))
SMALL = Kind("a positive int", lambda v, use: is_int(v, 1, LONGEST))

KINDS: dict[str, Kind] = {
    "axis": AXIS,
    "axes": AXES,
    "perm": Kind(
        "an order of the axes",
        lambda v, use: are_axes(v, use.rank) and len(v) == use.rank,
    ),
    "shape": SHAPE,
    "space": SHAPE,
    "size": SIZE,
    "rows": SIZE,
    "multiplier": SIZE,
    "windows": SLICES,
    "window": Kind("a window over the axes between the first and the last", _is_window),
    "margins": Kind(
        "(before, after) for each axis", lambda v, use: is_tuple(v, _is_margin, use.rank)
    ),
    "value": Kind("a number of the first operand's dtype", _is_number),
    "dtype": Kind("a dtype", lambda v, use: type(v) is DType and DTYPES.get(v) is v),
    "over": Kind("pairs of axes", _are_pairs),
    "batch": Kind("pairs of axes that aren't contracted", _are_batch_axes),
    "index": Kind(
        "the number of a result", lambda v, use: is_int(v, 0, len(use.operands[0].results))
    ),
    "beam_width": SMALL,
    "top_paths": SMALL,
    "consts": COUNT,
    "carry": COUNT,
    "backwards": Kind("a bool", lambda v, use: type(v) is bool),
    "message": Kind("a text", lambda v, use: type(v) is str),
    "body": BODY,
    "condition": BODY,
    "then": BODY,
    "otherwise": BODY,
    "callee": Kind("a function with its types", lambda v, use: callable(getattr(v, "infer", None))),
    "rule": Kind("a function", lambda v, use: callable(v)),
    "seed": Kind("an int of 32 bits", lambda v, use: is_int(v, 0, 2**32)),
}

# Attributes whose Nones are given by operands behind all others: one integer scalar for each.
SIZED = ("shape", "space", "size", "rows")


@lru_cache(None)
def attributes_of(primitive: Primitive) -> dict[str, Kind]:
    """The attributes that a primitive takes, each with its kind."""
    parameters = inspect.signature(primitive.infer).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    shared = {name: KINDS[name] for name in names if name not in primitive.kinds}
    return {**shared, **primitive.kinds}


def check_attributes(
    primitive: Primitive, operands: Sequence[Node], attrs: Mapping[str, Any]
) -> None:
    """Hold attributes, and the sizes among the operands, against what is declared.

    Raises:
        GraphError: an attribute is missing, superfluous, or not of its kind.
    """
    kinds = attributes_of(primitive)
    if attrs.keys() != kinds.keys():
        raise GraphError(
            f"{primitive.name} has the attributes {sorted(kinds)}, not {sorted(attrs)}"
        )
    if not all(isinstance(x.type, TensorType) for x in operands) and primitive.name != "item":
        raise GraphError(
            f"{primitive.name}: an operand has several results and can't be used as a whole"
        )
    use = Use(operands, attrs)
    if primitive.first_size is not None:
        _check_sizes(primitive, operands[primitive.first_size :], attrs)
    for name, value in attrs.items():
        if not kinds[name].holds(value, use):
            raise GraphError(
                f"{primitive.name}: attribute {name!r} must be {kinds[name].words}, not {value!r}"
            )


def _check_sizes(primitive: Primitive, given: Sequence[Node], attrs: Mapping[str, Any]) -> None:
    wanted = next(attrs[name] for name in SIZED if name in attrs)
    count = wanted.count(None) if isinstance(wanted, tuple) else int(wanted is None)
    if len(given) != count or any(x.shape != () or not x.dtype.is_integer for x in given):
        raise GraphError(f"{primitive.name}: {count} unknown sizes need as many integer scalars")
