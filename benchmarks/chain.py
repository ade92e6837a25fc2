"""A dozen element-wise operations over four million numbers, forward only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, require_close, timed_row

SIZE = 4_000_000
# Coefficients of the polynomial, the highest first.
SQUARED, LINEAR, CONSTANT = 0.1, -0.5, 1.0


def numbers(seed: int = 0) -> np.ndarray:
    """The input: half of it is negative."""
    return np.random.default_rng(seed).uniform(-2, 2, SIZE).astype("float32")


def kameleon() -> Callable[..., Any]:
    """A polynomial, a bell curve, and what is made of them on either side of 0."""
    from kameleon import backend as K

    x = K.placeholder((None,))
    curve = (SQUARED * x + LINEAR) * x + CONSTANT
    bell = K.exp(-K.square(x))
    return K.function([x], [K.switch(x > 0, K.tanh(curve) * bell, curve - bell)])


def run(sides: Sides) -> list[Row]:
    """Check that both agree, then time them."""
    x, function, by_hand = numbers(), kameleon(), sides["chain"]()
    require_close("chain", function([x]), [by_hand(x)], tolerance=1e-5)
    return [timed_row("chain", "4,000,000 numbers", function, [x], by_hand)]
