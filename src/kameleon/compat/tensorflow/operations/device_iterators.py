"""Iterators whose elements are dealt out to devices, by their operations."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from kameleon._utils.locks import rlock

from ..failures import invalid
from ..graph import Operation
from ..resources.base import Resource
from ..variables import Store
from .datasets.base import Dataset, Element
from .iterators import Iterator, demand_types, found_by_handle, parts_of
from .keeping import keeps, on_handles
from .table import host


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
    return found_by_handle(store, DeviceIterator(operation.attribute("output_types"), shards))


host("AnonymousMultiDeviceIterator")(lambda store, made: [_made(store, made), Resource()])


@host("MultiDeviceIteratorFromStringHandle")
def _of_handle(store: Store, handle: str, *, output_types: list[int]) -> DeviceIterator:
    found = store.resources.get(("iterator", handle))
    if not isinstance(found, DeviceIterator):
        raise invalid(f"{handle!r} is no handle of an iterator over several devices")
    demand_types(output_types, found.types)
    return found


def _begun(dataset: Dataset, iterator: DeviceIterator, room: Any) -> Any:
    iterator.begin(dataset)
    return np.int64(iterator.incarnation)


on_handles({
    "MultiDeviceIteratorInit": _begun,
    "MultiDeviceIteratorGetNextFromShard":
        lambda iterator, *which: parts_of(iterator.next_of(*map(int, which))),
})  # fmt: skip
