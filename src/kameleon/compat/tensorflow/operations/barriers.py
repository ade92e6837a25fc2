"""Barriers, locks, and tensors that a session keeps, by their operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..failures import invalid
from ..graph import Operation
from ..resources.barriers import Barrier, Mutex, MutexLock
from ..resources.queues import stacked
from ..resources.waiting import Attempt
from ..variables import Store
from .files import scalar, text
from .keeping import keeps, on_handles
from .table import host
from .values import texts

_numbers = itertools.count()


@keeps("barrier", "Barrier")
def _barrier(store: Store, operation: Operation) -> Barrier:
    return Barrier(store.waiting, operation.name, len(operation.attribute("component_types")))


@host("BarrierInsertMany")
def _insert(
    store: Store, operation: Operation, barrier: Barrier, keys: Any, values: Any
) -> list[Any]:
    rows = list(np.asarray(values))
    barrier.put(operation.attribute("component_index"), list(texts(keys).ravel()), rows)
    return []


@host("BarrierTakeMany")
def _take(store: Store, operation: Operation, barrier: Barrier, count: Any) -> Attempt:
    def columns(found: list[Any]) -> list[np.ndarray]:
        numbers = np.array([number for number, _, _ in found], np.int64)
        keys = stacked([key for _, key, _ in found], "string")
        kinds = map(name_of, operation.attribute("component_types"))
        rows = zip(*(values for _, _, values in found), strict=True)
        return [numbers, keys, *(stacked(row, kind) for row, kind in zip(rows, kinds, strict=True))]

    return barrier.take(int(count), operation.attribute("allow_small_batch")).giving(columns)


@host("BarrierClose")
def _close(store: Store, operation: Operation, barrier: Barrier) -> list[Any]:
    barrier.close(operation.attribute("cancel_pending_enqueues"))
    return []


@host("BarrierReadySize BarrierIncompleteSize")
def _size(store: Store, operation: Operation, barrier: Barrier) -> np.int32:
    return np.int32(len(barrier.whole if "Ready" in operation.type else barrier.parts))


# Locks ------------------------------------------------------------------------------------------


@keeps("mutex", "MutexV2")
def _mutex(store: Store, operation: Operation) -> Mutex:
    return Mutex(store.waiting)


on_handles({"MutexLock": Mutex.lock, "ConsumeMutexLock": MutexLock.release})


# Tensors that the session keeps -----------------------------------------------------------------


@host("GetSessionHandle GetSessionHandleV2")
def _keep(store: Store, operation: Operation, value: Any) -> np.ndarray:
    name = f"{operation.name};{next(_numbers)};/job:localhost/replica:0/task:0/device:CPU:0"
    store.resources["tensor", name] = value
    return scalar(name)


@host("GetSessionTensor")
def _kept(store: Store, operation: Operation, handle: Any) -> Any:
    if ("tensor", text(handle)) not in store.resources:
        raise invalid(f"The tensor with handle '{text(handle)}' is not in the session store.")
    return store.resources["tensor", text(handle)]


@host("DeleteSessionTensor")
def _forget(store: Store, operation: Operation, handle: Any) -> list[Any]:
    store.resources.pop(("tensor", text(handle)), None)
    return []
