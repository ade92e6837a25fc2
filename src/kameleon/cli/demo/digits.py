"""Reading handwritten digits: a convolutional network in the K API alone.

Read this module from top to bottom to learn the API. The steps are always the same:

1. placeholders stand for what comes in, variables hold what is learnt;
2. K functions of them describe the output and the loss; nothing is computed yet;
3. `K.gradients` derives the loss, `K.update` says what becomes of the variables;
4. `K.function` turns all that into a function on NumPy arrays.

The digits are 1,797 images of 8 x 8 pixels by 13 people, which lie beside this file: the test set
of "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak, UCI Machine Learning
Repository, 1998, https://doi.org/10.24432/C50P49; licence CC BY 4.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kameleon import backend as K

Array = NDArray[Any]
Tensor = Any  # what K functions take and return

DIGITS = Path(__file__).with_name("digits.npz")  # what they are, and whose: digits.txt
CLASSES = 10
FILTERS = (32, 64)  # of the two convolutional blocks
UNITS = 128  # of the dense layer
DROPPED = 0.4  # share of the dense layer's values that dropout sets to 0 while training
HELD_OUT = 360  # digits never trained on: a fifth
BATCH = 64
PEAK_RATE = 4e-3  # learning rate at the start
MOVED = 0.5  # share of the digits that are moved sideways while training
IMAGES: Final = "channels_last"  # how images lie in memory: (batch, rows, columns, channels)


# The data --------------------------------------------------------------------------------------


class Data(NamedTuple):
    """Images, shape (n, 8, 8, 1), float32 in 0 … 1, and the digits they show, shape (n,)."""

    images: Array
    labels: Array


def load(rng: np.random.Generator) -> tuple[Data, Data]:
    """Return the digits shuffled by `rng`, as (training set, held-out set)."""
    with np.load(DIGITS) as stored:
        images = stored["images"][..., None].astype("float32") / 16
        labels = stored["labels"].astype("int32")
    order = rng.permutation(len(images))
    images, labels = images[order], labels[order]
    return Data(images[HELD_OUT:], labels[HELD_OUT:]), Data(images[:HELD_OUT], labels[:HELD_OUT])


# The network: what is learnt, and what is computed from it ------------------------------------


@dataclass
class Variables:
    """The state of a network, by name, the updates that don't come from gradients, and the form of
    its layers.
    """

    rng: np.random.Generator
    activation: Callable[[Tensor], Tensor] = K.relu
    pool_mode: Literal["max", "avg"] = "max"
    weights: dict[str, Tensor] = field(default_factory=dict)
    averages: dict[str, Tensor] = field(default_factory=dict)
    updates: list[Tensor] = field(default_factory=list)

    def seed(self) -> int:
        """Draw a seed for one of K's random functions: equal seeds, equal numbers."""
        return int(self.rng.integers(2**31))

    def random_weight(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Add a weight of normal numbers, scaled so that relu layers keep the values' variance.

        Source: He, Zhang, Ren, Sun, "Delving deep into rectifiers", ICCV 2015.
        """
        scale = float(np.sqrt(2.0 / np.prod(shape[:-1])))
        weight = K.random_normal_variable(shape, mean=0.0, scale=scale, seed=self.seed())
        self.weights[name] = weight
        return weight

    def all(self) -> dict[str, Tensor]:
        """Everything worth saving."""
        return {**self.weights, **self.averages}


def move(state: Variables, images: Tensor) -> Tensor:
    """Move some of the images, chosen at random, by one column to the left or to the right."""
    # None of the sizes needs to be known yet: K.shape is a tensor like any other.
    chance = K.random_uniform((K.shape(images)[0], 1, 1, 1), seed=state.seed())
    wide = K.spatial_2d_padding(images, ((0, 0), (1, 1)), data_format=IMAGES)
    left, right = wide[:, :, 2:], wide[:, :, :-2]
    moved = K.switch(chance < MOVED / 2, left, right)
    return K.switch(chance < MOVED, moved, images)


def normalize(state: Variables, name: str, x: Tensor) -> Tensor:
    """Batch normalization: by the batch's mean and variance in training, by averages later.

    Source: Ioffe, Szegedy, "Batch normalization", ICML 2015.
    """
    channels = K.int_shape(x)[-1]
    gamma = state.weights[f"{name}.gamma"] = K.ones((channels,))
    beta = state.weights[f"{name}.beta"] = K.zeros((channels,))
    average = state.averages[f"{name}.mean"] = K.zeros((channels,))
    spread = state.averages[f"{name}.variance"] = K.ones((channels,))

    axes = list(range(len(K.int_shape(x)) - 1))
    by_batch, mean, variance = K.normalize_batch_in_training(x, gamma, beta, axes)
    state.updates += [
        K.moving_average_update(average, mean, momentum=0.9),
        K.moving_average_update(spread, variance, momentum=0.9),
    ]
    # A lambda: the second branch is built only if the phase isn't fixed to training.
    return K.in_train_phase(
        by_batch, lambda: K.batch_normalization(x, average, spread, beta, gamma)
    )


def convolve(state: Variables, name: str, x: Tensor, filters: int) -> Tensor:
    """Convolution, normalization, activation, and pooling to half the size."""
    channels = K.int_shape(x)[-1]
    kernel = state.random_weight(f"{name}.kernel", (3, 3, channels, filters))
    x = K.conv2d(x, kernel, padding="same", data_format=IMAGES)
    x = state.activation(normalize(state, name, x))
    return K.pool2d(x, (2, 2), strides=(2, 2), pool_mode=state.pool_mode, data_format=IMAGES)


def network(state: Variables, images: Tensor) -> Tensor:
    """Return the probabilities of the ten digits, shape (batch, 10)."""
    x = K.in_train_phase(move(state, images), images)
    for number, filters in enumerate(FILTERS, 1):
        x = convolve(state, f"conv{number}", x, filters)
    features = int(np.prod(K.int_shape(x)[1:]))
    x = K.reshape(x, (-1, features))

    x = K.dot(x, state.random_weight("dense.kernel", (features, UNITS)))
    x = state.activation(normalize(state, "dense", x))
    x = K.in_train_phase(K.dropout(x, DROPPED, seed=state.seed()), x)

    bias = state.weights["digit.bias"] = K.zeros((CLASSES,))
    x = K.dot(x, state.random_weight("digit.kernel", (UNITS, CLASSES)))
    return K.softmax(K.bias_add(x, bias))


# Learning --------------------------------------------------------------------------------------


def adam(loss: Tensor, weights: list[Tensor], rate: Tensor) -> list[Tensor]:
    """Return the updates of one step of Adam.

    All updates of a call see the values from before it, so the order doesn't matter.
    Source: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """
    beta1, beta2, tiny = 0.9, 0.999, 1e-7
    steps = K.variable(0.0)
    t = steps + 1.0
    step_size = rate * K.sqrt(1.0 - K.pow(beta2, t)) / (1.0 - K.pow(beta1, t))
    updates = [K.update(steps, t)]
    for weight, slope in zip(weights, K.gradients(loss, weights), strict=True):
        mean, square = K.zeros(K.int_shape(weight)), K.zeros(K.int_shape(weight))
        new_mean = beta1 * mean + (1.0 - beta1) * slope
        new_square = beta2 * square + (1.0 - beta2) * K.square(slope)
        step = step_size * new_mean / (K.sqrt(new_square) + tiny)
        updates += [
            K.update(mean, new_mean),
            K.update(square, new_square),
            K.update_sub(weight, step),
        ]
    return updates


class Epoch(NamedTuple):
    """What one pass over the training set gave."""

    number: int
    loss: float
    accuracy: float
    held_out_loss: float
    held_out_accuracy: float


class Reader:
    """A network that learns to read digits.

    Args:
        seed: decides the split, the initial values, the order of the digits, how they are moved
            and what dropout drops. Equal seeds give equal results.
        activation, pool_mode: of the layers; see K.pool2d.

    Attributes:
        step: takes images, labels and 1, learns from them, and returns loss and accuracy.
        inputs, outputs: the tensors that such functions are made of.
    """

    step: Any

    def __init__(
        self,
        seed: int = 0,
        activation: Callable[[Tensor], Tensor] = K.relu,
        pool_mode: Literal["max", "avg"] = "max",
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.train_set, self.held_out = load(self.rng)
        self.state = Variables(self.rng, activation, pool_mode)

        # None: any number of images at a time.
        images = K.placeholder((None, 8, 8, 1), name="images")
        labels = K.placeholder((None,), dtype="int32", name="labels")
        probabilities = network(self.state, images)
        loss = K.mean(K.sparse_categorical_crossentropy(labels, probabilities))
        hits = K.equal(K.argmax(probabilities, axis=-1), K.cast(labels, "int64"))
        accuracy = K.mean(K.cast(hits, K.floatx()))

        self.rate = K.variable(PEAK_RATE)
        updates = adam(loss, list(self.state.weights.values()), self.rate)
        # The learning phase is an input like any other: 1 in training, 0 otherwise.
        self.inputs = [images, labels, K.learning_phase()]
        self.outputs = {"loss": loss, "accuracy": accuracy, "probabilities": probabilities}
        self.step = K.function(self.inputs, [loss, accuracy], self.state.updates + updates)
        self._evaluate = K.function(self.inputs, [loss, accuracy])
        self._predict = K.function([images, K.learning_phase()], [probabilities])

    def learn(self, epochs: int) -> Iterator[Epoch]:
        """Train for some epochs; yield the results of each.

        The learning rate falls along half a cosine, to nearly zero in the last epoch.
        """
        for number in range(1, epochs + 1):
            K.set_value(self.rate, PEAK_RATE * 0.5 * (1 + np.cos(np.pi * (number - 1) / epochs)))
            yield Epoch(number, *self._pass_over_training_set(), *self.evaluate())

    def _pass_over_training_set(self) -> tuple[float, float]:
        """Train on every digit once; return mean loss and accuracy."""
        images, labels = self.train_set
        total = np.zeros(2)
        for batch in np.array_split(self.rng.permutation(len(labels)), -(-len(labels) // BATCH)):
            total += len(batch) * np.array(self.step([images[batch], labels[batch], 1]))
        loss, accuracy = total / len(labels)
        return float(loss), float(accuracy)

    def evaluate(self) -> tuple[float, float]:
        """Return loss and accuracy on the held-out digits."""
        loss, accuracy = self._evaluate([*self.held_out, 0])
        return float(loss), float(accuracy)

    def predict(self, images: Array) -> Array:
        """Return the probabilities of the ten digits, shape (n, 10), for images (n, 8, 8, 1)."""
        probabilities: Array = self._predict([images, 0])[0]
        return probabilities

    def values(self) -> dict[str, Array]:
        """Return what was learnt: a NumPy array for each variable, by name."""
        state = self.state.all()
        return dict(zip(state, K.batch_get_value(list(state.values())), strict=True))
