"""What TensorFlow 1 changes, counts, draws and prints: on every engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
START = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], "float32")
AT = [2, 0, 2]
ROWS = np.array([[2.0, 4.0], [0.5, 1.0], [3.0, 1.0]], "float32")
# NumPy's functions that take the rows one after the other.
IN_TURN = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def _run(fetches: Any, feeds: Any = None) -> Any:
    return tf.Session().run(fetches, feeds)


@pytest.mark.parametrize("way", [*IN_TURN, "update"])
def test_rows_of_a_variable_are_changed_one_after_the_other(way: str, engine: Engine) -> None:
    wanted = START.copy()
    if way == "update":
        wanted[AT] = ROWS
    else:
        IN_TURN[way].at(wanted, AT, ROWS)
    v = tf.Variable(START)
    result = _run(getattr(tf, f"scatter_{way}")(v, AT, ROWS))
    np.testing.assert_allclose(result, wanted, rtol=1e-6)
    np.testing.assert_array_equal(K.get_value(v), result)
    method = tf.Variable(START)
    _run(getattr(method, f"scatter_{way}")(tf.placeholder_with_default(AT, [None]), ROWS))
    np.testing.assert_allclose(K.get_value(method), wanted, rtol=1e-6)


@pytest.mark.parametrize("way", ["add", "sub", "update"])
def test_elements_of_a_variable_are_changed(way: str, engine: Engine) -> None:
    wanted = START.copy()
    at = ([3, 1], [0, 1])
    wanted[at] = {"update": 0, "add": wanted[at], "sub": wanted[at]}[way]
    wanted[at] += np.array([10.0, 20.0]) * (-1 if way == "sub" else 1)
    v = tf.Variable(START)
    _run(getattr(tf, f"scatter_nd_{way}")(v, [[3, 0], [1, 1]], [10.0, 20.0]))
    np.testing.assert_allclose(K.get_value(v), wanted)


def test_rows_of_each_block_of_a_variable(engine: Engine) -> None:
    v = tf.Variable(np.zeros((2, 3, 2), "float32"))
    _run(tf.batch_scatter_update(v, [[2, 0], [1, 1]], np.arange(8.0).reshape(2, 2, 2)))
    wanted = [[[2, 3], [0, 0], [0, 1]], [[0, 0], [6, 7], [0, 0]]]
    np.testing.assert_array_equal(K.get_value(v), wanted)


def test_a_number_is_put_in_all_rows(engine: Engine) -> None:
    v = tf.Variable(START)
    _run(tf.scatter_update(v, [1, 3], 0.0))
    np.testing.assert_array_equal(K.get_value(v)[[1, 3]], 0)


def test_an_index_outside_of_a_variable_changes_nothing(engine: Engine) -> None:
    v = tf.Variable(START)
    with pytest.raises(ValueError, match="index"):
        _run(tf.scatter_update(v, [4], [[1.0, 1.0]]))
    np.testing.assert_array_equal(K.get_value(v), START)


def test_counting_ends_at_the_limit(engine: Engine) -> None:
    v = tf.Variable(3)
    step = v.count_up_to(5)
    assert [_run(step), _run(step)] == [3, 4]
    with pytest.raises(ValueError, match="limit of 5"):
        _run(step)
    assert K.get_value(v) == 5


def test_printing_is_an_operation(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    x = K.constant([1.0, 2.0])
    _run(tf.print("loss:", x, "done"))
    printed = capfd.readouterr().out
    assert printed == "loss: … done [1. 2.]\n"
    with tf.control_dependencies([tf.print("again", {"x": x})]):
        y = tf.identity(x * 2.0)
    assert capfd.readouterr().out == ""
    np.testing.assert_array_equal(_run(y), [2, 4])
    assert capfd.readouterr().out.count("again [1. 2.]") == 1


def test_updates_come_before_a_tuple(engine: Engine) -> None:
    v = tf.Variable(1.0)
    (after,) = tf.tuple([v], control_inputs=[tf.assign_add(v, 2.0)])
    assert _run(after) == 3.0


def test_numbers_of_gamma_distributions(engine: Engine) -> None:
    alpha, beta = np.array([[0.3], [2.0], [40.0]], "float32"), np.array([1.0, 4.0], "float32")
    drawn = _run(tf.random_gamma([4000], alpha, beta, seed=3))
    assert drawn.shape == (4000, 3, 2) and drawn.min() >= 0
    mean, variance = alpha / beta, alpha / beta**2
    deviation = np.sqrt(variance / 4000)
    assert np.all(np.abs(drawn.mean(0) - mean) < 5 * deviation)
    assert np.all(np.abs(drawn.var(0) / variance - 1) < 0.35)
    rate = K.placeholder((2,))
    slope = K.function([rate], K.gradients(K.sum(tf.random_gamma([], 2.0, rate, seed=1)), [rate]))
    assert np.all(slope([beta])[0] < 0)


def test_numbers_of_poisson_distributions(engine: Engine) -> None:
    means = np.array([0.1, 3.0, 60.0, 2000.0], "float32")
    drawn = _run(tf.random_poisson(means, [3000], seed=5))
    assert drawn.shape == (3000, 4) and np.array_equal(drawn, np.round(drawn)) and drawn.min() >= 0
    assert np.all(np.abs(drawn.mean(0) - means) < 5 * np.sqrt(means / 3000))
    assert np.all(np.abs(drawn.var(0) / means - 1) < 0.3)
    assert abs((drawn[:, 0] == 0).mean() - math.exp(-0.1)) < 0.03


def test_classes_by_their_logits(engine: Engine) -> None:
    chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    with np.errstate(divide="ignore"):
        logits = K.constant(np.log(chances))
    for drawn in (tf.multinomial(logits, 3000, seed=1), tf.random.categorical(logits, 3000)):
        found = _run(drawn)
        assert found.shape == (2, 3000) and found.dtype == "int64"
        shares = [np.bincount(row, minlength=3) / 3000 for row in found]
        np.testing.assert_allclose(shares, chances, atol=0.05)
    assert _run(tf.multinomial(logits, 2, output_dtype=tf.int32)).dtype == "int32"


def test_settings_make_no_difference() -> None:
    tf.enable_resource_variables()
    tf.config.experimental.set_memory_growth(None, True)
    with tf.init_scope(), tf.colocate_with(None):
        assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    assert tf.dimension_value(tf.Dimension(3)) == tf.dimension_at_index([2, 3], 1).value == 3
    assert tf.get_static_value(K.constant([1.0, 2.0])).tolist() == [1, 2]
    assert tf.get_static_value(K.placeholder((2,))) is None
    assert tf.broadcast_static_shape(tf.TensorShape([2, 1]), [3]).as_list() == [2, 3]
