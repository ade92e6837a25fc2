"""bfloat16, beyond the documentation: computed where the engine has it, refused where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import DTypeError

ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 arrays need the package ml_dtypes")
STEP = 2.0**-8  # of a bfloat16 near 1
KERNEL = np.array([[0.5, -1.0], [0.25, 2.0], [-0.75, 1.5]])
ROWS = np.array([[1.0, 0.5, -2.0], [0.25, 1.0, 1.5]])


def step(dtype: str) -> tuple[Any, Any]:
    """A step of training in one dtype, and the variable that it changes."""
    x, w = K.placeholder((None, 3), dtype=dtype), K.variable(KERNEL, dtype=dtype)
    p = K.softmax(K.dot(x, w))
    loss = K.sum(K.square(p - 0.25))
    (slope,) = K.gradients(loss, [w])
    return K.function([x], [p, loss, slope], [K.update_sub(w, slope * 0.5)]), w


def computes(engine: Engine) -> bool:
    return "bfloat16" not in engine.lacks


def test_a_step_of_training(engine: Engine) -> None:
    run, w = step("bfloat16")
    rows = ROWS.astype(ml_dtypes.bfloat16)
    if not computes(engine):
        with pytest.raises(DTypeError, match=f"{engine.title.split(' ')[0]}.* bfloat16.*K.cast"):
            run([rows])
        assert np.array_equal(K.get_value(w).astype("float64"), KERNEL)
        return
    exact, v = step("float64")
    for got, want in zip(run([rows]), exact([ROWS]), strict=True):
        assert got.dtype == ml_dtypes.bfloat16
        np.testing.assert_allclose(got.astype("float64"), want, rtol=4 * STEP, atol=4 * STEP)
    got, want = K.get_value(w), K.get_value(v)
    np.testing.assert_allclose(got.astype("float64"), want, rtol=4 * STEP, atol=4 * STEP)


def test_random_numbers_are_equal_on_all_engines(engine: Engine) -> None:
    if not computes(engine):
        pytest.skip(f"{engine.title} doesn't compute with bfloat16, as the test above holds")
    drawn = K.function([], [K.random_uniform((1000,), dtype="bfloat16", seed=7)])([])[0]
    words = K.function([], [K.random_uniform((1000,), dtype="float32", seed=7)])([])[0]
    # Of the same words, the upper 8 bits.
    assert np.array_equal(drawn.astype("float64"), np.floor(words * 256.0) / 256.0)


def test_casts_both_ways_round_to_even(engine: Engine) -> None:
    if not computes(engine):
        pytest.skip(f"{engine.title} doesn't compute with bfloat16, as the first test holds")
    x = K.placeholder((3,))
    there = K.cast(x, "bfloat16")
    given = np.array([1.0 + STEP / 2 * 1, 1.0 + STEP * 1.5, -3.0], "float32")
    got = K.function([x], [there, K.cast(there, "float32")])([given])
    want = given.astype(ml_dtypes.bfloat16)
    assert np.array_equal(got[0], want)
    assert np.array_equal(got[1], want.astype("float32"))


def test_it_is_promoted_as_other_floats_of_its_size() -> None:
    pairs = {"bfloat16": "bfloat16", "float16": "float32", "float32": "float32", "int32": "float64"}
    for other, result in pairs.items():
        x, y = K.placeholder((2,), dtype="bfloat16"), K.placeholder((2,), dtype=other)
        assert (x + y).dtype == result
