"""A convolutional network on 28x28 images, batch 64: one step of Adam.

conv 3x3x32, relu, conv 3x3x64 (valid), relu, max pooling 2x2, dense 128, relu, dense 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, require_close, timed_row
from numpy.lib.stride_tricks import as_strided

BATCH = 64
SHAPES = (
    (3, 3, 1, 32),
    (32,),
    (3, 3, 32, 64),
    (64,),
    (12 * 12 * 64, 128),
    (128,),
    (128, 10),
    (10,),
)
RATE, BETA1, BETA2, TINY = 1e-3, 0.9, 0.999, 1e-7

Arrays = list[np.ndarray]


def initial_weights(seed: int = 0) -> Arrays:
    """Kernel and bias of each layer in turn."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype("float32")
        if len(shape) > 1
        else np.zeros(shape, "float32")
        for shape in SHAPES
    ]


def batch(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """One batch of images and labels."""
    rng = np.random.default_rng(seed)
    images = rng.random((BATCH, 28, 28, 1), dtype="float32")
    return images, rng.integers(0, 10, BATCH).astype("int32")


class Convolution:
    """A valid 3x3 convolution with bias and relu: columns and BLAS, buffers made once.

    One image at a time: what is gathered is multiplied while it's still in the cache.
    """

    def __init__(self, size: int, channels: int, filters: int, needs_input: bool) -> None:
        places = size - 2
        self.windows = np.empty((BATCH, places, places, 3, 3 * channels), "float32")
        self.columns = self.windows.reshape(BATCH, -1, 9 * channels)
        self.out = np.empty((BATCH, places, places, filters), "float32")
        self.mask = np.empty(self.out.shape, bool)
        self.back = np.empty((BATCH, size, size, channels), "float32") if needs_input else None
        self.parts = np.empty((places, places, 3, 3, channels), "float32")

    def forward(self, x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Gather the columns (they are kept), multiply, add the bias, apply relu."""
        batch, rows, row, column, cell = (x.shape[0], *x.strides)
        strides = (rows, row, column, row, cell)  # three cells beside each other lie in one run
        windows = as_strided(x, self.windows.shape, strides, writeable=False)
        flat = kernel.reshape(-1, kernel.shape[-1])
        out = self.out.reshape(batch, -1, self.out.shape[-1])
        for image in range(batch):
            np.copyto(self.windows[image], windows[image])
            np.matmul(self.columns[image], flat, out=out[image])
            out[image] += bias
            np.maximum(out[image], 0, out=out[image])
        return self.out

    def backward(self, delta: np.ndarray, kernel: np.ndarray, slopes: Arrays) -> np.ndarray | None:
        """Fill the slopes of kernel and bias; return the delta of the input, if it's needed."""
        filters = delta.shape[-1]
        delta *= np.greater(self.out, 0, out=self.mask)
        flat = delta.reshape(-1, filters)
        columns = self.columns.reshape(len(flat), -1)
        np.matmul(columns.T, flat, out=slopes[0].reshape(-1, filters))
        np.sum(flat, axis=0, out=slopes[1])
        if self.back is None:
            return None
        self.back.fill(0)
        places, turned = self.out.shape[1], kernel.reshape(-1, filters).T
        for image, back in zip(delta, self.back, strict=True):
            parts = self.parts.reshape(places * places, -1)
            np.matmul(image.reshape(-1, filters), turned, out=parts)
            for i in range(3):
                for j in range(3):
                    back[i : i + places, j : j + places] += self.parts[:, :, i, j]
        return self.back


class ByHand:
    """The step in NumPy."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [w.copy() for w in weights]
        self.slopes = [np.empty_like(w) for w in weights]
        self.means = [np.zeros_like(w) for w in weights]
        self.squares = [np.zeros_like(w) for w in weights]
        self.scratch = [np.empty_like(w) for w in weights]
        self.steps = 0
        self.first = Convolution(28, 1, 32, needs_input=False)
        self.second = Convolution(26, 32, 64, needs_input=True)
        self.pooled = np.empty((BATCH, 12, 12, 64), "float32")
        self.unpooled = np.empty((BATCH, 24, 24, 64), "float32")
        self.rows = np.arange(BATCH)

    @staticmethod
    def corners(x: np.ndarray) -> Arrays:
        """The four cells of each 2x2 window, as views."""
        return [x[:, i::2, j::2] for i in range(2) for j in range(2)]

    def __call__(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Take one step; return the loss before it."""
        k1, b1, k2, b2, k3, b3, k4, b4 = self.weights
        h = self.second.forward(self.first.forward(x, k1, b1), k2, b2)
        a, b, c, d = self.corners(h)
        pooled = np.maximum(a, b, out=self.pooled)
        np.maximum(pooled, c, out=pooled)
        np.maximum(pooled, d, out=pooled)
        flat = pooled.reshape(BATCH, -1)
        dense = np.maximum(flat @ k3 + b3, 0)
        loss, delta = self.loss(dense @ k4 + b4, labels)

        np.matmul(dense.T, delta, out=self.slopes[6])
        np.sum(delta, axis=0, out=self.slopes[7])
        delta = (delta @ k4.T) * (dense > 0)
        np.matmul(flat.T, delta, out=self.slopes[4])
        np.sum(delta, axis=0, out=self.slopes[5])
        delta = self.unpool((delta @ k3.T).reshape(pooled.shape))
        self.first.backward(self.second.backward(delta, k2, self.slopes[2:4]), k1, self.slopes[:2])
        self.adam()
        return loss

    def loss(self, logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean crossentropy of the softmax, and its slope in the logits."""
        logits -= logits.max(axis=1, keepdims=True)
        picked = logits[self.rows, labels]
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1, keepdims=True)
        logits /= totals
        logits[self.rows, labels] -= 1
        logits *= np.float32(1 / BATCH)
        return float(np.mean(np.log(totals[:, 0]) - picked)), logits

    def unpool(self, delta: np.ndarray) -> np.ndarray:
        """Give each window's delta to its largest cell.

        Equal cells above 0 don't occur in these data, and relu stops what goes to those at 0.
        """
        pairs = zip(self.corners(self.second.out), self.corners(self.unpooled), strict=True)
        for cell, back in pairs:
            np.multiply(delta, cell == self.pooled, out=back)
        return self.unpooled

    def adam(self) -> None:
        """Change the weights in place."""
        self.steps += 1
        size = RATE * np.sqrt(1 - BETA2**self.steps) / (1 - BETA1**self.steps)
        parts = zip(self.weights, self.slopes, self.means, self.squares, self.scratch, strict=True)
        for weight, slope, mean, square, scratch in parts:
            mean *= np.float32(BETA1)
            mean += np.multiply(slope, np.float32(1 - BETA1), out=scratch)
            square *= np.float32(BETA2)
            slope *= slope
            slope *= np.float32(1 - BETA2)
            square += slope
            np.sqrt(square, out=scratch)
            scratch += np.float32(TINY)
            np.divide(mean, scratch, out=scratch)
            scratch *= np.float32(size)
            weight -= scratch


def kameleon(weights: Arrays) -> tuple[Callable[..., Any], list[Any]]:
    """The same in the K API: the step, and the variables it changes."""
    from kameleon import backend as K

    variables = [K.variable(w) for w in weights]
    k1, b1, k2, b2, k3, b3, k4, b4 = variables
    images = K.placeholder((None, 28, 28, 1))
    labels = K.placeholder((None,), dtype="int32")
    x = K.relu(K.bias_add(K.conv2d(images, k1), b1))
    x = K.relu(K.bias_add(K.conv2d(x, k2), b2))
    x = K.pool2d(x, (2, 2), strides=(2, 2), pool_mode="max")
    x = K.reshape(x, (-1, SHAPES[4][0]))
    x = K.relu(K.bias_add(K.dot(x, k3), b3))
    x = K.softmax(K.bias_add(K.dot(x, k4), b4))
    loss = K.mean(K.sparse_categorical_crossentropy(labels, x))

    steps = K.variable(0.0)
    t = steps + 1.0
    size = RATE * K.sqrt(1.0 - K.pow(BETA2, t)) / (1.0 - K.pow(BETA1, t))
    updates = [K.update(steps, t)]
    for variable, slope in zip(variables, K.gradients(loss, variables), strict=True):
        mean, square = K.zeros(K.int_shape(variable)), K.zeros(K.int_shape(variable))
        new_mean = BETA1 * mean + (1 - BETA1) * slope
        new_square = BETA2 * square + (1 - BETA2) * K.square(slope)
        change = size * new_mean / (K.sqrt(new_square) + TINY)
        updates += [K.update(mean, new_mean), K.update(square, new_square)]
        updates += [K.update_sub(variable, change)]
    return K.function([images, labels], [loss], updates), variables


def run() -> list[Row]:
    """Check that both agree, then time them."""
    from kameleon import backend as K

    weights, (images, labels) = initial_weights(), batch()
    step, variables = kameleon(weights)
    by_hand = ByHand(weights)
    for _ in range(2):
        require_close("conv: loss", step([images, labels]), [by_hand(images, labels)])
    # Adam divides by the root of a square: where a slope is all rounding, so is its step.
    require_close("conv: weights", K.batch_get_value(variables), by_hand.weights, tolerance=2e-2)
    return [
        timed_row(
            "conv",
            "step of Adam",
            lambda: step([images, labels]),
            lambda: by_hand(images, labels),
            rounds=12,
        )
    ]
