"""K.tf gives what TensorFlow 1.15 gave: values, gradients, shapes and dtypes.

`recorded/README.md` says how the records were made.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import EvaluationError

HERE = Path(__file__).parents[1] / "recorded"
SCRIPT = runpy.run_path(str(HERE / "names.py"))
GIVEN: dict[str, np.ndarray] = SCRIPT["given"]()
# Images are resized where their sizes are known.
KNOWN = {"image"}


def _results(name: str, tensors: dict[str, Any]) -> dict[str, Any]:
    """By name in the record: the value of a case, and the recorded gradients."""
    y = eval(SCRIPT["CASES"][name], {**tensors, "tf": K.tf})
    found, start = {name: y}, f"slope {name} "
    total = K.sum(K.sin(y)) if name in SCRIPT["SLOPES"] else None
    for key in RECORD:
        if key.startswith(start) and key.removeprefix(start) in tensors:
            found[key] = K.gradients(total, [tensors[key.removeprefix(start)]])[0]
    return found


with np.load(HERE / "names.npz") as _file:
    RECORD: dict[str, np.ndarray] = dict(_file)


def _compare(tensors: dict[str, Any]) -> None:
    found = {key: y for name in SCRIPT["CASES"] for key, y in _results(name, tensors).items()}
    assert found.keys() == RECORD.keys()
    values = K.function(list(tensors.values()), list(found.values()))(list(GIVEN.values()))
    for key, value in zip(found, values, strict=True):
        want = RECORD[key]
        assert (value.dtype, value.shape) == (want.dtype, want.shape), key
        np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5, err_msg=key)


def _placeholder(name: str, x: np.ndarray, known: bool) -> Any:
    shape = x.shape if known or name in KNOWN else (None, *x.shape[1:])
    return K.placeholder(shape, dtype=x.dtype.name)


def test_values_and_gradients_are_the_recorded_ones(engine: Engine) -> None:
    """The first size of each array is unknown."""
    _compare({name: _placeholder(name, x, known=False) for name, x in GIVEN.items()})


def test_the_same_with_sizes_that_are_known() -> None:
    _compare({name: _placeholder(name, x, known=True) for name, x in GIVEN.items()})


def test_no_box_is_kept_where_there_are_none(engine: Engine) -> None:
    boxes, scores = K.placeholder((None, 4)), K.placeholder((None,))
    kept = K.tf.image.non_max_suppression(boxes, scores, 3)
    assert K.function([boxes, scores], [kept])([np.zeros((0, 4)), np.zeros(0)])[0].shape == (0,)


def test_margins_are_compared_with_sizes_at_run_time(engine: Engine) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [K.tf.pad(x, [[2, 0]], "REFLECT")])
    np.testing.assert_array_equal(f([[1.0, 2.0, 3.0]])[0], [3, 2, 1, 2, 3])
    with pytest.raises(EvaluationError, match=r"margins \(2, 0\) are too large"):
        f([[1.0, 2.0]])


def test_shuffled_slices_are_the_same_ones() -> None:
    x = K.variable(np.arange(50.0).reshape(25, 2))
    found = K.eval(K.tf.random_shuffle(x, seed=1))
    assert not np.array_equal(found, K.eval(x))
    np.testing.assert_array_equal(np.sort(found[:, 0]), K.eval(x)[:, 0])
    np.testing.assert_array_equal(found[:, 1], found[:, 0] + 1)
