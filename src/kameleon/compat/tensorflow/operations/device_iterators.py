"""Iterators whose elements are dealt out to devices, by their operations."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from kameleon._utils.locks import rlock

from ..failures import failure, invalid
from ..graph import Operation
from ..resources.base import Resource
from ..variables import Store
from .datasets.base import Dataset, Element
from .iterators import Iterator, demand_types
from .keeping import keeps, on_handles
from .table import host
from .values import scalar, text


class DeviceIterator(Iterator):
    """A place in a dataset, whose elements go to one shard after the other.

    Attributes:
        incarnation: how many times it began.
    """

    def __init__(self, types: list[int], shards: int) -> None:
        super().__init__(types)
        self.incarnation = 0
        self._waiting: list[deque[Element]] = [deque() for _ in range(shards)]
        self._turn, self._dealing = 0, rlock()

    def begin(self, dataset: Dataset) -> None:
        """From now on, deal out the elements of a dataset."""
        with self._dealing:
            super().begin(dataset)
            self.incarnation, self._turn = self.incarnation + 1, 0
            for each in self._waiting:
                each.clear()

    def next_of(self, shard: int, incarnation: int) -> Element | None:
        """The next element of a shard; None at the end."""
        with self._dealing:
            if incarnation != self.incarnation:
                raise invalid(f"Invalid incarnation id: {incarnation}, not {self.incarnation}")
            while not self._waiting[shard]:
                found = self.next()
                if found is None:
                    return None
                self._waiting[self._turn].append(found)
                self._turn = (self._turn + 1) % len(self._waiting)
            return self._waiting[shard].popleft()


@keeps("device iterators", "MultiDeviceIterator")
def _made(store: Store, operation: Operation) -> DeviceIterator:
    shards = len(operation.attribute("devices"))
    iterator = DeviceIterator(operation.attribute("output_types"), shards)
    store.resources["iterator", iterator.handle] = iterator
    return iterator


@host("AnonymousMultiDeviceIterator")
def _anonymous(store: Store, operation: Operation) -> list[Any]:
    return [_made(store, operation), Resource()]


@host("DeleteMultiDeviceIterator")
def _delete(
    store: Store, operation: Operation, iterator: DeviceIterator, iterators: Any, deleter: Any
) -> list[Any]:
    store.resources.pop(("iterator", iterator.handle), None)
    return []


@host("MultiDeviceIteratorFromStringHandle")
def _of_handle(store: Store, operation: Operation, handle: Any) -> DeviceIterator:
    found = store.resources.get(("iterator", text(handle)))
    if not isinstance(found, DeviceIterator):
        raise invalid(f"{text(handle)!r} is no handle of an iterator over several devices")
    demand_types(operation.attribute("output_types"), found.types)
    return found


@host("MultiDeviceIteratorGetNextFromShard")
def _next(iterator: DeviceIterator, shard: int, incarnation: int) -> list[Any]:
    found = iterator.next_of(shard, incarnation)
    if found is None:
        raise failure("OUT_OF_RANGE", "End of sequence")
    return list(found)


def _begun(dataset: Dataset, iterator: DeviceIterator, room: Any) -> Any:
    iterator.begin(dataset)
    return np.int64(iterator.incarnation)


on_handles({
    "MultiDeviceIteratorInit": _begun,
    "MultiDeviceIteratorToStringHandle": lambda iterator: scalar(iterator.handle),
})  # fmt: skip
