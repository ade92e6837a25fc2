"""The workloads as models of Keras 3, trained by `train_on_batch`, on the engine in force."""

from __future__ import annotations

import importlib
import os
from typing import Any

import conv
import keras
import mlp
import numpy as np
from keras import layers

Arrays = list[np.ndarray]


class Trained:
    """A compiled model.

    Args:
        model: not compiled yet.
        optimizer: Keras's.
        weights: to begin with.
    """

    def __init__(self, model: Any, optimizer: Any, weights: Arrays) -> None:
        self.model = model
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer, loss)
        model.set_weights(weights)

    @property
    def weights(self) -> Arrays:
        """For the check."""
        return self.model.get_weights()

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        self.model.reset_metrics()
        return float(self.model.train_on_batch(images, labels))


def perceptron(weights: Arrays) -> Trained:
    """With a step of SGD."""
    first, second, last = mlp.SIZES[1:]
    model = keras.Sequential(
        [
            keras.Input(mlp.SIZES[:1]),
            layers.Dense(first, "relu"),
            layers.Dense(second, "relu"),
            layers.Dense(last),
        ]
    )
    return Trained(model, keras.optimizers.SGD(mlp.RATE), weights)


def convolutional(weights: Arrays) -> Trained:
    """With a step of Adam."""
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(128, "relu"),
            layers.Dense(10),
        ]
    )
    adam = keras.optimizers.Adam(conv.RATE, conv.BETA1, conv.BETA2, conv.TINY)
    return Trained(model, adam, weights)


def pin(threads: int) -> None:
    """As the engine below does it."""
    importlib.import_module(f"by_hand.{os.environ['KERAS_BACKEND']}").pin(threads)


SIDES = {"mlp": perceptron, "conv": convolutional}
