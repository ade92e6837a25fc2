"""Lists of tensors, as loops of functions keep what their gradients need. They never change: what
adds to one gives another.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..dtypes import in_numpy
from ..failures import invalid
from ..graph import Shape, shape_text
from ..resources.base import Resource
from ..shapes.rules import ShapeMismatchError, known_sizes, merged
from .optionals import Optional
from .table import host
from .values import Kind, integers, texts

Array = np.ndarray

# What's said of tensors that nothing was set to, where their shape isn't known.
READ = (
    "Trying to read an uninitialized tensor but element_shape is not fully defined: {shape} and no"
    " list element is set."
)
GATHER = (
    "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape:"
    " {shape}"
)
STACK = (
    "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined"
    " element_shape: {shape}"
)
CONCATENATE = (
    "List contains uninitialized tensor at index {at} but leading_dims has only {count} elements."
)


class TensorList(Resource):
    """Tensors of one type.

    Attributes:
        items: the tensors; None where nothing was set.
        dtype: of the tensors.
        shape: what is known of theirs.
        limit: how many there may be; -1: any number.
    """

    def __init__(self, items: list[Any], dtype: str, shape: Shape, limit: int = -1) -> None:
        self.items, self.dtype, self.shape, self.limit = items, dtype, shape, limit

    def with_items(self, items: list[Any]) -> TensorList:
        """A list of such tensors."""
        return TensorList(items, self.dtype, self.shape, self.limit)

    def item(self, at: int, shape: Shape, refusal: str = READ) -> Any:
        """A tensor; zeros where nothing was set: if of unknown shape, it's refused."""
        if not 0 <= at < len(self.items):
            raise invalid(
                f"Trying to access element {at} in a list with {len(self.items)} elements."
            )
        found = self.items[at]
        if found is None:
            return self._zeros(at, shape, refusal)
        if isinstance(found, Resource):
            return found  # a list in a list
        return texts(found) if self.dtype == "string" else np.asarray(found)

    @property
    def rows(self) -> Array | None:
        """All tensors beside each other, if they're numbers of one shape."""
        if not all(isinstance(each, np.ndarray | np.generic) for each in self.items):
            return None
        kinds = {(each.shape, each.dtype) for each in self.items}
        are_alike = len(kinds) == 1 and all(kind.kind in "biuf" for _, kind in kinds)
        return np.stack(self.items) if are_alike else None

    def _zeros(self, at: int, shape: Shape, refusal: str) -> Array:
        known = _merged(shape, self.shape)
        for each in self.items:
            if each is not None and not _is_known(known):
                known = _merged(known, np.shape(each))
        if known is None or not _is_known(known):
            raise invalid(refusal.format(at=at, shape=shape_text(known)))
        return np.zeros(known, in_numpy(self.dtype))

    def stacked(self, shape: Shape, places: list[int] | None = None) -> Array:
        """All tensors, or some, along a new first axis."""
        chosen = range(len(self.items)) if places is None else places
        if not len(chosen):
            known = _merged(shape, self.shape)
            if not _is_known(known):
                raise invalid(
                    "Tried to stack elements of an empty list with non-fully-defined"
                    f" element_shape: {shape_text(known)}"
                )
            return np.zeros((0, *(known or ())), in_numpy(self.dtype))
        refusal = STACK if places is None else GATHER
        return np.stack([self.item(at, shape, refusal) for at in chosen])


def _is_known(shape: Shape) -> bool:
    return shape is not None and -1 not in shape


def _merged(one: Shape, other: Shape) -> Shape:
    try:
        return merged(one, other)
    except ShapeMismatchError:
        raise invalid(
            f"Tried to stack list which only contains uninitialized tensors, or an incompatible"
            f" shape: {shape_text(one)}, not {shape_text(other)}"
        ) from None


def shape_in(value: Any) -> Shape:
    sizes = np.asarray(value)
    return None if sizes.ndim == 0 else known_sizes(sizes)


# Making -----------------------------------------------------------------------------------------


@host("EmptyTensorList")
def _empty(shape: Any, limit: int, *, element_dtype: Kind) -> TensorList:
    return TensorList([], element_dtype, shape_in(shape), limit)


@host("TensorListReserve")
def _reserve(shape: Any, count: int, *, element_dtype: Kind) -> TensorList:
    return TensorList([None] * count, element_dtype, shape_in(shape))


@host("TensorListFromTensor")
def _from_tensor(value: Array, shape: Any, *, element_dtype: Kind) -> TensorList:
    return TensorList(list(value), element_dtype, shape_in(shape))


@host("TensorListScatter TensorListScatterV2")
def _scatter(
    value: Array, at: list[int], shape: Any, count: int = 0, *, element_dtype: Kind
) -> TensorList:
    return _with_parts(
        TensorList([None] * max(count, 0), element_dtype, shape_in(shape)), value, at
    )


@host("TensorListScatterIntoExistingList")
def _with_parts(given: TensorList, value: Array, at: list[int]) -> TensorList:
    items = _resized(given.items, max([len(given.items), *(place + 1 for place in at)]))
    for place, part in zip(at, value, strict=True):
        items[place] = part
    return given.with_items(items)


def _resized(items: list[Any], count: int) -> list[Any]:
    return [*items[:count], *[None] * (count - len(items))]


@host("TensorListSplit")
def _split(value: Array, shape: Any, lengths: Array, *, element_dtype: Kind) -> TensorList:
    parts, end = [], 0
    for start, end in pairwise([0, *np.cumsum(lengths)]):
        if end > len(value):
            about = f"[{start}, {end}] from tensor with length {len(value)}"
            raise invalid(f"Attempting to slice {about}")
        parts.append(value[start:end])
    if end < len(value):
        about = f"Length of tensor: {len(value)} Values used: {end}"
        raise invalid(f"Unused values in tensor. {about}")
    return TensorList(parts, element_dtype, shape_in(shape))


# Adding, taking ---------------------------------------------------------------------------------


@host("TensorListPushBack")
def _push(given: TensorList, value: Any) -> TensorList:
    _merged(given.shape, () if isinstance(value, Resource) else np.shape(value))
    if 0 <= given.limit <= len(given.items):
        raise invalid(
            f"Tried to push item into a full list list size: {len(given.items)}"
            f" max_num_elements: {given.limit}"
        )
    return given.with_items([*given.items, value])


@host("TensorListPopBack")
def _pop(given: TensorList, shape: Any) -> list[Any]:
    if not given.items:
        raise invalid("Trying to pop from an empty list.")
    last = given.item(len(given.items) - 1, shape_in(shape))
    return [given.with_items(given.items[:-1]), last]


@host("TensorListSetItem")
def _set(given: TensorList, place: int, value: Any) -> TensorList:
    if not 0 <= place < len(given.items):
        raise invalid(
            f"Trying to modify element {place} in a list with {len(given.items)} elements."
        )
    items = list(given.items)
    items[place] = value
    return given.with_items(items)


host("TensorListGetItem")(lambda given, at, shape: given.item(int(at), shape_in(shape)))
host("TensorListResize")(lambda given, size: given.with_items(_resized(given.items, int(size))))
_joined = np.frompyfunc(lambda one, other: one.with_items([*one.items, *other.items]), 2, 1)
host("TensorListConcatLists")(lambda one, other: _joined(one, other))


@host("TensorListPushBackBatch")
def _push_batch(lists: Any, values: Array) -> Array:
    found = np.empty(len(lists), object)
    for at, (given, value) in enumerate(zip(lists, values, strict=True)):
        found[at] = given.with_items([*given.items, value])
    return found


# What's in them ---------------------------------------------------------------------------------


host("TensorListLength")(lambda given: np.int32(len(given.items)))
host("TensorListGather")(lambda given, at, shape: given.stacked(shape_in(shape), integers(at)))


@host("TensorListElementShape")
def _element_shape(given: TensorList, *, shape_type: Kind) -> Array:
    return np.array(-1 if given.shape is None else given.shape, shape_type)


@host("TensorListStack")
def _stack(given: TensorList, shape: Any, *, num_elements: int | None) -> Array:
    if num_elements is not None and num_elements not in (-1, len(given.items)):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with"
            f" {len(given.items)} elements."
        )
    return given.stacked(shape_in(shape))


@host("TensorListConcat TensorListConcatV2")
def _concatenate(
    given: TensorList, shape: Any = None, sizes: Any = (), *, element_shape: Any
) -> list[Any]:
    full = element_shape if shape is None else shape_in(shape)
    known = _merged(full[1:] if full else None, given.shape[1:] if given.shape else None)
    lengths = list(np.asarray(sizes, np.int64))
    refusal = CONCATENATE.format(at="{at}", count=len(lengths))
    shapes: list[Shape] = [(int(length), *(known or ())) for length in lengths[: len(given.items)]]
    shapes += [full] * (len(given.items) - len(shapes))
    parts = [given.item(at, each, refusal) for at, each in enumerate(shapes)]
    parts = parts or [np.zeros((0, *(known or ())), in_numpy(given.dtype))]
    counts = [len(part) for part in parts[: len(given.items)]]
    return [np.concatenate(parts), np.array(counts, np.int64)]


# Sums of them -----------------------------------------------------------------------------------


@host("ZerosLike")
def _zeros_of(given: Any) -> Any:
    """Zeros of the shapes of what is given, which may be lists of lists."""
    if isinstance(given, TensorList):
        return given.with_items([each if each is None else _zeros_of(each) for each in given.items])
    if isinstance(given, Optional):
        return Optional(given.values and tuple(map(_zeros_of, given.values)))
    array = np.asarray(given)
    return np.full(array.shape, b"", object) if array.dtype == object else np.zeros_like(array)


@host("AddN")
def _sum_of(*given: Any) -> Any:
    """The sum of arrays, or, each for itself, of what lists hold."""
    first = given[0]
    if isinstance(first, TensorList):
        rows = zip(*(each.items for each in given), strict=True)
        return first.with_items([_sum_of_those_there(row) for row in rows])
    if isinstance(first, Optional):
        there = [each.values for each in given if each.values is not None]
        found = tuple(_sum_of(*parts) for parts in zip(*there, strict=True))
        return Optional(found if there else None)
    return sum(given[1:], start=np.asarray(first))


def _sum_of_those_there(given: Iterable[Any]) -> Any:
    there = [each for each in given if each is not None]
    return _sum_of(*there) if there else None
