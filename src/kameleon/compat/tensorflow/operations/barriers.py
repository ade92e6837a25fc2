"""Barriers, locks, and tensors that a session keeps, by their operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..failures import invalid
from ..graph import DEVICE, Operation
from ..resources.barriers import Barrier, Mutex, MutexLock
from ..resources.queues import stacked
from ..resources.waiting import Attempt
from ..variables import Store
from .keeping import keeps, named, on_handles
from .table import host
from .values import scalar, texts

Array = np.ndarray

_numbers = itertools.count()


@keeps("barrier", "Barrier")
def _barrier(store: Store, operation: Operation) -> Barrier:
    count = len(operation.attribute("component_types"))
    shapes = operation.attribute("shapes") or [None] * count
    return Barrier(store.waiting, named(operation), shapes)


@host("BarrierTakeMany")
def _take(
    barrier: Barrier, count: int, *, component_types: list[int], allow_small_batch: bool
) -> Attempt:
    def columns(found: list[Any]) -> list[np.ndarray]:
        numbers = np.array([number for number, _, _ in found], np.int64)
        keys = stacked([key for _, key, _ in found], "string")
        kinds = map(name_of, component_types)
        rows = zip(*(values for _, _, values in found), strict=True)
        return [numbers, keys, *(stacked(row, kind) for row, kind in zip(rows, kinds, strict=True))]

    return barrier.take(count, allow_small_batch).giving(columns)


on_handles({
    "BarrierInsertMany":
        lambda barrier, keys, values, *, component_index:
            barrier.put(component_index, list(texts(keys).ravel()), list(values)),
    "BarrierClose":
        lambda barrier, *, cancel_pending_enqueues: barrier.close(cancel_pending_enqueues),
    "BarrierReadySize": lambda barrier: np.int32(len(barrier.whole)),
    "BarrierIncompleteSize": lambda barrier: np.int32(len(barrier.parts)),
})  # fmt: skip


# Locks ------------------------------------------------------------------------------------------


keeps("mutex", "MutexV2")(lambda store, operation: Mutex(store.waiting))
on_handles({"MutexLock": Mutex.lock, "ConsumeMutexLock": MutexLock.release})


# Tensors that the session keeps -----------------------------------------------------------------


@host("GetSessionHandle GetSessionHandleV2")
def _keep(store: Store, operation: Operation, value: Any) -> Array:
    name = f"{operation.name};{next(_numbers)};{DEVICE}"
    store.resources["tensor", name] = value
    return scalar(name)


@host("GetSessionTensor")
def _kept(store: Store, handle: str) -> Any:
    if ("tensor", handle) not in store.resources:
        raise invalid(f"The tensor with handle '{handle}' is not in the session store.")
    return store.resources["tensor", handle]


@host("DeleteSessionTensor")
def _forget(store: Store, handle: str) -> None:
    store.resources.pop(("tensor", handle), None)
