"""Functions that train, for what takes them to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kameleon import backend as K

Array = np.ndarray[Any, Any]
Updates = Iterator[tuple[Any, Any]]


def normal(*shape: int, seed: int = 0, scale: float = 0.3) -> Array:
    return np.random.default_rng((seed, *shape)).normal(size=shape, scale=scale).astype("float32")


# Optimizers: parameters and gradients -> updates ------------------------------------------------


def sgd(parameters: Sequence[Any], slopes: Sequence[Any]) -> Updates:
    for p, g in zip(parameters, slopes, strict=True):
        yield p, p - 0.1 * g


def momentum(parameters: Sequence[Any], slopes: Sequence[Any]) -> Updates:
    for p, g in zip(parameters, slopes, strict=True):
        moment = K.zeros(K.int_shape(p), name="moment")
        step = 0.9 * moment - 0.1 * g
        yield moment, step
        yield p, p + step


def rmsprop(parameters: Sequence[Any], slopes: Sequence[Any]) -> Updates:
    for p, g in zip(parameters, slopes, strict=True):
        mean = K.zeros(K.int_shape(p), name="mean")
        new = 0.9 * mean + 0.1 * K.square(g)
        yield mean, new
        yield p, p - 0.01 * g / (K.sqrt(new) + K.epsilon())


def adam(parameters: Sequence[Any], slopes: Sequence[Any]) -> Updates:
    count = K.variable(0, dtype="int64", name="iterations")
    yield count, count + 1
    t = K.cast(count + 1, "float32")
    rate = 0.01 * K.sqrt(1.0 - K.pow(0.999, t)) / (1.0 - K.pow(0.9, t))
    for p, g in zip(parameters, slopes, strict=True):
        m, v = (K.zeros(K.int_shape(p), name=name) for name in ("m", "v"))
        new_m, new_v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * K.square(g)
        yield m, new_m
        yield v, new_v
        yield p, p - rate * new_m / (K.sqrt(new_v) + K.epsilon())


OPTIMIZERS: dict[str, Callable[..., Updates]] = {
    f.__name__: f for f in (sgd, momentum, rmsprop, adam)
}


# Networks: an optimizer -> the step, and inputs for so many samples ------------------------------


def mlp(optimizer: Callable[..., Updates] = sgd) -> tuple[Any, list[Array]]:
    x, y = K.placeholder((None, 5), name="x"), K.placeholder((None, 3), name="y")
    w, u = K.variable(normal(5, 8), name="w"), K.variable(normal(8, 3), name="u")
    b = K.variable(np.zeros(3), name="b")
    scores = K.softmax(K.bias_add(K.dot(K.relu(K.dot(x, w)), u), b))
    loss = K.mean(K.categorical_crossentropy(y, scores))
    step = trained({"loss": loss, "scores": scores}, [x, y], [w, u, b], optimizer)
    return step, [normal(6, 5, seed=1), np.eye(3, dtype="float32")[np.arange(6) % 3]]


def convnet(optimizer: Callable[..., Updates] = sgd) -> tuple[Any, list[Array]]:
    x = K.placeholder((None, 8, 8, 3), name="images")
    labels = K.placeholder((None,), dtype="int32", name="labels")
    k, w = K.variable(normal(3, 3, 3, 4), name="k"), K.variable(normal(64, 3), name="w")
    y = K.pool2d(K.relu(K.conv2d(x, k, padding="same")), (2, 2), strides=(2, 2))
    scores = K.dot(K.reshape(y, (-1, 64)), w)
    loss = K.mean(K.sparse_categorical_crossentropy(labels, scores, from_logits=True))
    step = trained({"loss": loss, "scores": scores}, [x, labels], [k, w], optimizer)
    return step, [normal(5, 8, 8, 3, seed=1), np.arange(5, dtype="int32") % 3]


def lstm(optimizer: Callable[..., Updates] = sgd) -> tuple[Any, list[Array]]:
    x, y = K.placeholder((None, None, 4), name="x"), K.placeholder((None, 6), name="y")
    w, u = K.variable(normal(4, 24), name="w"), K.variable(normal(6, 24), name="u")

    def step(now: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        z = K.dot(now, w) + K.dot(states[0], u)
        i, f, o = (K.sigmoid(z[:, 6 * n : 6 * n + 6]) for n in range(3))
        c = f * states[1] + i * K.tanh(z[:, 18:])
        h = o * K.tanh(c)
        return h, [h, c]

    start = K.zeros_like(K.dot(x[:, 0], w))[:, :6]
    last, _, _ = K.rnn(step, x, [start, start])
    loss = K.mean(K.square(last - y))
    return trained({"loss": loss, "last": last}, [x, y], [w, u], optimizer), [
        normal(3, 7, 4, seed=1),
        normal(3, 6, seed=2),
    ]


def trained(
    outputs: dict[str, Any],
    inputs: Sequence[Any],
    parameters: Sequence[Any],
    optimizer: Callable[..., Updates],
) -> Any:
    slopes = K.gradients(outputs["loss"], list(parameters))
    return K.function(inputs, outputs, list(optimizer(parameters, slopes)))


NETWORKS = {f.__name__: f for f in (mlp, convnet, lstm)}
