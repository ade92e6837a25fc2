"""0 times infinity is NaN in products, however large they are: no engine leaves zeros out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

SPECIAL = [np.nan, np.inf, -np.inf]


def spoilt(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers, with zeros and some that aren't finite."""
    x = rng.normal(size=shape).astype("float32")
    x[rng.random(shape) < 0.3] = 0
    x[rng.random(shape) < 0.05] = rng.choice(SPECIAL)
    return x


def kind(x: np.ndarray) -> np.ndarray:
    """Which elements are NaN, infinite, finite."""
    return np.where(np.isnan(x), 3, np.where(np.isinf(x), np.sign(x), 0))


def expected(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        found: np.ndarray = (a[:, :, None] * b[None]).sum(1)
    return found


@pytest.mark.parametrize("size", [1, 2, 33])
def test_zeros_are_multiplied(size: int) -> None:
    a, b, c = (K.placeholder((None, n)) for n in (size, None, size))
    product = K.function([a, b, c], [K.dot(a, b), K.dot(a, K.transpose(c))])
    for rows, columns in itertools.product([1, 17], [1, 3, 64]):
        rng = np.random.default_rng((size, rows, columns))
        x, y = spoilt(rng, rows, size), spoilt(rng, size, columns)
        for found in product([x, y, np.ascontiguousarray(y.T)]):
            np.testing.assert_array_equal(kind(found), kind(expected(x, y)))


def test_single_numbers() -> None:
    zero, row = K.zeros((1, 1)), K.constant([[np.inf] * 64])
    for product in (K.dot(zero, row), K.dot(K.transpose(row), zero)):
        assert np.isnan(K.eval(product)).all()
        x = K.placeholder((1, 1))
        assert np.isnan(K.function([x], [product * x])([[[1.0]]])[0]).all()


def test_what_a_sparse_matrix_does_not_store_adds_nothing() -> None:
    x = K.placeholder((2, 2), sparse=True)
    stored = sparse.coo_matrix((np.zeros(1, "float32"), ([0], [1])), shape=(2, 2))
    found = K.function([x], [K.dot(x, K.constant([[np.nan] * 40, [np.inf] * 40]))])([stored])[0]
    assert np.isnan(found[0]).all() and (found[1] == 0).all()
