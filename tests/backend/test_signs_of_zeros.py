"""Quotients and remainders to the last bit, signs of zeros, and functions near 0 and far below.

In arrays long enough for vectorised kernels, and in single numbers, which other kernels compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

DTYPES = ("float16", "float32", "float64")
PRECISION = {"float16": 11, "float32": 24, "float64": 53}
NUMBERS = (
    0.0,
    0.1,
    0.3,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    7.52,
    0.002996,
    0.001,
    100.0,
    2004.678,
    1e4,
    65504,
)


def pairs(dtype: str) -> tuple[Any, Any]:
    """Every pair of numbers, infinities and limits, of both signs."""
    limits = np.finfo(dtype)
    some = [*NUMBERS, float(limits.max), float(limits.max) * 0.9, float(limits.tiny), math.inf]
    line = np.array([*some, *(-x for x in some)], dtype)
    a, b = np.meshgrid(line, line)
    return a.ravel(), b.ravel()


def quotient(a: float, b: float) -> float:
    """The largest whole number below a / b, which isn't rounded before."""
    if math.isinf(a) or (a == 0 and b == 0):
        return math.nan if b or not a else math.copysign(math.inf, a) * math.copysign(1, b)
    if b == 0:
        return math.copysign(math.inf, a) * math.copysign(1, b)
    crossed = (a < 0) != (b < 0)
    whole = -int(crossed and a != 0) if math.isinf(b) else Fraction(a) // Fraction(b)
    if whole == 0:
        return math.copysign(0.0, a) * math.copysign(1, b)
    return float(whole) if abs(whole) < 2**1024 else math.copysign(math.inf, whole > 0 or -1)


def remainder(a: float, b: float) -> float:
    """a - b * floor(a / b), of the sign of b."""
    if math.isinf(a) or b == 0:
        return math.nan
    if math.isinf(b):
        return (a if (a < 0) == (b < 0) else b) if a else math.copysign(0.0, b)
    rest = Fraction(a) % Fraction(b)
    return float(rest) if rest else math.copysign(0.0, b)


OPERATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[float, float], float]]] = {
    "//": (lambda x, y: x // y, quotient),
    "%": (lambda x, y: x % y, remainder),
}


def check(found: Any, expected: Any, exact: bool) -> None:
    """Equal numbers with equal signs; large quotients, which aren't whole, to a unit."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    near = 0.0 if exact else 1.01 * 2.0 ** -(PRECISION[found.dtype.name] - 1)
    small = np.abs(expected) <= 2.0 ** PRECISION[found.dtype.name]
    np.testing.assert_array_equal(found[small], expected[small])
    np.testing.assert_allclose(found, expected, rtol=near)
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(expected[there]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_division(operation: str, dtype: str) -> None:
    call, oracle = OPERATIONS[operation]
    a, b = pairs(dtype)
    with np.errstate(over="ignore"):
        expected = np.array([oracle(*p) for p in zip(a.tolist(), b.tolist(), strict=True)], dtype)
    x, y = (K.placeholder((None,), dtype=dtype) for _ in range(2))
    f = K.function([x, y], [call(x, y)])
    check(f([a, b])[0], expected, operation == "%")
    few = range(0, len(a), 23)
    single = np.concatenate([f([a[i : i + 1], b[i : i + 1]])[0] for i in few])
    check(single, expected[few], operation == "%")


@pytest.mark.parametrize("dtype", DTYPES)
def test_division_by_numbers(dtype: str) -> None:
    """Compilers multiply by the reciprocal of a number that they know."""
    a, b = (np.unique(x) for x in pairs(dtype))
    x = K.placeholder(a.shape, dtype=dtype)
    numbers = [n for n in b.tolist() if n > 0]
    found = K.function([x], [f(x, n) for f, _ in OPERATIONS.values() for n in numbers])([a])
    wanted = [(oracle, n) for _, oracle in OPERATIONS.values() for n in numbers]
    for y, (oracle, n) in zip(found, wanted, strict=True):
        with np.errstate(over="ignore"):
            expected = np.array([oracle(v, n) for v in a.tolist()], dtype)
        check(y, expected, oracle is remainder)


ZEROS = [0.0, -0.0]
SIGNED: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "relu": (K.relu, [0.0, 0.0]),
    "elu": (K.elu, ZEROS),
    "sign": (K.sign, [0.0, 0.0]),
    "switch": (lambda x: K.switch(K.equal(x, 0.0), x, -x), ZEROS),
    "switch-other": (lambda x: K.switch(K.not_equal(x, 0.0), 1 + x, x), ZEROS),
    "switch-negated": (lambda x: K.switch(K.equal(x, 0.0), -K.abs(x), x), [-0.0, -0.0]),
    "abs": (K.abs, [0.0, 0.0]),
    "round": (K.round, ZEROS),
    "tanh": (K.tanh, ZEROS),
    "sin": (K.sin, ZEROS),
    "negated": (lambda x: -x, [-0.0, 0.0]),
    "product": (lambda x: x * -1.0, [-0.0, 0.0]),
    "identity": (K.identity, ZEROS),
    "plus 0": (lambda x: x + 0, [0.0, 0.0]),
    "0 plus": (lambda x: 0 + x, [0.0, 0.0]),
    "minus 0": (lambda x: x - 0, ZEROS),
    "0 minus": (lambda x: 0 - x, [0.0, 0.0]),
    "plus zeros": (lambda x: x + K.zeros_like(x), [0.0, 0.0]),
}  # fmt: skip


@pytest.mark.parametrize("repeat", [1, 40], ids=["short", "long"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_of_zeros(dtype: str, repeat: int) -> None:
    x = K.placeholder((None,), dtype=dtype)
    given = np.array(ZEROS * repeat, dtype)
    found = K.function([x], [f(x) for f, _ in SIGNED.values()])([given])
    for (name, (_, wanted)), y in zip(SIGNED.items(), found, strict=True):
        assert np.signbit(y).tolist() == np.signbit(wanted).tolist() * repeat, name


# Where a function is nearly its operand, or is close to 0: numbers, and units they may be off.
CLOSE: dict[str, tuple[Callable[[Any], Any], Callable[[float], float], list[float]]] = {
    "elu": (K.elu, math.expm1, [-1e-30, -1e-12, -1e-7, -1e-3, -0.5, -3.0]),
    "sigmoid": (K.sigmoid, lambda x: 1 / (1 + math.exp(-x)), [-80.0, -40.0, -17.1, -11.1, -5.0]),
    "tanh": (K.tanh, math.tanh, [1e-30, 1e-7, 1e-3, 0.5]),
    "softplus": (K.softplus, lambda x: math.log1p(math.exp(x)), [-80.0, -30.0, -10.0, 0.0, 3.0]),
    "exp": (K.exp, math.exp, [-80.0, -1e-7, 0.3, 20.0, 80.0]),
    "log": (K.log, math.log, [1e-30, 0.3, 0.999, 1.001, 1e30]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("repeat", [1, 16], ids=["short", "long"])
def test_small_results(dtype: str, repeat: int) -> None:
    inputs = [K.placeholder((None,), dtype=dtype) for _ in CLOSE]
    given = [np.array(numbers * repeat, dtype) for _, _, numbers in CLOSE.values()]
    outputs = [f(x) for x, (f, _, _) in zip(inputs, CLOSE.values(), strict=True)]
    values = K.function(inputs, outputs)(given)
    for name, x, y in zip(CLOSE, given, values, strict=True):
        expected = [CLOSE[name][1](v) for v in x.tolist()]
        np.testing.assert_allclose(y, expected, rtol=16 * np.finfo(dtype).eps, err_msg=name)
