"""Queues of TensorFlow 1: elements that some threads put in and others take out.

A queue lives beside the graph. What a session takes is drawn before the graph runs, and what it
puts in is put after it ran: so nothing of the graph is held while a thread waits for room, or for
an element.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._locks import condition
from ..backend._supplies import Supply
from ..backend._tensors import as_tensor
from ..errors import ArgumentError
from ..ir.context import context, unique_name
from ..ir.node import Node
from ..ir.types import DType, TensorType, as_dtype
from .failures import ERRORS
from .graph import effect, remember
from .operations import Operation
from .shapes import TensorShape

Element = tuple[np.ndarray[Any, Any], ...]
_numbers = itertools.count()


# In which order elements come out -----------------------------------------------------------------


class InOrder:
    """The first one in is the first one out."""

    def __init__(self) -> None:
        self.elements: deque[Element] = deque()

    def put(self, element: Element) -> None:
        self.elements.append(element)

    def take(self) -> Element:
        return self.elements.popleft()


class AtRandom:
    """Any one comes out next."""

    def __init__(self, seed: int | None) -> None:
        self.elements: list[Element] = []
        self.generator = np.random.default_rng(seed)

    def put(self, element: Element) -> None:
        self.elements.append(element)

    def take(self) -> Element:
        at = int(self.generator.integers(len(self.elements)))
        self.elements[at], self.elements[-1] = self.elements[-1], self.elements[at]
        return self.elements.pop()


class BySize:
    """The one with the smallest first part comes out next; equal ones, as they came in."""

    def __init__(self) -> None:
        self.elements: list[tuple[int, int, Element]] = []
        self.number = itertools.count()

    def put(self, element: Element) -> None:
        heapq.heappush(self.elements, (int(element[0]), next(self.number), element))

    def take(self) -> Element:
        return heapq.heappop(self.elements)[-1]


class Store:
    """What a queue holds. Threads wait in `put` for room, and in `take` for elements.

    Args:
        title: of the queue, in messages.
        capacity: how many elements it holds; any number, if that's less than 1.
        order: what comes out next.
        kept: how many elements stay in, as long as it's open.
    """

    def __init__(self, title: str, capacity: int, order: Any, kept: int = 0):
        self.title, self.capacity, self.order, self.kept = title, capacity, order, kept
        self.is_closed = self.is_cancelled = False
        self._changed = condition()
        self._wanted = self._waiting = 0  # elements that a thread wants at once; threads in `put`

    def __len__(self) -> int:
        return len(self.order.elements)

    def put(self, elements: Sequence[Element]) -> None:
        """Put elements in, one after the other.

        Raises:
            CancelledError: the queue is closed.
        """
        with self._changed:
            if self.is_closed:
                self._refuse()
            self._waiting += 1
            try:
                for element in elements:
                    self._changed.wait_for(lambda: self.is_cancelled or self._has_room())
                    if self.is_cancelled:
                        self._refuse()
                    self.order.put(element)
                    self._changed.notify_all()
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def take(self, count: int, or_fewer: bool = False) -> list[Element]:
        """Take elements out.

        Raises:
            OutOfRangeError: the queue is closed, and hasn't got so many; they stay in it.
        """
        with self._changed:
            self._wanted = max(self._wanted, count)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._available() >= count or self._is_ended())
            self._wanted = 0
            if len(self) < count and not (or_fewer and len(self)):
                raise ERRORS["OutOfRangeError"](
                    None, None,
                    f"{self.title} is closed and has insufficient elements (requested {count},"
                    f" current size {len(self)})",
                )  # fmt: skip
            found = [self.order.take() for _ in range(min(count, len(self)))]
            self._changed.notify_all()
            return found

    def close(self, cancel: bool = False) -> None:
        """Let nobody put more in; with `cancel`, nor those who wait for room."""
        with self._changed:
            self.is_closed, self.is_cancelled = True, self.is_cancelled or cancel
            self._changed.notify_all()

    def _has_room(self) -> bool:
        return self.capacity < 1 or len(self) < max(self.capacity, self._wanted + self.kept)

    def _available(self) -> int:
        return len(self) - (0 if self.is_closed else self.kept)

    def _is_ended(self) -> bool:
        return self.is_closed and (self.is_cancelled or not self._waiting)

    def _refuse(self) -> None:
        raise ERRORS["CancelledError"](None, None, f"{self.title} is closed.")


# Queues -------------------------------------------------------------------------------------------


class Taken(Supply):
    """The values that one operation takes out of a queue at each run."""

    def __init__(self, take: Callable[[Mapping[Any, Any]], Sequence[Any]]):
        self._take = take

    def draw(self, given: Mapping[Any, Any]) -> Sequence[Any]:
        return self._take(given)


class QueueBase:
    """A queue: `enqueue` and its like are operations, `dequeue` and its like give tensors.

    Args:
        dtypes: of an element's parts.
        shapes: of the parts; None: those of what is put in.
        names: of the parts, where elements are dicts.
        store: what it holds.
        name: its name.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, store: Store, name: str):
        self.dtypes: list[DType] = [as_dtype(d) for d in _listed(dtypes)]
        given: list[Any] = [None] * len(self.dtypes) if shapes is None else list(shapes)
        if shapes is not None and len(self.dtypes) == 1 and not _are_shapes(given):
            given = [shapes]
        self.shapes = [TensorShape(shape) for shape in given]
        if len(self.shapes) != len(self.dtypes):
            raise ArgumentError(
                f"Queue shapes must have the same length as dtypes, received {len(self.shapes)}"
                f" shapes, {len(self.dtypes)} dtypes"
            )
        self.names: list[str] | None = None if names is None else _listed(names)
        self.name, self._store = name, store
        self._seen = list(self.shapes)  # with what is known of elements without declared shapes

    @property
    def queue_ref(self) -> Store:
        """What holds the elements."""
        return self._store

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """One of several queues, by a number that is known."""
        return queues[int(np.asarray(index))]

    # In ---------------------------------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that puts an element in; it waits for room."""
        tensors = self._tensors(vals)
        for i, x in enumerate(tensors):
            self._see(i, x.shape)
        return self._putting(name or f"{self._base}_enqueue", tensors, lambda parts: [parts])

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that puts each row of its values in as an element."""
        tensors = self._tensors(vals)
        for i, x in enumerate(tensors):
            if not x.shape:
                raise ArgumentError(f"{self.name}.enqueue_many: part {i} is a scalar, not rows")
            self._see(i, x.shape[1:])

        def rows(parts: Element) -> list[Element]:
            return list(zip(*parts, strict=True))

        return self._putting(name or f"{self._base}_EnqueueMany", tensors, rows)

    def _putting(
        self, name: str, tensors: list[Node], elements: Callable[[Element], list[Element]]
    ) -> Operation:
        def put(values: Sequence[Any]) -> None:
            found = elements(tuple(map(np.asarray, values)))
            for element in found:
                self._check(element)
            self._store.put(found)

        return effect(name, [], deferred=[(tensors, put)])

    def _tensors(self, vals: Any) -> list[Node]:
        if isinstance(vals, Mapping):
            if self.names is None or sorted(vals) != sorted(self.names):
                raise ArgumentError(
                    f"Keys in dictionary to enqueue do not match names of Queue. Dictionary:"
                    f" {sorted(vals)}, Queue: {self.names}"
                )
            vals = [vals[key] for key in self.names]
        elif self.names is not None:
            raise ArgumentError("You must enqueue a dictionary in a Queue with names")
        elif len(self.dtypes) == 1 and not (isinstance(vals, (list, tuple)) and len(vals) == 1):
            vals = [vals]
        if len(vals) != len(self.dtypes):
            raise ArgumentError(
                f"{self.name}: an element has {len(self.dtypes)} parts, here are {len(vals)}"
            )
        return [as_tensor(x, self.name, d) for x, d in zip(vals, self.dtypes, strict=True)]

    def _see(self, part: int, shape: Any) -> None:
        """Learn what a part's shape is like, of a tensor that will be put in."""
        self.shapes[part].assert_is_compatible_with(shape)
        seen, new = self._seen[part], TensorShape(shape)
        if seen.ndims is None:
            self._seen[part] = new
        elif self.shapes[part].ndims is None and seen.ndims == new.ndims:
            pairs = zip(seen.as_list(), new.as_list(), strict=True)
            self._seen[part] = TensorShape([a if a == b else None for a, b in pairs])

    def _check(self, element: Element) -> None:
        for i, (part, shape) in enumerate(zip(element, self.shapes, strict=True)):
            if not shape.is_compatible_with(part.shape):
                raise ERRORS["InvalidArgumentError"](
                    None, None,
                    f"Shape mismatch in tuple component {i}. Expected {shape}, got"
                    f" {list(part.shape)}",
                )  # fmt: skip

    # Out --------------------------------------------------------------------------------------

    def dequeue(self, name: str | None = None) -> Any:
        """An element: another one at each run, which waits for it.

        A run raises `tf.errors.OutOfRangeError` where the queue is closed and empty.
        """
        take = self._store.take
        return self._taking(name or f"{self._base}_Dequeue", (), lambda given: take(1)[0])

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, stacked along a new first axis."""
        return self._batch(n, False, name or f"{self._base}_DequeueMany")

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, or those that are left in a closed queue, stacked."""
        return self._batch(n, True, name or f"{self._base}_DequeueUpTo")

    def _batch(self, n: Any, or_fewer: bool, name: str) -> Any:
        def take(given: Mapping[Any, Any]) -> list[Any]:
            if isinstance(n, Node) and n not in given:
                raise ArgumentError(f"{name}: {n!r} isn't fed; the number of elements is an int,"
                                    " or a placeholder")  # fmt: skip
            count = int(np.asarray(given[n] if isinstance(n, Node) else n))
            return [self._stacked(x) for x in zip(*self._store.take(count, or_fewer), strict=True)]

        known = None if or_fewer or isinstance(n, Node) else int(n)
        return self._taking(name, (known,), take)

    def _stacked(self, rows: Sequence[Any]) -> Any:
        if len({row.shape for row in rows}) > 1:
            raise ERRORS["InvalidArgumentError"](
                None, None, f"{self.name}: elements of different shapes can't be one batch; a"
                " PaddingFIFOQueue pads them"
            )  # fmt: skip
        return np.stack(rows)

    def _taking(
        self, name: str, lead: tuple[int | None, ...], take: Callable[..., Sequence[Any]]
    ) -> Any:
        types = []
        for i, (seen, dtype) in enumerate(zip(self._seen, self.dtypes, strict=True)):
            if seen.ndims is None:
                raise ArgumentError(
                    f"{self.name}: part {i} of an element has no known number of axes: give the"
                    " queue shapes, with None for unknown sizes, or enqueue before dequeue"
                )
            types.append(TensorType((*lead, *seen.as_list()), dtype))
        found = [remember(x) for x in Taken(take).inputs(types, name)]
        if self.names is not None:
            return dict(zip(self.names, found, strict=True))
        return found if len(found) > 1 else found[0]

    # The queue itself -------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which nothing can be put in."""

        def close(values: Sequence[Any]) -> None:
            self._store.close(cancel_pending_enqueues)

        return effect(name or f"{self._base}_Close", [], deferred=[((), close)])

    def is_closed(self, name: str | None = None) -> Node:
        """Whether it's closed: a bool tensor."""
        return self._asked(name or f"{self._base}_Closed", "bool", lambda: self._store.is_closed)

    def size(self, name: str | None = None) -> Node:
        """How many elements are in it: an int32 tensor."""
        return self._asked(name or f"{self._base}_Size", "int32", lambda: len(self._store))

    def _asked(self, name: str, dtype: str, answer: Callable[[], Any]) -> Node:
        of = TensorType((), as_dtype(dtype))
        [found] = Taken(lambda given: [np.asarray(answer(), dtype)]).inputs([of], name)
        made: Node = remember(found)
        return made

    @property
    def _base(self) -> str:
        return self.name.rpartition("/")[2]


def _listed(items: Any) -> list[Any]:
    return list(items) if isinstance(items, (list, tuple)) else [items]


def _are_shapes(items: Sequence[Any]) -> bool:
    """Whether they're shapes, and not the sizes of one."""
    return len(items) == 1 and (items[0] is None or not isinstance(items[0], int))


def _made(kind: str, name: str, capacity: int, order: Any, kept: int = 0) -> tuple[Store, str]:
    unique = unique_name(context.scope + name)
    return Store(f"{kind} '_{next(_numbers)}_{unique}'", int(capacity), order, kept), unique


class FIFOQueue(QueueBase):
    """The first element in is the first one out.

    Args:
        capacity: how many elements it holds.
        dtypes: of an element's parts.
        shapes: of the parts; None: those of what is put in before the first `dequeue`.
        names: of the parts, where elements are dicts.
        shared_name: accepted.
        name: its name.

    >>> queue = FIFOQueue(4, "float32", shapes=[[2]])
    >>> queue.enqueue_many([[[1., 2.], [3., 4.]]]).run()
    >>> queue.dequeue().eval()
    array([1., 2.], dtype=float32)
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None,
        shared_name: str | None = None, name: str = "fifo_queue",
    ):  # fmt: skip
        store, unique = _made("FIFOQueue", name, capacity, InOrder())
        super().__init__(dtypes, shapes, names, store, unique)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose batches are padded with zeros, along axes of unknown size.

    Args:
        capacity, dtypes, names, shared_name, name: as of `FIFOQueue`.
        shapes: of the parts, with None for sizes that differ.
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any, names: Any = None,
        shared_name: str | None = None, name: str = "padding_fifo_queue",
    ):  # fmt: skip
        store, unique = _made("PaddingFIFOQueue", name, capacity, InOrder())
        super().__init__(dtypes, shapes, names, store, unique)

    def _stacked(self, rows: Sequence[Any]) -> Any:
        sizes = np.max([row.shape for row in rows], axis=0)
        found = np.zeros((len(rows), *map(int, sizes)), rows[0].dtype)
        for place, row in zip(found, rows, strict=True):
            place[tuple(map(slice, row.shape))] = row
        return found


class RandomShuffleQueue(QueueBase):
    """Any element comes out next.

    Args:
        capacity, dtypes, shapes, names, shared_name, name: as of `FIFOQueue`.
        min_after_dequeue: how many elements stay in, until it's closed.
        seed: of the order, which is another one than TensorFlow's.
    """

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None,
        names: Any = None, seed: int | None = None, shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):  # fmt: skip
        order, kept = AtRandom(seed), int(min_after_dequeue)
        store, unique = _made("RandomShuffleQueue", name, capacity, order, kept)
        super().__init__(dtypes, shapes, names, store, unique)


class PriorityQueue(QueueBase):
    """The element with the smallest first part, an int64, comes out next.

    Args:
        capacity, names, shared_name, name: as of `FIFOQueue`.
        types, shapes: of the parts behind the first one.
    """

    def __init__(
        self, capacity: int, types: Any, shapes: Any = None, names: Any = None,
        shared_name: str | None = None, name: str = "priority_queue",
    ):  # fmt: skip
        store, unique = _made("PriorityQueue", name, capacity, BySize())
        behind = [None] * len(_listed(types)) if shapes is None else list(shapes)
        super().__init__(["int64", *_listed(types)], [(), *behind], names, store, unique)


NAMES: dict[str, Any] = {}
KINDS = (QueueBase, FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue, PriorityQueue)
PLAIN: dict[str, Any] = {
    f"{space}{kind.__name__}": kind
    for kind in KINDS
    for space in ("", "queue.", *([] if kind is FIFOQueue else ["io."]))
}
