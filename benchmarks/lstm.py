"""An LSTM by `K.rnn`: 64 steps, 128 inputs and units, batch 32; loss and all gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, require_close, timed_row

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


class ByHand:
    """Loss (mean square of all outputs) and gradients in NumPy.

    The inputs of all steps are multiplied at once; gates and states are kept for the way back;
    each weight's gradient is one product over all steps.
    """

    def __init__(self, weights: Arrays) -> None:
        self.weights = weights
        self.x = np.empty((STEPS, BATCH, INPUTS), "float32")
        self.gates = np.empty((STEPS, BATCH, 4 * UNITS), "float32")
        self.deltas = np.empty_like(self.gates)
        self.cells = np.zeros((STEPS + 1, BATCH, UNITS), "float32")
        self.squashed = np.empty((STEPS, BATCH, UNITS), "float32")  # tanh of the cells
        self.hidden = np.zeros((STEPS + 1, BATCH, UNITS), "float32")
        self.scratch = np.empty((BATCH, 4 * UNITS), "float32")

    def forward(self) -> None:
        """Fill gates, cells and hidden states."""
        kernel, recurrent, bias = self.weights
        np.matmul(self.x.reshape(-1, INPUTS), kernel, out=self.gates.reshape(-1, 4 * UNITS))
        self.gates += bias
        for t, z in enumerate(self.gates):
            z += np.matmul(self.hidden[t], recurrent, out=self.scratch)
            sigmoids, candidate = z[:, : 3 * UNITS], z[:, 3 * UNITS :]
            sigmoids *= np.float32(0.5)  # sigmoid(z) = (1 + tanh(z / 2)) / 2
            np.tanh(z, out=z)
            sigmoids += 1
            sigmoids *= np.float32(0.5)
            let_in, keep, show = (z[:, i * UNITS : (i + 1) * UNITS] for i in range(3))
            cell = np.multiply(keep, self.cells[t], out=self.cells[t + 1])
            cell += np.multiply(let_in, candidate, out=self.squashed[t])
            np.multiply(show, np.tanh(cell, out=self.squashed[t]), out=self.hidden[t + 1])

    def backward(self) -> None:
        """Fill `deltas`: the slope of the loss in each gate before its nonlinearity."""
        recurrent = self.weights[1].T
        scale = np.float32(2 / (BATCH * STEPS * UNITS))
        d_hidden = np.zeros((BATCH, UNITS), "float32")
        d_cell = np.zeros((BATCH, UNITS), "float32")
        for t in reversed(range(STEPS)):
            z, dz = self.gates[t], self.deltas[t]
            i, f, o, g = (z[:, k * UNITS : (k + 1) * UNITS] for k in range(4))
            di, df, do, dg = (dz[:, k * UNITS : (k + 1) * UNITS] for k in range(4))
            squashed = self.squashed[t]
            d_hidden += self.hidden[t + 1] * scale
            np.multiply(d_hidden, squashed, out=do)
            d_cell += d_hidden * o * (1 - squashed * squashed)
            np.multiply(d_cell, g, out=di)
            np.multiply(d_cell, self.cells[t], out=df)
            np.multiply(d_cell, i * (1 - g * g), out=dg)
            gates, part = z[:, : 3 * UNITS], dz[:, : 3 * UNITS]
            part *= gates * (1 - gates)
            d_cell *= f
            np.matmul(dz, recurrent, out=d_hidden)

    def __call__(self, x: np.ndarray) -> Arrays:
        """Return the loss and the gradients of the three weights."""
        np.copyto(self.x, x.transpose(1, 0, 2))
        self.forward()
        self.backward()
        deltas = self.deltas.reshape(-1, 4 * UNITS)
        outputs = self.hidden[1:].ravel()
        return [
            np.dot(outputs, outputs) / np.float32(outputs.size),
            self.x.reshape(-1, INPUTS).T @ deltas,
            self.hidden[:-1].reshape(-1, UNITS).T @ deltas,
            deltas.sum(axis=0),
        ]


def kameleon(weights: Arrays, at_once: bool) -> Callable[..., Any]:
    """The same in the K API.

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
    loss = K.mean(K.square(outputs))
    return K.function([x], [loss, *K.gradients(loss, variables)])


def run() -> list[Row]:
    """Check that both agree, then time them."""
    weights, x = initial_weights(), sequences()
    by_hand = ByHand(weights)
    rows = []
    for what, at_once in (("inputs in each step", False), ("inputs at once", True)):
        function = kameleon(weights, at_once)
        require_close(f"lstm, {what}", function([x]), by_hand(x))
        rows.append(timed_row("lstm", what, lambda f=function: f([x]), lambda: by_hand(x)))
    return rows
