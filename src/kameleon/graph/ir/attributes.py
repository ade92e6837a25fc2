"""The declared types of attributes: what a primitive may be told besides its operands.

A primitive has the attributes that its `infer` takes by keyword alone. An attribute of one name
is of one kind wherever it occurs; where a primitive means something else by that name, `OWN_KINDS`
says so. Graphs from files are held against these types before anything is inferred from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...errors import GraphError
from .leaves import Constant
from .node import Node, Primitive, frozen
from .program import Graph
from .types import DTYPES, DType, Shape, TensorType

# No tensor of a graph has more elements, as far as its sizes are known.
MOST_ELEMENTS = 2**40
# The sizes, strides, dilations and margins of windows are smaller than this.
LONGEST = 2**31


class Use(NamedTuple):
    """Where an attribute stands: beside these operands and attributes."""

    operands: Sequence[Node]
    attrs: Mapping[str, Any]

    @property
    def rank(self) -> int:
        """The number of axes of the first operand."""
        return len(self.operands[0].shape)


class Kind(NamedTuple):
    """What an attribute may be, in words and as a condition."""

    words: str
    holds: Callable[[Any, Use], bool]


# Values --------------------------------------------------------------------------------------


def is_int(value: Any, low: int, high: int) -> bool:
    """Whether `value` is an int, and no bool, with low <= value < high."""
    return type(value) is int and low <= value < high


def is_size(value: Any) -> bool:
    """Whether `value` may be the size of an axis."""
    return is_int(value, 0, MOST_ELEMENTS + 1)


def is_shape(value: Any, low: int = 0) -> bool:
    """Whether `value` may be a shape: a tuple of sizes, None where a size is unknown."""
    if type(value) is not tuple or not all(d is None or is_int(d, low, 2**62) for d in value):
        return False
    return elements(value) <= MOST_ELEMENTS


def elements(shape: Shape) -> int:
    """The number of elements, as far as sizes are known; 1 at least."""
    count = 1
    for d in shape:
        count *= max(1, d or 1)
    return count


def _is_tuple(value: Any, each: Callable[[Any], bool], length: int | None = None) -> bool:
    return (
        type(value) is tuple
        and (length is None or len(value) == length)
        and all(each(item) for item in value)
    )


def _are_axes(value: Any, rank: int) -> bool:
    """Whether `value` is a tuple of distinct axes of a tensor of this rank."""
    return _is_tuple(value, lambda i: is_int(i, 0, rank)) and len(set(value)) == len(value)


def _is_margin(value: Any) -> bool:
    return _is_tuple(value, lambda m: is_int(m, 0, LONGEST), 2)


def _is_slice(value: Any) -> bool:
    """(start, stop, step), as Python means them, of which the first two may be None."""
    if not _is_tuple(value, lambda i: i is None or is_int(i, -(2**62), 2**62), 3):
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
        and all(_is_tuple(part, positive, rank) for part in (sizes, strides, dilation))
        and _is_tuple(padding, _is_margin, rank)
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
        and all(_are_axes(v, len(x.shape)) for v, x in zip(value, use.operands, strict=True))
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
AXES = Kind("distinct axes of the first operand", lambda v, use: _are_axes(v, use.rank))
SHAPE = Kind("a tuple of sizes", lambda v, use: is_shape(v))
SIZE = Kind("a size or None", lambda v, use: v is None or is_size(v))
COUNT = Kind("a number of operands", lambda v, use: is_int(v, 0, len(use.operands) + 1))
SLICES = Kind(
    "(start, stop, step) for each axis",
    lambda v, use: _is_tuple(v, _is_slice, len(use.attrs.get("shape", use.operands[0].shape))),
)
BODY = Kind("a graph", lambda v, use: isinstance(v, Graph))
SMALL = Kind("a positive int", lambda v, use: is_int(v, 1, LONGEST))

KINDS: dict[str, Kind] = {
    "axis": AXIS,
    "axes": AXES,
    "perm": Kind(
        "an order of the axes",
        lambda v, use: _are_axes(v, use.rank) and len(v) == use.rank,
    ),
    "shape": SHAPE,
    "space": SHAPE,
    "size": SIZE,
    "rows": SIZE,
    "multiplier": SIZE,
    "windows": SLICES,
    "window": Kind("a window over the axes between the first and the last", _is_window),
    "margins": Kind(
        "(before, after) for each axis", lambda v, use: _is_tuple(v, _is_margin, use.rank)
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

# Where an attribute isn't what it is elsewhere: by primitive and attribute.
OWN_KINDS: dict[tuple[str, str], Kind] = {
    ("constant", "value"): Kind("an array", lambda v, use: isinstance(v, Constant)),
    ("reshape", "shape"): Kind(
        "a tuple of sizes, of which one may be -1",
        lambda v, use: is_shape(v, low=-1) and v.count(-1) <= 1,
    ),
    ("iota", "axis"): Kind(
        "an axis of the shape", lambda v, use: is_int(v, 0, len(use.attrs.get("shape", ())))
    ),
    ("scatter_add", "axis"): Kind(
        "where the axes of the index begin",
        lambda v, use: is_int(v, 0, use.rank - len(use.operands[1].shape) + 1),
    ),
}
# Attributes whose Nones are given by operands behind all others: one integer scalar for each.
SIZED = ("shape", "space", "size", "rows")
# Leaves are made with their type, so their `infer` has no parameters that name attributes.
LEAF_ATTRIBUTES: dict[str, Sequence[str]] = {"constant": ("value",), "random_source": ("seed",)}


@lru_cache(None)
def attributes_of(primitive: Primitive) -> dict[str, Kind]:
    """The attributes that a primitive takes, each with its kind."""
    parameters = inspect.signature(primitive.infer).parameters.values()
    names = LEAF_ATTRIBUTES.get(primitive.name) or [
        p.name for p in parameters if p.kind is p.KEYWORD_ONLY
    ]
    return {name: OWN_KINDS.get((primitive.name, name)) or KINDS[name] for name in names}


@lru_cache(None)
def _takes_sizes(primitive: Primitive) -> int | None:
    """Behind how many operands the sizes come; None, if there are none."""
    names = list(inspect.signature(primitive.infer).parameters)
    return names.index("sizes") if "sizes" in names else None


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
    first = _takes_sizes(primitive)
    if first is not None:
        _check_sizes(primitive, operands[first:], attrs)
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
