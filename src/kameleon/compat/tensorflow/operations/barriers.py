"""Barriers, locks, and tensors that a session keeps, by their operations."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import name_of
from ..failures import failure
from ..resources.barriers import Barrier, Mutex, MutexLock
from ..resources.queues import stacked
from .files import scalar, text
from .keeping import kept
from .table import host
from .values import texts

if TYPE_CHECKING:
    from ..graph import Operation
    from ..resources.waiting import Attempt
    from ..variables import Store

Waits = Generator["Attempt", None, Any]
_numbers = itertools.count()


@host("Barrier")
def _barrier(store: Store, operation: Operation) -> Barrier:
    count = len(operation.attribute("component_types"))
    make = lambda: Barrier(store.waiting, operation.name, count)  # noqa: E731
    return kept(store, operation, "barrier", make)


@host("BarrierInsertMany")
def _insert(
    store: Store, operation: Operation, barrier: Barrier, keys: Any, values: Any
) -> list[Any]:
    rows = list(np.asarray(values))
    barrier.put(operation.attribute("component_index"), list(texts(keys).ravel()), rows)
    return []


@host("BarrierTakeMany")
def _take(store: Store, operation: Operation, barrier: Barrier, count: Any) -> Waits:
    attempt = barrier.take(int(count), operation.attribute("allow_small_batch"))
    yield attempt
    found = attempt.outcome()
    numbers = np.array([number for number, _, _ in found], np.int64)
    keys = stacked([key for _, key, _ in found], "string")
    kinds = map(name_of, operation.attribute("component_types"))
    rows = zip(*(values for _, _, values in found), strict=True)
    return [numbers, keys, *(stacked(row, kind) for row, kind in zip(rows, kinds, strict=True))]


@host("BarrierClose")
def _close(store: Store, operation: Operation, barrier: Barrier) -> list[Any]:
    barrier.close(operation.attribute("cancel_pending_enqueues"))
    return []


@host("BarrierReadySize BarrierIncompleteSize")
def _size(store: Store, operation: Operation, barrier: Barrier) -> np.int32:
    return np.int32(len(barrier.whole if "Ready" in operation.type else barrier.parts))


# Locks ------------------------------------------------------------------------------------------


@host("MutexV2")
def _mutex(store: Store, operation: Operation) -> Mutex:
    return kept(store, operation, "mutex", lambda: Mutex(store.waiting))


@host("MutexLock")
def _lock(store: Store, operation: Operation, mutex: Mutex) -> Waits:
    attempt = mutex.lock()
    yield attempt
    return attempt.outcome()


@host("ConsumeMutexLock")
def _unlock(store: Store, operation: Operation, lock: MutexLock) -> list[Any]:
    lock.release()
    return []


# Tensors that the session keeps -----------------------------------------------------------------


@host("GetSessionHandle GetSessionHandleV2")
def _keep(store: Store, operation: Operation, value: Any) -> np.ndarray:
    name = f"{operation.name};{next(_numbers)};/job:localhost/replica:0/task:0/device:CPU:0"
    store.resources["tensor", name] = value
    return scalar(name)


@host("GetSessionTensor")
def _kept(store: Store, operation: Operation, handle: Any) -> Any:
    if ("tensor", text(handle)) not in store.resources:
        message = f"The tensor with handle '{text(handle)}' is not in the session store."
        raise failure("INVALID_ARGUMENT", message)
    return store.resources["tensor", text(handle)]


@host("DeleteSessionTensor")
def _forget(store: Store, operation: Operation, handle: Any) -> list[Any]:
    store.resources.pop(("tensor", text(handle)), None)
    return []
