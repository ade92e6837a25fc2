"""Iterators over datasets, by their operations."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon._utils.locks import rlock

from ..dtypes import shown
from ..failures import failure
from ..resources.base import Resource
from .files import scalar, text
from .keeping import kept
from .optionals import Optional
from .table import host

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store
    from .datasets.base import Dataset, Element

_numbers = itertools.count()


class Iterator(Resource):
    """A place in a dataset, once it has one.

    Attributes:
        handle: the text that stands for it.
        types: the numbers of the types of an element's parts; empty, if they may be any.
    """

    def __init__(self, types: list[int]) -> None:
        self.handle, self.types = f"iterator {next(_numbers)}", types
        self._dataset: Dataset | None = None
        self._following: Any = None
        self._done, self._lock = 0, rlock()

    def begin(self, dataset: Dataset) -> None:
        """From now on, give the elements of a dataset."""
        demand_types(self.types, dataset.types)
        with self._lock:
            self._dataset, self._following, self._done = dataset, iter(dataset), 0

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
            found: Element | None = next(self._following, None)
            self._done += found is not None
            return found

    @property
    def place(self) -> int:
        """How many elements it gave."""
        return self._done

    def go_to(self, place: int) -> None:
        """Begin anew, and leave so many elements out."""
        with self._lock:
            if self._dataset is not None:
                self.begin(self._dataset)
            for _ in range(place):
                self.next()


def demand_types(wanted: list[int], found: list[int]) -> None:
    """Refuse elements of other types."""
    if wanted and len(wanted) != len(found):
        message = f"Number of components does not match: expected {len(wanted)} types but got"
        raise failure("INVALID_ARGUMENT", f"{message} {len(found)}.")
    for place, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if one != other:
            message = f"Data type mismatch at component {place}: expected {shown(one)} but got"
            raise failure("INVALID_ARGUMENT", f"{message} {shown(other)}.")


def _made(store: Store, operation: Operation) -> Iterator:
    iterator = Iterator(operation.attribute("output_types") or [])
    store.resources["iterator", iterator.handle] = iterator
    return iterator


@host("Iterator IteratorV2")
def _iterator(store: Store, operation: Operation) -> Iterator:
    return kept(store, operation, "iterators", lambda: _made(store, operation))


@host("AnonymousIterator")
def _anonymous(store: Store, operation: Operation) -> Iterator:
    return _made(store, operation)


@host("AnonymousIteratorV2")
def _anonymous_with_deleter(store: Store, operation: Operation) -> list[Any]:
    return [_made(store, operation), Resource()]


@host("DeleteIterator")
def _delete(store: Store, operation: Operation, iterator: Iterator, deleter: Any) -> list[Any]:
    store.resources.pop(("iterator", iterator.handle), None)
    return []


@host("OneShotIterator")
def _one_shot(store: Store, operation: Operation) -> Iterator:
    def make() -> Iterator:
        iterator, told = _made(store, operation), operation.attribute("dataset_factory")
        [dataset] = store.call(store, operation.graph, told.name, [], told.attr)
        iterator.begin(dataset)
        return iterator

    return kept(store, operation, "iterators", make)


@host("MakeIterator")
def _begin(store: Store, operation: Operation, dataset: Dataset, iterator: Iterator) -> list[Any]:
    iterator.begin(dataset)
    return []


@host("IteratorGetNext IteratorGetNextSync")
def _next(store: Store, operation: Operation, iterator: Iterator) -> list[Any]:
    found = iterator.next()
    if found is None:
        raise failure("OUT_OF_RANGE", "End of sequence")
    return list(found)


@host("IteratorGetNextAsOptional")
def _next_or_none(store: Store, operation: Operation, iterator: Iterator) -> Optional:
    return Optional(iterator.next())


@host("IteratorToStringHandle")
def _handle(store: Store, operation: Operation, iterator: Iterator) -> np.ndarray:
    return scalar(iterator.handle)


@host("IteratorFromStringHandle IteratorFromStringHandleV2")
def _of_handle(store: Store, operation: Operation, handle: Any) -> Iterator:
    found: Iterator | None = store.resources.get(("iterator", text(handle)))
    if found is None:
        message = f"{text(handle)!r} is no handle of an iterator"
        raise failure("INVALID_ARGUMENT", message)
    demand_types(operation.attribute("output_types") or [], found.types)
    return found


@host("SerializeIterator")
def _serialize(store: Store, operation: Operation, iterator: Iterator) -> np.ndarray:
    return np.array([iterator.place], np.int64)


@host("DeserializeIterator")
def _deserialize(store: Store, operation: Operation, iterator: Iterator, told: Any) -> list[Any]:
    iterator.go_to(int(np.ravel(told)[0]))
    return []


@host("IteratorGetDevice ExperimentalIteratorGetDevice")
def _device(store: Store, operation: Operation, iterator: Iterator) -> np.ndarray:
    return scalar("/job:localhost/replica:0/task:0/device:CPU:0")
