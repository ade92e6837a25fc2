"""Choices and loops of TensorFlow 1: arrays of tensors, updates in branches, nests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
X = np.arange(6.0, dtype="float32").reshape(2, 3) + 1


def _run(fetches: Any, feed_dict: Any = None) -> Any:
    return tf.Session().run(fetches, feed_dict)


def test_a_branch_updates_if_it_is_chosen(engine: Engine) -> None:
    v, p = tf.Variable(1.0), tf.placeholder(tf.bool, [])
    result = tf.cond(p, lambda: v.assign(5.0), lambda: v * 2.0)
    assert (_run(result, {p: False}), _run(v)) == (2.0, 1.0)
    assert (_run(result, {p: True}), _run(v)) == (5.0, 5.0)
    step = tf.cond(p, lambda: tf.group(v.assign_add(1.0)), tf.no_op)
    assert (_run(step, {p: False}), _run(v)) == (None, 5.0)
    assert (_run(step, {p: True}), _run(v)) == (None, 6.0)


def test_branches_give_nests(engine: Engine) -> None:
    x, p = tf.constant(X), tf.placeholder(tf.bool, [])
    a, (b, c) = tf.cond(p, lambda: [x, (x + 1.0, x * 2.0)], lambda: [-x, (x, x)])
    for chosen, want in ((True, [X, X + 1, X * 2]), (False, [-X, X, X])):
        for found, expected in zip(_run([a, b, c], {p: chosen}), want, strict=True):
            assert_array_equal(found, expected)


def test_the_first_case_that_holds(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [])
    result = tf.case(
        [(x > 2.0, lambda: tf.constant(1)), (x > 1.0, lambda: tf.constant(2))],
        default=lambda: tf.constant(3),
    )
    assert [int(_run(result, {x: value})) for value in (3.0, 1.5, 0.0)] == [1, 2, 3]


# Loops --------------------------------------------------------------------------------------


def test_an_array_grows_with_each_step(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    array = tf.TensorArray(tf.float32, size=1, dynamic_size=True)
    _, array = tf.while_loop(
        lambda i, a: i < tf.shape(x)[0], lambda i, a: (i + 1, a.write(i, x[i] * 2.0)), [0, array]
    )
    stacked = array.stack()
    slope = tf.gradients(tf.reduce_sum(tf.square(stacked)), x)[0]
    found = _run([stacked, slope, array.read(1), array.size()], {x: X})
    for value, want in zip(found, (X * 2, X * 8, X[1] * 2, 2), strict=True):
        assert_allclose(value, want)


def test_an_array_of_known_elements() -> None:
    array = tf.TensorArray(tf.float32, 2).write(0, X[0]).write(1, X[1])
    assert_array_equal(_run(array.stack()), X)
    assert_array_equal(_run(array.concat()), X.reshape(-1))
    _, array = tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, a.read(i) + 1.0)),
        [0, array.unstack(tf.constant(X))],
    )  # fmt: skip
    assert_array_equal(_run(array.gather([1, 0])), X[::-1] + 1)


def test_a_loop_without_bound_has_a_gradient(engine: Engine) -> None:
    x = tf.placeholder(tf.float64, [])
    _, y = tf.while_loop(lambda i, y: y < 100.0, lambda i, y: (i + 1, y * y), [0, x])
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    # 2 -> 4 -> 16 -> 256: x ** 8
    assert_allclose(_run([y, first, second], {x: 2.0}), [256, 8 * 2.0**7, 56 * 2.0**6])
    assert_allclose(_run([y, first], {x: 200.0}), [200, 1])


def test_a_state_may_grow_where_its_size_is_said_to_change(engine: Engine) -> None:
    words = tf.constant([[1.0, 2.0]])
    _, found = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.concat([s, s[-1:] * 2.0], 0)),
        [0, words],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    assert found.get_shape().as_list() == [None, 2]
    assert_array_equal(_run(found), [[1, 2], [2, 4], [4, 8], [8, 16]])


def test_the_steps_of_a_loop_are_limited() -> None:
    found = tf.while_loop(lambda x: x < 100, lambda x: x + 1, [0], maximum_iterations=7)
    assert _run(found) == 7
    nest = tf.while_loop(
        lambda i, pair: i < 3, lambda i, pair: (i + 1, (pair[1], pair[0] + pair[1])), [0, (1, 1)]
    )
    assert _run(nest) == [3, (3, 5)]


# name: (the loop, its value)
OVER_ELEMENTS: dict[str, tuple[Any, Any]] = {
    "scan": (lambda: tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0, 3.0])), [1, 3, 6]),
    "scan backwards": (
        lambda: tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0, 3.0]), reverse=True),
        [6, 5, 3],
    ),
    "scan of a pair": (
        lambda: tf.scan(
            lambda a, x: (a[0] + x, a[1] * x), tf.constant([2.0, 3.0]), (0.0, 1.0)
        )[1],
        [2, 6],
    ),
    "foldl": (lambda: tf.foldl(lambda a, x: a - x, tf.constant([1.0, 2.0, 3.0])), -4),
    "foldr": (lambda: tf.foldr(lambda a, x: a - x, tf.constant([1.0, 2.0, 3.0])), 0),
    "map_fn": (lambda: tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0])), [1, 4]),
    "map_fn of a pair": (
        lambda: tf.map_fn(
            lambda t: (t[0] + t[1], tf.cast(t[0], tf.int32)),
            (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])),
            dtype=(tf.float32, tf.int32),
        )[0],
        [4, 6],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OVER_ELEMENTS)
def test_loops_over_elements(engine: Engine, name: str) -> None:
    loop, want = OVER_ELEMENTS[name]
    assert_allclose(_run(loop()), want)


def test_what_a_loop_needs_is_said() -> None:
    array = tf.TensorArray(tf.float32, 3)
    with pytest.raises(ValueError, match="must write one element"):
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), [0, array])
    with pytest.raises(ValueError, match="takes 2 tensors and returns 1"):
        tf.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1], [0, 1.0])
    with pytest.raises(TypeError, match="must be callable"):
        tf.cond(tf.constant(True), 1.0, lambda: 2.0)


def test_what_is_asserted_holds_for_what_comes_after(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [None])
    with tf.control_dependencies([tf.assert_positive(x, message="sizes"), tf.Assert(True, [x])]):
        y = tf.identity(x) * 2.0
    assert_array_equal(_run(y, {x: [1.0, 2.0]}), [2, 4])
    with pytest.raises(ValueError, match="sizes Condition x > 0 did not hold"):
        _run(y, {x: [1.0, -2.0]})
    with pytest.raises(ValueError, match="assertion failed"):
        _run(tf.Assert(tf.reduce_all(x > 0.0), [x]), {x: [-1.0]})
    assert _run(tf.assert_equal(x, [1.0]), {x: [1.0]}) is None


def test_loops_carry_truth_values() -> None:
    """A bool of Python stays one, not a number."""
    count, more = tf.while_loop(
        lambda i, more: tf.logical_and(more, i < 9), lambda i, more: (i + 1, i < 3), [0, True]
    )
    assert more.dtype == "bool"
    assert tf.Session().run([count, more]) == [4, False]


def test_strings_that_are_fed_say_what_to_do() -> None:
    words = tf.placeholder(tf.string, [None], name="words")
    with pytest.raises(Exception, match="placeholder of strings, which no tensor holds"):
        tf.Session().run(tf.identity(words), {words: ["a", "b"]})


@pytest.mark.parametrize("make", [tf.no_op, tf.group], ids=["no_op", "group"])
def test_an_operation_does_what_it_comes_after(make: Any, engine: Engine) -> None:
    v, count = tf.Variable(3.0), tf.Variable(0.0)
    x = tf.placeholder("float32", ())
    step = tf.train.GradientDescentOptimizer(0.5).minimize(v * x, global_step=count)
    with tf.control_dependencies([step, tf.assert_positive(x, message="rates")]):
        inner = make()
    with tf.control_dependencies([inner]):
        outer, after = make(name="train"), tf.identity(v)
    session = tf.Session()
    assert session.run(outer, {x: 2.0}) is None
    assert session.run([v, count]) == [2.0, 1.0]
    assert session.run(after, {x: 2.0}) == 1.0
    with pytest.raises(ValueError, match="rates"):
        session.run(outer, {x: -2.0})
    assert session.run([v, count]) == [1.0, 2.0]
