"""Operators and indexing of tensors, against NumPy's own on the same numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError, DTypeError, EvaluationError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4)
Y = np.array([[2.0], [-3.0], [0.5]], dtype="float32")
WHOLE = np.arange(-6, 6, dtype="int32").reshape(3, 4)

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
INDICES: list[Any] = [
    0,
    -1,
    np.int64(1),
    (1, 2),
    (slice(None), 1),
    (slice(None), -1),
    (Ellipsis, 0),
    (slice(1, None), slice(None, -1)),
    slice(None, None, 2),
    slice(None, None, -1),
    (slice(2, 0, -1), slice(None, None, -2)),
    (slice(5, 9),),
    None,
    (slice(None), None, 2),
    (Ellipsis, None),
    (0, None, slice(1, 3)),
    [2, 0],
    (slice(None), np.array([3, 3, 0])),
    [1],
    [[2, 0], [1, 1]],
    [],
    X > 5,
    X > 100,
    np.array([True, False, True]),
    [True, False, True],
    [[True, False, True, True], [False] * 4, [True] * 4],
    (slice(None), [True, False, True, False]),
    (slice(None, None, -1), np.array([False] * 4)),
    (1, [True, False, False, True]),
    ([True, False, True], 2),
    (None, X > 5),
    (X < 9, None),
    (Ellipsis, [True, False, True, False]),
]


def value(tensor: Any, **feeds: Any) -> Any:
    return K.eval(tensor)


@pytest.mark.parametrize("exponent", [-1, -3, np.array([2, 1, 0, -1], "int32")])
@pytest.mark.parametrize("power", [K.pow, operator.pow, lambda x, a: K.map_fn(lambda r: r**a, x)])
def test_integers_to_a_negative_power(power: Any, exponent: Any) -> None:
    x = K.placeholder((None, 4), dtype="int32")
    with pytest.raises(EvaluationError, match="Integers to negative integer powers"):
        K.function([x], [power(x, exponent)])([WHOLE])


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("sizes", [(3, 4), (None, None)], ids=["static", "unknown"])
def test_binary_operators(symbol: str, sizes: tuple[int | None, ...]) -> None:
    function = BINARY[symbol]
    x, y = K.placeholder(sizes), K.variable(Y)
    pairs = [(x, 2.5), (2.5, x), (x, y), (x, Y), (Y, x), (x, 3), (np.float64(1.5), x)]
    results = K.function([x], [function(a, b) for a, b in pairs])([X])
    given = [tuple(X if p is x else Y if p is y else p for p in pair) for pair in pairs]
    for (a, b), got in zip(given, results, strict=True):
        want = function(np.asarray(a, "float32"), np.asarray(b, "float32"))
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("sizes", [(3, 4), (None, None)], ids=["static", "unknown"])
def test_indexing(index: Any, sizes: tuple[int | None, ...]) -> None:
    x = K.placeholder(sizes)
    y = x[index]
    np.testing.assert_array_equal(K.function([x], [y])([X])[0], X[index])
    slope = K.function([x], K.gradients(K.sum(y), [x]))([X])[0]
    want = np.zeros_like(X)
    np.add.at(want, index, 1)
    np.testing.assert_array_equal(slope, want)


def test_a_list_of_one_index_or_more_picks_rows() -> None:
    x = K.constant(X)  # TensorFlow 1 takes x[[1, 0]] for x[1, 0]
    assert K.int_shape(x[[1, 0]]) == (2, 4)
    assert K.int_shape(x[[1]]) == (1, 4)
    assert K.int_shape(x[1, 0]) == ()
    np.testing.assert_array_equal(value(x[[1, 0]]), X[[1, 0]])


def test_lists_for_several_axes_pick_along_each() -> None:
    got = value(K.constant(X)[[2, 0], [1, 3, 3]])
    np.testing.assert_array_equal(got, X[np.ix_([2, 0], [1, 3, 3])])


@pytest.mark.parametrize("sizes", [(3, 4), (None, None)], ids=["static", "unknown"])
def test_symbolic_masks(sizes: tuple[int | None, ...]) -> None:
    x, limit = K.placeholder(sizes), K.placeholder(())
    large, rows = x[x > limit], x[K.any(x > limit, axis=1), 1:]
    assert (K.int_shape(large), K.ndim(rows)) == ((None,), 2)
    losses = [K.sum(K.square(large)), K.sum(rows * rows)]
    outputs = [large, rows, *(K.gradients(loss, [x])[0] for loss in losses)]
    f = K.function([x, limit], outputs)
    for number in (0.0, 4.5, 11.0, 50.0):
        held = np.greater(X, number)
        kept = held.any(axis=1)
        beyond_first = np.arange(4) > 0
        wanted = [X[held], X[kept, 1:], 2 * X * held, 2 * X * kept[:, None] * beyond_first]
        for got, want in zip(f([X, number]), wanted, strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want)


def test_masks_of_other_sizes_are_refused() -> None:
    x = K.constant(X)
    for mask in (np.ones(2, bool), np.ones((3, 3), bool), np.ones((3, 4, 1), bool)):
        with pytest.raises(ShapeError):
            x[mask]
    mask = K.placeholder((None,), dtype="bool")
    f = K.function([mask], [x[mask]])
    assert f([np.array([True, False, True])])[0].shape == (2, 4)
    for size in (2, 4):
        with pytest.raises(EvaluationError, match="a mask's sizes"):
            f([np.zeros(size, bool)])


def test_symbolic_index() -> None:
    x, i = K.placeholder((None, 4)), K.placeholder((), dtype="int32")
    row, column, both = K.function([x, i], [x[i], x[:, i], x[i, i]])([X, 2])
    np.testing.assert_array_equal(row, X[2])
    np.testing.assert_array_equal(column, X[:, 2])
    assert both == X[2, 2]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (3, IndexError),
        ((0, 0, 0), ShapeError),
        ("a", ArgumentError),
        (1.5, ArgumentError),
        (True, ArgumentError),
    ],
)
def test_wrong_index(index: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        K.variable(X)[index]


def test_unary_operators() -> None:
    x = K.variable(WHOLE, dtype="int32")
    for got, want in ((-x, -WHOLE), (abs(x), abs(WHOLE)), (+x, WHOLE), (~x, ~WHOLE)):
        np.testing.assert_array_equal(value(got), want)
    np.testing.assert_array_equal(value(~(x > 0)), ~(WHOLE > 0))
    np.testing.assert_array_equal(
        value((x > 0) & (x < 3) | (x < -4)), (WHOLE > 0) & (WHOLE < 3) | (WHOLE < -4)
    )


def test_matmul() -> None:
    rng = np.random.default_rng(0)
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))]
    shapes += [((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4))]
    for a_shape, b_shape in shapes:
        a, b = rng.normal(size=a_shape), rng.normal(size=b_shape)
        got = value(K.variable(a, "float64") @ K.variable(b, "float64"))
        np.testing.assert_allclose(got, a @ b, err_msg=f"{a_shape} @ {b_shape}")


def test_numpy_functions_of_tensors_give_tensors() -> None:
    x = K.variable(X)
    for function in (np.exp, np.log, np.sqrt, np.sin, np.tanh, np.square, np.negative, np.sign):
        np.testing.assert_allclose(value(function(x)), function(X), rtol=1e-5)
    for function in (np.add, np.multiply, np.maximum, np.power, np.less):
        got = function(X, x)
        assert K.is_tensor(got)
        np.testing.assert_allclose(value(got), function(X, X), rtol=1e-5)
    with pytest.raises(TypeError):
        np.hypot(x, x)


def test_numbers_and_arrays_take_the_dtype_of_tensors() -> None:
    x, i, h = K.placeholder((3,)), K.placeholder((3,), dtype="int32"), K.zeros((3,), "float16")
    assert (x * np.float64(2)).dtype == "float32"
    assert (np.ones(3) + x).dtype == "float32"
    assert (h * 0.1).dtype == "float16"
    assert (i + 1).dtype == "int32"
    assert (i * 0.5).dtype == "float32"
    assert (i / 2).dtype == "float32"
    assert (x + K.zeros((3,), "float64")).dtype == "float64"
    with pytest.raises(DTypeError, match="out of the range of uint8"):
        K.zeros((3,), "uint8") + 300


def test_identity_not_equality() -> None:
    x, y = K.variable(X), K.variable(X)
    assert x == x
    assert x != y
    assert x in [y, x]
    assert len({x, y}) == 2
    assert {x: 1}[x] == 1


def test_programs_tell_lists_of_tensors_from_tensors_by_their_length() -> None:
    assert hasattr(K.zeros((2, 3)), "__len__") and hasattr([K.zeros(2)], "__len__")
    assert not hasattr(K.placeholder((None, 3)), "__len__")
    assert not hasattr(K.constant(1.0), "__len__")
    with pytest.raises(TypeError, match="known only at run time"):
        len(K.placeholder((None, 3)))


def test_arrays_of_whole_floats_are_shapes() -> None:
    assert K.int_shape(K.reshape(K.zeros((2, 3)), np.array([3.0, 2.0]))) == (3, 2)
    with pytest.raises(ValueError, match="a size must be an int"):
        K.reshape(K.zeros((2, 3)), np.array([1.5, 4.0]))


def test_length_iteration_truth_and_text() -> None:
    x = K.variable(X, name="weights")
    assert len(x) == 3
    rows = [value(row) for row in x]
    np.testing.assert_array_equal(rows, X)
    assert str(x) == "weights"
    assert repr(x) == "<kameleon.Variable 'weights:0' shape=(3, 4) dtype=float32>"
    with pytest.raises(TypeError, match="no truth value"):
        bool(x > 1)
    with pytest.raises(TypeError, match="known only at run time"):
        len(K.placeholder((None, 2)))
    assert f"{x}" == "weights"
    for as_a_number in (np.asarray, float, int, complex, round, math.exp, "{:.2f}".format):
        with pytest.raises(TypeError, match=r"weights.* symbolic and has no values yet: K\.eval"):
            as_a_number(x)
    np.testing.assert_array_equal(x.eval(), X)
    p = K.placeholder((2,))
    np.testing.assert_array_equal((p * 2).eval(feed_dict={p: [1, 2]}), [2, 4])
