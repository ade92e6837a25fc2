"""Iterators over datasets, by their operations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from kameleon._utils.locks import rlock

from ..dtypes import shown
from ..failures import failure, invalid
from ..graph import DEVICE, Operation, Shape, shape_text
from ..resources.base import Resource
from ..shapes.rules import may_be_same
from ..variables import Store
from .datasets.base import Dataset, Element
from .drawing import iterating
from .keeping import keeps, on_handles
from .optionals import Optional
from .table import host
from .values import scalar

_numbers = itertools.count()
T = TypeVar("T", bound="Iterator")


class Iterator(Resource):
    """A place in a dataset, once it has one.

    Attributes:
        handle: the text that stands for it.
        types: the numbers of the types of an element's parts; empty, if they may be any.
        shapes: of the parts, as far as they're known.
        place: how many elements it gave.
    """

    def __init__(self, types: list[int], shapes: Sequence[Shape] = ()) -> None:
        self.handle, self.types = f"iterator {next(_numbers)}", types
        self.shapes = shapes
        self._dataset: Dataset | None = None
        self._following: Any = None
        self.place, self._lock = 0, rlock()

    def begin(self, dataset: Dataset) -> None:
        """From now on, give the elements of a dataset."""
        demand_types(self.types, dataset.types)
        with self._lock:
            self._dataset, self.place, self._drawn = dataset, 0, dict[Any, Any]()
            with iterating(self._drawn):
                self._following = iter(dataset)

    def next(self) -> Element | None:
        """The next element; None at the end."""
        with self._lock:
            if self._following is None:
                message = (
                    "GetNext() failed because the iterator has not been initialized. Ensure that"
                    " you have run the initializer operation for this iterator before getting the"
                    " next element."
                )
                raise failure("FAILED_PRECONDITION", message)
            with iterating(self._drawn):
                found: Element | None = next(self._following, None)
            self.place += found is not None
            return found

    def go_to(self, place: int) -> None:
        """Leave elements out, up to a place; begin anew, if that is before this one."""
        with self._lock:
            if self._dataset is not None and place < self.place:
                self.begin(self._dataset)
            for _ in range(place - self.place):
                self.next()


def demand_types(wanted: list[int], found: list[int]) -> None:
    """Refuse elements of other types."""
    if wanted and len(wanted) != len(found):
        message = f"Number of components does not match: expected {len(wanted)} types but got"
        raise invalid(f"{message} {len(found)}.")
    for place, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if one != other:
            message = f"Data type mismatch at component {place}: expected {shown(one)} but got"
            raise invalid(f"{message} {shown(other)}.")


def demand_shapes(wanted: Sequence[Shape], found: Sequence[Shape]) -> None:
    """Refuse elements of other shapes."""
    for place, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if not may_be_same(one, other):
            message = f"Incompatible shapes at component {place}: expected {shape_text(one)}"
            raise invalid(f"{message} but got {shape_text(other)}.")


@keeps("iterators", "Iterator IteratorV2")
@host("AnonymousIterator")
def _made(store: Store, operation: Operation) -> Iterator:
    types, shapes = map(operation.attribute, ("output_types", "output_shapes"))
    return found_by_handle(store, Iterator(types or [], shapes or []))


def found_by_handle(store: Store, iterator: T) -> T:
    """An iterator that its handle finds from now on."""
    store.resources["iterator", iterator.handle] = iterator
    return iterator


host("AnonymousIteratorV2")(lambda store, operation: [_made(store, operation), Resource()])


@host("DeleteIterator DeleteMultiDeviceIterator")
def _delete(store: Store, iterator: Iterator, *others: Any) -> None:
    store.resources.pop(("iterator", iterator.handle), None)


@keeps("iterators", "OneShotIterator")
def _one_shot(store: Store, operation: Operation) -> Iterator:
    iterator, factory = _made(store, operation), operation.attribute("dataset_factory")
    [dataset] = store.function(operation.graph, factory.name, factory.attr)([])
    iterator.begin(dataset)
    return iterator


def parts_of(found: Element | None) -> list[Any]:
    """The parts of an element; an error at the end."""
    if found is None:
        raise failure("OUT_OF_RANGE", "End of sequence")
    return list(found)


@host("IteratorFromStringHandle IteratorFromStringHandleV2")
def _of_handle(
    store: Store,
    handle: str,
    *,
    output_types: list[int] | None,
    output_shapes: list[Shape] | None,
) -> Iterator:
    found: Iterator | None = store.resources.get(("iterator", handle))
    if found is None:
        raise invalid("Could not parse string_handle as a valid ResourceHandle")
    demand_types(output_types or [], found.types)
    demand_shapes(output_shapes or [], found.shapes)
    return found


on_handles({
    "MakeIterator": lambda dataset, iterator: iterator.begin(dataset),
    "IteratorGetNext IteratorGetNextSync": lambda iterator: parts_of(iterator.next()),
    "IteratorGetNextAsOptional": lambda iterator: Optional(iterator.next()),
    "IteratorToStringHandle MultiDeviceIteratorToStringHandle":
        lambda iterator: scalar(iterator.handle),
    "IteratorGetDevice ExperimentalIteratorGetDevice": lambda iterator: scalar(DEVICE),
    "SerializeIterator": lambda iterator: np.array([iterator.place], np.int64),
    "DeserializeIterator": lambda iterator, place: iterator.go_to(int(np.ravel(place)[0])),
})  # fmt: skip
