"""Sums of gradients that several runs add to, by their operations."""

from __future__ import annotations

import numpy as np

from ..graph import Operation
from ..resources.staging import Accumulator, SparseAccumulator
from ..variables import Store
from .keeping import keeps, on_handles


@keeps(
    "accumulator",
    "ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator",
)
def _accumulator(store: Store, operation: Operation) -> Accumulator:
    kind = SparseAccumulator if operation.type.startswith("Sparse") else Accumulator
    is_mean = operation.attribute("reduction_type") in (b"MEAN", None)
    return kind(store.waiting, operation.name, is_mean)


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
