"""The workloads in TensorFlow: graphs without XLA, gradients from a tape, state in variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attention
import chain
import conv
import lstm
import mlp
import numpy as np
import tensorflow as tf

Arrays = list[np.ndarray]

OPTIONS: dict[str, Any] = {}  # of tf.function


def graph(run: Callable[..., Any], *inputs: tuple[tuple[int | None, ...], str]) -> Any:
    """A function traced once; inputs: their shapes and dtypes.

    What a call costs: half as much where the traced function is called with tensors as where
    `tf.function` finds it for arrays.
    """
    signature = [tf.TensorSpec(shape, dtype) for shape, dtype in inputs]
    traced = tf.function(run, input_signature=signature, autograph=False, **OPTIONS)
    concrete = traced.get_concrete_function()
    return lambda *arrays: concrete(*map(tf.constant, arrays))


def crossentropy(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Mean over the batch."""
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


class Mlp:
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [tf.Variable(w) for w in weights]
        self.step = graph(self.train, ((None, mlp.SIZES[0]), "float32"), ((None,), "int32"))

    def train(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """The loss; changes the weights."""
        k1, b1, k2, b2, k3, b3 = self.weights
        with tf.GradientTape() as tape:
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(images, k1), b1))
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, k2), b2))
            loss = crossentropy(tf.nn.bias_add(tf.matmul(x, k3), b3), labels)
        for weight, slope in zip(self.weights, tape.gradient(loss, self.weights), strict=True):
            weight.assign_sub(mlp.RATE * slope)
        return loss

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        return float(self.step(images, labels))


class Conv:
    """A step of Adam."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [tf.Variable(w) for w in weights]
        self.means = [tf.Variable(tf.zeros_like(w)) for w in weights]
        self.squares = [tf.Variable(tf.zeros_like(w)) for w in weights]
        self.steps = tf.Variable(0.0)
        self.step = graph(self.train, ((None, 28, 28, 1), "float32"), ((None,), "int32"))

    def train(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """The loss; changes the weights."""
        k1, b1, k2, b2, k3, b3, k4, b4 = self.weights
        with tf.GradientTape() as tape:
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, k1, 1, "VALID"), b1))
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k2, 1, "VALID"), b2))
            x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), (-1, k3.shape[0]))
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, k3), b3))
            loss = crossentropy(tf.nn.bias_add(tf.matmul(x, k4), b4), labels)
        self.adam(tape.gradient(loss, self.weights))
        return loss

    def adam(self, slopes: list[tf.Tensor]) -> None:
        """Change weights and moments in place."""
        t = self.steps.assign_add(1.0)
        size = conv.RATE * tf.sqrt(1 - conv.BETA2**t) / (1 - conv.BETA1**t)
        parts = zip(self.weights, slopes, self.means, self.squares, strict=True)
        for weight, slope, mean, square in parts:
            mean = mean.assign_add((1 - conv.BETA1) * (slope - mean))
            square = square.assign_add((1 - conv.BETA2) * (tf.square(slope) - square))
            weight.assign_sub(size * mean / (tf.sqrt(square) + conv.TINY))

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        return float(self.step(images, labels))


class Lstm:
    """Loss and gradients: inputs multiplied at once, then a while loop."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [tf.Variable(w) for w in weights]
        self.run = graph(self.slopes, ((lstm.BATCH, lstm.STEPS, lstm.INPUTS), "float32"))

    def outputs(self, x: tf.Tensor) -> tf.Tensor:
        """Of all steps."""
        kernel, recurrent, bias = map(tf.convert_to_tensor, self.weights)
        inputs = tf.reshape(tf.transpose(x, (1, 0, 2)), (-1, lstm.INPUTS))
        inputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
        inputs = tf.reshape(inputs, (lstm.STEPS, lstm.BATCH, 4 * lstm.UNITS))
        zeros = tf.zeros((lstm.BATCH, lstm.UNITS))

        steps = tf.TensorArray("float32", lstm.STEPS, element_shape=inputs.shape[1:])
        steps = steps.unstack(inputs)
        results = tf.TensorArray("float32", lstm.STEPS, element_shape=zeros.shape)

        def body(t: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, results: Any) -> Any:
            z = steps.read(t) + tf.matmul(hidden, recurrent)
            let_in, keep, show, candidate = tf.split(z, 4, axis=1)
            cell = tf.sigmoid(keep) * cell + tf.sigmoid(let_in) * tf.tanh(candidate)
            hidden = tf.sigmoid(show) * tf.tanh(cell)
            return t + 1, hidden, cell, results.write(t, hidden)

        *_, results = tf.while_loop(
            lambda t, *_: t < lstm.STEPS,
            body,
            (0, zeros, zeros, results),
            maximum_iterations=lstm.STEPS,
        )
        return results.stack()

    def slopes(self, x: tf.Tensor) -> list[tf.Tensor]:
        """Loss and gradients."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.outputs(x)))
        return [loss, *tape.gradient(loss, self.weights)]

    def __call__(self, x: np.ndarray) -> Arrays:
        return [np.asarray(a) for a in self.run(x)]


class Attention:
    """Loss and gradients."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [tf.Variable(w) for w in weights]
        self.run = graph(self.slopes, ((None, attention.STEPS, attention.WIDTH), "float32"))

    def output(self, x: tf.Tensor) -> tf.Tensor:
        """Of all heads, mixed."""
        flat = tf.reshape(x, (-1, attention.WIDTH))

        def heads(kernel: tf.Variable) -> tf.Tensor:
            shape = (-1, attention.STEPS, attention.HEADS, attention.DEPTH)
            return tf.transpose(tf.reshape(tf.matmul(flat, kernel), shape), (0, 2, 1, 3))

        queries, keys, values = map(heads, self.weights[:3])
        scores = tf.matmul(queries * attention.SCALE, keys, transpose_b=True)
        mixed = tf.matmul(tf.nn.softmax(scores), values)
        joined = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, attention.WIDTH))
        return tf.matmul(joined, self.weights[3])

    def slopes(self, x: tf.Tensor) -> list[tf.Tensor]:
        """Loss and gradients."""
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.square(self.output(x)))
        return [loss, *tape.gradient(loss, [x, *self.weights])]

    def __call__(self, x: np.ndarray) -> Arrays:
        return [np.asarray(a) for a in self.run(x)]


class Chain:
    """The chain as a graph."""

    def __init__(self) -> None:
        self.run = graph(self.chain, ((None,), "float32"))

    @staticmethod
    def chain(x: tf.Tensor) -> tf.Tensor:
        """All of it."""
        curve = (chain.SQUARED * x + chain.LINEAR) * x + chain.CONSTANT
        bell = tf.exp(-tf.square(x))
        return tf.where(x > 0, tf.tanh(curve) * bell, curve - bell)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.run(x))


class Add:
    """A sum, from NumPy to NumPy."""

    def __init__(self) -> None:
        self.run = graph(lambda x, y: x + y, ((None,), "float32"), ((None,), "float32"))

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.run(x, y))


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        self.value = tf.Variable(0.0)
        self.run = graph(lambda: self.value.assign_add(1.0))

    def __call__(self) -> None:
        self.run()


def pin(threads: int) -> None:
    """Threads inside of an operation, and operations at a time."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": Add,
    "count": Count,
}
