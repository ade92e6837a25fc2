"""K.function: what is refused, and where errors say that it comes from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import value

from kameleon import backend as K
from kameleon.errors import EvaluationError, FeedError, GradientError, KameleonError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed


def here() -> str:
    """The place of the line that calls this, as messages show it."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return f'test_function_errors.py", line {frame.f_back.f_lineno},'


# --- values that are refused --------------------------------------------------------------------


def refused(match: str) -> Any:
    return pytest.raises(FeedError, match=match)


def test_the_learning_phase_may_be_left_out_at_the_end() -> None:
    x = K.placeholder((2,))
    y = K.in_train_phase(x * 2.0, x)
    f = K.function([x, K.learning_phase()], [y])
    assert [f([[1, 2]])[0].tolist(), f([[1, 2], 1])[0].tolist()] == [[1, 2], [2, 4]]
    with refused(r"takes 2 values .* 0 were given"):
        f([])
    g = K.function([K.learning_phase(), x], [y])
    with refused(r"takes 2 values .* 1 were given"):
        g([0])


def test_what_a_call_refuses() -> None:
    x = K.placeholder((None, 2), name="features")
    y = K.placeholder((), dtype="int32", name="count")
    f = K.function([x, y], [x])
    ok = np.zeros((3, 2))
    with refused(r"takes 2 values \('features:0', 'count:0'\), 1 were given"):
        f([ok])
    with refused(r"takes 2 values .* 3 were given"):
        f([ok, 1, 2])
    with refused(r"'features:0' has shape \(None, 2\), the value given for it \(3, 4\)"):
        f([np.zeros((3, 4)), 1])
    with refused(r"'features:0' has shape \(None, 2\), the value given for it \(2,\)"):
        f([np.zeros(2), 1])
    with refused(r"'count:0' is int32\[\]; values of dtype float64 would be changed"):
        f([ok, 1.5])
    with refused(r"'features:0' is no array of float32: None is no number"):
        f([None, 1])
    with refused(r"'features:0' is no array of float32: texts are no numbers"):
        f([[["1", "2"]], 1])
    with refused(r"'features:0' is no array of float32"):
        f([[[1.0, 2.0], [3.0]], 1])
    for other in (None, "a", [2.0]):
        with refused(r"'features:0' is no array of float32"):
            f([np.array([[1.0, other]], dtype=object), 1])
    with refused(r"no value was given for placeholder 'other:0'"):
        f([ok, K.placeholder((), dtype="int32", name="other")])
    assert f([ok, 1.0])[0].shape == (3, 2), "a whole number in a float is no loss"
    objects = np.array([[True, np.float32(2.5)]], dtype=object)
    assert f([objects, 1])[0].tolist() == [[1.0, 2.5]], "objects that are numbers are numbers"


def test_values_are_converted_where_nothing_is_lost() -> None:
    x, i = K.placeholder((2,)), K.placeholder((2,), dtype="int32")
    f = K.function([x, i], [x, i])
    for numbers in ([1, 0], np.array([1, 0], "int64"), np.array([True, False]), (1.0, 0.0)):
        a, b = f([numbers, numbers])
        assert (a.dtype, b.dtype) == (np.float32, np.int32)
        assert (a.tolist(), b.tolist()) == ([1.0, 0.0], [1, 0])


def test_unknown_keywords_are_refused() -> None:
    x = K.placeholder(())
    with pytest.raises(ValueError, match="unknown keyword bogus, other; it takes as_numpy"):
        K.function([x], [x], other=1, bogus=2)


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"inputs must be tensors, got 'x'"):
        K.function(["x"], [])
    with pytest.raises(ValueError, match=r"K\.function: 'nothing' is no tensor"):
        K.function([], ["nothing"])
    with pytest.raises(ValueError, match=r"updates: expected update objects"):
        K.function([], [], updates=[K.constant(1.0)])


def test_an_unfed_placeholder_is_named_with_its_line() -> None:
    x, line = K.placeholder((2, 3), name="images"), here()
    y = K.square(x) + K.placeholder((), name="offset")
    with pytest.raises(FeedError, match=r"'images:0' float32\[2, 3\].*'offset:0'") as caught:
        K.function([], [y])
    assert line in str(caught.value)
    with pytest.raises(FeedError, match=r"'images:0'"):
        K.eval(x)


def test_a_function_given_twice_the_same_input() -> None:
    x = K.placeholder(())
    with pytest.raises(ValueError, match=r"twice|distinct"):
        K.function([x, x], [x])


# What a variable of float32[2], or of int32[2], can't be set to; and why.
UNFIT = {
    "other sizes": ("float32", [1.0, 2.0, 3.0], r"shape \(2,\), .*\(3,\)"),
    "another rank": ("float32", [[1.0, 2.0]], r"shape \(2,\), .*\(1, 2\)"),
    "a number": ("float32", 1.0, r"shape \(2,\), .*\(\)"),
    "nothing": ("float32", None, "no array of float32"),
    "hidden nothing": ("float32", [1.0, None], "no array of float32"),
    "complex numbers": ("float32", [1j, 2.0], "no array of float32"),
    "dates": ("float32", np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "no array of"),
    "texts": ("float32", ["1.0", "2.0"], "no array of float32"),
    "a ragged list": ("float32", [[1.0], [2.0, 3.0]], "no array of float32"),
    "too large": ("int32", [2**40, 1], "would be changed"),
    "far too large": ("int32", [2**80, 1], "no array of int32"),
    "too large a float": ("int32", [1e20, 1.0], "would be changed"),
    "too small": ("uint8", [-1, 1], "would be changed"),
    "NaN": ("int32", [np.nan, 1.0], "would be changed"),
    "infinity": ("int32", [np.inf, 1.0], "would be changed"),
}


@pytest.mark.parametrize("dtype,given,why", UNFIT.values(), ids=UNFIT)
def test_what_a_variable_cannot_hold_is_refused_and_nothing_changes(
    dtype: str, given: Any, why: str
) -> None:
    v, w = K.variable([1, 2], dtype=dtype, name="kept"), K.variable(5.0)
    with pytest.raises(FeedError, match=f"'kept.*{why}|{why}.*"):
        K.set_value(v, given)
    with pytest.raises(FeedError, match="kept"):
        K.batch_set_value([(w, 6.0), (v, given)])
    assert (value(v), value(w)) == ([1, 2], 5)


def test_numbers_of_other_dtypes_are_cast_to_the_variables() -> None:
    for dtype, given, want in (
        ("int32", [1.75, -1.75], [1, -1]),
        ("int32", np.array([3, 4], "uint64"), [3, 4]),
        ("float32", [True, 2**24 + 1], [1.0, 2.0**24]),
        ("float16", [1e6, 1.0], [np.inf, 1.0]),
        ("bool", [0, 1], [False, True]),
    ):
        v = K.variable(np.zeros(2), dtype=dtype)
        K.set_value(v, given)
        assert value(v) == want
        assert K.get_value(v).dtype == dtype


def test_integers_that_an_input_cannot_hold_are_refused() -> None:
    x = K.placeholder((2,), dtype="int32", name="ids")
    f = K.function([x], [x + 1])
    assert f([np.array([1, 2], "int64")])[0].tolist() == [2, 3]
    with refused("'ids:0' .*would be changed"):
        f([np.array([2**40, 1])])


# --- failures name the user's line --------------------------------------------------------------


def failing(f: Any, values: list[Any]) -> str:
    with pytest.raises(EvaluationError) as caught:
        f(values)
    return str(caught.value)


def test_a_failure_at_run_time_names_node_and_line() -> None:
    x, index = K.placeholder((None,)), K.placeholder((None,), dtype="int32")
    picked, line = K.gather(K.exp(x), index), here()
    f = K.function([x, index], [K.sum(picked) * 2.0])
    for _ in range(3):  # line by line at first, as one function later
        message = failing(f, [[1.0, 2.0], [5]])
        assert "index 5 is out of range for an axis of size 2" in message
        assert "while computing gather(float32[?], int32[?])" in message
        assert line in message
        assert f([[0.0, 0.0], [1]]) == [2.0]


def test_programs_that_share_code_keep_their_own_lines() -> None:
    """Graphs of equal structure share compiled code, but not the place that made them."""
    index = K.placeholder((1,), dtype="int32")
    v = K.variable([1.0, 2.0])
    one, line_one = K.gather(v, index), here()
    two, line_two = K.gather(v, index), here()
    f, g = K.function([index], [one]), K.function([index], [two])
    f([[0]])
    g([[1]])
    assert line_one in failing(f, [[9]])
    assert line_two in failing(g, [[9]])


def test_a_failure_inside_of_a_loop_names_the_line() -> None:
    x, index = K.placeholder((None, 1, 2)), K.placeholder((1,), dtype="int32")

    def step(inputs: Any, states: Any) -> Any:
        return K.gather(inputs, index), states  # the line

    line = f"line {inspect.getsourcelines(step)[1] + 1},"
    last, _, _ = K.rnn(step, K.permute_dimensions(x, (1, 0, 2)), [])
    f = K.function([x, index], [last])
    assert f([np.ones((2, 1, 2)), [0]])[0].shape == (1, 2)
    message = failing(f, [np.ones((2, 1, 2)), [4]])
    assert "index 4 is out of range" in message
    assert line in message


def test_a_failure_in_a_gradient_names_the_forward_line() -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    product, line = K.square(x) * y, here()
    f = K.function([x, y], K.gradients(K.sum(product), [x]))
    assert f([[1.0, 2.0], [3.0, 4.0]])[0].tolist() == [6.0, 16.0]
    assert line in failing(f, [[1.0, 2.0], [1.0, 2.0, 3.0]])


BUILD_ERRORS: dict[str, tuple[Callable[[], Any], type[KameleonError], str]] = {
    "shapes": (
        lambda: K.placeholder((2, 3)) + K.placeholder((4,)),
        ShapeError,
        r"\+: shapes \(2, 3\) and \(4,\) don't broadcast: sizes \[3, 4\] meet",
    ),
    "axis": (
        lambda: K.sum(K.placeholder((2, 3)), axis=2),
        ShapeError,
        r"sum: axis 2 is out of range for a tensor with 2 axes",
    ),
    "product": (
        lambda: K.dot(K.placeholder((2, 3)), K.placeholder((2, 3))),
        ShapeError,
        r"dot.*\(2, 3\) and \(2, 3\)|the product of shapes \(2, 3\) and \(2, 3\)",
    ),
    "gradient": (
        lambda: K.gradients(K.argmax(K.placeholder((2,))), [K.variable(1.0)]),
        GradientError,
        r"gradients: the loss must be a float tensor",
    ),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_an_error_of_building_is_raised_at_the_users_line(name: str) -> None:
    build, kind, words = BUILD_ERRORS[name]
    with pytest.raises(kind, match=words) as caught:
        build()
    assert any("test_function_errors.py" in str(entry.path) for entry in caught.traceback)
