"""An LSTM by `K.rnn`: 64 steps, 128 inputs and units, batch 32; loss and all gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, require_close, timed_row

BATCH, STEPS, INPUTS, UNITS = 32, 64, 128, 128

Arrays = list[np.ndarray]


def initial_weights(seed: int = 0) -> Arrays:
    """Kernel of the inputs, kernel of the state, bias; gates: input, forget, output, candidate."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(0, INPUTS**-0.5, (INPUTS, 4 * UNITS)).astype("float32"),
        rng.normal(0, UNITS**-0.5, (UNITS, 4 * UNITS)).astype("float32"),
        rng.normal(0, 0.1, 4 * UNITS).astype("float32"),
    ]


def sequences(seed: int = 1) -> np.ndarray:
    """One batch of inputs."""
    return np.random.default_rng(seed).normal(size=(BATCH, STEPS, INPUTS)).astype("float32")


def network(weights: Arrays, at_once: bool = True) -> tuple[list[Any], Any, list[Any]]:
    """The same in the K API: inputs, loss, variables.

    at_once: whether the inputs are multiplied before the loop, as by hand, or in each step,
    which reads more simply.
    """
    from kameleon import backend as K

    kernel, recurrent, bias = variables = [K.variable(w) for w in weights]
    x = K.placeholder((BATCH, STEPS, INPUTS))

    def step(inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        hidden, cell = states
        if not at_once:
            inputs = K.bias_add(K.dot(inputs, kernel), bias)
        z = inputs + K.dot(hidden, recurrent)
        parts = [K.slice(z, (0, k * UNITS), (-1, UNITS)) for k in range(4)]
        let_in, keep, show = map(K.sigmoid, parts[:3])
        cell = keep * cell + let_in * K.tanh(parts[3])
        hidden = show * K.tanh(cell)
        return hidden, [hidden, cell]

    inputs = K.bias_add(K.dot(x, kernel), bias) if at_once else x
    zeros = K.zeros((BATCH, UNITS))
    _, outputs, _ = K.rnn(step, inputs, [zeros, zeros])
    return [x], K.mean(K.square(outputs)), variables


def kameleon(weights: Arrays, at_once: bool) -> Callable[..., Any]:
    """Loss and gradients of all weights; see `network`."""
    from kameleon import backend as K

    inputs, loss, variables = network(weights, at_once)
    return K.function(inputs, [loss, *K.gradients(loss, variables)])


def run(sides: Sides) -> list[Row]:
    """Check that both agree, then time them."""
    weights, x = initial_weights(), sequences()
    by_hand = sides["lstm"](weights)
    in_order = getattr(by_hand, "layout", list)
    rows = []
    for what, at_once in (("inputs at once", True), ("inputs in each step", False)):
        function = kameleon(weights, at_once)
        require_close(f"lstm, {what}", function([x]), in_order(by_hand(x)))
        # What is done by hand is the first one.
        rows.append(timed_row("lstm", what, function, [x], by_hand, counts=at_once))
    return rows
