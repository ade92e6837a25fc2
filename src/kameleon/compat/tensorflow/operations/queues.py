"""Queues, by their operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import NUMBERS, name_of, shown
from ..failures import invalid
from ..graph import Operation, shape_text
from ..resources.philox import Philox
from ..resources.queues import PaddingQueue, PriorityQueue, Queue, RandomQueue, demand_shape
from ..resources.waiting import Attempt
from ..variables import Store
from .keeping import keeps, named, on_handles
from .table import host

Array = np.ndarray

KINDS: dict[str, type[Queue]] = {
    "FIFOQueue": Queue,
    "PaddingFIFOQueue": PaddingQueue,
    "RandomShuffleQueue": RandomQueue,
    "PriorityQueue": PriorityQueue,
}


def _components(operation: Operation) -> tuple[list[Any], list[str]]:
    """The shapes and the types of what an operation's queue holds."""
    dtypes = [name_of(number) for number in operation.attribute("component_types")]
    shapes = list(operation.attribute("shapes"))
    if operation.type.startswith("PriorityQueue"):
        return [(), *shapes], ["int64", *dtypes]
    return shapes, dtypes


def _declared(operation: Operation) -> dict[str, str]:
    """What queues of one name must have alike, as messages show it."""
    shapes, dtypes = _components(operation)
    found = {
        "capacity": str(max(operation.attribute("capacity"), -1)),
        "component types": ", ".join(shown(NUMBERS[dtype]) for dtype in dtypes),
    }
    if not operation.type.startswith("Padding"):  # whose shapes may be told more or less exactly
        found["component shapes"] = f"[{', '.join(map(shape_text, shapes))}]"
    if operation.type.startswith("RandomShuffle"):
        found["min_after_dequeue"] = str(operation.attribute("min_after_dequeue"))
        seeds = operation.attribute("seed"), operation.attribute("seed2")
        found |= {"random seeds": str(seeds)} if any(seeds) else {}
    return found


_REQUESTED = {
    "capacity": "requested capacity was {}",
    "component types": "requested component types were {}",
    "component shapes": "requested component shapes were {}",
    "min_after_dequeue": "requested min_after_dequeue was {}.",
    "random seeds": "requested seeds are {}.",
}


def _demand_same(queue: Queue, operation: Operation) -> None:
    """Refuse what declares a queue otherwise than another operation did under its name."""
    if operation.type.removesuffix("V2") != queue.kind:
        raise invalid(f"Expected {queue.kind}, found {operation.type}")
    for what, wanted in _declared(operation).items():
        held = queue.declared.get(what, wanted)
        if held != wanted:
            requested = _REQUESTED[what].format(wanted)
            raise invalid(f"Shared queue '{queue.name}' has {what} {held} but {requested}")


@keeps("queue", *KINDS, *(f"{kind}V2" for kind in KINDS), check=_demand_same)
def _queue(store: Store, operation: Operation) -> Queue:
    kind, name = operation.type.removesuffix("V2"), named(operation)
    capacity, declared = operation.attribute("capacity"), _declared(operation)
    arguments = (store.waiting, kind, name, capacity, *_components(operation), declared)
    if kind != "RandomShuffleQueue":
        return KINDS[kind](*arguments)
    numbers = Philox(operation.attribute("seed"), operation.attribute("seed2"))
    return RandomQueue(operation.attribute("min_after_dequeue"), numbers, *arguments)


# Putting and taking -----------------------------------------------------------------------------


@host("QueueEnqueue QueueEnqueueV2")
def _enqueue(queue: Queue, *values: Array) -> Attempt:
    for place, (value, shape) in enumerate(zip(values, queue.shapes, strict=False)):
        demand_shape(place, value.shape, shape)
    return queue.enqueue([values])


@host("QueueEnqueueMany QueueEnqueueManyV2")
def _enqueue_many(queue: Queue, *values: Array) -> Attempt:
    count = (*values[0].shape, 0)[0]
    for place, (value, shape) in enumerate(zip(values, queue.shapes, strict=False)):
        demand_shape(place, value.shape, None if shape is None else (count, *shape))
    for place, value in enumerate(values):
        if value.shape[:1] != (count,):
            raise invalid(
                "All input tensors must have the same size in the 0th dimension. Component"
                f" {place} has {(*value.shape, 0)[0]}, and should have {count}"
            )
    return queue.enqueue([*zip(*values, strict=True)])


@host("QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2")
def _dequeue_many(operation: Operation, queue: Queue, count: int) -> Attempt:
    is_up_to = "UpTo" in operation.type
    if count < 0:
        raise invalid(f"Dequeue{'UpTo' if is_up_to else 'Many'}Op requested {count} < 0 elements")
    if not queue.shapes or not all(_is_batched(queue, shape) for shape in queue.shapes):
        raise invalid(
            f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified"
            " shapes."
        )
    return queue.dequeue(count, is_up_to).giving(queue.joined)


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
