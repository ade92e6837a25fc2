"""Ranges hold what values there are, and are as narrow as the making of a tensor tells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.graph.analysis.intervals import ALL, Range, is_within_one, range_of

X = K.placeholder((4, 6))
SEQUENCES = K.placeholder((4, 3, 6))

CASES: dict[str, tuple[Callable[[], Any], Range]] = {
    "input": (lambda: X, ALL),
    "constant": (lambda: K.constant(-3.0), (-3.0, -3.0)),
    "sigmoid": (lambda: K.sigmoid(X), (0, 1)),
    "tanh": (lambda: K.tanh(X), (-1, 1)),
    "part": (lambda: K.transpose(K.sigmoid(X)[1:, ::2]), (0, 1)),
    "rest": (lambda: 1.0 - K.sigmoid(X), (0, 1)),
    "slope of sigmoid": (lambda: K.sigmoid(X) * (1.0 - K.sigmoid(X)), (0, 1)),
    "slope of tanh": (lambda: (lambda y: 1.0 - y * y)(K.tanh(X)), (0, 1)),
    "product of signs": (lambda: K.sin(X) * K.cos(X), (-1, 1)),
    "multiple": (lambda: K.sigmoid(X) * -3.0, (-3, 0)),
    "unbounded product": (lambda: X * K.sigmoid(X), ALL),
    "stack of a loop": (
        lambda: K.rnn(lambda x, h: (y := K.tanh(x + h[0]), [y]), SEQUENCES, [X])[1],
        (-1, 1),
    ),
    "last state": (lambda: K.rnn(lambda x, h: (x, [K.tanh(x + h[0])]), SEQUENCES, [X])[2][0], ALL),
}


@pytest.mark.parametrize("name", CASES)
def test_range(name: str) -> None:
    build, expected = CASES[name]
    tensor = build()
    assert range_of(tensor, {}) == expected
    assert is_within_one(tensor, {}) == (expected[0] >= -1 and expected[1] <= 1)
    rng = np.random.default_rng(0)
    feeds = [rng.normal(0, 3, x.shape).astype("float32") for x in (X, SEQUENCES)]
    (values,) = K.function([X, SEQUENCES], [tensor])(feeds)
    assert expected[0] <= np.min(values) <= np.max(values) <= expected[1]


def test_slices_of_a_loop_are_looked_up() -> None:
    assert range_of(X, {X: K.tanh(X)}) == (-1, 1)


def test_infinite_constants_have_no_range() -> None:
    assert range_of(K.constant(math.inf), {}) == ALL
