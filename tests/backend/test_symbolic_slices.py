"""Slices whose bounds are tensors: NumPy's own slices of the same numbers say what they give."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, EvaluationError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]
X = np.arange(1.0, 21.0, dtype="float32").reshape(5, 4)
HERE = os.path.basename(__file__)

# Of a tensor x and integers n, m: tensors or NumPy's, so that one function is test and oracle.
CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "stop": lambda x, n, m: x[:n],
    "start": lambda x, n, m: x[n:],
    "start and stop": lambda x, n, m: x[n:m],
    "an int and a tensor": lambda x, n, m: x[1:n, -3:m],
    "an int from the end": lambda x, n, m: x[n:-1, -2 : m + 1],
    "negative tensors": lambda x, n, m: x[-m:-n],
    "a step": lambda x, n, m: x[n:m:2, ::n],
    "a negative step": lambda x, n, m: x[m:n:-1, :n:-2],
    "steps from tensors": lambda x, n, m: x[::n, ::-n],
    "an int beyond all sizes": lambda x, n, m: x[n : 10**12, -(10**12) : n],
    "one that is empty": lambda x, n, m: x[m:n],
    "several axes": lambda x, n, m: x[:n, m - 2 :],
    "beside an int": lambda x, n, m: x[n:, -1],
    "beside a tensor that picks": lambda x, n, m: x[n, :m],
    "behind a tensor that picks": lambda x, n, m: x[:m, n],
    "tensors that pick from the end": lambda x, n, m: x[-n, n:][-m],
    "a list from the end": lambda x, n, m: x[[0, -1]][:, [-n]],
    "beside new axes": lambda x, n, m: x[None, :n, None],
    "behind an ellipsis": lambda x, n, m: x[..., n:m],
    "beside a reversal": lambda x, n, m: x[:n, ::-1],
    "of a slice": lambda x, n, m: x[1:][:n][:, n:],
}


@pytest.mark.parametrize("sizes", [(5, 4), (None, None)], ids=["static", "unknown"])
def test_values_and_gradients(sizes: tuple[int | None, ...]) -> None:
    """The slopes of sum(y**3), and of the sum of the squares of these, with respect to x: all
    cases in one function, since compiling takes the time.
    """
    x, n, m = K.placeholder(sizes), *(K.placeholder((), dtype="int32") for _ in range(2))
    outputs = []
    for cut in CASES.values():
        y = cut(x, n, m)
        (first,) = K.gradients(K.sum(y * y * y), [x])
        (second,) = K.gradients(K.sum(first * first), [x])
        assert K.int_shape(first) == sizes
        outputs.append([y, first, second])
    found = K.function([x, n, m], outputs)([X, np.int32(1), np.int32(3)])
    for (name, cut), (values, slopes, curves) in zip(CASES.items(), found, strict=True):
        want = cut(X, 1, 3)
        np.testing.assert_array_equal(values, want, err_msg=name)
        taken = np.isin(X, want)
        np.testing.assert_allclose(slopes, 3 * X**2 * taken, err_msg=name)
        np.testing.assert_allclose(curves, 36 * X**3 * taken, err_msg=name)


BOUNDS = st.none() | st.integers(-7, 7)
STEPS = st.none() | st.integers(-3, 3).filter(bool)
SLICES = st.tuples(BOUNDS, BOUNDS, STEPS)
Parts = tuple[int | None, ...]


@given(parts=SLICES, tensors=st.tuples(*[st.booleans()] * 3), size=st.integers(0, 4))
@settings(
    max_examples=30,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=list(HealthCheck),
)
def test_random_bounds(engine: Engine, parts: Parts, tensors: Parts, size: int) -> None:
    """Any of the bounds may be a tensor, along axes of known and unknown size."""
    given = np.arange(size * 3, dtype="float32").reshape(size, 3)
    wanted = [given[slice(*parts)], given[:, slice(*parts)]]
    for sizes in ((None, 3), given.shape):
        x, places = K.placeholder(sizes), [K.placeholder((), dtype="int32") for _ in parts]
        fed = [t and p is not None for t, p in zip(tensors, parts, strict=True)]
        cut = slice(*(place if t else p for place, t, p in zip(places, fed, parts, strict=True)))
        feeds = [(q, np.int32(p)) for q, p, t in zip(places, parts, fed, strict=True) if t]
        got = K.function([x, *(q for q, _ in feeds)], [x[cut], x[:, cut]])
        for have, want in zip(got([given, *(p for _, p in feeds)]), wanted, strict=True):
            np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_bounds_of_any_integer_dtype(dtype: str) -> None:
    """Numbers that int32 doesn't hold lie beyond all sizes."""
    ends = np.iinfo(dtype)
    n = K.placeholder((), dtype=dtype)
    cut = K.function([n], [K.constant(X)[n:], K.constant(X)[:n]])
    for number in (int(ends.min), int(ends.max), 2, *([-2] if ends.min else [])):
        after, before = cut([np.array(number, dtype)])
        np.testing.assert_array_equal(after, X[number:])
        np.testing.assert_array_equal(before, X[:number])


# Sizes -------------------------------------------------------------------------------------


def test_bounds_that_are_known_give_static_sizes() -> None:
    x, w = K.placeholder((None, 3)), K.variable(X)
    assert K.int_shape(w[: K.shape(x)[1], :2]) == (3, 2)
    assert K.int_shape(w[-K.shape(x)[1] :: K.ndim(x)]) == (2, 4)
    assert K.int_shape(w[K.constant(4, dtype="int64") : 9]) == (1, 4)
    assert K.int_shape(w[: K.shape(x)[0], 1:]) == (None, 3)
    back = K.function([x], [x[:: K.constant(-2, dtype="int32")]])
    np.testing.assert_array_equal(back([X[:, :3]])[0], X[::-2, :3])


def test_the_size_of_another_tensor() -> None:
    """As programs cut positions to the length of what they're added to."""
    x, w = K.placeholder((None, None, 4)), K.variable(X)
    y = x + w[: K.shape(x)[1]]
    step = K.function([x], [y, *K.gradients(K.sum(y * y), [w])])
    for length in (5, 2):
        given = np.ones((2, length, 4), "float32")
        got, slope = step([given])
        np.testing.assert_array_equal(got, given + X[:length])
        np.testing.assert_array_equal(slope[:length], 4 * (1 + X[:length]))
        np.testing.assert_array_equal(slope[length:], 0)


def test_bounds_from_variables_and_from_values() -> None:
    """What decides a size may be stored, or computed from all elements of an input."""
    x, mask = K.placeholder((None, 4)), K.placeholder((None, None))
    n = K.variable(2, dtype="int32")
    count = K.cast(K.sum(mask), "int32")
    cut = K.function([x, mask], [x[:n], x[:, :count]], updates=[(n, n + 1)])
    for number in (2, 3):
        rows, columns = cut([X, np.eye(number)])
        np.testing.assert_array_equal(rows, X[:number])
        np.testing.assert_array_equal(columns, X[:, :number])


# Inside of loops and branches --------------------------------------------------------------


def test_in_branches_and_loops_whose_steps_have_one_size() -> None:
    x, n = K.placeholder((None, 4)), K.placeholder((), dtype="int32")
    w = K.variable(X)
    either = K.switch(K.sum(x) > 0, lambda: K.sum(w[:n] * x[0]), lambda: K.sum(w[n:] * x[0]))
    rows = K.map_fn(lambda row: row[1 : 1 + n] * row[0], x)
    function = K.function([x, n], [either, rows, *K.gradients([either, K.sum(rows)], [x])])
    for sign in (1, -1):
        given = sign * X
        chosen = X[:2] if sign > 0 else X[2:]
        branch, mapped, slope = function([given, np.int32(2)])
        np.testing.assert_allclose(branch, np.sum(chosen * given[0]), rtol=1e-6)
        np.testing.assert_allclose(mapped, given[:, 1:3] * given[:, :1])
        want = np.zeros_like(X)
        want[:, 0], want[:, 1:3] = given[:, 1:3].sum(1), given[:, :1]
        want[0] += chosen.sum(0)
        np.testing.assert_allclose(slope, want, rtol=1e-6)


def test_in_loops_whose_steps_differ_in_size(engine: Engine) -> None:
    w, n = K.variable(X), K.placeholder((), dtype="int32")
    start = [K.constant(0, dtype="int32"), K.constant(0.0)]
    total = K.while_loop(
        lambda i, total: i < n, lambda i, total: [i + 1, total + K.sum(w[i : i + 2])], start, 9
    )[1]
    function = K.function([n], [total, *K.gradients(total, [w])])
    total, slope = function([np.int32(5)])
    assert total == sum(X[i : i + 2].sum() for i in range(5))
    np.testing.assert_array_equal(slope[:, 0], [1, 2, 2, 2, 2])


# Errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (lambda: K.constant(1.0), "must be an integer scalar, not .*float"),
        (lambda: K.constant([1, 2], dtype="int32"), "take one element of a vector"),
        (lambda: K.constant(True, dtype="bool"), "must be an integer scalar"),
        (lambda: 1.5, "must be an int, an integer scalar or None, not 1.5"),
        (lambda: "a", "not 'a'"),
    ],
)
def test_what_is_no_bound(bound: Callable[[], Any], said: str) -> None:
    for name in ("start", "stop", "step"):
        parts = {"start": None, "stop": None, "step": None, name: bound()}
        with pytest.raises(ArgumentError, match=f"^the {name} of a slice.*{said}"):
            K.variable(X)[slice(*parts.values())]


def test_a_step_of_0() -> None:
    x, n = K.variable(X), K.placeholder((), dtype="int32")
    for step in (0, K.constant(0, dtype="int32")):
        with pytest.raises(ArgumentError, match="step of a slice must not be 0"):
            x[::step]
    cut = K.function([n], [x[::n]])
    np.testing.assert_array_equal(cut([2])[0], X[::2])
    with pytest.raises(EvaluationError, match="step of a slice must not be 0") as caught:
        cut([0])
    assert HERE in str(caught.value)
