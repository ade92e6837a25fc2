"""The peak of memory in a step of a deep network, against what must be alive.

Deep here: 24 layers of 512, batch 1,024, so that the values kept for the way back dominate.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, require_close

LAYERS, WIDTH, BATCH = 24, 512, 1024
RATE = 0.01
STEPS = 4
MIB = 2.0**20

Arrays = list[np.ndarray]


def initial_weights(seed: int = 0) -> Arrays:
    """The kernels."""
    rng = np.random.default_rng(seed)
    shape = (LAYERS, WIDTH, WIDTH)
    return list(rng.normal(0, np.sqrt(2 / WIDTH), shape).astype("float32"))


def by_hand(weights: Arrays, x: np.ndarray) -> float:
    """A step on the mean square of the output; each value is let go as soon as it may be."""
    values = [x]
    for weight in weights:
        values.append(values[-1] @ weight)
        np.maximum(values[-1], 0, out=values[-1])
    last = values[-1].ravel()
    loss = float(np.dot(last, last) / last.size)
    delta = values[-1] * np.float32(2 / last.size)
    del last
    for weight in reversed(weights):
        delta *= values.pop() > 0
        slope = values[-1].T @ delta
        delta = delta @ weight.T
        slope *= np.float32(RATE)
        weight -= slope
    return loss


def kameleon(weights: Arrays) -> tuple[Callable[..., Any], list[Any]]:
    """The same in the K API: the step, and the variables it changes."""
    from kameleon import backend as K

    variables = [K.variable(w) for w in weights]
    x = inputs = K.placeholder((None, WIDTH))
    for variable in variables:
        x = K.relu(K.dot(x, variable))
    loss = K.mean(K.square(x))
    slopes = K.gradients(loss, variables)
    updates = [K.update_sub(v, RATE * g) for v, g in zip(variables, slopes, strict=True)]
    return K.function([inputs], [loss], updates), variables


def peak(call: Callable[[], Any]) -> tuple[float, Any]:
    """MiB allocated at the peak of `STEPS` calls, over what was there before; the last result.

    From the first call on, so that memory kept between calls counts, too.
    """
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for _ in range(STEPS):
        result = call()
    return (tracemalloc.get_traced_memory()[1] - before) / MIB, result


def run() -> list[Row]:
    """Measure the peaks, and check that both computed the same."""
    from kameleon import backend as K

    tracemalloc.start()  # before there are weights, so that those that are replaced count as freed
    weights = initial_weights()
    x = np.random.default_rng(1).random((BATCH, WIDTH), dtype="float32")
    step, variables = kameleon(weights)
    mine, losses = peak(lambda: step([x]))
    theirs, loss = peak(lambda: by_hand(weights, x))
    require_close("memory: loss", losses, [loss])
    require_close("memory: weights", K.batch_get_value(variables), weights)
    kept, fresh = LAYERS * x.nbytes / MIB, sum(w.nbytes for w in weights) / MIB
    # No variable changes unless all can, so new weights are made beside the old ones; by hand
    # they are changed in place.
    note = f"{mine / (kept + fresh):.2f} x kept values ({kept:.0f}) and new weights ({fresh:.0f})"
    return [Row("memory", "peak of a step", mine, theirs, "MiB", None, note)]
