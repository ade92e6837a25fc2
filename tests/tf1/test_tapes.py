"""`tf.GradientTape` over a graph, by hand; the nested case is TensorFlow 1.15's, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


def values(*tensors: Any) -> list[Any]:
    return [np.asarray(K.eval(x)).tolist() for x in tensors]


def test_gradients_of_gradients() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    assert values(slope, outer.gradient(slope, x)) == [27.0, 18.0]


def test_what_is_followed() -> None:
    x, other, v = tf.constant([1.0, 2.0]), tf.constant(1.0), tf.Variable([3.0, 4.0])
    before = x * 5.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v
        z = tf.reduce_sum(y) + other + tf.reduce_sum(before)
        with tape.stop_recording():
            constant = x * 7.0
        w = tf.reduce_sum(constant * x)
    assert values(*tape.gradient(z, [x, v])) == [[6.0, 16.0], [1.0, 4.0]]
    assert values(tape.gradient(z, y), tape.gradient(y, {"v": v})["v"]) == [[1, 1], [1.0, 4.0]]
    assert tape.gradient(z, other) is None and tape.gradient(z, before) is None
    assert values(tape.gradient(w, x)) == [[7.0, 14.0]]
    assert values(tape.gradient(z, other, unconnected_gradients="zero")) == [0.0]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x * v
    assert tape.gradient(y, v) is None
    with pytest.raises(RuntimeError, match="only be called once"):
        tape.gradient(y, v)


def test_weights_and_jacobians() -> None:
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.relu(x - 2.0) * 3.0
        sums = tf.reduce_sum(x * x, axis=1)
        pairs = tf.stack([sums, x[:, 0] * x[:, 1]], axis=1)
    weights = tf.constant([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0]])
    assert values(tape.gradient(y, x, output_gradients=weights)) == [[[0, 0, 9], [3, 3, 6]]]
    assert values(tape.jacobian(sums, x)) == [[[[2, 4, 6], [0, 0, 0]], [[0, 0, 0], [8, 10, 12]]]]
    expected = [[[2, 4, 6], [2, 1, 0]], [[8, 10, 12], [5, 4, 0]]]
    assert values(tape.batch_jacobian(pairs, x)) == [expected]


def test_a_step_of_training() -> None:
    w, b = tf.Variable(0.0), tf.Variable(0.0)
    x = np.arange(5.0, dtype="float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w * x + b - (2 * x + 1)))
    slopes = tape.gradient(loss, [w, b])
    step = tf.train.GradientDescentOptimizer(0.05).apply_gradients(zip(slopes, [w, b], strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(300):
            session.run(step)
        np.testing.assert_allclose(session.run([w, b]), [2.0, 1.0], atol=0.01)
