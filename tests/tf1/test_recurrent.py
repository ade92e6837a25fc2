"""Recurrent networks of `tf.nn`: what records of TensorFlow don't show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
X = np.random.RandomState(0).rand(2, 5, 3).astype("float32")


def run(fetches: Any, feeds: Any = None) -> Any:
    return tf.Session().run(fetches, feeds)


def test_states_go_on_from_batch_to_batch(engine: Engine) -> None:
    """As programs that generate text feed the last state for the first one."""
    x = tf.placeholder(tf.float32, [2, None, 3])
    cells = [tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(2)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    first = cell.zero_state(2, tf.float32)
    y, last = tf.nn.dynamic_rnn(cell, x, initial_state=first)
    whole, end = run([y, last], {x: X})
    state, parts = run(first), []
    for part in (X[:, :2], X[:, 2:]):
        feeds = {x: part, first[0].c: state[0].c, first[0].h: state[0][1], first[1]: state[1]}
        output, state = run([y, last], feeds)
        parts.append(output)
    np.testing.assert_allclose(np.concatenate(parts, 1), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state[1], end[1], rtol=1e-5, atol=1e-6)
    fed = run(y, {x: X[:, 2:], first: run(first)})
    np.testing.assert_allclose(fed, run(y, {x: X[:, 2:]}), rtol=1e-6)


def test_dropout_differs_from_step_to_step(engine: Engine) -> None:
    keep = tf.placeholder(tf.float32, [])

    class Ones(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
        state_size = output_size = property(lambda self: 40)

        def call(self, inputs: Any, state: Any) -> Any:
            return tf.ones_like(state), state

    cell = tf.nn.rnn_cell.DropoutWrapper(Ones(), output_keep_prob=keep)
    y, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    found = run(y, {keep: 0.5})
    assert set(np.unique(found)) == {0, 2}
    assert 0.3 < (found > 0).mean() < 0.7
    assert not np.array_equal(found[:, 0], found[:, 1])
    assert run(y, {keep: 1.0}).min() == 1
    cell = tf.nn.rnn_cell.DropoutWrapper(
        Ones(), output_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32
    )
    found = run(tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)[0])
    assert set(np.unique(found)) == {0, 2}
    assert (found == found[:1, :1]).all()


def test_the_memory_of_an_lstm_is_not_dropped() -> None:
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.BasicLSTMCell(30, forget_bias=5.0), state_keep_prob=0.5
    )
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([1, 30]), tf.ones([1, 30]))
    _, new = cell(tf.zeros([1, 3]), state)
    c, h = run(new)
    assert (c != 0).all()
    assert 5 < (h == 0).sum() < 25


def test_wrong_calls_say_what_is_wrong() -> None:
    cell, x = tf.nn.rnn_cell.BasicLSTMCell(3), tf.constant(X)
    with pytest.raises(ValueError, match="you must give a dtype"):
        tf.nn.dynamic_rnn(cell, x)
    with pytest.raises(TypeError, match="not an RNNCell"):
        tf.nn.dynamic_rnn(3, x, dtype=tf.float32)
    with pytest.raises(ValueError, match="vector of length batch_size"):
        tf.nn.dynamic_rnn(cell, x, [[1]], dtype=tf.float32)
    with pytest.raises(ValueError, match="at least one cell"):
        tf.nn.rnn_cell.MultiRNNCell([])
    with pytest.raises(TypeError, match="must be a sequence"):
        tf.nn.static_rnn(cell, x, dtype=tf.float32)
    with pytest.raises(ValueError, match="to be known"):
        tf.nn.dynamic_rnn(cell, tf.placeholder(tf.float32, [1, 2, None]), dtype=tf.float32)
    with pytest.raises(ValueError, match="fit the kernel"):
        tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        tf.nn.dynamic_rnn(cell, x[:, :, :2], dtype=tf.float32)
    n = tf.placeholder(tf.int32, [None])
    y, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x, n, dtype=tf.float32, scope="g")
    with pytest.raises(Exception, match="a number for each"):
        run(y, {n: [1, 2, 3]})
