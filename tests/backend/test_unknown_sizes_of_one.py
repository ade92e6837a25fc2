"""Unknown sizes that turn out to be 1: NumPy's broadcasting, and gradients to second order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Shape = tuple[int | None, ...]


class Case(NamedTuple):
    """A function of K, the same of NumPy, and the shapes of what both are given."""

    build: Callable[..., Any]
    oracle: Callable[..., Any]
    shapes: Sequence[Shape] = ((None, 2), (None, 2))
    fed: Sequence[Sequence[tuple[int, ...]]] = (
        ((1, 2), (5, 2)), ((5, 2), (1, 2)), ((3, 2), (3, 2)), ((1, 2), (1, 2))
    )  # fmt: skip


def softmax(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


FEW: dict[str, Case] = {
    "products": Case(
        lambda x, y: K.tanh(x * y) - K.exp(x) / y, lambda x, y: np.tanh(x * y) - np.exp(x) / y
    ),
    "three": Case(
        lambda x, y, z: (x * y + z) * x,
        lambda x, y, z: (x * y + z) * x,
        [(None, 2)] * 3,
        [((1, 2), (5, 2), (1, 2)), ((5, 2), (1, 2), (5, 2)), ((1, 2), (1, 2), (5, 2))],
    ),
}
MANY: dict[str, Case] = {
    "a known size": Case(
        lambda x, y: x * y,
        lambda x, y: x * y,
        [(None, 2), (4, 2)],
        [((1, 2), (4, 2)), ((4, 2), (4, 2))],
    ),
    "two axes and another rank": Case(
        lambda x, y: x * y + x,
        lambda x, y: x * y + x,
        [(None,), (None, None)],
        [((1,), (3, 4)), ((4,), (3, 1)), ((4,), (1, 4)), ((1,), (1, 1))],
    ),
    "crossentropy": Case(
        lambda x, y: K.categorical_crossentropy(K.softmax(x), K.softmax(y)),
        lambda x, y: -(softmax(x) * np.log(softmax(y))).sum(-1),
    ),
    "binary crossentropy": Case(
        lambda x, y: K.binary_crossentropy(x, K.sigmoid(y)),
        lambda x, y: np.log1p(np.exp(y)) - x * y,
    ),
    "batches": Case(
        K.batch_dot,
        lambda x, y: x @ y,
        [(None, 2, 3), (None, 3, 4)],
        [((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((5, 2, 3), (5, 3, 4))],
    ),
    "mean": Case(lambda x, y: K.mean(x * y) * x, lambda x, y: np.mean(x * y) * x),
    "rows that a mask takes": Case(
        lambda x, y: x[K.greater(K.sum(x, 1), 3.0)] + y,
        lambda x, y: x[x.sum(1) > 3] + y,
        fed=[((5, 2), (0, 2))],
    ),
    "shape": Case(
        lambda x, y: K.reshape(K.ones_like(x + y) * x, (-1,)),
        lambda x, y: (np.ones((x + y).shape) * x).reshape(-1),
    ),
}


def slope(of: Callable[..., Any], at: list[Any], i: int, way: Any) -> float:
    up, down = ([v + s * way if j == i else v for j, v in enumerate(at)] for s in (1e-6, -1e-6))
    return float((of(up)[0] - of(down)[0]) / 2e-6)


def compare(case: Case) -> None:
    inputs = [K.placeholder(shape, dtype="float64") for shape in case.shapes]
    y = case.build(*inputs)
    losses, gradients = [K.sum(y * y)], list[list[Any]]()
    for order in range(2):
        gradients.append(K.gradients(losses[order], inputs))
        losses.append(sum(K.sum(K.square(g)) for g in gradients[order] if g is not None))
    value = K.function(inputs, [y])
    some = np.random.default_rng(5)
    for shapes in case.fed:
        given = [some.uniform(0.2, 1.0, shape) for shape in shapes]
        expected = case.oracle(*given)
        (got,) = value(given)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
        for loss, found in zip(losses, gradients, strict=False):
            of = K.function(inputs, [loss])
            for i, g in enumerate(found):
                if g is None:
                    continue
                (got,) = K.function(inputs, [g])(given)
                assert got.shape == given[i].shape
                way = some.normal(size=given[i].shape)
                wanted = slope(of, given, i, way)
                np.testing.assert_allclose((got * way).sum(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", FEW)
def test_broadcasting(name: str) -> None:
    compare(FEW[name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", MANY)
def test_broadcasting_everywhere(name: str) -> None:
    compare(MANY[name])
