"""Arrays as users of each library make them, and what they hold, for functions of any engine."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from _support.common import engines_under_test
from kameleon.runtime import engines

Array = np.ndarray[Any, Any]

each_pair = pytest.mark.parametrize(
    ("first", "second"), list(itertools.product(engines_under_test(), repeat=2))
)


def _torch(array: Array) -> Any:
    import torch

    return torch.tensor(array)


def _jax(array: Array) -> Any:
    import jax.numpy as jnp

    from kameleon.engines.jax.arrays import X64

    with X64(True):
        return jnp.asarray(array)


def _tensorflow(array: Array) -> Any:
    import tensorflow as tf

    return tf.constant(array)


def _onnxruntime(array: Array) -> Any:
    import onnxruntime

    return onnxruntime.OrtValue.ortvalue_from_numpy(array.copy())


# By name of an engine. PyTensor and NumPy hold their values in NumPy's arrays.
MAKERS: dict[str, Callable[[Array], Any]] = {
    "numpy": np.array,
    "theano": np.array,
    "torch": _torch,
    "jax": _jax,
    "tensorflow": _tensorflow,
    "onnxruntime": _onnxruntime,
}


def _fill_torch(array: Any, number: float) -> None:
    array.fill_(number)


def _fill_onnxruntime(array: Any, number: float) -> None:
    array.update_inplace(np.full(array.shape(), number, array.numpy().dtype))


# By name of an engine, how to write to its arrays; those that aren't here can't be written to.
FILLERS: dict[str, Callable[[Any, float], None]] = {
    "numpy": lambda array, number: array.fill(number),
    "theano": lambda array, number: array.fill(number),
    "torch": _fill_torch,
    "onnxruntime": _fill_onnxruntime,
}


# Values ------------------------------------------------------------------------------------------


def values_of(dtype: str, count: int = 60) -> Array:
    """Random values; of floats all kinds, but subnormals."""
    rng = np.random.default_rng(len(dtype))
    if dtype == "bool":
        return rng.random(count) < 0.5
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        found = rng.integers(limits.min, limits.max, count, dtype, endpoint=True)
        found[:2] = limits.min, limits.max
        return found
    found = (rng.normal(size=count) * 10.0 ** rng.integers(-3, 4, count)).astype(dtype)
    info = np.finfo(dtype)
    found[:6] = np.nan, np.inf, -np.inf, -0.0, info.max, info.tiny
    return found


def assert_same(found: Any, expected: Array) -> None:
    """Equal in dtype, shape and every value, the sign of zeros as well."""
    assert isinstance(found, np.ndarray)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if expected.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


def belongs_to(value: Any) -> set[str]:
    """The engines that take a value for an array of their own."""
    return {name for name in engines_under_test() if engines.load(name).type_of(value) is not None}
