"""Kinds of attributes: what one may be, in words and as a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .types import Shape

# No tensor of a graph has more elements, as far as its sizes are known.
MOST_ELEMENTS = 2**40
# The sizes, strides, dilations and margins of windows are smaller than this.
LONGEST = 2**31


class Use(NamedTuple):
    """Where an attribute stands: beside these operands and attributes."""

    operands: Sequence[Any]  # nodes, which are made of what is declared here
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


def is_tuple(value: Any, each: Callable[[Any], bool], length: int | None = None) -> bool:
    return (
        type(value) is tuple
        and (length is None or len(value) == length)
        and all(each(item) for item in value)
    )


def are_axes(value: Any, rank: int) -> bool:
    """Whether `value` is a tuple of distinct axes of a tensor of this rank."""
    return is_tuple(value, lambda i: is_int(i, 0, rank)) and len(set(value)) == len(value)
