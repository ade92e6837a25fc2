"""Functions along rows, where there are no rows, or nothing in them: no engine fails, or worse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K

ROWS: dict[str, Callable[[Any], Any]] = {
    "softmax": K.softmax,
    "log of softmax": lambda x: K.log(K.softmax(x)),
    "cross entropy": lambda x: K.categorical_crossentropy(x, K.softmax(x)),
    "cross entropy of logits": lambda x: K.categorical_crossentropy(x, x, from_logits=True),
    "running products": lambda x: K.cumprod(x, -1),
    "running sums": lambda x: K.cumsum(x, -1),
    "products": lambda x: K.prod(x, -1),
    "unit rows": lambda x: K.l2_normalize(x, -1),
    "matrix products": lambda x: K.dot(x, K.transpose(x)),
}
SHAPES = ((0, 3), (2, 0), (0, 0))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("engine", engines_under_test())
def test_values_and_gradients_of_nothing(engine: str, name: str) -> None:
    dtype = "float64"
    for placed in (None, (2, 0)):
        x = K.placeholder(placed or (None, None), dtype=dtype)
        y = ROWS[name](x)
        with K.using_engine(engine):
            f = K.function([x], [y, *K.gradients(K.sum(y), [x])])
            for shape in SHAPES if placed is None else (placed,):
                value, slope = f([np.zeros(shape, dtype)])
                assert slope.shape == shape
                assert np.isfinite(value).all(), (placed, shape)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("engine", engines_under_test())
def test_nothing_that_is_known(engine: str, name: str, dtype: str) -> None:
    """Constants without elements, and what isn't known of others: compilers count elements."""
    for shape in ((0, 4, 3), (2, 0, 3)):
        x = K.constant(np.zeros(shape), dtype=dtype)
        z = K.placeholder((None, shape[1], None), dtype=dtype)
        if name != "matrix products":  # of two axes
            y = ROWS[name](x)
            loss = K.sum(y) + K.sum(K.categorical_crossentropy(z, K.softmax(x)) * 0.5)
            f = K.function([z], [y, *K.gradients(loss, [x])], engine=engine)
            assert f([np.zeros(shape, dtype)])[1].shape == shape


@pytest.mark.parametrize("engine", engines_under_test())
def test_no_class_is_among_the_best_of_none(engine: str) -> None:
    x, labels = K.placeholder((None, None)), K.placeholder((None,), dtype="int32")
    with K.using_engine(engine):
        f = K.function([x, labels], [K.in_top_k(x, labels, 1)])
        for shape in SHAPES:
            given = [np.zeros(shape, "float32"), np.zeros(shape[:1], "int32")]
            assert f(given)[0].tolist() == [False] * shape[0]


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_hides_a_nan_in_a_row(engine: str, dtype: str) -> None:
    rows = np.array([[1, 2, np.nan], [np.nan, 0, 1], [1, np.inf, 0], [-np.inf, 0, 1]], dtype)
    x = K.placeholder((None, 3), dtype=dtype)
    with K.using_engine(engine):
        log_rows = K.function([x], [K.log(K.softmax(x))])([rows])[0]
    np.testing.assert_array_equal(np.isnan(log_rows[:3]), True)
    assert not np.isnan(log_rows[3]).any()


# What TensorFlow 1.15 gave for rows without elements.
EXTREMA: dict[str, tuple[Callable[..., Any], dict[str, float]]] = {
    "max": (K.max, {"float32": -np.inf, "float16": -np.inf, "int32": -(2**31), "uint8": 0}),
    "min": (K.min, {"float32": np.inf, "int64": 2**63 - 1, "int8": 127, "uint8": 255}),
    "logsumexp": (K.logsumexp, {"float32": -np.inf, "float64": -np.inf}),
}


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("name", EXTREMA)
def test_extrema_of_nothing(engine: str, name: str) -> None:
    function, extremes = EXTREMA[name]
    for dtype, extreme in extremes.items():
        x, known = K.placeholder((2, None), dtype=dtype), K.constant(np.zeros((2, 0)), dtype=dtype)
        with K.using_engine(engine):
            both = K.function([x], [function(x, axis=1), function(known, axis=1)])
            for found in both([np.zeros((2, 0), dtype)]):
                assert found.tolist() == [extreme] * 2, dtype
            some = both([np.array([[1, 3], [4, 2]], dtype)])[0]
            assert some.shape == (2,)
            assert np.isfinite(some).all()
