"""The workloads in NumPy, with gradients by HIPS autograd, which has no convolutions."""

from __future__ import annotations

from typing import Any

import attention
import autograd.numpy as np
import lstm
import mlp
from autograd import value_and_grad
from autograd.scipy.special import logsumexp

from .numpy import pin

__all__ = ["SIDES", "pin"]

Arrays = list[Any]


class Mlp:
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [w.copy() for w in weights]

    @staticmethod
    def loss(weights: Arrays, images: Any, labels: Any) -> Any:
        """Of the whole batch."""
        k1, b1, k2, b2, k3, b3 = weights
        x = np.maximum(np.dot(images, k1) + b1, 0)
        x = np.maximum(np.dot(x, k2) + b2, 0)
        logits = np.dot(x, k3) + b3
        return np.mean(logsumexp(logits, axis=1) - logits[np.arange(len(labels)), labels])

    def __call__(self, images: Any, labels: Any) -> float:
        loss, slopes = value_and_grad(self.loss)(self.weights, images, labels)
        for weight, slope in zip(self.weights, slopes, strict=True):
            weight -= mlp.RATE * slope
        return float(loss)


class Lstm:
    """Loss and gradients: inputs multiplied at once, then a loop in Python."""

    def __init__(self, weights: Arrays) -> None:
        self.slopes = value_and_grad(self.loss)
        self.weights = weights

    @staticmethod
    def loss(weights: Arrays, x: Any) -> Any:
        """Mean square of all outputs."""
        kernel, recurrent, bias = weights
        inputs = np.dot(np.swapaxes(x, 0, 1), kernel) + bias
        hidden = cell = np.zeros((len(x), lstm.UNITS), "float32")
        outputs = []
        for step in inputs:
            z = step + np.dot(hidden, recurrent)
            gates = 0.5 * (np.tanh(0.5 * z[:, : 3 * lstm.UNITS]) + 1)
            let_in, keep, show = (gates[:, i * lstm.UNITS : (i + 1) * lstm.UNITS] for i in range(3))
            cell = keep * cell + let_in * np.tanh(z[:, 3 * lstm.UNITS :])
            hidden = show * np.tanh(cell)
            outputs.append(hidden)
        return np.mean(np.square(np.stack(outputs)))

    def __call__(self, x: Any) -> Arrays:
        loss, slopes = self.slopes(self.weights, x)
        return [loss, *slopes]


class Attention:
    """Loss and gradients."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = list(weights)

    @staticmethod
    def loss(x: Any, *weights: Any) -> Any:
        """Mean square of the output."""
        *kernels, out = weights
        shape = (*x.shape[:2], attention.HEADS, attention.DEPTH)
        flat = np.reshape(x, (-1, attention.WIDTH))
        queries, keys, values = (
            np.transpose(np.reshape(np.dot(flat, kernel), shape), (0, 2, 1, 3))
            for kernel in kernels
        )
        scores = attention.SCALE * np.matmul(queries, np.swapaxes(keys, 2, 3))
        bells = np.exp(scores - np.max(scores, 3, keepdims=True))
        mixed = np.matmul(bells / np.sum(bells, 3, keepdims=True), values)
        joined = np.reshape(np.transpose(mixed, (0, 2, 1, 3)), flat.shape)
        return np.mean(np.square(np.dot(joined, out)))

    def __call__(self, x: Any) -> Arrays:
        slopes = value_and_grad(self.loss, argnum=list(range(1 + len(self.weights))))
        loss, found = slopes(x, *self.weights)
        return [loss, *found]


SIDES = {"mlp": Mlp, "lstm": Lstm, "attention": Attention}
