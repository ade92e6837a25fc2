"""Queues, by their operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..failures import invalid
from ..graph import Operation, shape_text
from ..resources.philox import Philox
from ..resources.queues import PaddingQueue, PriorityQueue, Queue, RandomQueue
from ..resources.waiting import Attempt
from ..variables import Store
from .keeping import keeps, on_handles
from .table import host

Array = np.ndarray

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


# Putting and taking -----------------------------------------------------------------------------


@host("QueueEnqueue QueueEnqueueV2")
def _enqueue(queue: Queue, *values: Array) -> Attempt:
    for place, (value, shape) in enumerate(zip(values, queue.shapes, strict=False)):
        _demand_shape(place, value.shape, shape)
    return queue.enqueue([values])


@host("QueueEnqueueMany QueueEnqueueManyV2")
def _enqueue_many(queue: Queue, *values: Array) -> Attempt:
    for place, (value, shape) in enumerate(zip(values, queue.shapes, strict=False)):
        _demand_shape(place, value.shape[1:], shape)
        if len(value) != len(values[0]):
            raise invalid(
                "All input tensors must have the same size in the 0th dimension. Component"
                f" {place} has {len(value)}, and should have {len(values[0])}"
            )
    return queue.enqueue([*zip(*values, strict=True)])


def _demand_shape(place: int, found: tuple[int, ...], declared: tuple[int, ...] | None) -> None:
    if declared is None or (len(found) == len(declared) and all(
        b in (-1, a) for a, b in zip(found, declared, strict=True)
    )):  # fmt: skip
        return
    shapes = f"Expected {shape_text(declared)}, got {shape_text(found)}"
    raise invalid(f"Shape mismatch in tuple component {place}. {shapes}")


@host("QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2")
def _dequeue_many(operation: Operation, queue: Queue, count: int) -> Attempt:
    if count < 0:
        raise invalid(f"DequeueManyOp requested {count} < 0 elements")
    if not queue.shapes or not all(_is_batched(queue, shape) for shape in queue.shapes):
        raise invalid(
            f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified"
            " shapes."
        )
    return queue.dequeue(count, "UpTo" in operation.type).giving(queue.joined)


def _is_batched(queue: Queue, shape: Any) -> bool:
    return shape is not None and (isinstance(queue, PaddingQueue) or -1 not in shape)


# The queue itself -------------------------------------------------------------------------------


on_handles({
    "QueueDequeue QueueDequeueV2":
        lambda queue: queue.dequeue(1).giving(lambda elements: list(elements[0])),
    "QueueClose QueueCloseV2":
        lambda queue, *, cancel_pending_enqueues: queue.close(cancel_pending_enqueues),
    "QueueSize QueueSizeV2": lambda queue: np.int32(len(queue)),
    "QueueIsClosed QueueIsClosedV2": lambda queue: np.bool_(queue.closed),
})  # fmt: skip
