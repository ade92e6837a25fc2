"""What one run leaves for another, by its operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Operation
from ..resources.staging import Area, Map
from ..resources.waiting import Attempt
from ..variables import Store
from .keeping import kept
from .table import host


def _area(store: Store, operation: Operation) -> Area:
    told = operation.attribute("capacity"), operation.attribute("memory_limit")
    return kept(store, operation, "staging", lambda: Area(store.waiting, *told))


@host("Stage")
def _stage(store: Store, operation: Operation, *values: Any) -> Attempt:
    return _area(store, operation).put(values)


@host("Unstage")
def _unstage(store: Store, operation: Operation) -> Attempt:
    return _area(store, operation).take()


@host("StagePeek")
def _peek(store: Store, operation: Operation, at: Any) -> Attempt:
    return _area(store, operation).peek(int(at))


@host("StageSize")
def _size(store: Store, operation: Operation) -> np.int32:
    return np.int32(len(_area(store, operation).values))


@host("StageClear")
def _clear(store: Store, operation: Operation) -> list[Any]:
    _area(store, operation).clear()
    return []


# Under keys -------------------------------------------------------------------------------------


def _map(store: Store, operation: Operation) -> Map:
    count = len(operation.attribute("dtypes"))
    told = operation.attribute("capacity"), operation.type.startswith("Ordered")
    return kept(store, operation, "map staging", lambda: Map(store.waiting, count, *told))


def _places(given: Any) -> list[int]:
    return [int(place) for place in np.ravel(given)]


@host("MapStage OrderedMapStage")
def _map_stage(store: Store, operation: Operation, key: Any, places: Any, *values: Any) -> Attempt:
    return _map(store, operation).put(int(key), _places(places), values)


@host("MapUnstage OrderedMapUnstage MapPeek OrderedMapPeek")
def _map_unstage(store: Store, operation: Operation, key: Any, places: Any) -> Attempt:
    keep = operation.type.endswith("Peek")
    return _map(store, operation).take(int(key), _places(places), keep)


@host("MapUnstageNoKey OrderedMapUnstageNoKey")
def _map_unstage_any(store: Store, operation: Operation, places: Any) -> Attempt:
    return _map(store, operation).take_any(_places(places))


@host("MapSize OrderedMapSize MapIncompleteSize OrderedMapIncompleteSize")
def _map_size(store: Store, operation: Operation) -> np.int32:
    found = _map(store, operation)
    return np.int32(len(found.parts if "Incomplete" in operation.type else found.whole))


@host("MapClear OrderedMapClear")
def _map_clear(store: Store, operation: Operation) -> list[Any]:
    _map(store, operation).clear()
    return []
