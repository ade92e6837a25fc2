"""A classifier with a hidden layer, whose optimizer is a class of the user's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kameleon import backend as K

Array = npt.NDArray[np.float32]


class Momentum:
    """Gradient descent that remembers."""

    def __init__(self, rate: float = 0.05, momentum: float = 0.9) -> None:
        self.rate = K.variable(rate)
        self.momentum = momentum

    def updates(
        self, loss: K.Tensor, weights: Sequence[K.Variable]
    ) -> list[tuple[K.Variable, K.Tensor]]:
        found: list[tuple[K.Variable, K.Tensor]] = []
        for w, g in zip(weights, K.gradients(loss, list(weights))):
            speed = K.zeros(K.int_shape(w))
            new = self.momentum * speed - self.rate * g
            found += [(w, w + new)]
        return found


def dense(x: K.Tensor, units: int, weights: list[K.Variable]) -> K.Tensor:
    """x @ w + b, whose weights are added to the list."""
    w = K.random_normal_variable((K.int_shape(x)[-1], units), 0.0, 0.3, seed=len(weights))
    b = K.variable(np.zeros(units))
    weights.extend([w, b])
    return K.bias_add(K.dot(x, w), b)


def accuracy(probabilities: Array, labels: npt.NDArray[np.int32]) -> float:
    return float((probabilities.argmax(axis=-1) == labels).mean())


weights: list[K.Variable] = []
x = K.placeholder((None, 2))
labels = K.placeholder((None,), dtype="int32")
p = K.softmax(dense(K.tanh(dense(x, 8, weights)), 3, weights))
loss = K.mean(K.sparse_categorical_crossentropy(labels, p))
train = K.function([x, labels], [loss], updates=Momentum().updates(loss, weights))
predict = K.function([x], p)

rng = np.random.default_rng(1)
classes = rng.integers(0, 3, 90).astype("int32")
points = rng.normal(size=(90, 2)).astype("float32") * 0.3 + np.stack([classes, classes % 2], -1)
for _ in range(300):
    train([points, classes])
probabilities = predict([points])
assert accuracy(probabilities, classes) > 0.6, probabilities.shape

accuracy(train([points, classes]), classes)  # wrong
Momentum(rate="fast")  # wrong
dense([1.0, 2.0], 8, weights)  # wrong
K.softmax(p, axes=-1)  # wrong
