"""Every function of K, of every dtype that it takes, on every engine.

No engine refuses what another one computes, gradients included, and all give the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from backend.test_contract import DOCUMENTED
from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import DTypeError
from kameleon.testing.together import one_by_one

from .calls_of_every_dtype import CALLS

# By name, the precision.
FLOATS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
# What the embedded engine computes in the place of what it only stores.
SAME = {"bfloat16": "float32"}
# What is drawn at random, and so isn't equal in two calls.
DRAWN = ("dropout", "random")
# With every change these alone, since compilers take their time.
EACH_TIME = ("float16", "int32", "bool")
NIGHTLY = "bfloat16 float32 float64 int8 int16 int64 uint8 uint16 uint32 uint64".split()
OF_INTEGERS = ("&", "~", "gather-by", "one_hot")
# How far results may be from the embedded engine's, in units of the dtype's precision.
UNITS = 64
# Documented functions that compute nothing, move values in and out, or that have no operands.
NO_OPERANDS = frozenset(
    "backend batch_get_value batch_set_value cast_to_floatx clear_session count_params dtype"
    " epsilon eval floatx function get_uid get_value get_variable_shape gradients"
    " image_data_format image_dim_ordering int_shape is_keras_tensor is_placeholder is_sparse"
    " is_tensor learning_phase manual_variable_initialization ndim placeholder reset_uids"
    " set_epsilon set_floatx set_image_data_format set_image_dim_ordering set_learning_phase"
    " set_value random_normal_variable random_uniform_variable variable update update_add"
    " update_sub moving_average_update print_tensor".split()
)


class Posed(NamedTuple):
    """A call over placeholders, its results and their gradients."""

    id: str
    inputs: list[Any]
    outputs: list[Any]

    @property
    def values(self) -> list[Any]:
        """Whole numbers from 0 to 3."""
        rng = np.random.default_rng(len(self.id))
        return [rng.integers(0, 4, x.shape).astype(np.dtype(x.dtype)) for x in self.inputs]

    def of(self, dtype: str) -> Posed:
        """The same call over another dtype that the function takes."""
        same = self.inputs[0].dtype == dtype
        found = self if same else posed(self.id, dtype)
        assert found is not None
        return found


def posed(name: str, dtype: str) -> Posed | None:
    """A call, of a dtype that the function takes."""
    call, shapes, _ = CALLS[name]
    inputs = [K.placeholder(shape, dtype=dtype) for shape in shapes]
    try:
        found = call(*inputs)
    except DTypeError as error:
        assert dtype not in FLOATS or name in OF_INTEGERS
        assert re.match(r"[a-z_0-9]+(: | is defined | draws )", str(error))
        return None
    outputs = list(found) if isinstance(found, list | tuple) else [found]
    if dtype in FLOATS:
        smooth = [K.sum(y) for y in outputs if y.dtype.is_float]
        outputs += [g for y in smooth for g in K.gradients(y, inputs) if g is not None]
    return Posed(name, inputs, outputs)


def check(engine: Engine, calls: Sequence[Posed], dtype: str) -> None:
    """Values and gradients against the embedded engine's; of bfloat16 those of float32."""
    found = computed(calls, engine.name)
    expected = computed([call.of(SAME.get(dtype, dtype)) for call in calls], "numpy")
    outputs = [y for call in calls for y in call.outputs]
    drawn = [call.id in DRAWN for call in calls for _ in call.outputs]
    for output, y, wanted, at_random in zip(outputs, found, expected, drawn, strict=True):
        assert y.dtype.name == output.dtype
        assert y.shape == wanted.shape
        if not at_random:
            near = UNITS * FLOATS.get(y.dtype.name, 0)
            np.testing.assert_allclose(y.astype(wanted.dtype), wanted, rtol=near, atol=near)


def computed(calls: Sequence[Posed], engine: str) -> list[Any]:
    """The results of calls, by one function."""
    inputs = [x for call in calls for x in call.inputs]
    outputs = [y for call in calls for y in call.outputs]
    given = [x for call in calls for x in call.values]
    return list(K.function(inputs, outputs, engine=engine)(given))


@pytest.mark.parametrize(
    "dtype", [*EACH_TIME, *(pytest.param(d, marks=pytest.mark.nightly) for d in NIGHTLY)]
)
def test_every_function(engine: Engine, dtype: str) -> None:
    calls = [call for name in CALLS if (call := posed(name, dtype)) is not None]
    one_by_one(check, engine, calls, dtype)


def test_the_table_has_every_function() -> None:
    there = {name for call in CALLS.values() for name in call.functions}
    there |= {name.split("-")[0] for name in CALLS}
    assert there >= DOCUMENTED.keys() - NO_OPERANDS
    assert not there & NO_OPERANDS
