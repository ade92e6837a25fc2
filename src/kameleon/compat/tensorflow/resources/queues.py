"""Queues that threads fill and empty.

Who asks for what isn't there yet waits in a row: the first one takes what comes, until it has all.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dtypes import in_numpy
from ..failures import failure, invalid
from ..graph import fits, shape_text
from .base import Resource
from .philox import Philox
from .waiting import FURTHER, Attempt, Waiting

Shape = tuple[int, ...] | None
Element = tuple[Any, ...]


def demand_shape(place: int, found: tuple[int, ...], declared: Shape) -> None:
    """Refuse a value of a tuple that hasn't the shape that was declared for its place."""
    if declared is not None and not fits(found, declared):
        shapes = f"Expected {shape_text(declared)}, got {shape_text(found)}"
        raise invalid(f"Shape mismatch in tuple component {place}. {shapes}")


class Queue(Resource):
    """A queue of tuples of arrays; the first in is the first out.

    Args:
        waiting: where its session's runs wait.
        kind: what messages call it.
        name: its name in them.
        capacity: how many elements it holds; below 1, any number.
        shapes: of the arrays; empty, if they may have any.
        dtypes: of the arrays.
        declared: what another that shares it must declare alike, as messages show it.
    """

    def __init__(
        self,
        waiting: Waiting,
        kind: str,
        name: str,
        capacity: int,
        shapes: Sequence[Shape],
        dtypes: Sequence[str],
        declared: Mapping[str, str],
    ) -> None:
        self.waiting, self.kind, self.name = waiting, kind, name
        self.capacity = capacity if capacity > 0 else None
        self.shapes, self.dtypes, self.declared = list(shapes), list(dtypes), declared
        self.closed = False
        self._putters: list[Attempt] = []  # those who put, or close, and aren't done
        self._begin()

    # What a kind of queue does in its own way ---------------------------------------------------

    def _begin(self) -> None:
        self._elements: Any = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        found: Element = self._elements.popleft()
        return found

    def put_back(self, elements: Sequence[Element]) -> None:
        """Elements that were taken, by one who didn't get all, come back."""
        self._elements.extendleft(reversed(elements))

    def _available(self) -> int:
        """How many may be taken now."""
        return len(self)

    def joined(self, elements: Sequence[Element]) -> list[Any]:
        """Elements as arrays with one more axis."""
        found = []
        for place, dtype in enumerate(self.dtypes):
            arrays = [element[place] for element in elements]
            shape = (len(arrays), *(self.shapes[place] or ()))
            found.append(stacked(arrays, dtype) if arrays else np.zeros(shape, in_numpy(dtype)))
        return found

    # Putting ------------------------------------------------------------------------------------

    def _putting(self, step: Callable[[], Any]) -> Attempt:
        """What puts, or closes, behind those who came before."""
        with self.waiting.changed:
            before = [each for each in self._putters if not each.done]

            def in_turn() -> Any:
                return None if any(not each.done for each in before) else step()

            made = Attempt(self.waiting, in_turn if before else step)
            self._putters = [*before, made]
        return made

    def enqueue(self, elements: Sequence[Element]) -> Attempt:
        """Put elements in, one after the other, as there's room."""
        rest = deque(elements)

        def step() -> Any:
            if self.closed:
                raise failure("CANCELLED", f"{self.kind} '{self.name}' is closed.")
            count = len(rest)
            while rest and (self.capacity is None or len(self) < self.capacity):
                self._put(rest.popleft())
            if not rest:
                return []
            return FURTHER if len(rest) < count else None

        return self._putting(step)

    def close(self, cancel: bool) -> Attempt:
        """Let nothing more in: behind those who wait for room, or before them."""

        def step() -> list[Any]:
            if self.closed and not cancel:
                raise failure("CANCELLED", f"Queue '{self.name}' is already closed.")
            self.closed = True
            return []

        if cancel:
            with self.waiting.changed:
                self.closed = True
                for each in self._putters:
                    each.complete(error=failure("CANCELLED", "Enqueue operation was cancelled"))
        return self._putting(step)

    # Taking -------------------------------------------------------------------------------------

    def dequeue(self, count: int, fewer: bool = False) -> Attempt:
        """Take elements; with `fewer`, those that are left of a closed queue."""
        taken: list[Element] = []

        def give_back() -> None:
            self.put_back(taken)
            taken.clear()

        def step() -> Any:
            wanted = count - len(taken)
            if self.closed and len(self) < wanted:
                left = len(self)
                give_back()
                if not fewer or not len(self):
                    if fewer and any(not each.done for each in self._putters):
                        return FURTHER
                    raise self._lacks(wanted, left)
                wanted = len(self)
            given = min(wanted, self._available())
            taken.extend([self._take() for _ in range(given)])
            if given == wanted:
                return taken
            return FURTHER if given else None

        return Attempt(self.waiting, step, give_back)

    def _lacks(self, wanted: int, left: int) -> Exception:
        return failure(
            "OUT_OF_RANGE",
            f"{self.kind} '{self.name}' is closed and has insufficient elements"
            f" (requested {wanted}, current size {left})",
        )


class PaddingQueue(Queue):
    """A queue whose batches are filled up to the largest size."""

    def joined(self, elements: Sequence[Element]) -> list[Any]:
        """Elements as arrays with one more axis, padded."""
        found = []
        for place, (shape, dtype) in enumerate(zip(self.shapes, self.dtypes, strict=True)):
            arrays = [np.asarray(element[place], in_numpy(dtype)) for element in elements]
            sizes = [max(pair) for pair in zip(*(a.shape for a in arrays), strict=True)]
            least = [size if size >= 0 else 0 for size in shape or ()]
            found.append(padded(arrays, sizes if arrays else least, dtype))
        return found


class RandomQueue(Queue):
    """A queue that gives any of its elements, and keeps some, so that there's a choice."""

    def __init__(self, least: int, numbers: Philox, *rest: Any) -> None:
        self._least, self._numbers = least, numbers
        super().__init__(*rest)

    def _begin(self) -> None:
        self._elements = []

    def _take(self) -> Element:
        at = self._numbers.next() % len(self._elements)
        last = len(self._elements) - 1
        self._elements[at], self._elements[last] = self._elements[last], self._elements[at]
        found: Element = self._elements.pop()
        return found

    def put_back(self, elements: Sequence[Element]) -> None:
        """Elements that were taken, by one who didn't get all, come back."""
        self._elements.extend(elements)

    def _available(self) -> int:
        return len(self) if self.closed else max(len(self) - self._least, 0)


@dataclass(order=True)
class _Prior:
    """An element by its first part."""

    priority: int
    element: Element = field(compare=False)


class PriorityQueue(Queue):
    """A queue that gives the element whose first part is the lowest: a heap, as in C++."""

    def _begin(self) -> None:
        self._elements = []

    def _put(self, element: Element) -> None:
        heapq.heappush(self._elements, _Prior(int(element[0]), element))

    def _take(self) -> Element:
        first: _Prior = heapq.heappop(self._elements)
        return first.element

    def put_back(self, elements: Sequence[Element]) -> None:
        """Elements that were taken, by one who didn't get all, come back."""
        for element in elements:
            self._put(element)


def stacked(arrays: Sequence[Any], dtype: str) -> np.ndarray:
    """Arrays of one shape as one with a further axis."""
    found = np.empty((len(arrays), *np.shape(arrays[0])), in_numpy(dtype))
    for place, each in enumerate(arrays):
        found[place] = _element(each)
    return found


def _element(value: Any) -> Any:
    """What an array of no axes holds; all else as it is."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def padded(
    arrays: Sequence[np.ndarray], sizes: Sequence[int], dtype: str, fill: Any = None
) -> np.ndarray:
    """Arrays as one with a further axis, filled up to sizes."""
    blank = (b"" if dtype == "string" else 0) if fill is None else fill
    found = np.full((len(arrays), *sizes), blank, in_numpy(dtype))
    for place, each in enumerate(arrays):
        at: Any = (place, *(slice(size) for size in each.shape))
        found[at] = _element(each)
    return found
