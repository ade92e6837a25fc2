"""What K takes for numbers, in values and dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

# What NumPy would turn into numbers: None into NaN, texts into what they spell, dates into days.
NO_NUMBERS = [
    None, [1.0, None], [[None]], np.array([1, None]), "3", b"3", ["3", "4"], np.array("3"),
    np.array(["3"], object), np.datetime64("2020-01-01"), 1j, np.array(1j), {}, {1.0}, object(),
    [1.0, "3"],
]  # fmt: skip
TAKERS: dict[str, Callable[[Any], Any]] = {
    "variable": K.variable,
    "variable of ints": lambda value: K.variable(value, dtype="int32"),
    "constant": K.constant,
    "constant of a shape": lambda value: K.constant(value, shape=(2, 2)),
    "operand": lambda value: K.placeholder((None,)) + value,
    "argument": lambda value: K.maximum(K.placeholder((None,)), value),
    "update": lambda value: K.update(K.zeros((2,)), value),
    "set_value": lambda value: K.set_value(K.zeros((2,)), value),
    "fed": lambda value: K.function([x := K.placeholder((None,))], [x])([value]),
}


@pytest.mark.parametrize("take", TAKERS)
@pytest.mark.parametrize(
    "value", NO_NUMBERS, ids=lambda value: re.sub(r" at 0x\w+", "", repr(value))
)
def test_what_is_no_number_is_refused(take: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"number|no array of|no tensor"):
        TAKERS[take](value)


@pytest.mark.parametrize("make", [K.variable, K.constant])
@pytest.mark.parametrize(
    "value", [0.5, np.float64(0.5), Fraction(1, 2), Decimal("0.5"), np.array(0.5, object)], ids=repr
)
def test_numbers_of_all_kinds_are_taken(make: Callable[[Any], Any], value: Any) -> None:
    assert K.eval(make(value)) == 0.5


@pytest.mark.parametrize("make", [K.variable, K.constant])
def test_what_a_dtype_does_not_hold_is_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="300 is no array of uint8"):
        make(300, dtype="uint8")


# Dtypes ------------------------------------------------------------------------------------------

# By what names one: what tensors have, where the default float dtype is float32 or float64.
NAMED: dict[Any, tuple[str, str]] = {
    float: ("float32", "float64"),
    "float": ("float32", "float64"),
    int: ("int64", "int64"),
    "int": ("int64", "int64"),
    bool: ("bool", "bool"),
    np.float64: ("float64", "float64"),
    np.float32: ("float32", "float32"),
    np.dtype(float): ("float64", "float64"),
    "double": ("float64", "float64"),
    "half": ("float16", "float16"),
    np.int32: ("int32", "int32"),
}
# Functions that take a dtype: of floats alone, and of any kind.
OF_FLOATS: dict[str, Callable[[Any], Any]] = {
    "eye": lambda dtype: K.eye(2, dtype=dtype),
    "random_normal": lambda dtype: K.random_normal((2,), dtype=dtype),
    "random_uniform": lambda dtype: K.random_uniform((2,), dtype=dtype),
    "truncated_normal": lambda dtype: K.truncated_normal((2,), dtype=dtype),
    "random_binomial": lambda dtype: K.random_binomial((2,), 0.5, dtype=dtype),
    "random_normal_variable": lambda dtype: K.random_normal_variable((2,), 0, 1, dtype=dtype),
    "random_uniform_variable": lambda dtype: K.random_uniform_variable((2,), 0, 1, dtype=dtype),
}
OF_ALL: dict[str, Callable[[Any], Any]] = {
    "placeholder": lambda dtype: K.placeholder((2,), dtype=dtype),
    "variable": lambda dtype: K.variable([1.0], dtype),
    "constant": lambda dtype: K.constant(1, dtype),
    "zeros": lambda dtype: K.zeros((2,), dtype),
    "ones": lambda dtype: K.ones((2,), dtype),
    "zeros_like": lambda dtype: K.zeros_like(K.constant([1]), dtype),
    "ones_like": lambda dtype: K.ones_like(K.constant([1]), dtype),
    "cast": lambda dtype: K.cast(K.constant([1]), dtype),
    "map_fn": lambda dtype: K.map_fn(lambda x: K.cast(x, dtype), K.constant([1.0]), dtype=dtype),
    "astype": lambda dtype: K.constant([1]).astype(dtype),
    "np.ones_like": lambda dtype: np.ones_like(K.constant([1]), dtype=dtype),
    "sparse placeholder": lambda dtype: K.placeholder((2, 2), dtype=dtype, sparse=True),
}


@pytest.mark.parametrize("floats", ["float32", "float64"])
@pytest.mark.parametrize("function", [*OF_FLOATS, *OF_ALL])
def test_what_names_a_dtype(function: str, floats: str) -> None:
    before = K.floatx()
    K.set_floatx(floats)
    try:
        for named, (usual, wide) in NAMED.items():
            want = usual if floats == "float32" else wide
            if function in OF_ALL or want.startswith("float"):
                made = {**OF_FLOATS, **OF_ALL}[function](named)
                assert K.dtype(made) == want, named
    finally:
        K.set_floatx(before)


MULTIPLES: dict[str, tuple[Any, float]] = {
    "x + x": (lambda x: x + x, 2.0),
    "3 x": (lambda x: 3.0 * x, 3.0),
    "x / 0.25": (lambda x: x / 0.25, 4.0),
    "(x + x) * 1.5 - x": (lambda x: (x + x) * 1.5 - x, 2.0),
    "-(-5 x)": (lambda x: -(-5.0 * x), 5.0),
    "x * [2]": (lambda x: x * K.constant([2.0]), 2.0),
    "0.1 x": (lambda x: 0.1 * x, 0.1),
    "-2 x": (lambda x: x * -2.0, -2.0),
}


@pytest.mark.parametrize("name", MULTIPLES)
def test_a_number_and_its_multiple(engine: Engine, name: str) -> None:
    """A compiler may take it for a leaky rectifier, which it is for slopes up to 1 alone."""
    multiple, factor = MULTIPLES[name]
    x, given = K.placeholder((None, 3)), np.array([[1.0, -2.0, np.nan]], "float32")
    dense = K.dot(x, K.constant(np.eye(3)[:, ::-1]))
    ways = (K.maximum, K.minimum)
    for y, values, want in ((x, given, given), (dense, [[1.0, -2.0, 0.5]], [[0.5, -2.0, 1.0]])):
        outputs = [way(*pair) for way in ways for pair in ((y, multiple(y)), (multiple(y), y))]
        found = K.function([x], outputs)([values])
        product = np.multiply(want, np.float32(factor))
        expected = [np.maximum(want, product)] * 2 + [np.minimum(want, product)] * 2
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
