"""Networks in K alone, each as a training step: what is spread over devices, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K

RATE = 0.1
STEPS = 4
BATCH = 16

Array = np.ndarray[Any, Any]
Rows = Callable[[np.random.Generator, int], list[Array]]


class Network(NamedTuple):
    """A network under training.

    Attributes:
        step: takes a batch, gives the loss, and updates the variables.
        variables: what is trained.
        rows: draws a batch of a size.
    """

    step: Any
    variables: list[Any]
    rows: Rows


def _weights(dtype: str, **shapes: tuple[int, ...]) -> list[Any]:
    draw = np.random.default_rng(len(shapes))
    return [
        K.variable(draw.normal(size=shape) * 0.3, dtype=dtype, name=name)
        for name, shape in shapes.items()
    ]


def _step(inputs: list[Any], loss: Any, variables: list[Any], updates: Any = ()) -> Any:
    """Gradient descent with momentum, whose state is made of variables, too."""
    changes = list(updates)
    for v, slope in zip(variables, K.gradients(loss, variables), strict=True):
        speed = K.zeros(K.int_shape(v), dtype=K.dtype(v), name=f"{v}_speed")
        faster = 0.9 * speed + slope
        changes += [(speed, faster), (v, v - RATE * faster)]
    return K.function(inputs, [loss], updates=changes)


def _drawn(*shapes: tuple[int, ...]) -> Rows:
    return lambda draw, count: [draw.normal(size=(count, *shape)) for shape in shapes]


def mlp(dtype: str, rate: float = 0.0) -> Network:
    """Two dense layers, with dropout between them."""
    x, t = K.placeholder((None, 12), dtype=dtype), K.placeholder((None, 8), dtype=dtype)
    w = _weights(dtype, first=(12, 32), bias=(32,), second=(32, 8), offset=(8,))
    h = K.tanh(K.bias_add(K.dot(x, w[0]), w[1]))
    h = K.dropout(h, rate, seed=7) if rate else h
    loss = K.mean(K.square(K.bias_add(K.dot(h, w[2]), w[3]) - t))
    return Network(_step([x, t], loss, w), w, _drawn((12,), (8,)))


def dropout(dtype: str) -> Network:
    """The same, with bits drawn in the program."""
    return mlp(dtype, 0.4)


def convolutions(dtype: str) -> Network:
    """A convolution, normalised by the statistics of the whole batch; its moving mean is kept."""
    x, t = K.placeholder((None, 8, 8, 3), dtype=dtype), K.placeholder((None, 8), dtype=dtype)
    w = _weights(dtype, kernel=(3, 3, 3, 8), gamma=(8,), beta=(8,), head=(8, 8))
    moving = K.zeros((8,), dtype=dtype, name="moving")
    h = K.conv2d(x, w[0], padding="same", data_format="channels_last")
    h, mean, _ = K.normalize_batch_in_training(h, w[1], w[2], [0, 1, 2])
    h = K.pool2d(K.relu(h), (2, 2), (2, 2), data_format="channels_last")
    loss = K.mean(K.square(K.dot(K.mean(h, axis=[1, 2]), w[3]) - t))
    kept = [(moving, 0.9 * moving + 0.1 * mean)]
    return Network(_step([x, t], loss, w, kept), [*w, moving], _drawn((8, 8, 3), (8,)))


def lstm(dtype: str) -> Network:
    """A recurrent cell with gates, over sequences of several lengths (a mask)."""
    x, t = K.placeholder((None, 6, 4), dtype=dtype), K.placeholder((None, 8), dtype=dtype)
    lengths = K.placeholder((None,), dtype="int32")
    w = _weights(dtype, kernel=(4, 32), recurrent=(8, 32), bias=(32,))

    def cell(step: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        h, c = states
        z = K.bias_add(K.dot(step, w[0]) + K.dot(h, w[1]), w[2])
        i, f, o, g = (z[:, 8 * k : 8 * k + 8] for k in range(4))
        c = K.sigmoid(f) * c + K.sigmoid(i) * K.tanh(g)
        h = K.sigmoid(o) * K.tanh(c)
        return h, [h, c]

    zero = K.zeros_like(K.dot(x[:, 0], w[0][:, :8]), dtype=dtype)
    mask = K.less(K.arange(6)[None, :], lengths[:, None])
    last, _, _ = K.rnn(cell, x, [zero, zero], mask=mask)
    loss = K.mean(K.square(last - t))

    def rows(draw: np.random.Generator, count: int) -> list[Array]:
        return [*_drawn((6, 4), (8,))(draw, count), draw.integers(1, 7, count)]

    return Network(_step([x, t, lengths], loss, w), w, rows)


def attention(dtype: str) -> Network:
    """Heads of attention: the axes of heads are what tensor parallelism cuts along."""
    x, t = K.placeholder((None, 5, 16), dtype=dtype), K.placeholder((None, 5, 16), dtype=dtype)
    w = _weights(dtype, query=(16, 16), key=(16, 16), value=(16, 16), out=(16, 16))

    def heads(weights: Any) -> Any:
        split = K.reshape(K.dot(x, weights), (-1, 5, 4, 4))
        return K.reshape(K.permute_dimensions(split, (0, 2, 1, 3)), (-1, 5, 4))

    q, k, v = map(heads, w[:3])
    scores = K.softmax(K.batch_dot(q, k, axes=[2, 2]) / 2.0)
    mixed = K.reshape(K.batch_dot(scores, v, axes=[2, 1]), (-1, 4, 5, 4))
    joined = K.reshape(K.permute_dimensions(mixed, (0, 2, 1, 3)), (-1, 5, 16))
    loss = K.mean(K.square(K.dot(joined, w[3]) - t))
    return Network(_step([x, t], loss, w), w, _drawn((5, 16), (5, 16)))


def embedding(dtype: str) -> Network:
    """Rows of a table, chosen by number."""
    x, t = K.placeholder((None, 5), dtype="int32"), K.placeholder((None, 8), dtype=dtype)
    w = _weights(dtype, table=(64, 8), head=(8, 8))
    loss = K.mean(K.square(K.dot(K.mean(K.gather(w[0], x), axis=1), w[1]) - t))

    def rows(draw: np.random.Generator, count: int) -> list[Array]:
        return [draw.integers(0, 64, (count, 5)), draw.normal(size=(count, 8))]

    return Network(_step([x, t], loss, w), w, rows)


NETWORKS: dict[str, Callable[[str], Network]] = {
    f.__name__: f for f in (mlp, dropout, convolutions, lstm, attention, embedding)
}


def trained(name: str, dtype: str, last: int = BATCH) -> tuple[list[Array], Network]:
    """The losses of some steps, then the variables' values; the last batch has so many rows."""
    network = NETWORKS[name](dtype)
    draw = np.random.default_rng(3)
    counts = [*[BATCH] * (STEPS - 1), last]
    losses = [network.step(network.rows(draw, count))[0] for count in counts]
    return [*losses, *map(K.get_value, network.variables)], network
