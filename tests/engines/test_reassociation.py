"""Two operations after each other, one of them with a constant of any shape that is stretched.

Optimisers move constants to where they meet others, or a bias; sizes must survive that.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
SHAPES = [(), (1,), (5,), (1, 5), (2, 1), (2, 5), (3, 1, 1)]  # of the constant
ORDERS: dict[str, Callable[..., Any]] = {
    "(x . b) . c": lambda f, g, x, b, c: g(f(x, b), c),
    "c . (x . b)": lambda f, g, x, b, c: g(c, f(x, b)),
    "(x . c) . b": lambda f, g, x, b, c: g(f(x, c), b),
    "b . (c . x)": lambda f, g, x, b, c: g(b, f(c, x)),
}


def numbers(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).uniform(1, 2, shape).astype("float32")


@pytest.mark.parametrize("outer", OPERATIONS)
@pytest.mark.parametrize("order", ORDERS)
def test_constants_that_are_stretched(order: str, outer: str) -> None:
    x, b = numbers(2, 5), numbers(5)
    inputs, outputs, wanted = [], [], []
    for shape, inner in itertools.product(SHAPES, OPERATIONS):
        # Each has inputs of its own, so that no part is shared: what is read twice isn't moved.
        placeholders = [K.placeholder(a.shape) for a in (x, b)]
        build, f, g = ORDERS[order], OPERATIONS[inner], OPERATIONS[outer]
        outputs.append(build(f, g, *placeholders, K.constant(2 + numbers(*shape))))
        wanted.append(build(f, g, x, b, 2 + numbers(*shape)))
        inputs += placeholders
    found = K.function(inputs, outputs)([x, b] * len(outputs))
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6)
