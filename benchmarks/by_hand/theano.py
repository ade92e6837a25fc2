"""The workloads in PyTensor, which goes on where Theano ended: shared variables and updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attention
import chain
import conv
import lstm
import mlp
import numpy as np
import pytensor
import pytensor.tensor as pt

from kameleon.runtime.engines import load

Arrays = list[np.ndarray]


def shared(arrays: Sequence[np.ndarray]) -> list[Any]:
    """Variables of fixed shapes."""
    return [pytensor.shared(a.copy(), shape=a.shape) for a in arrays]


def function(inputs: list[Any], outputs: Any, updates: Any = (), mode: str | None = None) -> Any:
    """Compiled by Numba, where no other mode is faster; calls trust what they are given."""
    compiled = pytensor.function(inputs, outputs, updates=list(updates), mode=mode)
    compiled.trust_input = True
    return compiled


def crossentropy(logits: Any, labels: Any) -> Any:
    """Mean over the batch."""
    shares = pt.special.log_softmax(logits, axis=1)
    return -pt.mean(shares[pt.arange(labels.shape[0]), labels])


class Trained:
    """A step of training."""

    variables: list[Any]
    step: Any

    @property
    def weights(self) -> Arrays:
        """For the check."""
        return [v.get_value() for v in self.variables]

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        return float(self.step(images, labels))


class Mlp(Trained):
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.variables = k1, b1, k2, b2, k3, b3 = shared(weights)
        images, labels = pt.fmatrix(), pt.ivector()
        x = pt.maximum(images @ k1 + b1, 0)
        x = pt.maximum(x @ k2 + b2, 0)
        loss = crossentropy(x @ k3 + b3, labels)
        slopes = pytensor.grad(loss, self.variables)
        rate = np.float32(mlp.RATE)
        updates = [(v, v - rate * g) for v, g in zip(self.variables, slopes, strict=True)]
        self.step = function([images, labels], loss, updates)


def convolution(x: Any, size: int, kernel: Any, bias: Any) -> Any:
    """Valid, 3x3, with relu: PyTensor has none of more than one axis with channels, so columns."""
    places, filters = size - 2, kernel.type.shape[-1]
    cells = [x[:, i : i + places, j : j + places] for i in range(3) for j in range(3)]
    columns = pt.concatenate(cells, axis=-1).reshape((-1, 9 * kernel.type.shape[2]))
    out = columns @ kernel.reshape((-1, filters)) + bias
    return pt.maximum(out, 0).reshape((conv.BATCH, places, places, filters))


class Conv(Trained):
    """A step of Adam."""

    def __init__(self, weights: Arrays) -> None:
        self.variables = k1, b1, k2, b2, k3, b3, k4, b4 = shared(weights)
        images = pt.tensor("images", dtype="float32", shape=(conv.BATCH, 28, 28, 1))
        labels = pt.ivector()
        x = convolution(convolution(images, 28, k1, b1), 26, k2, b2)
        x = pt.max(x.reshape((conv.BATCH, 12, 2, 12, 2, 64)), axis=(2, 4))
        x = pt.maximum(x.reshape((conv.BATCH, -1)) @ k3 + b3, 0)
        loss = crossentropy(x @ k4 + b4, labels)
        updates = self.adam(pytensor.grad(loss, self.variables))
        self.step = function([images, labels], loss, updates, mode="CVM")

    def adam(self, slopes: list[Any]) -> list[tuple[Any, Any]]:
        """New weights and moments."""
        one, rate, tiny = np.float32(1), np.float32(conv.RATE), np.float32(conv.TINY)
        beta1, beta2 = np.float32(conv.BETA1), np.float32(conv.BETA2)
        steps = pytensor.shared(np.zeros((), "float32"))
        t = steps + one
        size = rate * pt.sqrt(one - beta2**t) / (one - beta1**t)
        updates = [(steps, t)]
        for weight, slope in zip(self.variables, slopes, strict=True):
            mean, square = shared([np.zeros_like(weight.get_value())] * 2)
            new_mean = beta1 * mean + (one - beta1) * slope
            new_square = beta2 * square + (one - beta2) * pt.sqr(slope)
            change = size * new_mean / (pt.sqrt(new_square) + tiny)
            updates += [(mean, new_mean), (square, new_square), (weight, weight - change)]
        return updates


class Lstm:
    """Loss and gradients: inputs multiplied at once, then a scan."""

    def __init__(self, weights: Arrays) -> None:
        kernel, recurrent, bias = variables = shared(weights)
        x = pt.tensor("x", dtype="float32", shape=(lstm.BATCH, lstm.STEPS, lstm.INPUTS))
        inputs = x.transpose(1, 0, 2).reshape((-1, lstm.INPUTS)) @ kernel + bias
        inputs = inputs.reshape((lstm.STEPS, lstm.BATCH, 4 * lstm.UNITS))
        zeros = pt.zeros((lstm.BATCH, lstm.UNITS), dtype="float32")

        def step(inputs: Any, hidden: Any, cell: Any, recurrent: Any) -> Any:
            z = inputs + hidden @ recurrent
            let_in, keep, show, candidate = (
                z[:, k * lstm.UNITS : (k + 1) * lstm.UNITS] for k in range(4)
            )
            cell = pt.sigmoid(keep) * cell + pt.sigmoid(let_in) * pt.tanh(candidate)
            return pt.sigmoid(show) * pt.tanh(cell), cell

        outputs, _ = pytensor.scan(
            step, [inputs], [zeros, zeros], [recurrent], strict=True, return_updates=False
        )
        loss = pt.mean(pt.sqr(outputs))
        self.run = function([x], [loss, *pytensor.grad(loss, variables)])

    def __call__(self, x: np.ndarray) -> Arrays:
        return self.run(x)


class Attention:
    """Loss and gradients."""

    def __init__(self, weights: Arrays) -> None:
        variables = shared(weights)
        x = pt.ftensor3()
        flat = x.reshape((-1, attention.WIDTH))

        def heads(kernel: Any) -> Any:
            shape = (-1, attention.STEPS, attention.HEADS, attention.DEPTH)
            return (flat @ kernel).reshape(shape).transpose(0, 2, 1, 3)

        queries, keys, values = map(heads, variables[:3])
        scores = (queries * np.float32(attention.SCALE)) @ keys.transpose(0, 1, 3, 2)
        mixed = pt.special.softmax(scores, axis=-1) @ values
        output = mixed.transpose(0, 2, 1, 3).reshape((-1, attention.WIDTH)) @ variables[3]
        loss = pt.mean(pt.sqr(output))
        self.run = function([x], [loss, *pytensor.grad(loss, [x, *variables])])

    def __call__(self, x: np.ndarray) -> Arrays:
        return self.run(x)


class Chain:
    """The chain, fused into one loop."""

    def __init__(self) -> None:
        x = pt.fvector()
        squared, linear, constant = map(np.float32, (chain.SQUARED, chain.LINEAR, chain.CONSTANT))
        curve = (squared * x + linear) * x + constant
        bell = pt.exp(-pt.sqr(x))
        self.run = function([x], pt.switch(x > 0, pt.tanh(curve) * bell, curve - bell), mode="CVM")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.run(x)


class Add:
    """A sum, from NumPy to NumPy."""

    def __init__(self) -> None:
        x, y = pt.fvectors("x", "y")
        self.run = function([x, y], x + y, mode="CVM")

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.run(x, y)


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        value = pytensor.shared(np.zeros((), "float32"))
        self.run = function([], [], [(value, value + np.float32(1))], mode="CVM")

    def __call__(self) -> None:
        self.run()


def pin(threads: int) -> None:
    """Environment variables of BLAS and Numba are all there is.

    Kameleon compiles to C once calls have taken some seconds; here it's at once, as by hand.
    """
    engine: Any = load("theano")
    engine.compile_after = 0.0


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": Add,
    "count": Count,
}
NOTES = {"conv": "by hand: columns, as PyTensor has no such convolution"}
