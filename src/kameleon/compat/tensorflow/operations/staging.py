"""What one run leaves for another, and sums of gradients that several add to, by operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..graph import Operation
from ..resources.staging import Accumulator, Area, Map, SparseAccumulator
from ..variables import Store
from .keeping import keeps, kept, on_handles


def _on(find: Callable[[Store, Operation], Any], acts: Mapping[str, Callable[..., Any]]) -> None:
    """Put types into the table that act on what their own attributes tell."""

    def acting(act: Callable[..., Any]) -> Callable[..., Any]:
        def run(store: Store, operation: Operation, *given: Any) -> Any:
            return act(find(store, operation), *given)

        return run

    on_handles({names: acting(act) for names, act in acts.items()})


def _area(store: Store, operation: Operation) -> Area:
    limits = operation.attribute("capacity"), operation.attribute("memory_limit")
    return kept(store, operation, "staging", lambda: Area(store.waiting, *limits))


_on(_area, {
    "Stage": lambda area, *values: area.put(values),
    "Unstage": Area.take,
    "StagePeek": lambda area, at: area.peek(int(at)),
    "StageSize": lambda area: np.int32(len(area.values)),
    "StageClear": Area.clear,
})  # fmt: skip


# Under keys -------------------------------------------------------------------------------------


def _map(store: Store, operation: Operation) -> Map:
    count = len(operation.attribute("dtypes"))
    settings = operation.attribute("capacity"), operation.type.startswith("Ordered")
    return kept(store, operation, "map staging", lambda: Map(store.waiting, count, *settings))


def _places(given: Any) -> list[int]:
    return [int(place) for place in np.ravel(given)]


_on(_map, {
    "MapStage OrderedMapStage":
        lambda held, key, places, *values: held.put(int(key), _places(places), values),
    "MapUnstage OrderedMapUnstage":
        lambda held, key, places: held.take(int(key), _places(places)),
    "MapPeek OrderedMapPeek":
        lambda held, key, places: held.take(int(key), _places(places), keep=True),
    "MapUnstageNoKey OrderedMapUnstageNoKey":
        lambda held, places: held.take_any(_places(places)),
    "MapSize OrderedMapSize": lambda held: np.int32(len(held.whole)),
    "MapIncompleteSize OrderedMapIncompleteSize": lambda held: np.int32(len(held.parts)),
    "MapClear OrderedMapClear": Map.clear,
})  # fmt: skip


# Sums of gradients ------------------------------------------------------------------------------


@keeps(
    "accumulator",
    "ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator",
)
def _accumulator(store: Store, operation: Operation) -> Accumulator:
    kind = SparseAccumulator if operation.type.startswith("Sparse") else Accumulator
    is_mean = operation.attribute("reduction_type") in (b"MEAN", None)
    return kind(store.waiting, is_mean, operation.attribute("shape"))


on_handles({
    "AccumulatorApplyGradient ResourceAccumulatorApplyGradient":
        lambda held, step, g: held.apply(int(step), np.asarray(g)),
    "SparseAccumulatorApplyGradient":
        lambda held, step, *parts: held.apply(int(step), list(map(np.asarray, parts))),
    "AccumulatorTakeGradient ResourceAccumulatorTakeGradient SparseAccumulatorTakeGradient":
        lambda held, least: held.take(int(least)),
    "AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated":
        lambda held: np.int32(held.count),
    "AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep":
        lambda held, step: held.set_step(int(step)),
})  # fmt: skip
