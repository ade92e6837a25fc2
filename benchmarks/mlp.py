"""A multilayer perceptron, 784-512-512-10, batch 128: one step of SGD."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from harness import Row, Sides, training_row

SIZES = (784, 512, 512, 10)
BATCH = 128
RATE = 0.05

Arrays = list[np.ndarray]


def initial_weights(seed: int = 0) -> Arrays:
    """Kernel and bias of each layer in turn."""
    rng = np.random.default_rng(seed)
    weights: Arrays = []
    for fan_in, fan_out in pairwise(SIZES):
        kernel = rng.normal(0, np.sqrt(2 / fan_in), (fan_in, fan_out))
        weights += [kernel.astype("float32"), np.zeros(fan_out, "float32")]
    return weights


def batch(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """One batch of images and labels."""
    rng = np.random.default_rng(seed)
    images = rng.random((BATCH, SIZES[0]), dtype="float32")
    return images, rng.integers(0, SIZES[-1], BATCH).astype("int32")


def network(weights: Arrays) -> tuple[list[Any], Any, list[Any]]:
    """The same in the K API: inputs, loss, variables."""
    from kameleon import backend as K

    variables = [K.variable(w) for w in weights]
    images = K.placeholder((None, SIZES[0]))
    labels = K.placeholder((None,), dtype="int32")
    x = images
    for layer in range(len(SIZES) - 1):
        kernel, bias = variables[2 * layer : 2 * layer + 2]
        x = K.bias_add(K.dot(x, kernel), bias)
        x = K.relu(x) if layer < len(SIZES) - 2 else K.softmax(x)
    return [images, labels], K.mean(K.sparse_categorical_crossentropy(labels, x)), variables


def kameleon(weights: Arrays) -> tuple[Callable[..., Any], list[Any]]:
    """A step of SGD: the step, and the variables it changes."""
    from kameleon import backend as K

    inputs, loss, variables = network(weights)
    slopes = K.gradients(loss, variables)
    updates = [K.update_sub(v, RATE * g) for v, g in zip(variables, slopes, strict=True)]
    return K.function(inputs, [loss], updates), variables


def run(sides: Sides) -> list[Row]:
    """Check that both agree, then time them."""
    weights = initial_weights()
    ours, by_hand = kameleon(weights), sides["mlp"](weights)
    return [
        training_row("mlp", "step of SGD", ours, by_hand, batch(), steps=3, tolerance=2e-4),
    ]
