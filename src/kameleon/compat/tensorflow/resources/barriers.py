"""Values that come in parts and are taken when they're whole; locks; tensors that sessions keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..failures import failure, invalid
from .base import Resource
from .queues import Shape, demand_shape
from .waiting import Waiting, polled

FIRST = np.iinfo(np.int64).min  # the number of the first key


class Barrier(Resource):
    """Tuples under keys, whose parts come one by one; whole ones are taken in order.

    Attributes:
        parts: by key, its number and the parts that came, of tuples that aren't whole.
        whole: numbers, keys and tuples.
    """

    def __init__(self, waiting: Waiting, name: str, shapes: Sequence[Shape]) -> None:
        self.waiting, self._name, self._shapes = waiting, name, shapes
        self._number, self._closed, self._cancelled = FIRST, False, False
        self.parts: dict[bytes, tuple[int, dict[int, Any]]] = {}
        self.whole: list[tuple[int, bytes, list[Any]]] = []

    def put(self, place: int, keys: list[bytes], values: list[Any]) -> None:
        """Add a part to the tuples of some keys."""
        with self.waiting.change():
            new = sum(key not in self.parts for key in keys)
            if self._cancelled or (self._closed and new and not self.parts):
                raise self._refusal(f"is closed.{self._told(f'Number of new insertions: {new}')}")
            for at, (key, value) in enumerate(zip(keys, values, strict=True)):
                self._put(place, at, key, value)
            self._number += 1

    def _put(self, place: int, at: int, key: bytes, value: Any) -> None:
        if key not in self.parts:
            if self._closed:
                told = f"{key.decode()}.{self._told(f'Insertion index: {at}')}"
                raise self._refusal(f"is closed, but attempted to insert a brand new key: {told}")
            self.parts[key] = self._number, {}
        number, parts = self.parts[key]
        if place in parts:
            message = f"Key {key.decode()} already has a value for component {place} in barrier"
            raise invalid(f"{message} {self._name}")
        parts[place] = value
        if len(parts) == len(self._shapes):
            del self.parts[key]
            values = [parts[at] for at in range(len(parts))]
            for at, (each, shape) in enumerate(zip(values, self._shapes, strict=True), 2):
                demand_shape(at, np.shape(each), shape)  # a number and the key come before
            self.whole.append((number, key, values))
            self.whole.sort(key=lambda row: row[0])

    def _told(self, what: str) -> str:
        cancelled = f"Pending enqueues cancelled: {int(self._cancelled)}"
        return f"  {cancelled}.  {what}.  Number of incomplete keys: {len(self.parts)}."

    def _refusal(self, why: str) -> Exception:
        return failure("CANCELLED", f"Barrier {self._name} {why}")

    @polled
    def take(self, count: int, fewer: bool) -> list[Any] | None:
        """The first tuples, once there are so many; with `fewer`, those left of a closed one."""
        most = min(count, len(self.whole))
        if most < count and not (self._closed and not self.parts):
            return None
        if most < count and not (fewer and most):
            message = (
                f"Barrier '{self._name}' is closed and has insufficient elements"
                f" (requested {count}, total size {len(self.whole)})"
            )
            raise failure("OUT_OF_RANGE", message)
        found, self.whole = self.whole[:most], self.whole[most:]
        return found

    def close(self, cancel: bool) -> None:
        """Let no new keys in; with `cancel`, forget what isn't whole."""
        with self.waiting.change():
            if self._closed and (self._cancelled or not cancel):
                raise failure("CANCELLED", f"Barrier '{self._name}' is already closed.")
            self._closed, self._cancelled = True, cancel
            if cancel:
                self.parts.clear()


class Mutex(Resource):
    """What one run at a time may hold."""

    def __init__(self, waiting: Waiting) -> None:
        self.waiting, self._is_held = waiting, False

    @polled
    def lock(self) -> MutexLock | None:
        """Hold it, once nobody else does."""
        if self._is_held:
            return None
        self._is_held = True
        return MutexLock(self)

    def release(self) -> None:
        """Let others hold it."""
        with self.waiting.change():
            self._is_held = False


class MutexLock(Resource):
    """That a mutex is held, as long as this lives."""

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        """Hold it no longer."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()
