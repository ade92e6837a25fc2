"""The table of shape functions, and what they share.

A size is -1 where it isn't known, a shape None where its rank isn't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ..graph import Operation, Shape, shape_text

UNKNOWN = -1

Rule = Callable[["Operation", list["Shape"]], "Shape | list[Shape]"]
R = TypeVar("R", bound=Rule)

RULES: dict[str, Rule] = {}


class ShapeMismatchError(ValueError):
    """Shapes that don't go together; the message says how, in TensorFlow's words."""


def register(types: str, rule: Rule) -> None:
    """Let types of operations have a shape function; none may have another one."""
    for name in types.split():
        if name in RULES:
            raise ValueError(f"{name} has a shape function already")
        RULES[name] = rule


def shape_of(types: str) -> Callable[[R], R]:
    """Decorates the shape function of some types of operations."""

    def add(rule: R) -> R:
        register(types, rule)
        return rule

    return add


def may_be_same(one: Shape, other: Shape) -> bool:
    """Whether two shapes, as far as they're known, may be equal."""
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(map(_may_be_equal, one, other))


def merged(one: Shape, other: Shape) -> Shape:
    """What is known of a shape by two descriptions of it."""
    if one is None or other is None:
        return other if one is None else one
    if len(one) != len(other):
        raise ShapeMismatchError(f"Shapes must be equal rank, but are {len(one)} and {len(other)}")
    for at, (a, b) in enumerate(zip(one, other, strict=True)):
        if not _may_be_equal(a, b):
            about = f"Dimension {at} in both shapes must be equal, but are {a} and {b}."
            shapes = f"Shapes are {shape_text(one)} and {shape_text(other)}."
            raise ShapeMismatchError(f"{about} {shapes}")
    return tuple(map(max, one, other))


def _may_be_equal(one: int, other: int) -> bool:
    return one == other or min(one, other) < 0


def same(one: int, other: int) -> int:
    """What is known of a size by two descriptions of it."""
    if not _may_be_equal(one, other):
        raise ShapeMismatchError(f"Dimensions must be equal, but are {one} and {other}")
    return max(one, other)


def exactly(size: int, wanted: int) -> None:
    """Check a size, if it is known."""
    if size >= 0 and size != wanted:
        raise ShapeMismatchError(f"Dimension must be {wanted} but is {size}")


def divided(size: int, by: int, about: str = "") -> int:
    """A part of a size, which must be a multiple; `about` is said of one that isn't, too."""
    if size >= 0 and size % by:
        message = f"Dimension size must be evenly divisible by {by} but is {size}{about}"
        raise ShapeMismatchError(message)
    return UNKNOWN if size < 0 else size // by


def smaller(one: int, other: int) -> int:
    """The smaller of two sizes; -1, if one isn't known, and the other isn't 0."""
    return 0 if 0 in (one, other) else min(one, other)


def with_rank(shape: Shape, rank: int) -> tuple[int, ...]:
    """The shape, which must be of that rank."""
    if shape is None:
        return (UNKNOWN,) * rank
    if len(shape) != rank:
        raise ShapeMismatchError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def at_least(shape: Shape, rank: int) -> Shape:
    """The shape, which must be of that rank or a higher one."""
    if shape is not None and len(shape) < rank:
        raise ShapeMismatchError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def with_axis(shape: Shape, axis: int) -> Shape:
    """The shape, whose rank must be high enough for an axis."""
    return at_least(shape, axis + 1 if axis >= 0 else -axis)


def broadcast(one: Shape, other: Shape) -> Shape:
    """The shape of an element-wise function of two tensors."""
    if one is None or other is None:
        return None
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    return tuple(_broadcast_size(a, b) for a, b in pairs)


def _broadcast_size(one: int, other: int) -> int:
    if one == 1 or other == 1:
        return other if one == 1 else one
    if one == UNKNOWN or other == UNKNOWN:
        known = max(one, other)  # beside 0 there may be 1, too
        return known if known > 1 else UNKNOWN
    return same(one, other)


def axis_of(
    axis: int, rank: int, about: str = "Invalid axis {axis} for a shape of rank {rank}"
) -> int:
    """An axis counted from the front; `about` is what is said of one that isn't there."""
    if not -rank <= axis < rank:
        raise ShapeMismatchError(about.format(axis=axis, rank=rank, last=rank - 1))
    return axis % rank if rank else 0


def known_sizes(values: np.ndarray | None) -> Shape:
    """A vector of sizes as a shape."""
    return None if values is None else tuple(int(size) for size in np.ravel(values))


def unknown(rank: int) -> Shape:
    """A shape of which the rank alone is known, if it isn't -1."""
    return None if rank < 0 else (UNKNOWN,) * rank


def rank_of(shape: Shape) -> int:
    """How long a vector of that many sizes is; -1, if that isn't known."""
    return UNKNOWN if shape is None else len(shape)


def product(sizes: Sequence[int]) -> int:
    """The product of sizes; -1, if one isn't known, and none is 0."""
    return UNKNOWN if UNKNOWN in sizes and 0 not in sizes else int(np.prod(sizes, dtype=np.int64))


def is_channels_last(operation: Operation) -> bool:
    """Whether an operation's `data_format` puts channels last."""
    layout = operation.attribute("data_format")
    return layout is None or layout.endswith(b"C")
