"""bfloat16, beyond the documentation: on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kameleon
from kameleon import backend as K
from kameleon.engines import Engine

ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 arrays need the package ml_dtypes")
STEP = 2.0**-8  # of a bfloat16 near 1
# What is too large, or just isn't; the least numbers; none.
HARD = [3.39e38, -3.4e38, np.inf, -np.inf, 3.38e38, 9e-41, -5e-41, 1.2e-38, np.nan]
KERNEL = np.array([[0.5, -1.0], [0.25, 2.0], [-0.75, 1.5]])
ROWS = np.array([[1.0, 0.5, -2.0], [0.25, 1.0, 1.5]])


def step(dtype: str) -> tuple[Any, Any]:
    """A step of training in one dtype, and the variable that it changes."""
    x, w = K.placeholder((None, 3), dtype=dtype), K.variable(KERNEL, dtype=dtype)
    p = K.softmax(K.dot(x, w))
    loss = K.sum(K.square(p - 0.25))
    (slope,) = K.gradients(loss, [w])
    return K.function([x], [p, loss, slope], [K.update_sub(w, slope * 0.5)]), w


def test_a_step_of_training(engine: Engine) -> None:
    run, w = step("bfloat16")
    rows = ROWS.astype(ml_dtypes.bfloat16)
    exact, v = step("float64")
    for got, want in zip(run([rows]), exact([ROWS]), strict=True):
        assert got.dtype == ml_dtypes.bfloat16
        np.testing.assert_allclose(got.astype("float64"), want, rtol=4 * STEP, atol=4 * STEP)
    got, want = K.get_value(w), K.get_value(v)
    np.testing.assert_allclose(got.astype("float64"), want, rtol=4 * STEP, atol=4 * STEP)


def test_random_numbers_are_equal_on_all_engines(engine: Engine) -> None:
    drawn = K.function([], [K.random_uniform((1000,), dtype="bfloat16", seed=7)])([])[0]
    words = K.function([], [K.random_uniform((1000,), dtype="float32", seed=7)])([])[0]
    # Of the same words, the upper 8 bits.
    assert np.array_equal(drawn.astype("float64"), np.floor(words * 256.0) / 256.0)


def test_casts_both_ways_round_to_even(engine: Engine) -> None:
    x = K.placeholder((None,))
    there = K.cast(x, "bfloat16")
    given = np.array([1.0 + STEP / 2, 1.0 + STEP * 1.5, -3.0, 0.0, -0.0, *HARD], "float32")
    got = K.function([x], [there, K.cast(there, "float32")])([given])
    want = given.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(got[0].astype("float64"), want.astype("float64"))
    np.testing.assert_array_equal(got[1], want.astype("float32"))
    np.testing.assert_array_equal(np.signbit(got[1][:-1]), np.signbit(given[:-1]))


def test_loops_conditions_and_functions_of_python(engine: Engine) -> None:
    """What holds graphs, and what is handed to Python, gets the dtype."""
    x = K.placeholder((2, 3), dtype="bfloat16")
    doubled = kameleon.call(lambda a: a + a, x, like=x)
    total, _, _ = K.rnn(lambda y, s: (s[0] + y, [s[0] + y]), x[:, :, None], [x[:, :1] * 0])
    chosen = K.switch(K.sum(x) > 0, lambda: x, lambda: -x)
    got = K.function([x], [doubled, total, chosen, K.cast(x > 0, "bfloat16")])([ROWS])
    want = [ROWS * 2, ROWS.sum(1, keepdims=True), ROWS, ROWS > 0]
    for a, b in zip(got, want, strict=True):
        assert a.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(a.astype("float64"), b)


def test_inputs_that_nothing_computes_with(engine: Engine) -> None:
    x, y = K.placeholder((2, 3), dtype="bfloat16"), K.placeholder((2,))
    got = K.function([x, y], [y * 2, K.shape(x)])([ROWS, np.ones(2)])
    np.testing.assert_array_equal(got[0], [2, 2])
    np.testing.assert_array_equal(got[1], [2, 3])


def test_it_may_be_the_default(engine: Engine) -> None:
    K.set_floatx("bfloat16")
    try:
        x, v = K.placeholder((None, 3)), K.variable(KERNEL)
        assert K.floatx() == x.dtype == v.dtype == "bfloat16"
        drawn = K.function([], [K.random_normal((4,), seed=1), K.ones((2,)) * 0.1])([])
        assert [a.dtype for a in drawn] == [ml_dtypes.bfloat16] * 2
        assert K.cast_to_floatx([1.0]).dtype == ml_dtypes.bfloat16
    finally:
        K.set_floatx("float32")


def test_it_is_promoted_as_other_floats_of_its_size() -> None:
    pairs = {"bfloat16": "bfloat16", "float16": "float32", "float32": "float32", "int32": "float64"}
    for other, result in pairs.items():
        x, y = K.placeholder((2,), dtype="bfloat16"), K.placeholder((2,), dtype=other)
        assert (x + y).dtype == result
