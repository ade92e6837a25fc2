"""Depthwise convolutions with strides and a dilation: the values that TensorFlow 1.15 gave.

Cells of the inputs are numbered and kernels are powers of 100, so that a value spells which cells
a window saw: 705 saw cell 5, then cell 7; 8 saw cell 8 and then nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.testing import check_gradients

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

# Size, cells of the kernel (1, 100, 10000), stride, rate, padding, values.
LINES = [
    (5, 2, 2, 2, "valid", [301]),
    (6, 2, 2, 2, "valid", [301, 402]),
    (9, 2, 2, 2, "valid", [301, 402, 705]),
    (9, 2, 2, 2, "same", [200, 301, 604, 705, 8]),
    (10, 2, 3, 2, "valid", [301, 402, 907, 1008]),
    (10, 1, 2, 3, "same", [1, 2, 3, 7]),
    (11, 2, 2, 3, "same", [300, 401, 502, 906, 1007]),
    (12, 3, 2, 2, "valid", [50301, 60402, 90705, 100806]),
    (7, 3, 3, 2, "same", [30100, 40200, 705]),
    (13, 2, 2, 3, "valid", [401, 502, 603, 1007]),
    (8, 1, 4, 3, "valid", [1, 2]),
]
# Sizes, stride, rates, padding, values; cell (i, j) is 10 * i + j, the kernel is CORNERS.
CORNERS = np.array([[1, 0], [0, 100]], "float32").reshape(2, 2, 1, 1)
PLANES = [
    ((5, 5), 2, (2, 2), "valid", [[3311]]),
    ((5, 6), 2, (1, 2), "valid", [[2311, 2412], [4331, 4432]]),
    ((5, 6), 2, (1, 2), "same", [[2200, 2311, 2614, 15], [4200, 4331, 4634, 35], [0, 51, 54, 55]]),
    ((4, 7), 2, (2, 1), "same", [[2200, 2400, 2600, 0], [3211, 3413, 3615, 17]]),
    ((7, 8), 2, (2, 3), "valid", [[3411, 3512], [4421, 4522], [7451, 7552]]),
    ((4, 6), 3, (2, 2), "same", [[2200, 2300], [3200, 3311]]),
]


def plane(space: tuple[int, int]) -> np.ndarray[Any, Any]:
    rows, columns = (np.arange(1, size + 1, dtype="float32") for size in space)
    return (10 * rows[:, None] + columns).reshape(1, *space, 1)


@pytest.mark.parametrize("known", [True, False], ids=["known size", "unknown size"])
@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
@pytest.mark.parametrize(("size", "cells", "stride", "rate", "padding", "values"), LINES)
def test_over_one_axis(
    size: int, cells: int, stride: int, rate: int, padding: str, values: list[int],
    layout: str, known: bool,
) -> None:  # fmt: skip
    first = layout == "channels_first"
    shape = (1, 1, size) if first else (1, size, 1)
    free = (None, 1, None) if first else (None, None, 1)
    x = K.placeholder(shape if known else free)
    deep = K.constant(100.0 ** np.arange(cells).reshape(cells, 1, 1))
    how = {"padding": padding, "data_format": layout, "dilation_rate": rate}
    y = K.separable_conv1d(x, deep, K.ones((1, 1, 1)), strides=stride, **how)
    if known:
        assert K.int_shape(y) == ((1, 1, len(values)) if first else (1, len(values), 1))
    (got,) = K.function([x], [y])([np.arange(1, size + 1, dtype="float32").reshape(shape)])
    assert got.ravel().tolist() == values


@pytest.mark.parametrize(("space", "stride", "rates", "padding", "values"), PLANES)
def test_over_two_axes(
    space: tuple[int, int], stride: int, rates: tuple[int, int], padding: str, values: list[Any]
) -> None:
    how = {"strides": (stride, stride), "padding": padding, "dilation_rate": rates}
    x, deep = K.constant(plane(space)), K.constant(CORNERS)
    y = K.depthwise_conv2d(x, deep, **how)
    assert K.int_shape(y) == (1, *np.shape(values), 1)
    assert K.eval(y)[0, :, :, 0].tolist() == values
    z = K.separable_conv2d(x, deep, K.ones((1, 1, 1, 1)), **how)
    assert K.eval(z)[0, :, :, 0].tolist() == values


def test_strides_that_differ_move_the_window_on() -> None:
    """TensorFlow has no answer for them."""
    x, deep = K.constant(plane((5, 5))), K.constant(CORNERS)
    y = K.depthwise_conv2d(x, deep, strides=(2, 1), dilation_rate=(2, 2))
    assert K.eval(y)[0, :, :, 0].tolist() == [[3311, 3412, 3513], [5331, 5432, 5533]]


def test_gradients() -> None:
    random = np.random.default_rng(0)
    x = K.variable(random.normal(size=(2, 7, 6, 2)), dtype="float64")
    deep = K.variable(random.normal(size=(2, 2, 2, 2)), dtype="float64")
    y = K.depthwise_conv2d(x, deep, strides=(2, 2), padding="same", dilation_rate=(2, 3))
    check_gradients(y, [x, deep])


@pytest.mark.parametrize("kind", ["conv1d", "conv2d", "conv3d", "depthwise_conv2d"])
def test_the_holes_of_a_dilated_window_see_nothing(engine: Engine, kind: str) -> None:
    """No zero stands for a hole: infinities times zero would be NaN, in gradients, too."""
    rank = 2 if kind.startswith("depthwise") else int(kind[-2])
    x, k = K.placeholder((1, *[6] * rank, 2)), K.constant(np.ones((*[2] * rank, 2, 2)))
    rate = 2 if rank == 1 else (2,) * rank
    y = getattr(K, kind)(x, k, data_format="channels_last", dilation_rate=rate)
    slope = K.gradients(K.sum(K.exp(0.5 * y)), [x])[0]
    given = np.zeros((1, *[6] * rank, 2))
    given[(0, *[3] * rank, 0)] = np.inf
    for value in K.function([x], [y, slope])([given]):
        assert np.isinf(value).any() and not np.isnan(value).any()
