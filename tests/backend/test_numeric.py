"""Reductions, elementwise functions, activations, normalization and losses of the K surface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, DTypeError, EvaluationError, ShapeError
from kameleon.testing import check_gradients
from kameleon.testing.gradients import projected
from kameleon.testing.together import one_by_one, slopes

from .numeric_cases import CASES, Array, Case

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

SIZES = pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])


def by_function(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Parametrize a test over functions, each with all its cases."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(re.split(r"\W", case.id)[0], []).append(case)
    return pytest.mark.parametrize("cases", groups.values(), ids=groups)


def placed(case: Case, known: bool) -> list[Any]:
    """Placeholders for the operands; unless `known`, with the sizes above 1 unknown."""
    return [
        K.placeholder(tuple(d if known or d == 1 else None for d in x.shape), dtype=x.dtype.name)
        for x in case.operands
    ]


def operands(cases: Iterable[Case]) -> list[Array]:
    return [x for case in cases for x in case.operands]


def check_values(engine: Engine, cases: Sequence[Case], known: bool) -> None:
    """Values of cases against their oracles, by one function of all of them."""
    given = [placed(case, known) for case in cases]
    outputs = [case.call(*inputs) for case, inputs in zip(cases, given, strict=True)]
    values = K.function(list(chain(*given)), outputs)(operands(cases))
    for case, output, value in zip(cases, outputs, map(np.asarray, values), strict=True):
        expected = np.asarray(case.oracle(*case.operands))
        assert K.dtype(output) == value.dtype.name == expected.dtype.name
        assert value.shape == expected.shape
        static = K.int_shape(output)
        assert len(static) == value.ndim
        assert static == value.shape or not known
        assert all(s in (None, d) for s, d in zip(static, value.shape, strict=True))
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


def check_slopes(engine: Engine, cases: Sequence[Case], known: bool) -> None:
    """Gradients to the second order: against differences on NumPy, elsewhere against NumPy's."""
    given = [placed(case, known) for case in cases]
    if engine.name == "numpy":
        for case, inputs in zip(cases, given, strict=True):
            wrt = [inputs[i] for i in case.wrt]
            feeds = dict(zip(inputs, case.operands, strict=True))
            check_gradients(case.call(*inputs), wrt, feeds, step=2e-5, rtol=1e-5)
        return
    outputs = []
    for case, inputs in zip(cases, given, strict=True):
        shape = np.shape(case.oracle(*case.operands))
        loss = projected(case.call(*inputs), shape, np.random.default_rng(0))
        shapes = [case.operands[i].shape for i in case.wrt]
        outputs += [loss, *slopes(loss, [inputs[i] for i in case.wrt], shapes)]
    values, expected = (
        K.function(list(chain(*given)), outputs, engine=name)(operands(cases))
        for name in (engine.name, "numpy")
    )
    for value, want in zip(values, expected, strict=True):
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(value, want, rtol=1e-6, atol=1e-8 * scale)


@SIZES
@by_function(CASES)
def test_value(engine: Engine, cases: list[Case], known: bool) -> None:
    one_by_one(check_values, engine, cases, known)


@SIZES
@by_function(case for case in CASES if case.wrt)
def test_gradient_to_second_order(engine: Engine, cases: list[Case], known: bool) -> None:
    one_by_one(check_slopes, engine, cases, known)


def gradient(f: Callable[[Any], Any], x: Any) -> Array:
    """The gradient of sum(f(x)) in float32."""
    v = K.variable(x)
    return np.asarray(K.eval(K.gradients(K.sum(f(v)), v)[0]))


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: K.max(x, 1), [[2.0, 1.0, 2.0]], [[0.5, 0.0, 0.5]]),
        (lambda x: K.min(x, 1), [[1.0, 1.0, 1.0]], [[1 / 3, 1 / 3, 1 / 3]]),
        (K.abs, [0.0], [0.0]),
        (K.relu, [0.0], [0.0]),
        (lambda x: K.relu(x, alpha=0.2), [0.0], [0.2]),
        (lambda x: K.relu(x, max_value=1.0), [0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]),
        (lambda x: K.relu(x, max_value=6), [0.0, 5.0, 6.0, 7.0], [0.0, 1.0, 0.0, 0.0]),
        (lambda x: K.relu(x, 0.5, 6.0), [-1.0, 0.0, 6.0], [0.5, 0.0, 0.0]),
        (lambda x: K.relu(x, 0.0, 6.0, 1.0), [1.0, 6.0, 7.0], [0.0, 1.0, 0.0]),
        (lambda x: K.clip(x, 0.0, 1.0), [-1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]),
        (K.hard_sigmoid, [-2.5, 2.5, 3.0], [0.2, 0.2, 0.0]),
        (K.elu, [0.0], [1.0]),
        (lambda x: K.maximum(x, 0.5), [0.5], [1.0]),
        (lambda x: K.maximum(0.5, x), [0.5], [0.0]),
        (lambda x: K.std(x, 1), [[7.0, 7.0, 7.0]], [[0.0, 0.0, 0.0]]),
        (K.sqrt, [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: K.l2_normalize(x, 1), [[0.0, 0.0]], [[1e6, 1e6]]),
    ],
)  # fmt: skip
def test_gradient_at_kinks(f: Callable[[Any], Any], x: Any, expected: Any) -> None:
    np.testing.assert_allclose(gradient(f, x), expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (40, 4, 5, 7)])
def test_the_gradient_of_relu_is_0_at_nan(engine_name: str, shape: tuple[int, ...]) -> None:
    x = K.placeholder((None, *shape[1:]))
    y = K.relu(x)
    slopes = K.gradients(K.sum(y * y + y), [x])[0], K.gradients(K.sum(3.0 * y), [x])[0]
    values = np.resize(np.array([np.nan, 2.0, -1.0], "float32"), shape)
    kept, own = K.function([x], slopes, engine=engine_name)([values])
    np.testing.assert_array_equal(own, np.where(values > 0, 3, 0))
    np.testing.assert_array_equal(kept, np.where(values > 0, 5, 0))


def test_constant_rows_have_no_deviation() -> None:
    assert K.eval(K.std(K.constant([[7.0, 7.0]]), 1)).tolist() == [0.0]
    assert np.isnan(K.eval(K.std(K.constant([np.nan, 1.0]))))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rows_of_zeros_are_normalized_to_zeros(engine_name: str, dtype: str) -> None:
    x = K.placeholder((None, 2), dtype=dtype)
    y = K.l2_normalize(x, 1)
    f = K.function([x], [y, K.gradients(K.sum(y), [x])[0]], engine=engine_name)
    value, slope = f([np.array([[0.0, 0.0], [3.0, 4.0]], dtype)])
    np.testing.assert_allclose(value, [[0, 0], [0.6, 0.8]], rtol=1e-3)
    assert np.isfinite(slope).all()


def test_the_gradient_of_the_deviation_of_constant_rows_is_0(engine_name: str) -> None:
    """Whatever rounding makes of their mean; the row that varies has its own."""
    x = K.placeholder((None, 7))
    (g,) = K.gradients(K.sum(K.std(x, 1)), [x])
    rows = np.random.default_rng(0).normal(size=(200, 1)) * np.ones(7)
    rows[0] = np.arange(7)
    slopes = K.function([x], [g], engine=engine_name)([rows])[0]
    assert not slopes[1:].any()
    np.testing.assert_allclose(slopes[0], (np.arange(7) - 3) / 14, rtol=1e-5, atol=1e-7)


# --- probabilities are traced back to where they come from ---------------------------------------

FAR = np.array([[0.0, 300.0, -300.0], [500.0, 0.0, 20.0]], "float32")
LABELS = np.array([0, 1], "int32")
EXACT = [300.0, 500.0]  # -log of probabilities that float32 has no number for


@pytest.mark.parametrize(
    "move",
    [
        lambda p: p,
        K.identity,
        lambda p: K.reshape(K.reshape(p, (2, 1, 3)), (-1, 3)),
        lambda p: K.permute_dimensions(K.permute_dimensions(p, (1, 0)), (1, 0)),
    ],
    ids=["itself", "identity", "reshape", "transpose"],
)
def test_softmax_is_traced(move: Callable[[Any], Any]) -> None:
    x = K.variable(FAR)
    p = move(K.softmax(x))
    sparse = K.sparse_categorical_crossentropy(LABELS, p)
    dense = K.categorical_crossentropy(np.eye(3, dtype="float32")[LABELS], p)
    for loss in (sparse, dense):
        np.testing.assert_allclose(K.eval(loss), EXACT)
        slopes = K.eval(K.gradients(K.sum(loss), x)[0])
        np.testing.assert_allclose(slopes, [[-1, 1, 0], [1, -1, 0]], atol=1e-6)


def test_softmax_along_another_axis_is_not_traced() -> None:
    x = K.constant(FAR)
    loss = K.sparse_categorical_crossentropy([0, 0, 0], K.softmax(x, axis=1), axis=0)
    p = np.clip(K.eval(K.softmax(x, axis=1)), 1e-7, 1 - 1e-7)
    np.testing.assert_allclose(K.eval(loss), -np.log(p[0] / p.sum(0)), rtol=1e-5, atol=1e-6)


def test_reshape_that_breaks_rows_is_not_traced() -> None:
    p = K.reshape(K.softmax(K.constant(FAR)), (3, 2))
    loss = K.eval(K.sparse_categorical_crossentropy([0, 0, 0], p))
    kept = np.clip(K.eval(p), 1e-7, 1 - 1e-7)
    np.testing.assert_allclose(loss, -np.log(kept[:, 0] / kept.sum(1)), rtol=1e-5, atol=1e-6)


def test_stopped_gradients_stay_stopped() -> None:
    x = K.variable(FAR)
    p = K.stop_gradient(K.softmax(x))
    assert K.gradients(K.sum(K.sparse_categorical_crossentropy(LABELS, p)), x) == [None]


def test_printing_survives(capfd: pytest.CaptureFixture[str]) -> None:
    p = K.print_tensor(K.sigmoid(K.constant([0.0])), "p: ")
    K.eval(K.binary_crossentropy([1.0], p))
    assert "p: " in capfd.readouterr().out


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_sigmoid_is_traced(far: bool) -> None:
    x = K.variable([[200.0, -200.0]] if far else [[2.0, -2.0]])
    loss = K.binary_crossentropy([0.0, 1.0], K.reshape(K.sigmoid(x), (2,)))
    np.testing.assert_allclose(
        K.eval(loss), [200.0] * 2 if far else [np.logaddexp(2, 0)] * 2, rtol=1e-6
    )
    slopes = K.eval(K.gradients(K.sum(loss), x)[0])
    np.testing.assert_allclose(slopes, [[1, -1]] if far else [[0.8808, -0.8808]], rtol=1e-4)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
@pytest.mark.parametrize("shape", [(2,), (2, 1), (1, 2)])
def test_labels_of_any_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:
    labels = K.constant(LABELS.reshape(shape), dtype=dtype)
    loss = K.sparse_categorical_crossentropy(labels, K.constant(FAR), from_logits=True)
    np.testing.assert_allclose(K.eval(loss), EXACT)


@pytest.mark.parametrize("bad", [-1, 3])
def test_labels_out_of_range(bad: int) -> None:
    x, labels = K.variable(FAR), K.placeholder((None,), dtype="int32")
    loss = K.sparse_categorical_crossentropy(labels, K.softmax(x))
    for output in (loss, K.gradients(K.sum(loss), x)[0]):
        with pytest.raises(EvaluationError, match=f"index {bad} is out of range"):
            K.function([labels], [output])([[0, bad]])


@pytest.mark.parametrize("count", [1, 3])
def test_wrong_number_of_labels_at_run_time(count: int) -> None:
    x, labels = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    loss = K.sparse_categorical_crossentropy(labels, x, from_logits=True)
    for output in (loss, K.gradients(K.sum(loss), x)[0]):
        with pytest.raises(EvaluationError):
            K.function([labels, x], [output])([np.zeros(count, "int32"), FAR])


# --- ranking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "target", "k", "expected"),
    [
        ([0.1, 0.4, 0.3], 2, 1, False),
        ([0.1, 0.4, 0.3], 2, 2, True),
        ([0.2, 0.2, 0.2], 2, 1, True),  # ties are inside
        ([0.1, 0.4, 0.3], 3, 3, False),
        ([0.1, 0.4, 0.3], -1, 3, False),
        ([0.1, np.nan, 0.3], 2, 3, False),
        ([0.1, np.inf, 0.3], 1, 3, False),
        ([0.1, 0.4, 0.3], 1, 0, False),
        ([0.1, 0.4, 0.3], 0, 7, True),
    ],
)
def test_in_top_k(row: list[float], target: int, k: int, expected: bool) -> None:
    for limit in (k, K.constant(k, dtype="int32")):
        found = K.in_top_k(K.constant([row]), K.constant([target], dtype="int32"), limit)
        assert K.eval(found).tolist() == [expected]


# --- refusals -------------------------------------------------------------------------------------


Refusal = tuple[Callable[[Any], Any], type[Exception], str]
REFUSALS: dict[str, Refusal] = {
    "axis": (lambda x: K.sum(x, axis=2), ShapeError, "sum: axis 2 .* 2 axes"),
    "axis-kind": (lambda x: K.softmax(x, 1.5), ShapeError, "softmax: axis must be an int"),
    "cast-to-none": (lambda x: K.cast(x, None), DTypeError, "dtype None is not one of"),
    "sum-bools": (lambda x: K.sum(K.greater(x, 0.0)), DTypeError, "sum: numbers .* K.cast"),
    "square-bools": (lambda x: K.square(K.greater(x, 0.0)), DTypeError, "square: numbers"),
    "broadcast": (lambda x: K.maximum(x, [1.0, 2.0]), ShapeError, "maximum: shapes .* broadcast"),
    "nothing": (lambda x: K.argmax(K.zeros((0, 3)), axis=0), ShapeError, "size 0"),
    "epsilon-as-axis": (
        lambda x: K.batch_normalization(x, 0.0, 1.0, None, None, 0.001),
        ShapeError,
        "axis must be an int",
    ),
    "axes-no-list": (
        lambda x: K.normalize_batch_in_training(x, None, None, 0),
        ArgumentError,
        "list of ints",
    ),
    "gamma": (
        lambda x: K.normalize_batch_in_training(x, [1.0, 2.0], None, [0]),
        ShapeError,
        "broadcast",
    ),
    "targets": (
        lambda x: K.categorical_crossentropy(x[:1], x),
        ShapeError,
        r"target has shape \(1, 3\)",
    ),
    "axis-of-logits": (
        lambda x: K.categorical_crossentropy(x, x, True, -2),
        ArgumentError,
        "axis=0",
    ),
    "labels": (
        lambda x: K.sparse_categorical_crossentropy([0], x),
        ShapeError,
        r"shape \(2,\) was expected",
    ),
    "binary": (lambda x: K.binary_crossentropy(x[0], x), ShapeError, "must be equal"),
    "top-k-shape": (lambda x: K.in_top_k(x[0], [0], 1), ShapeError, "in_top_k: predictions"),
    "top-k-floats": (lambda x: K.in_top_k(x, [0.0, 1.0], 1), DTypeError, "must be integers"),
}


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS.values(), ids=REFUSALS)
def test_refusal(call: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(K.placeholder((2, 3)))
