"""A convolutional network on 28x28 images, batch 64: one step of Adam.

conv 3x3x32, relu, conv 3x3x64 (valid), relu, max pooling 2x2, dense 128, relu, dense 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, training_row

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


def network(weights: Arrays) -> tuple[list[Any], Any, list[Any]]:
    """The same in the K API: inputs, loss, variables."""
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
    return [images, labels], K.mean(K.sparse_categorical_crossentropy(labels, x)), variables


def kameleon(weights: Arrays) -> tuple[Callable[..., Any], list[Any]]:
    """A step of Adam: the step, and the variables it changes."""
    from kameleon import backend as K

    inputs, loss, variables = network(weights)
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
    return K.function(inputs, [loss], updates), variables


def run(sides: Sides) -> list[Row]:
    """Check that both agree, then time them."""
    weights = initial_weights()
    ours, by_hand = kameleon(weights), sides["conv"](weights)
    # Adam divides by the root of a square: where a slope is all rounding, so is its step.
    return [
        training_row("conv", "step of Adam", ours, by_hand, batch(), steps=2, tolerance=2e-2),
    ]
