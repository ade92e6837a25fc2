"""Sums of gradients that several runs add to, by their operations."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..resources.staging import Accumulator, SparseAccumulator
from .keeping import kept
from .table import host

if TYPE_CHECKING:
    from ..graph import Operation
    from ..resources.waiting import Attempt
    from ..variables import Store

Waits = Generator["Attempt", None, Any]


@host("ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator")
def _accumulator(store: Store, operation: Operation) -> Accumulator:
    kind = SparseAccumulator if operation.type.startswith("Sparse") else Accumulator
    is_mean = operation.attribute("reduction_type") in (b"MEAN", None)
    return kept(
        store, operation, "accumulator", lambda: kind(store.waiting, operation.name, is_mean)
    )


@host("AccumulatorApplyGradient ResourceAccumulatorApplyGradient")
def _apply(store: Store, operation: Operation, held: Accumulator, step: Any, g: Any) -> list[Any]:
    held.apply(int(step), np.asarray(g))
    return []


@host("SparseAccumulatorApplyGradient")
def _apply_rows(
    store: Store, operation: Operation, held: Accumulator, step: Any, *parts: Any
) -> list[Any]:
    held.apply(int(step), [np.asarray(part) for part in parts])
    return []


@host("AccumulatorTakeGradient ResourceAccumulatorTakeGradient SparseAccumulatorTakeGradient")
def _take(store: Store, operation: Operation, held: Accumulator, least: Any) -> Waits:
    attempt = held.take(int(least))
    yield attempt
    [found] = attempt.outcome()
    return found


@host("AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated")
def _count(store: Store, operation: Operation, held: Accumulator) -> np.int32:
    return np.int32(held.count)


@host("AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep")
def _set_step(store: Store, operation: Operation, held: Accumulator, step: Any) -> list[Any]:
    held.set_step(int(step))
    return []
