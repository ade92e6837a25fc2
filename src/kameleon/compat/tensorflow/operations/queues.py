"""Queues, by their operations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..failures import invalid
from ..graph import Operation
from ..resources.philox import Philox
from ..resources.queues import PaddingQueue, PriorityQueue, Queue, RandomQueue
from ..resources.waiting import Attempt
from ..variables import Store
from .keeping import keeps, on_handles
from .table import host

_numbers = itertools.count()
KINDS: dict[str, type[Queue]] = {
    "FIFOQueue": Queue,
    "PaddingFIFOQueue": PaddingQueue,
    "RandomShuffleQueue": RandomQueue,
    "PriorityQueue": PriorityQueue,
}


@keeps("queue", *KINDS, *(f"{kind}V2" for kind in KINDS))
def _queue(store: Store, operation: Operation) -> Queue:
    kind = operation.type.removesuffix("V2")
    dtypes = [name_of(number) for number in operation.attribute("component_types")]
    shapes = operation.attribute("shapes")
    if kind == "PriorityQueue":
        dtypes, shapes = ["int64", *dtypes], [(), *shapes]
    shared = operation.attribute("shared_name").decode()
    name = shared or f"_{next(_numbers)}_{operation.name}"
    arguments = (store.waiting, kind, name, operation.attribute("capacity"), shapes, dtypes)
    if kind != "RandomShuffleQueue":
        return KINDS[kind](*arguments)
    numbers = Philox(operation.attribute("seed"), operation.attribute("seed2"))
    return RandomQueue(operation.attribute("min_after_dequeue"), numbers, *arguments)


def _both(name: str) -> Callable[..., Any]:
    """Decorates what both versions of a type do."""
    return host(name, f"{name}V2")


# Putting and taking -----------------------------------------------------------------------------


@_both("QueueEnqueue")
def _enqueue(store: Store, operation: Operation, queue: Queue, *values: Any) -> Attempt:
    element = tuple(map(_array, values))
    for place, (value, shape) in enumerate(zip(element, queue.shapes, strict=False)):
        _demand_shape(place, value.shape, shape)
    return queue.enqueue([element])


@_both("QueueEnqueueMany")
def _enqueue_many(store: Store, operation: Operation, queue: Queue, *values: Any) -> Attempt:
    arrays = [*map(_array, values)]
    for place, (value, shape) in enumerate(zip(arrays, queue.shapes, strict=False)):
        _demand_shape(place, value.shape[1:], shape)
        if len(value) != len(arrays[0]):
            raise invalid(
                "All input tensors must have the same size in the 0th dimension. Component"
                f" {place} has {len(value)}, and should have {len(arrays[0])}"
            )
    return queue.enqueue([*zip(*arrays, strict=True)])


def _array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def _demand_shape(place: int, found: tuple[int, ...], told: tuple[int, ...] | None) -> None:
    if told is None or (len(found) == len(told) and all(
        b in (-1, a) for a, b in zip(found, told, strict=True)
    )):  # fmt: skip
        return
    shown = ["[" + ",".join("?" if n < 0 else str(n) for n in each) + "]" for each in (told, found)]
    raise invalid(f"Shape mismatch in tuple component {place}. Expected {shown[0]}, got {shown[1]}")


@_both("QueueDequeue")
def _dequeue(store: Store, operation: Operation, queue: Queue) -> Attempt:
    return queue.dequeue(1).giving(lambda elements: list(elements[0]))


@host("QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2")
def _dequeue_many(store: Store, operation: Operation, queue: Queue, count: Any) -> Attempt:
    number = int(count)
    if number < 0:
        raise invalid(f"DequeueManyOp requested {number} < 0 elements")
    if not queue.shapes or not all(_is_batched(queue, shape) for shape in queue.shapes):
        raise invalid(
            f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified"
            " shapes."
        )
    return queue.dequeue(number, "UpTo" in operation.type).giving(queue.joined)


def _is_batched(queue: Queue, shape: Any) -> bool:
    return shape is not None and (isinstance(queue, PaddingQueue) or -1 not in shape)


# The queue itself -------------------------------------------------------------------------------


@_both("QueueClose")
def _close(store: Store, operation: Operation, queue: Queue) -> Attempt:
    return queue.close(operation.attribute("cancel_pending_enqueues"))


on_handles({
    "QueueSize QueueSizeV2": lambda queue: np.int32(len(queue)),
    "QueueIsClosed QueueIsClosedV2": lambda queue: np.bool_(queue.closed),
})  # fmt: skip
