"""Datasets and iterators of `tf.data`: what records of TensorFlow don't show."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
X = np.arange(12.0, dtype="float32").reshape(6, 2)
Y = np.array([0, 1, 1, 0, 1, 0])


def test_training_from_an_initializable_iterator(engine: Engine) -> None:
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
    data = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a / 10.0, b)).batch(4)
    iterator = data.make_initializable_iterator()
    features, labels = iterator.get_next()
    v = tf.Variable(np.zeros((2, 2), "float32"))
    logits = tf.matmul(features, v)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    session, losses = tf.Session(), []
    for _ in range(3):
        session.run(iterator.initializer, {x: X, y: Y})
        while True:
            try:
                seen, found, _ = session.run([features, loss, step])
            except tf.errors.OutOfRangeError:
                break
            losses.append(found)
            assert len(seen) in (4, 2)
    assert len(losses) == 6
    assert losses[-2] + losses[-1] < losses[0] + losses[1]
    w, want = np.zeros((2, 2)), []
    for _ in range(3):
        for rows, kinds in ((X[:4] / 10.0, Y[:4]), (X[4:] / 10.0, Y[4:])):
            p = np.exp(rows @ w) / np.exp(rows @ w).sum(1, keepdims=True)
            want.append(-np.log(p[range(len(kinds)), kinds]).mean())
            w -= 0.5 * rows.T @ (p - np.eye(2)[kinds]) / len(kinds)
    np.testing.assert_allclose(losses, want, rtol=1e-5)


def test_nothing_changes_where_there_is_no_more_element() -> None:
    following = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    v = tf.Variable(0, dtype=tf.int64)
    add = tf.assign_add(v, following + 5)
    session = tf.Session()
    session.run(add)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        session.run(add)
    assert session.run(v) == 5


def test_elements_are_drawn_by_functions_of_k_too(engine: Engine) -> None:
    following = tf.data.Dataset.from_tensor_slices(X).make_one_shot_iterator().get_next()
    x = K.placeholder((2,))
    f = K.function([x], [following * x, K.sum(following)])
    assert_array_equal(f([[1.0, 2.0]])[0], [0, 2])
    assert f([[1.0, 2.0]])[1] == 5
    assert_array_equal(K.eval(following), [4, 5])


def test_a_generator_without_shapes_is_started_once() -> None:
    started: list[int] = []

    def rows() -> Any:
        started.append(1)
        yield from ([float(i)] * 3 for i in range(3))

    data = tf.data.Dataset.from_generator(rows, tf.float32)
    following = data.batch(2).make_one_shot_iterator().get_next()
    assert following.get_shape().as_list() == [None, None]
    session = tf.Session()
    assert session.run(following).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert started == [1]


def test_strings_and_missing_shapes_are_errors_that_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="from_generator"):
        tf.data.Dataset.from_tensor_slices(["a", "b"])
    with pytest.raises(ValueError, match="give output_shapes"):
        tf.data.Iterator.from_structure(tf.float32)
    with pytest.raises(ValueError, match="no initializer"):
        _ = tf.data.Dataset.range(3).make_one_shot_iterator().initializer


def test_random_numbers_of_a_map_differ_from_element_to_element() -> None:
    data = tf.data.Dataset.range(20).map(lambda i: tf.random_uniform([]))
    following = data.batch(20).make_one_shot_iterator().get_next()
    assert len(set(tf.Session().run(following).tolist())) > 15


def test_an_iterator_stays_where_it_is_in_other_sessions() -> None:
    following = tf.data.Dataset.range(4).make_one_shot_iterator().get_next()
    assert [tf.Session().run(following) for _ in range(3)] == [0, 1, 2]


def test_threads_draw_different_elements() -> None:
    following = tf.data.Dataset.range(200).map(lambda x: x * 2).make_one_shot_iterator().get_next()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: int(tf.Session().run(following)), range(200)))
    assert sorted(found) == list(range(0, 400, 2))
