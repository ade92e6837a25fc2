"""Dropout: what is kept and scaled, masks of other shapes, levels, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _support.threefry import reference_words
from scipy import stats

from kameleon import backend as K
from kameleon.errors import ArgumentError, EvaluationError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

RARE = 1e-4  # fixed seeds; a right generator fails with less than one in so many


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_keeps_and_scales(level: float, dtype: str) -> None:
    x = np.random.default_rng(1).uniform(1, 2, (400, 500)).astype(dtype)
    found = K.eval(K.dropout(K.variable(x, dtype=dtype), level, seed=3))
    assert found.dtype == dtype
    kept = found != 0
    scaled = x * np.dtype(dtype).type(1 / (1 - level))
    np.testing.assert_array_equal(found[kept], scaled[kept])
    assert stats.binomtest(int(kept.sum()), kept.size, 1 - level).pvalue > RARE


def test_dropout_at_level_zero_is_the_tensor() -> None:
    x = K.placeholder((None, 3))
    assert K.dropout(x, 0.0) is x


@pytest.mark.parametrize("level", [1.0, 1.5, -0.1, float("nan"), None])
def test_wrong_levels_are_refused(level: Any) -> None:
    with pytest.raises(ArgumentError, match="dropout: level"):
        K.dropout(K.zeros((2, 2)), level)


def test_gradient_goes_where_the_mask_let_through() -> None:
    x = K.variable(np.full((50, 40), 3.0))
    y = K.dropout(x, 0.4, seed=2)
    value, slope = K.function([], [y, *K.gradients(K.sum(K.square(y)), [x])])([])
    assert 0 < (value == 0).sum() < value.size
    np.testing.assert_allclose(slope, 2 * value / 0.6, rtol=1e-6)


def test_what_is_dropped_is_zero_whatever_it_was() -> None:
    x = K.constant(np.array([np.nan, np.inf, -np.inf] * 100))
    found = K.eval(K.dropout(x, 0.5, seed=1))
    assert 100 < (found == 0).sum() < 200
    assert not np.isfinite(found[found != 0]).any()


@pytest.mark.parametrize("batch", [4, None], ids=["static", "unknown"])
@pytest.mark.parametrize("style", ["tuple", "none", "tensors", "tensor"])
def test_noise_shapes(style: str, batch: int | None) -> None:
    x = K.placeholder((batch, 30, 5))
    size = 4 if batch else K.shape(x)[0]
    noise: Any = {
        "tuple": (size, 1, 5),
        "none": (None, 1, None),
        "tensors": (K.shape(x)[0], 1, K.shape(x)[2]),
        "tensor": K.concatenate([K.shape(x)[:1], K.constant([1, 5], dtype="int32")], axis=0),
    }[style]
    y = K.dropout(x, 0.5, noise_shape=noise, seed=4)
    assert K.int_shape(y) == (batch, 30, 5)
    found = K.function([x], [y])([np.ones((4, 30, 5))])[0]
    assert (found == found[:, :1]).all()
    kept = (np.array(reference_words((4, 0), 20)) < 2**31).reshape(4, 5)
    np.testing.assert_array_equal(found[:, 0], 2.0 * kept)


def test_short_noise_shapes_are_aligned_at_the_right() -> None:
    found = K.eval(K.dropout(K.ones((50, 7)), 0.5, noise_shape=(7,), seed=4))
    assert (found == found[:1]).all() and 0 < found[0].sum() < 14


@pytest.mark.parametrize("noise", [(3, 4), (2, 2), (1, 2, 3), (3,), (1, 2, 4), (-1, 3)])
def test_noise_shapes_that_do_not_stretch(noise: tuple[int, ...]) -> None:
    x = K.ones((2, 4))
    with pytest.raises(ShapeError, match="dropout"):
        K.dropout(x, 0.5, noise_shape=noise)


def test_noise_sizes_that_differ_at_run_time() -> None:
    x = K.placeholder((None, 4))
    f = K.function([x], [K.dropout(x, 0.5, noise_shape=(3, 4))])
    assert f([np.ones((3, 4))])[0].shape == (3, 4)
    with pytest.raises(EvaluationError):
        f([np.ones((5, 4))])


def test_level_as_a_tensor() -> None:
    level = K.placeholder(())
    f = K.function([level], [K.dropout(K.ones((20_000,)), level, seed=1)])
    for rate in (0.0, 0.25, 0.75):
        found = f([rate])[0]
        assert abs((found == 0).mean() - rate) < 0.02
        np.testing.assert_allclose(found[found != 0], 1 / (1 - rate), rtol=1e-6)


def test_the_seed_in_third_place() -> None:
    x = K.ones((100,))
    np.testing.assert_array_equal(K.eval(K.dropout(x, 0.5, 7)), K.eval(K.dropout(x, 0.5, seed=7)))


def test_integers_are_dropped_as_floats() -> None:
    found = K.eval(K.dropout(K.constant([2] * 100, dtype="int32"), 0.5, seed=1))
    assert found.dtype == "float32" and set(found.tolist()) == {0.0, 4.0}
