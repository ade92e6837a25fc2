"""Values that are known when the graph is built: they follow from constants, and from shapes that
are known in full. Of vectors of sizes a part may be known: there, -1 stands for an unknown size.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..graph import Operation, Shape, shape_text
from ..protocol.tensors import array_of
from ..showing import summary
from .rules import UNKNOWN, ShapeMismatchError, exactly, unknown, with_rank

Array = np.ndarray
Ask = Callable[[], "Array | None"]
Fold = Callable[["Operation", list[Ask], int], "Array | None"]

DEPTH = 64  # how far back is looked
MOST = 256  # elements that a message shows
LARGEST = 1 << 20  # of what is computed, how many elements
FOLDS: dict[str, Fold] = {}
COUNTING = frozenset({"Rank", "Size"})
# What computes an operation's values of arrays, `(operation, *arrays)`, if they are the same each
# time: the table of operations, which is loaded when it's asked for.
COMPUTERS: list[Callable[[Operation], Callable[..., Any] | None]] = []


def known_value(operation: Operation, index: int = 0) -> Array | None:
    """The value of an output; None, if it isn't known."""
    return _Query().value(operation, index, 0)


class _Query:
    """The values that one value follows from."""

    def __init__(self) -> None:
        self._found: dict[Any, Array | None] = {}

    def value(self, operation: Operation, index: int, depth: int) -> Array | None:
        """The value of an output."""
        if operation.type == "Const":
            return constant(operation)
        key = (operation, index)
        if key not in self._found:
            self._found[key] = None  # a loop leads to what isn't known
            if depth < DEPTH:
                self._found[key] = self._followed(operation, index, depth + 1)
        return self._found[key]

    def _followed(self, operation: Operation, index: int, depth: int) -> Array | None:
        asks: list[Ask] = [partial(self.value, *value, depth) for value in operation.inputs]
        if operation.type == "Enter":  # what's computed of it isn't known
            return asks[0]() if depth == 1 and operation.attribute("is_constant") else None
        if operation.type in COUNTING and depth == 1 and asks[0]() is None:
            return None  # as in the original: what's computed of it is known all the same
        if operation.type in FOLDS:
            return FOLDS[operation.type](operation, asks, index)
        for computer in COMPUTERS:
            if (compute := computer(operation)) is not None:
                return _result(compute, operation, asks, index)
        return None


def _result(
    compute: Callable[..., Any], operation: Operation, asks: list[Ask], index: int
) -> Array | None:
    """What follows where all inputs are known."""
    given = []
    for ask in asks:
        value = ask()
        if value is None or value.size > LARGEST:
            return None
        given.append(value)
    try:
        with np.errstate(all="ignore"):
            found = compute(operation, *given)
    except Exception:  # the operation fails when it's run, and says so
        return None
    return np.asarray(found[index] if isinstance(found, list) else found)


def constant(operation: Operation) -> Array:
    """The value of a constant."""
    if operation.value is None:
        operation.value = array_of(operation.attribute("value"))
    value: Array = operation.value
    return value


class _Asked:
    """While a message is made: the values that the shape function of its operation asks for.

    Attributes:
        places: by place of an input, whether it stands for sizes.
        known: the places whose values it's given.
    """

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.places: dict[int, bool] = {}
        self.known: set[int] = set()

    def shown(self) -> str:
        """What the message tells of the values that are given."""
        values, sizes = [], []
        for place in sorted(self.known):
            shape = sizes_at(self.operation, place) if self.places[place] else None
            value = value_at(self.operation, place)
            if shape is not None:
                sizes.append(f"input[{place}] = {shape_text(shape)}")
            elif value is not None:
                values.append(f"input[{place}] = <{summary(value, MOST)}>")
        parts = {
            "computed input tensors": values,
            "input tensors computed as partial shapes": sizes,
        }
        return "".join(
            f" and with {what}: {', '.join(all_)}" for what, all_ in parts.items() if all_
        )


_ASKED: ContextVar[_Asked | None] = ContextVar("asked", default=None)


def first_failure(operation: Operation, fail: Callable[[], Any]) -> tuple[str, str]:
    """How a shape function fails first, and with which values: it begins without any, and goes on
    with those that it asked for, as long as it asks for more.
    """
    asked = _Asked(operation)
    token = _ASKED.set(asked)
    try:
        while True:
            try:
                fail()
            except ShapeMismatchError as error:
                return str(error), asked.shown()
            assert asked.known != {*asked.places}, "it failed before"
            asked.known = {*asked.places}
    finally:
        _ASKED.reset(token)


def _is_hidden(operation: Operation, place: int, are_sizes: bool) -> bool:
    """Whether a shape function isn't given a value yet; that it asks for it is noted."""
    asked = _ASKED.get()
    if asked is None or asked.operation is not operation:
        return False
    asked.places[place] = are_sizes or asked.places.get(place, False)
    return place not in asked.known


def value_at(operation: Operation, place: int) -> Array | None:
    """The known value of an operation's input."""
    if _is_hidden(operation, place, False):
        return None
    source, index = operation.inputs[place]
    return known_value(source, index)


def shape_at(operation: Operation, place: int) -> Shape:
    """The static shape of an operation's input."""
    source, index = operation.inputs[place]
    return source.shapes[index]


def folds(*types: str) -> Callable[[Fold], Fold]:
    """Decorates what tells the known value of some types of operations."""

    def add(fold: Fold) -> Fold:
        for name in " ".join(types).split():
            FOLDS[name] = fold
        return fold

    return add


# Of shapes --------------------------------------------------------------------------------------


folds("Identity StopGradient")(lambda operation, asks, index: asks[0]())
folds("PlaceholderWithDefault")(lambda operation, asks, index: None)  # it may be fed


@folds("Cast")
def _cast(operation: Operation, asks: list[Ask], index: int) -> Array | None:
    found, kind = asks[0](), name_of(operation.types[0])
    return found if found is None or kind == "bfloat16" else found.astype(kind)


def _shape_or_value(operation: Operation, asks: list[Ask], place: int) -> Shape:
    """The shape of an input, which its value tells, too."""
    shape = shape_at(operation, place)
    if shape is not None and UNKNOWN not in shape:
        return shape
    value = asks[place]()
    return shape if value is None else value.shape


@folds("Shape ShapeN")
def _shape(operation: Operation, asks: list[Ask], index: int) -> Array | None:
    shape = _shape_or_value(operation, asks, index)
    if shape is None or UNKNOWN in shape:
        return None
    return np.array(shape, name_of(operation.types[index]))


@folds("Rank")
def _rank(operation: Operation, asks: list[Ask], index: int) -> Array | None:
    shape = _shape_or_value(operation, asks, 0)
    return None if shape is None else np.array(len(shape), np.int32)


@folds("Size")
def _size(operation: Operation, asks: list[Ask], index: int) -> Array | None:
    shape = _shape_or_value(operation, asks, 0)
    if shape is None or UNKNOWN in shape:
        return None
    return np.array(int(np.prod(shape)), name_of(operation.types[0]))


# Of vectors of sizes ----------------------------------------------------------------------------


def sizes_at(operation: Operation, place: int) -> Shape:
    """The sizes that an input holds, as a shape: -1 where one isn't known; None, if none is."""
    if _is_hidden(operation, place, True):
        return _of_rank(shape_at(operation, place))
    source, index = operation.inputs[place]
    return _sizes(source, index, 0)


def shape_value(operation: Operation, place: int) -> Shape:
    """The shape that an input holds, of which no size may be below zero."""
    with_rank(shape_at(operation, place), 1)
    sizes, value = sizes_at(operation, place), value_at(operation, place)
    if value is not None and np.any(value < -1):
        raise ShapeMismatchError(f"Invalid value in tensor used for shape: {int(np.min(value))}")
    return sizes


def size_value(operation: Operation, place: int) -> int:
    """The size that an input holds; -1, if it isn't known."""
    with_rank(shape_at(operation, place), 0)
    found = value_at(operation, place)
    if found is not None and found < 0:
        raise ShapeMismatchError(
            f"Dimension size, given by scalar input {place}, must be non-negative but is {found}"
        )
    return UNKNOWN if found is None else int(found)


def size_values(operation: Operation, place: int, count: int) -> tuple[int, ...]:
    """So many sizes that an input holds; all are -1, if one isn't known."""
    exactly(with_rank(shape_at(operation, place), 1)[0], count)
    value = value_at(operation, place)
    return (UNKNOWN,) * count if value is None else tuple(int(size) for size in value)


def _sizes(operation: Operation, index: int, depth: int) -> Shape:
    kind = operation.type
    found: Shape = None
    if depth > DEPTH:
        return None
    if kind in ("Shape", "ShapeN"):
        return shape_at(operation, index)
    if kind == "Pack" and all(shape_at(operation, at) == () for at in range(len(operation.inputs))):
        values = [value_at(operation, at) for at in range(len(operation.inputs))]
        return tuple(UNKNOWN if value is None else int(value) for value in values)
    if kind == "ConcatV2":
        found = _joined(operation, depth)
    elif kind == "StridedSlice":
        found = _part(operation, depth)
    if found is None:
        value = known_value(operation, index)
        if value is not None and value.ndim == 1:
            return tuple(int(size) for size in value)
        return _of_rank(operation.shapes[index])
    return found


def _of_rank(shape: Shape) -> Shape:
    """What is known of sizes by the shape of what holds them: how many there are."""
    return unknown(shape[0]) if shape and len(shape) == 1 else None


def _joined(operation: Operation, depth: int) -> Shape:
    parts: list[int] = []
    for source, index in operation.inputs[:-1]:
        part = _sizes(source, index, depth + 1)
        if part is None:
            return None
        parts += part
    return tuple(parts)


def _part(operation: Operation, depth: int) -> Shape:
    """A part of sizes: from one place to another, nothing else."""
    bounds = [value_at(operation, place) for place in (1, 2, 3)]
    if any(value is None or np.size(value) != 1 for value in bounds):
        return None
    if any(operation.attribute(f"{n}_mask") for n in ("ellipsis", "new_axis", "shrink_axis")):
        return None
    source, index = operation.inputs[0]
    whole = _sizes(source, index, depth + 1)
    if whole is None:
        return None
    begin, end, step = ([int(np.ravel(value)[0])] for value in bounds if value is not None)
    cut = slices_of(operation, begin, end, step)[0]
    if step[0] < 0 and (cut.start or 0) < (len(whole) if cut.stop is None else cut.stop):
        raise ShapeMismatchError("Subshape must have computed start >= end: stride is negative")
    return tuple(whole[cut])


UNSEEN = "?"  # a bound that isn't known


def slices_of(
    operation: Operation, begin: list[Any], end: list[Any], strides: list[int]
) -> tuple[Any, ...]:
    """A strided slice as Python writes it: slices, numbers, None, an ellipsis."""
    masks = {
        name: operation.attribute(f"{name}_mask")
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if masks["ellipsis"].bit_count() > 1:
        raise ShapeMismatchError("Multiple ellipses in slice spec not allowed")
    found: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << place
        if masks["ellipsis"] & bit:
            found.append(Ellipsis)
        elif masks["new_axis"] & bit:
            found.append(None)
        elif step == 0:
            raise ShapeMismatchError(f"strides[{place}] must be non-zero")
        elif masks["shrink_axis"] & bit:
            found.append(start)  # a number, or UNSEEN
        else:
            first = None if masks["begin"] & bit else start
            last = None if masks["end"] & bit else stop
            found.append(slice(first, last, step))
    return tuple(found)


def reduction_axes(one: list[int], other: list[int]) -> tuple[list[int], list[int]]:
    """Along which axes gradients of a broadcast function are summed, for each operand.

    >>> reduction_axes([2, 1], [3])
    ([1], [0])
    """
    if one == other:
        return [], []
    rank = max(len(one), len(other))
    padded = [[1] * (rank - len(sizes)) + sizes for sizes in (one, other)]
    first, second = ([at for at, size in enumerate(sizes) if size == 1] for sizes in padded)
    return first, second
