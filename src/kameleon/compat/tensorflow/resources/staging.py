"""Values that one run leaves for another: in order, or under keys; and sums of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..failures import invalid
from ..graph import Shape, fits, shape_text
from .base import Resource
from .waiting import Waiting, polled


class Area(Resource):
    """Tuples of values, in order.

    Args:
        waiting: where its session's runs wait.
        capacity: how many it holds; 0: any number.
        most: how many bytes it holds; 0: any number.
    """

    def __init__(self, waiting: Waiting, capacity: int, most: int) -> None:
        self.waiting, self._capacity, self._most = waiting, capacity, most
        self.values: list[list[Any]] = []

    @polled
    def put(self, values: Sequence[Any]) -> list[Any] | None:
        """Leave values, once there's room."""
        sizes = [sum(np.asarray(each).nbytes for each in held) for held in self.values]
        new = sum(np.asarray(each).nbytes for each in values)
        is_full = self._capacity and len(self.values) >= self._capacity
        if is_full or (self._most and self.values and sum(sizes) + new > self._most):
            return None
        self.values.append(list(values))
        return []

    @polled
    def take(self) -> list[Any] | None:
        """The first values, once there are some."""
        return self.values.pop(0) if self.values else None

    @polled
    def peek(self, at: int) -> list[Any] | None:
        """The values at a place, once there are so many."""
        return self.values[at] if at < len(self.values) else None

    def clear(self) -> None:
        """Forget all."""
        with self.waiting.change():
            self.values.clear()


class Map(Resource):
    """Tuples of values under keys, which may come in parts.

    Args:
        waiting: where its session's runs wait.
        count: of values in a tuple.
        capacity: how many tuples it holds; 0: any number.
        is_ordered: whether the lowest key is the first one.
    """

    def __init__(self, waiting: Waiting, count: int, capacity: int, is_ordered: bool) -> None:
        self.waiting, self._count, self._capacity = waiting, count, capacity
        self._is_ordered = is_ordered
        self.whole: dict[int, dict[int, Any]] = {}
        self.parts: dict[int, dict[int, Any]] = {}

    @polled
    def put(self, key: int, places: list[int], values: Sequence[Any]) -> list[Any] | None:
        """Leave values, once there's room."""
        held = {**self.whole, **self.parts}
        if self._capacity and key not in held and len(held) >= self._capacity:
            return None
        parts = self.parts.setdefault(key, {})
        for place, value in zip(places, values, strict=False):
            if place in parts:
                about = f"The tensor for index '{place}' for key '{key}'"
                raise invalid(f"{about} was already there")
            parts[place] = value
        if len(parts) == self._count:
            self.whole[key] = self.parts.pop(key)
        return []

    @polled
    def take(self, key: int, places: list[int], keep: bool = False) -> list[Any] | None:
        """The values of a key, once they are all there."""
        held = self.whole.get(key)
        if held is None:
            return None
        found = [held[place] for place in places]
        for place in places:
            if not keep:
                held.pop(place)
        if not held:
            self.whole.pop(key)
        return found

    @polled
    def take_any(self, places: list[int]) -> list[Any] | None:
        """The values of the first key, and the key."""
        if not self.whole:
            return None
        key = min(self.whole) if self._is_ordered else next(iter(self.whole))
        held = self.whole.pop(key)
        return [np.int64(key), *(held[place] for place in places)]

    def clear(self) -> None:
        """Forget all."""
        with self.waiting.change():
            self.whole.clear()
            self.parts.clear()


class Accumulator(Resource):
    """A sum of gradients, which is taken when enough have come.

    Args:
        waiting: where its session's runs wait.
        is_mean: whether their mean is taken.
        shape: of a gradient, as far as it's known.
    """

    def __init__(self, waiting: Waiting, is_mean: bool, shape: Shape = None) -> None:
        self.waiting, self._is_mean, self._shape = waiting, is_mean, shape
        self.step, self.count = 0, 0
        self._begin()

    def _begin(self) -> None:
        self._sum: Any = None

    def _demand(self, gradient: Any) -> None:
        """Refuse a gradient that doesn't fit the shape, or those that came before."""
        found = gradient.shape
        for wanted in (self._shape, None if self._sum is None else self._sum.shape):
            if wanted is not None and not fits(found, wanted):
                message = f"expected {shape_text(wanted)}, got {shape_text(found)}"
                raise invalid(f"Shape mismatch: {message}")

    def _add(self, gradient: Any) -> None:
        self._sum = gradient if self._sum is None else self._sum + gradient

    def _total(self) -> Any:
        if not self._is_mean:
            return self._sum
        return (self._sum / self._sum.dtype.type(self.count)).astype(self._sum.dtype)

    def apply(self, step: int, gradient: Any) -> None:
        """Add a gradient, unless it's of an older step."""
        with self.waiting.change():
            if step >= self.step:
                self._demand(gradient)
                self._add(gradient)
                self.count += 1

    def set_step(self, step: int) -> None:
        """From now on, older gradients don't count; the step may go back."""
        with self.waiting.changed:
            self.step = step

    @polled
    def take(self, least: int) -> list[Any] | None:
        """The sum, or the mean, once so many gradients have come; then it begins anew."""
        if least <= 0:
            raise invalid(f"Argument num_required must be positive, but was {least}")
        if self.count < least:
            return None
        found = self._total()
        self.step, self.count = self.step + 1, 0
        self._begin()
        return found if isinstance(found, list) else [found]


class SparseAccumulator(Accumulator):
    """A sum of rows; their mean is that of each row by how often it came."""

    def _begin(self) -> None:
        self._rows: list[tuple[int, Any, int]] = []  # the place, the sum, how often; in order
        self._like: Any = None  # no rows, of the size and type of those that came

    def _demand(self, gradient: Any) -> None:
        places, rows, shape = gradient
        if places.ndim != 1:
            found = shape_text(places.shape)
            raise invalid(f"Input indices should be vector but received shape: {found}")
        if len(places) != len(rows):
            raise invalid(f"Expected {len(places)} non-empty input values, got {len(rows)}")
        wanted = self._whole_shape(rows if self._like is None else self._like)
        pairs = [("shape", 0, *pair) for pair in zip(wanted[:1], shape, strict=False)]
        for what, found in (("shape", shape), ("values", rows.shape)):
            pairs += [
                (what, axis, *pair)
                for axis, pair in enumerate(zip(wanted[1:], found[1:], strict=False), 1)
            ]
        for what, axis, size, other in pairs:
            if size >= 0 and size != other:
                message = f"expected {what} dim {axis} to be {size}, got {other}"
                raise invalid(f"Shape mismatch: {message}")
        if wanted[0] >= 0 and (places >= wanted[0]).any():
            at = int(np.flatnonzero(places >= wanted[0])[0])
            message = f"index of slice {at} exceeded limits of shape; index is {places[at]}"
            raise invalid(f"Shape mismatch: {message} exceeded {wanted[0]}")

    def _whole_shape(self, rows: Any) -> list[int]:
        return [-1, *rows.shape[1:]] if self._shape is None else list(self._shape)

    def _add(self, gradient: Any) -> None:
        places, rows, _ = gradient
        self._like = rows[:0]
        new = [(int(place), row, 1) for place, row in zip(places, rows, strict=True)]
        old, self._rows = self._rows, []
        while old and new:
            (a, one, times), (b, other, more) = old[0], new[0]
            if a == b:
                self._rows.append((a, one + other, times + more))
            else:
                self._rows.append(min(old[0], new[0], key=lambda row: row[0]))
            old, new = old[a <= b :], new[b <= a :]
        self._rows += old + new

    def _total(self) -> Any:
        places = np.array([place for place, _, _ in self._rows], np.int64)
        rows = np.stack([row for _, row, _ in self._rows]) if self._rows else self._like
        if self._is_mean:
            counts = np.array([count for _, _, count in self._rows], rows.dtype)
            rows = rows / counts.reshape(-1, *[1] * (rows.ndim - 1))
        return [places, rows, np.array(self._whole_shape(rows), np.int64)]
