"""Multi-head attention: batch 16, 128 steps, width 256, 8 heads; loss and all gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, require_close, timed_row

BATCH, STEPS, WIDTH, HEADS = 16, 128, 256, 8
DEPTH = WIDTH // HEADS  # of one head
SCALE = DEPTH**-0.5  # of the scores

Arrays = list[np.ndarray]


def initial_weights(seed: int = 0) -> Arrays:
    """The kernels that make queries, keys and values, and that of the output."""
    rng = np.random.default_rng(seed)
    return list(rng.normal(0, WIDTH**-0.5, (4, WIDTH, WIDTH)).astype("float32"))


def sequences(seed: int = 1) -> np.ndarray:
    """One batch of inputs."""
    return np.random.default_rng(seed).normal(size=(BATCH, STEPS, WIDTH)).astype("float32")


def network(weights: Arrays) -> tuple[list[Any], Any, list[Any]]:
    """The same in the K API: inputs, loss (mean square of the output), kernels."""
    from kameleon import backend as K

    kernels = [K.variable(w) for w in weights]
    x = K.placeholder((None, STEPS, WIDTH))

    def heads(kernel: Any) -> Any:
        parts = K.reshape(K.dot(x, kernel), (-1, STEPS, HEADS, DEPTH))
        return K.reshape(K.permute_dimensions(parts, (0, 2, 1, 3)), (-1, STEPS, DEPTH))

    queries, keys, values = map(heads, kernels[:3])
    shares = K.softmax(SCALE * K.batch_dot(queries, keys, axes=(2, 2)))
    mixed = K.reshape(K.batch_dot(shares, values, axes=(2, 1)), (-1, HEADS, STEPS, DEPTH))
    joined = K.reshape(K.permute_dimensions(mixed, (0, 2, 1, 3)), (-1, STEPS, WIDTH))
    return [x], K.mean(K.square(K.dot(joined, kernels[3]))), kernels


def kameleon(weights: Arrays) -> Callable[..., Any]:
    """Loss, and its gradients in the input and the kernels."""
    from kameleon import backend as K

    [x], loss, kernels = network(weights)
    return K.function([x], [loss, *K.gradients(loss, [x, *kernels])])


def run(sides: Sides) -> list[Row]:
    """Check that both agree, then time them."""
    weights, x = initial_weights(), sequences()
    function, by_hand = kameleon(weights), sides["attention"](weights)
    require_close("attention", function([x]), by_hand(x))
    return [timed_row("attention", "loss and gradients", function, [x], by_hand)]
