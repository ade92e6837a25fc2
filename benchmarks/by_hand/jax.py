"""The workloads in JAX: compiled as a whole, with donated state."""

from __future__ import annotations

from functools import partial
from typing import Any

import attention
import chain
import conv
import jax
import jax.numpy as jnp
import lstm
import mlp
import numpy as np
from jax import lax

Arrays = list[np.ndarray]
Array = jax.Array


def crossentropy(logits: Array, labels: Array) -> Array:
    """Mean over the batch."""
    shares = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(shares, labels[:, None], axis=1))


class Mlp:
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.state = [jnp.array(w) for w in weights]

    @property
    def weights(self) -> list[Array]:
        """For the check."""
        return self.state

    @staticmethod
    def loss(weights: list[Array], images: Array, labels: Array) -> Array:
        """Of the whole batch."""
        k1, b1, k2, b2, k3, b3 = weights
        x = jax.nn.relu(images @ k1 + b1)
        x = jax.nn.relu(x @ k2 + b2)
        return crossentropy(x @ k3 + b3, labels)

    @staticmethod
    @partial(jax.jit, donate_argnums=0)
    def step(weights: list[Array], images: Array, labels: Array) -> tuple[list[Array], Array]:
        """New weights, and the loss."""
        loss, slopes = jax.value_and_grad(Mlp.loss)(weights, images, labels)
        return [w - mlp.RATE * s for w, s in zip(weights, slopes, strict=True)], loss

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        self.state, loss = self.step(self.state, images, labels)
        return float(loss)


class Conv:
    """A step of Adam."""

    def __init__(self, weights: Arrays) -> None:
        state = [jnp.array(w) for w in weights]
        zeros = [[jnp.zeros_like(w) for w in state] for _ in range(2)]
        self.state: Any = (state, *zeros, jnp.zeros(()))

    @property
    def weights(self) -> list[Array]:
        """For the check."""
        return self.state[0]

    @staticmethod
    def loss(weights: list[Array], images: Array, labels: Array) -> Array:
        """Of the whole batch."""
        k1, b1, k2, b2, k3, b3, k4, b4 = weights
        convolve = partial(
            lax.conv_general_dilated,
            window_strides=(1, 1),
            padding="VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        x = jax.nn.relu(convolve(images, k1) + b1)
        x = jax.nn.relu(convolve(x, k2) + b2)
        x = x.reshape(len(x), 12, 2, 12, 2, -1).max((2, 4))  # its gradient beats reduce_window's
        x = jax.nn.relu(x.reshape(len(x), -1) @ k3 + b3)
        return crossentropy(x @ k4 + b4, labels)

    @staticmethod
    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, images: Array, labels: Array) -> Any:
        """New weights, moments and number of steps; the loss."""
        weights, means, squares, steps = state
        loss, slopes = jax.value_and_grad(Conv.loss)(weights, images, labels)
        steps = steps + 1
        size = conv.RATE * jnp.sqrt(1 - conv.BETA2**steps) / (1 - conv.BETA1**steps)
        means = jax.tree.map(lambda m, g: conv.BETA1 * m + (1 - conv.BETA1) * g, means, slopes)
        squares = jax.tree.map(
            lambda v, g: conv.BETA2 * v + (1 - conv.BETA2) * g * g, squares, slopes
        )
        weights = jax.tree.map(
            lambda w, m, v: w - size * m / (jnp.sqrt(v) + conv.TINY), weights, means, squares
        )
        return (weights, means, squares, steps), loss

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        self.state, loss = self.step(self.state, images, labels)
        return float(loss)


class Lstm:
    """Loss and gradients: inputs multiplied at once, then a scan."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [jnp.array(w) for w in weights]

    @staticmethod
    def loss(weights: list[Array], x: Array) -> Array:
        """Mean square of all outputs."""
        kernel, recurrent, bias = weights
        zeros = jnp.zeros((len(x), lstm.UNITS), x.dtype)

        def step(state: tuple[Array, Array], inputs: Array) -> Any:
            hidden, cell = state
            z = inputs + hidden @ recurrent
            gates = jax.nn.sigmoid(z[:, : 3 * lstm.UNITS])
            let_in, keep, show = jnp.split(gates, 3, axis=1)
            cell = keep * cell + let_in * jnp.tanh(z[:, 3 * lstm.UNITS :])
            hidden = show * jnp.tanh(cell)
            return (hidden, cell), hidden

        inputs = jnp.swapaxes(x, 0, 1) @ kernel + bias
        _, outputs = lax.scan(step, (zeros, zeros), inputs)
        return jnp.mean(jnp.square(outputs))

    @staticmethod
    @jax.jit
    def run(weights: list[Array], x: Array) -> Any:
        """Loss and gradients."""
        return jax.value_and_grad(Lstm.loss)(weights, x)

    def __call__(self, x: np.ndarray) -> Arrays:
        loss, slopes = self.run(self.weights, x)
        return [np.asarray(a) for a in (loss, *slopes)]


class Attention:
    """Loss and gradients."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [jnp.array(w) for w in weights]

    @staticmethod
    def loss(x: Array, weights: list[Array]) -> Array:
        """Mean square of the output."""
        *kernels, out = weights
        shape = (*x.shape[:2], attention.HEADS, attention.DEPTH)
        flat = x.reshape(-1, attention.WIDTH)  # products of matrices are faster than of stacks
        queries, keys, values = (
            (flat @ kernel).reshape(shape).transpose(0, 2, 1, 3) for kernel in kernels
        )
        scores = attention.SCALE * (queries @ keys.swapaxes(2, 3))
        # The softmax's division waits until there is less to divide.
        bells = jnp.exp(scores - lax.stop_gradient(scores.max(3, keepdims=True)))
        mixed = (bells @ values) / bells.sum(3, keepdims=True)
        return jnp.mean(jnp.square(mixed.transpose(0, 2, 1, 3).reshape(flat.shape) @ out))

    @staticmethod
    @jax.jit
    def run(x: Array, weights: list[Array]) -> Any:
        """Loss and gradients."""
        return jax.value_and_grad(Attention.loss, argnums=(0, 1))(x, weights)

    def __call__(self, x: np.ndarray) -> Arrays:
        loss, (d_x, slopes) = self.run(x, self.weights)
        return [np.asarray(a) for a in (loss, d_x, *slopes)]


class Chain:
    """The chain, compiled into one loop."""

    @staticmethod
    @jax.jit
    def run(x: Array) -> Array:
        """All of it."""
        curve = (chain.SQUARED * x + chain.LINEAR) * x + chain.CONSTANT
        bell = jnp.exp(-jnp.square(x))
        return jnp.where(x > 0, jnp.tanh(curve) * bell, curve - bell)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.run(x))


class Add:
    """A sum, from NumPy to NumPy."""

    def __init__(self) -> None:
        self.run = jax.jit(jnp.add)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.run(x, y))


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        self.value = jnp.zeros(())
        self.run = jax.jit(lambda value: value + 1, donate_argnums=0)

    def __call__(self) -> None:
        self.value = self.run(self.value)


def pin(threads: int) -> None:
    """XLA reads its flags and NPROC from the environment."""


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": Add,
    "count": Count,
}
