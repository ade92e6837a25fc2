"""Gradients of products, to second order: with zeros, and where products are too small or large."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

TINY, HUGE = 1e-30, 1e30
ROWS: dict[str, list[float]] = {
    "plain": [2.0, -3.0, 0.5, 1.5],
    "a zero": [2.0, 0.0, 0.5, 1.5],
    "two zeros": [0.0, -3.0, 0.0, 1.5],
    "all zeros": [0.0, 0.0, 0.0, 0.0],
    "too small": [TINY, TINY, 2.0, 0.5],
    "too large": [HUGE, HUGE, 2.0, 0.5],
}


def first_order(name: str) -> tuple[list[float], list[list[float]]]:
    """Of the product: the slopes, and their slopes, by definition."""
    row = [float(np.float32(x)) for x in ROWS[name]]
    places = range(len(row))

    def without(*left: int) -> float:
        return math.prod(sorted((row[k] for k in places if k not in left), key=abs))

    return (
        [without(i) for i in places],
        [[0.0 if i == j else without(i, j) for j in places] for i in places],
    )


def running_slopes(name: str) -> list[float]:
    """Of the sum of the running products."""
    row = [float(np.float32(x)) for x in ROWS[name]]
    return [
        math.fsum(math.prod(row[k] for k in range(j + 1) if k != i) for j in range(i, len(row)))
        for i in range(len(row))
    ]


@pytest.mark.parametrize("shape", [(2, 4), (None, 4), (None, None)])
def test_slopes_of_a_product(engine: Engine, shape: Any) -> None:
    """Rows of all kinds, each beside one without zeros; all at once, and second order."""
    x = K.placeholder(shape)
    [slope] = K.gradients(K.sum(K.prod(x, axis=1)), [x])
    seconds = [K.gradients(K.sum(slope[:, i]), [x])[0] for i in range(4)]
    run = K.function([x], [slope, *seconds])
    for name in ("plain", "a zero", "two zeros", "all zeros"):
        array = np.array([ROWS["plain"], ROWS[name]], "float32")
        got, *second = run([array])
        wanted, curvature = first_order(name)
        np.testing.assert_allclose(got[1], wanted, rtol=1e-5)
        np.testing.assert_allclose([s[1] for s in second], curvature, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ROWS)
def test_slopes_where_a_product_is_lost(name: str, engine: Engine) -> None:
    """Division alone would give 0 / 0 or infinities."""
    x = K.placeholder((1, 4))
    [slope] = K.gradients(K.sum(K.prod(x, axis=1)), [x])
    [got] = K.function([x], [slope])([np.array([ROWS[name]], "float32")])
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.array(first_order(name)[0]).astype("float32")
    np.testing.assert_allclose(got[0], wanted, rtol=1e-5)


def test_slopes_of_a_running_product(engine: Engine) -> None:
    x = K.placeholder((None, 4))
    [slope] = K.gradients(K.sum(K.cumprod(x, axis=1)), [x])
    run = K.function([x], [slope])
    for name in ("plain", "a zero", "two zeros", "all zeros"):
        got = run([np.array([ROWS["plain"], ROWS[name]], "float32")])[0]
        np.testing.assert_allclose(got[1], running_slopes(name), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(got[0], running_slopes("plain"), rtol=1e-5, atol=1e-6)


WAYS: dict[str, Callable[[Any], Any]] = {
    "all axes": K.prod,
    "two axes": lambda x: K.prod(x, axis=(0, 2)),
    "the first axis": lambda x: K.prod(x, axis=0),
    "a running product": lambda x: K.cumprod(x, axis=1),
}


@pytest.mark.parametrize("name", WAYS)
def test_slopes_agree_with_and_without_zeros_elsewhere(name: str, engine: Engine) -> None:
    """Both ways to compute them meet: a zero so small that it changes nothing else."""
    rng = np.random.default_rng(len(name))
    array = rng.uniform(0.5, 1.5, (3, 4, 2)).astype("float32")
    x = K.placeholder((None, 4, 2))
    y = WAYS[name](x)
    [slope] = K.gradients(K.sum(K.sin(y)), [x])
    run = K.function([x], [slope])
    for at in itertools.islice(np.ndindex(*array.shape), 0, None, 7):
        near, exact = array.copy(), array.copy()
        near[at], exact[at] = 1e-12, 0.0
        np.testing.assert_allclose(run([near])[0], run([exact])[0], rtol=1e-4, atol=1e-5)
