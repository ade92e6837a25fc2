"""Differences that last bits explain, as an optimizer makes them, and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.testing.comparison.conditioning import is_rounding
from kameleon.testing.comparison.problem import problem_of
from kameleon.testing.comparison.result import difference

X = np.linspace(0.1, 3.0, 64, dtype="float32")


def step(x: Any) -> list[Any]:
    """A slope that is all rounding, over the root of its square; a sum; the places of its signs."""
    slope = K.square(K.sin(x)) + K.square(K.cos(x)) - 1.0
    whole = slope / K.sqrt(K.square(slope) + 1e-16)
    return [whole, K.sum(x) + 0.01 * K.sum(whole), K.cast(whole > 0, "int32")]


@pytest.mark.parametrize(
    ("number", "change", "explained"),
    [
        (0, lambda y: -y, True),
        (0, lambda y: 8 * y + 30, False),
        (0, lambda y: np.full_like(y, np.nan), False),
        (1, lambda y: y * np.float32(1.0003), True),
        (1, lambda y: y * np.float32(1.2), False),
        (2, lambda y: 1 - y, False),
    ],
)
def test_differences(number: int, change: Any, explained: bool) -> None:
    x = K.placeholder((64,))
    f = K.function([x], step(x), engine="numpy")
    want = f([X])
    got = [change(y) if i == number else y for i, y in enumerate(want)]
    found = [difference(f"output {i}", *pair) for i, pair in enumerate(zip(got, want, strict=True))]
    assert not found[number].within()
    assert is_rounding(problem_of(f, [X], ()), want, found) is explained


def test_what_is_well_conditioned_moves_little() -> None:
    x = K.placeholder((64,))
    f = K.function([x], [K.exp(x), K.sum(x)], engine="numpy")
    want = f([X])
    found = [difference("output", y * np.float32(1.001), y) for y in want]
    assert not is_rounding(problem_of(f, [X], ()), want, found)
