"""Casts of what the new dtype doesn't hold mean the same on each engine, and division by zero."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

NARROW = "int8 uint8 int16 uint16 int32".split()
WIDE = "uint32 int64".split()
SPECIAL = [np.nan, np.inf, -np.inf, 1e30, -1e30]
FINITE = [-0.5, -1.5, -300.7, 300.7, 127.9, 255.9, 256.0, -129.0, 65535.5, 7e4, -7e4]
LARGE = [2.5e9, -2.5e9, 4.2e9, 5e9, -1e10]
# Casts of vectors and of what is left over at their ends are different code in libraries.
COPIES = 67


def meaning(x: float, dtype: str) -> int:
    """By way of int32 or int64, whose least number stands for what it doesn't hold."""
    limit = 2 ** (31 if dtype in NARROW else 63)
    whole = int(x) if -limit <= x < limit else -limit
    bits = np.iinfo(dtype).bits
    return whole % 2**bits - (2**bits if np.iinfo(dtype).min and whole >> bits - 1 & 1 else 0)


def cast_numbers(numbers: list[float], source: str, dtype: str) -> None:
    given = np.tile(np.array(numbers), COPIES).astype(source)
    x = K.placeholder((None,), dtype=source)
    found = K.function([x], [K.cast(x, dtype)])([given])[0]
    assert found.dtype == dtype
    want = [meaning(float(v), dtype) for v in given[: len(numbers)]]
    assert found.tolist() == want * COPIES


@pytest.mark.parametrize("dtype", [*NARROW, *WIDE])
def test_floats_are_truncated_and_wrap(dtype: str) -> None:
    cast_numbers(FINITE + (LARGE if dtype in WIDE else []), "float32", dtype)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="engine-defined there")
@pytest.mark.parametrize("dtype", [*NARROW, *WIDE])
def test_what_no_integer_holds(dtype: str) -> None:
    for source in ("float32", "float64"):
        cast_numbers([*SPECIAL, *LARGE, *FINITE], source, dtype)


def test_negative_floats_wrap_as_uint64() -> None:
    x = K.placeholder((None,), dtype="float64")
    found = K.function([x], [K.cast(x, "uint64")])([[-1.5, -300.7, 2.0**63, 3.9]])[0]
    assert found.tolist() == [2**64 - 1, 2**64 - 300, 2**63, 3]


def test_whatever_is_not_zero_is_true() -> None:
    x = K.placeholder((None,))
    found = K.function([x], [K.cast(x, "bool")])([[np.nan, np.inf, -0.0, 0.25, -0.25]])[0]
    assert found.tolist() == [True, True, False, True, True]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "uint32"])
def test_integers_divided_by_zero(dtype: str) -> None:
    least: Any = np.iinfo(dtype).min
    x, y = (K.placeholder((None,), dtype=dtype) for _ in range(2))
    given = [np.array([7, 0, least, 7], dtype), np.array([0, 0, 0, 2], dtype)]
    quotient, rest = K.function([x, y], [x // y, x % y])(given)
    assert quotient.tolist() == [0, 0, 0, 3] and rest.tolist() == [0, 0, 0, 1]
