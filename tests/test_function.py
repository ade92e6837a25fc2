"""K.function: what a call takes, gives and changes, and what it never does."""

from __future__ import annotations

import gc
import inspect
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support import side_by_side

from kameleon import backend as K
from kameleon.engines._base import Engine
from kameleon.engines._code import code
from kameleon.errors import EvaluationError, FeedError, GradientError, KameleonError, ShapeError
from kameleon.runtime import compiler, engines
from kameleon.runtime.workspace import workspace

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

# So many elements of float32 lie in a buffer that engines may use again.
LARGE = 50_000


def here() -> str:
    """The place of the line that calls this, as messages show it."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return f'test_function.py", line {frame.f_back.f_lineno},'


def value(variable: Any) -> Any:
    return K.get_value(variable).tolist()


# Engines whose arrays nobody can write to: variables may share them.
READ_ONLY = {"tensorflow", "jax"}


def stored(variable: Any) -> Any:
    """The variable's own array, seen by NumPy."""
    return np.asarray(variable.cell.value)


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Engine]]:
    """The engines that compiled something, in order."""
    seen: list[Engine] = []
    engine_type = type(engines.current())
    original = engine_type.compile

    def counted(self: Any, graph: Any) -> Any:
        seen.append(self)
        return original(self, graph)

    monkeypatch.setattr(engine_type, "compile", counted)
    monkeypatch.setattr(compiler, "_fold", lambda node: None)  # folding compiles, too
    yield seen


# --- inputs and outputs -------------------------------------------------------------------------


def test_several_inputs_in_order() -> None:
    x, y = K.placeholder((2,)), K.placeholder(())
    f = K.function([y, x], [x - y, y])
    difference, same = f([1.0, [3.0, 5.0]])
    assert (difference.tolist(), float(same)) == ([2.0, 4.0], 1.0)


def test_any_tensor_may_be_an_input() -> None:
    x, v = K.placeholder((2,)), K.variable([1.0, 1.0])
    inner = x * 2.0 + v
    y = inner * inner
    assert K.function([inner], [y])([[3.0, 4.0]])[0].tolist() == [9.0, 16.0]
    assert K.function([x, v], [y])([[1.0, 2.0], [0.0, 0.0]])[0].tolist() == [4.0, 16.0]
    assert value(v) == [1.0, 1.0]


def test_a_fed_tensor_hides_what_made_it() -> None:
    x = K.placeholder((None, 3))
    hidden = K.exp(x)
    f = K.function([hidden], [K.sum(hidden), K.shape(hidden)])
    total, shape = f([np.ones((2, 3))])
    assert (float(total), shape.tolist()) == (6.0, [2, 3])


@pytest.mark.parametrize(
    "made",
    [lambda: K.constant([1.0, 2.0]), lambda: K.zeros_like(K.ones((2,))), lambda: K.arange(2)],
)
def test_what_is_known_when_built_may_be_an_input(made: Callable[[], Any]) -> None:
    """No rule may look at the value that it would have: the one that is given counts."""
    x = made()
    function = K.function([x], [K.sum(x), x * 2 + 1, x])
    total, line, same = function([np.array([5, 6], K.dtype(x))])
    assert (total, line.tolist(), same.tolist()) == (11, [11, 13], [5, 6])


def test_gradient_by_an_inner_tensor_that_is_fed() -> None:
    x = K.placeholder((2,))
    inner = K.square(x)
    (g,) = K.gradients(K.sum(inner * inner), [inner])
    assert K.function([inner], [g])([[3.0, 4.0]])[0].tolist() == [6.0, 8.0]


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (lambda a, b: [a, b], [1.0, 2.0]),
        (lambda a, b: a, 1.0),
        (lambda a, b: (a, b), (1.0, 2.0)),
        (lambda a, b: {"one": a, "more": [b, a]}, {"one": 1.0, "more": [2.0, 1.0]}),
        (lambda a, b: [a, (b, [a])], [1.0, (2.0, [1.0])]),
        (lambda a, b: [], []),
        (lambda a, b: [a, a], [1.0, 1.0]),
        (lambda a, b: None, []),
    ],
    ids=["list", "single", "tuple", "dict", "nested", "none", "twice", "None"],
)
def test_outputs_keep_their_structure(structure: Any, expected: Any) -> None:
    a, b = K.variable(1.0), K.variable(2.0)
    assert K.function([], structure(a, b))([]) == expected


def test_outputs_may_be_inputs_variables_and_constants() -> None:
    x, v, c = K.placeholder((2,)), K.variable([3.0]), K.constant([4.0])
    given = np.array([1.0, 2.0], "float32")
    values = K.function([x], [x, v, c, x])([given])
    assert [y.tolist() for y in values] == [[1.0, 2.0], [3.0], [4.0], [1.0, 2.0]]


def test_an_unused_input_is_taken() -> None:
    x, unused = K.placeholder(()), K.placeholder((2,))
    assert K.function([unused, x], [x])([[1.0, 2.0], 3.0]) == [3.0]


def test_feed_dict_and_fetches() -> None:
    x, y, v = K.placeholder((2,)), K.placeholder(()), K.variable(0.0)
    update = K.update(v, y * 2.0)
    f = K.function([x], [x + y], feed_dict={y: 10.0}, fetches=[update, K.square(y)])
    assert f([[1.0, 2.0]])[0].tolist() == [11.0, 12.0]
    assert value(v) == 20.0


def test_the_array_in_a_feed_dict_may_change_afterwards() -> None:
    y, given = K.placeholder((2,)), np.array([1.0, 2.0], "float32")
    f = K.function([], [y * 1.0], feed_dict={y: given})
    given[:] = 0
    assert f([])[0].tolist() == [1.0, 2.0]


def test_a_value_put_into_a_feed_dict_counts_from_then_on() -> None:
    x, y = K.placeholder(()), K.placeholder((2,))
    given = {y: [1.0, 2.0]}
    f = K.function([x], [x * y], feed_dict=given)
    assert f([2.0])[0].tolist() == [2.0, 4.0]
    given[y] = [3.0, 4.0]
    assert f([2.0])[0].tolist() == [6.0, 8.0]
    given[y] = [3.0]
    with pytest.raises(ValueError, match=r"has shape \(2,\), the value given for it \(1,\)"):
        f([2.0])


def test_a_tensor_fed_is_evaluated_in_each_call(engine: Engine) -> None:
    x, v = K.placeholder((2,)), K.variable([1.0, 2.0])
    f = K.function([x], [x * 2.0])
    assert f([v + 1.0])[0].tolist() == [4.0, 6.0]
    K.set_value(v, [5.0, 6.0])
    assert f([v + 1.0])[0].tolist() == [12.0, 14.0]
    assert f([v])[0].tolist() == [10.0, 12.0]


def test_the_learning_phase_is_an_input_with_a_default() -> None:
    x = K.placeholder(())
    y = K.in_train_phase(x * 2.0, x * 3.0)
    assert K.function([x], [y])([1.0]) == [3.0]
    f = K.function([x, K.learning_phase()], [y])
    assert [f([1.0, phase])[0] for phase in (1, 0, True, np.array(1))] == [2.0, 3.0, 2.0, 2.0]


# --- updates ------------------------------------------------------------------------------------


def test_updates_see_the_values_from_before_the_call() -> None:
    a, b = K.variable(1.0), K.variable(2.0)
    swap = K.function([], [a + b], updates=[(a, b), K.update(b, a)])
    assert [float(swap([])[0]) for _ in range(3)] == [3.0, 3.0, 3.0]
    assert (value(a), value(b)) == (2.0, 1.0)


def test_outputs_see_the_values_from_before_the_call() -> None:
    v = K.variable(1.0)
    f = K.function([], [v, v * 10.0], updates=[(v, v + 1.0)])
    assert f([]) == [1.0, 10.0]
    assert f([]) == [2.0, 20.0]


@pytest.mark.parametrize("pair", [tuple, list])
def test_updates_as_pairs_and_objects(pair: Callable[..., Any]) -> None:
    a, b = K.variable(1.0), K.variable(1.0)
    K.function([], [], updates=[pair((a, a * 5.0)), K.update_sub(b, 3.0)])([])
    assert (value(a), value(b)) == (5.0, -2.0)


def test_increments_of_one_variable_add_up() -> None:
    v = K.variable(10.0)
    updates = [K.update_add(v, 1.0), K.update_add(v, 2.0), K.update_sub(v, 0.5)]
    K.function([], [], updates=updates)([])
    assert value(v) == 12.5


def test_the_same_update_twice_is_one() -> None:
    v = K.variable(10.0)
    update = K.update_add(v, 1.0)
    K.function([], [update], updates=[update, update])([])
    assert value(v) == 11.0


def test_an_update_that_is_an_output_is_performed() -> None:
    v = K.variable(1.0)
    assert K.function([], [K.update(v, v * 2.0)])([]) == [2.0]
    assert value(v) == 2.0
    assert K.eval(K.update_add(v, 5.0)) == 7.0
    assert value(v) == 7.0


def test_an_update_that_is_fed_is_not_performed() -> None:
    v = K.variable(1.0)
    update = K.update(v, v * 2.0)
    assert K.function([update], [update + 1.0])([5.0]) == [6.0]
    assert value(v) == 1.0


def test_control_dependencies() -> None:
    v, w = K.variable(1.0), K.variable(0.0)
    before = v * 1.0
    with K.control_dependencies([K.update_add(v, 10.0)]):
        after = v * 1.0
        chained = K.update(w, v + 100.0)
    f = K.function([], [before, after], updates=[chained])
    assert f([]) == [1.0, 11.0]
    assert (value(v), value(w)) == (11.0, 111.0)


def test_control_dependencies_in_a_chain() -> None:
    v = K.variable(1.0)
    first = K.update_add(v, 1.0)
    with K.control_dependencies([first]):
        second = K.update(v, v * 10.0)
        with K.control_dependencies([second]):
            read = K.identity(v)
    assert K.function([], [read])([]) == [20.0]
    assert value(v) == 20.0


def test_an_update_made_under_control_brings_the_other_along() -> None:
    """Also where its value was built outside: the update itself waits for the first one."""
    v, w, outside = K.variable(0.0), K.variable(0.0), K.constant(3.0)
    with K.control_dependencies([K.update(v, K.constant(1.0))]):
        update = K.update(w, outside)
    K.function([], [], updates=[update])([])
    assert (value(v), value(w)) == (1.0, 3.0)


def test_moving_averages_of_one_variable() -> None:
    v, x = K.variable(1.0), K.placeholder(())
    f = K.function([x], [], updates=[K.moving_average_update(v, x, 0.5)])
    f([3.0])
    f([6.0])
    assert value(v) == 4.0


def test_gradient_descent() -> None:
    w, x = K.variable([[0.0], [0.0]]), K.placeholder((None, 2))
    target = K.dot(x, K.constant([[1.0], [-2.0]]))
    loss = K.mean(K.square(K.dot(x, w) - target))
    (g,) = K.gradients(loss, [w])
    train = K.function([x], [loss], updates=[(w, w - 0.2 * g)])
    data = np.random.default_rng(0).normal(size=(64, 2))
    losses = [float(train([data])[0]) for _ in range(60)]
    assert losses[-1] < 1e-6 < losses[0]
    np.testing.assert_allclose(K.get_value(w), [[1.0], [-2.0]], atol=1e-3)


# --- a call that fails changes nothing ----------------------------------------------------------


def test_a_failed_call_changes_nothing() -> None:
    v, w = K.variable([1.0, 2.0, 3.0]), K.variable(0.0)
    index, noise = K.placeholder((1,), dtype="int32"), K.random_uniform((2,), seed=7)
    f = K.function(
        [index], [noise, K.gather(v, index)], updates=[(v, v * 2.0), K.update_add(w, 1.0)]
    )
    twin = K.function([index], [K.random_uniform((2,), seed=7)])
    first = f([[0]])[0]
    for bad in ([[3]], [[-9]], [[0.5]], [[0, 1]], ["x"]):
        with pytest.raises(ValueError, match=r"."):
            f(bad)
    assert (value(v), value(w)) == ([2.0, 4.0, 6.0], 1.0)
    np.testing.assert_array_equal(first, twin([[0]])[0])
    np.testing.assert_array_equal(f([[0]])[0], twin([[0]])[0])  # the stream went on by one call


def test_a_failed_build_leaves_nothing_behind() -> None:
    v = K.variable([1.0, 2.0])
    with pytest.raises(ShapeError):
        K.function([], [], updates=[K.update(v, K.constant([1.0]))])
    assert value(v) == [1.0, 2.0]


def test_random_streams_advance_and_repeat() -> None:
    one, two = (K.function([], [K.random_normal((3,), seed=5)]) for _ in range(2))
    draws = [one([])[0].tolist() for _ in range(3)]
    assert draws == [two([])[0].tolist() for _ in range(3)]
    assert len({tuple(d) for d in draws}) == 3


def test_a_stream_shared_by_functions_gives_no_number_twice() -> None:
    noise = K.random_uniform((4,), seed=1)
    f, g = K.function([], [noise]), K.function([], [noise * 1.0])
    assert len({tuple(h([])[0].tolist()) for h in (f, g, f, g)}) == 4


# --- values that are refused --------------------------------------------------------------------


def refused(match: str) -> Any:
    return pytest.raises(FeedError, match=match)


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
    with refused(r"'features:0' is no array of float32"):
        f([[["a", "b"]], 1])
    with refused(r"'features:0' is no array of float32"):
        f([[[1.0, 2.0], [3.0]], 1])
    with refused(r"no value was given for placeholder 'other:0'"):
        f([ok, K.placeholder((), dtype="int32", name="other")])
    assert f([ok, 1.0])[0].shape == (3, 2), "a whole number in a float is no loss"


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
    assert line in failing(f, [[1.0, 2.0], [1.0]])


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
    assert any("test_function.py" in str(entry.path) for entry in caught.traceback)


# --- compiling once -----------------------------------------------------------------------------


def test_unknown_sizes_compile_once(compiles: list[Engine]) -> None:
    x = K.placeholder((None, None, 3))
    y = K.softmax(K.dot(x, K.variable(np.ones((3, 4))))) - K.mean(x, axis=1, keepdims=True)[..., :1]
    f = K.function([x], [y, *K.gradients(K.sum(K.square(y)), [x])])
    for sizes in ((2, 5), (1, 1), (7, 2), (4, 1), (2, 5)):
        out, gradient = f([np.ones((*sizes, 3))])
        assert (out.shape, gradient.shape) == ((*sizes, 4), (*sizes, 3))
    assert len(compiles) == 1


def test_both_learning_phases_compile_once_each(compiles: list[Engine]) -> None:
    x = K.placeholder((None, 2))
    f = K.function([x, K.learning_phase()], [K.dropout(x, 0.5) * K.in_train_phase(x, -x)])
    for phase in (0, 1, 0, 1):
        f([np.ones((3, 2)), phase])
    assert len(compiles) == 2


def test_rebuilt_graphs_share_code(compiles: list[Engine]) -> None:
    def build(weights: Any) -> Any:
        x, w = K.placeholder((None, 3)), K.variable(weights)
        loss = K.sum(K.tanh(K.dot(x, w)))
        return K.function([x], [loss], updates=[(w, w - K.gradients(loss, [w])[0])])

    functions = [build(np.full((3, 2), i)) for i in range(4)]
    values = [float(f([np.ones((2, 3))])[0]) for f in functions]
    assert len(compiles) == 1
    assert len(set(values)) == 4


@pytest.fixture
def _little_garbage() -> Iterator[None]:
    """What is there already isn't looked through again and again."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_little_garbage")
def test_code_is_shared_by_the_content_of_constants() -> None:
    """Small constants are told apart by their elements, large ones by identity."""
    for size in (3, 1000):
        for number in range(10):
            data = np.full(size, number, "float32")
            x = K.placeholder(())
            f = K.function([x], [K.sum(K.constant(data)) + K.mean(K.constant(data)) * x])
            assert f([1.0]) == [number * size + number]
            del f
            gc.collect()


# --- nothing is shared with the user's arrays ---------------------------------------------------


def test_mutating_an_input_afterwards_changes_nothing() -> None:
    x, v = K.placeholder((LARGE,)), K.variable(np.zeros(LARGE))
    given = np.ones(LARGE, "float32")
    f = K.function([x], [x, K.reshape(x, (1, LARGE)), x[::-1]], updates=[(v, x)])
    results = f([given])
    given[:] = 7
    assert all(r.ravel()[0] == 1 for r in results)
    assert K.get_value(v)[0] == 1


def test_a_call_leaves_its_inputs_alone() -> None:
    x = K.placeholder((None,))
    chain = x
    for _ in range(5):
        chain = K.tanh(chain * 2.0) - K.abs(chain)
    f = K.function([x], [chain, K.exp(x), x + 1.0, *K.gradients(K.sum(chain), [x])])
    given = np.linspace(-1, 1, LARGE, dtype="float32")
    kept = given.copy()
    for _ in range(3):
        f([given])
        np.testing.assert_array_equal(given, kept)
    given.flags.writeable = False
    f([given])


def test_mutating_outputs_changes_nothing() -> None:
    v, c = K.variable(np.ones(LARGE)), K.constant(np.ones(LARGE))
    f = K.function([], [v, c, v * 1.0, K.identity(v), K.reshape(v, (-1, 1))], updates=[(v, v)])
    for _ in range(3):
        for output in f([]):
            assert output.ravel()[0] == 1
            output[:] = 9
    assert K.get_value(v)[0] == 1
    assert K.eval(c)[0] == 1


def test_outputs_never_share_memory() -> None:
    x, v = K.placeholder((2, 2)), K.variable(np.ones((2, 2)))
    twice = x * 2.0
    outputs = [x, x, twice, twice, K.transpose(twice), twice[0], K.reshape(twice, (4,)), v, v]
    f = K.function([x], outputs, updates=[(v, twice)])
    given = np.ones((2, 2), "float32")
    for _ in range(3):
        values = [given, *f([given]), stored(v)]
        for i, a in enumerate(values):
            for b in values[:i]:
                assert not np.shares_memory(a, b)
        assert all(value.flags.writeable for value in values[:-1])


def test_two_variables_never_share_a_buffer() -> None:
    start = np.zeros(LARGE, "float32")
    a, b, c = K.variable(start), K.variable(start), K.variable(start)
    new = K.placeholder((LARGE,))
    shared = new * 2.0
    f = K.function([new], [], updates=[(a, shared), (b, shared), (c, K.reshape(shared, (LARGE,)))])
    for _ in range(3):
        f([start + 1])
        cells = [stored(v) for v in (a, b, c)]
        assert not any(np.shares_memory(x, start) for x in cells)
        if K.backend() not in READ_ONLY:
            assert not any(np.shares_memory(x, y) for i, x in enumerate(cells) for y in cells[:i])
    swap = K.function([], [], updates=[(a, b), (b, a)])
    swap([])
    assert K.backend() in READ_ONLY or not np.shares_memory(stored(a), stored(b))


def test_initial_set_and_read_values_are_copies() -> None:
    start, other = np.zeros(3, "float32"), np.ones(3, "float32")
    v = K.variable(start)
    start[:] = 5
    assert value(v) == [0, 0, 0]
    K.set_value(v, other)
    other[:] = 5
    read = K.get_value(v)
    (also,) = K.batch_get_value([v])
    read[:] = 6
    also[:] = 6
    assert value(v) == [1, 1, 1]
    constant = K.constant(start)
    start[:] = 8
    assert K.eval(constant).tolist() == [5, 5, 5]


def test_an_old_output_survives_the_calls_that_follow() -> None:
    """Buffers are used again only where nobody else holds them."""
    v = K.variable(np.zeros(LARGE))
    f = K.function([], [v * 2.0, v], updates=[K.update_add(v, 1.0)])
    held = [stored(v)]  # as a call in another thread holds it
    kept = [(i, *f([])) for i in range(6)]
    held.append(stored(v))
    f([])
    held.append(stored(v)[:10])
    for _ in range(3):
        f([])
    for i, double, plain in kept:
        assert double.min() == double.max() == 2 * i
        assert plain.min() == plain.max() == i
    assert [(x.min(), x.max()) for x in held] == [(0, 0), (6, 6), (7, 7)]


# --- threads ------------------------------------------------------------------------------------


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work` in so many threads at once."""
    side_by_side([partial(work, i) for i in range(count)])


def test_concurrent_increments_are_not_lost() -> None:
    v, w = K.variable(np.zeros(LARGE)), K.variable(0.0)
    one = K.function([], [], updates=[K.update_add(v, 1.0), K.update_add(w, 1.0)])
    two = K.function([], [], updates=[(w, w + 1.0), (v, v + 1.0)])

    def work(number: int) -> None:
        for _ in range(50):
            (one, two)[number % 2]([])

    in_threads(4, work)
    assert value(w) == 200.0
    assert set(value(v)) == {200.0}


def test_readers_see_the_variables_of_one_moment() -> None:
    a, b = K.variable(np.zeros(LARGE)), K.variable(np.zeros(LARGE))
    write = K.function([], [], updates=[K.update_add(a, 1.0), K.update_add(b, 1.0)])
    read = K.function([], [K.max(K.abs(a - b)), K.max(a) - K.min(a)])

    def work(number: int) -> None:
        for _ in range(60):
            if number == 0:
                write([])
            elif number == 1:
                x, y = K.batch_get_value([a, b])
                np.testing.assert_array_equal(x, y)
            else:
                assert read([]) == [0.0, 0.0]

    in_threads(4, work)
    assert value(a)[0] == 60.0


def test_one_function_in_many_threads() -> None:
    x = K.placeholder((None,))
    y = K.sum(K.exp(K.tanh(x)) * x)
    # In threads another engine is in force: the one of the process.
    f = K.function([x], [y, *K.gradients(y, [x])], engine=K.backend())
    inputs = [np.full(LARGE + i, i / 8, "float32") for i in range(8)]
    expected = [[np.array(r) for r in f([given])] for given in inputs]

    def work(number: int) -> None:
        for turn in range(12):
            i = (number + turn) % 8
            for got, want in zip(f([inputs[i]]), expected[i], strict=True):
                np.testing.assert_array_equal(got, want)

    in_threads(4, work)


def test_random_numbers_of_threads_are_all_different() -> None:
    f = K.function([], [K.random_uniform((4,), seed=3)])
    drawn: list[tuple[float, ...]] = []
    in_threads(4, lambda _: drawn.extend(tuple(f([])[0].tolist()) for _ in range(50)))
    assert len(set(drawn)) == 200


def test_graphs_are_built_in_threads() -> None:
    """Names are unique, and what one thread sets for its own nodes reaches no other thread."""
    names: list[str] = []

    def work(number: int) -> None:
        with K.name_scope(f"thread{number}"):
            for i in range(30):
                v = K.variable(float(i), name="w")
                x = K.placeholder(())
                assert K.function([x], [v * x])([2.0]) == [2.0 * i]
                assert v.name.startswith(f"thread{number}/")
                names.append(v.name)

    in_threads(4, work)
    assert len(set(names)) == len(names)


def test_a_call_inside_of_a_call() -> None:
    """A custom array type that calls the same function while its value is converted."""
    v, x = K.variable(0.0), K.placeholder(())
    f = K.function([x], [v + x], updates=[K.update_add(v, 1.0)])

    class Nested:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
            return np.asarray(f([0.0])[0])

    assert f([Nested()]) == [1.0]
    assert value(v) == 2.0


# --- memory -------------------------------------------------------------------------------------


def test_functions_and_variables_of_a_cleared_session_are_freed() -> None:
    def build() -> list[weakref.ref[Any]]:
        x, v = K.placeholder((None, 3)), K.variable(np.ones((3, 3)))
        loss = K.sum(K.dot(x, v))
        f = K.function([x], [loss], updates=[(v, v - K.gradients(loss, [v])[0])])
        for _ in range(3):
            f([np.ones((2, 3))])
        K.eval(v * 2.0)
        return [weakref.ref(thing) for thing in (f, v, loss, loss.operands[0])]

    references = build()
    K.clear_session()
    gc.collect()
    assert [r() for r in references if r() is not None] == []


def test_evaluations_do_not_pile_up() -> None:
    v = K.variable(1.0)
    for i in range(700):
        K.eval(v * float(i))
    assert len(workspace.functions) <= 256
    assert len(workspace.compiled) <= compiler.CACHE_SIZE


def traced_peak(work: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once during the work."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("joined", [False, True], ids=["line-by-line", "joined"])
def test_intermediate_values_are_freed_at_their_last_use(
    joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "JOINED_AT_CALL", 1 if joined else 10**9)
    layers, width = 30, 256
    x = K.placeholder((width, width))
    y = x
    for i in range(layers):
        y = K.relu(K.dot(y, K.constant(np.eye(width) + i)) - float(i))
    f = K.function([x], [y])
    given = np.ones((width, width), "float32")
    f([given])
    assert traced_peak(lambda: f([given])) < 6 * given.nbytes


def test_a_training_step_keeps_each_layer_once() -> None:
    layers, width = 20, 256
    x = K.placeholder((width, width))
    weights = [K.variable(np.eye(width)) for _ in range(layers)]
    y = x
    for w in weights:
        y = K.tanh(K.dot(y, w))
    gradients = K.gradients(K.mean(y), weights)
    updates = [(w, w - g) for w, g in zip(weights, gradients, strict=True)]
    f = K.function([x], [], updates=updates)
    given = np.ones((width, width), "float32")
    f([given])
    f([given])
    assert traced_peak(lambda: f([given])) < (2 * layers + 8) * given.nbytes


def test_sizes_do_not_keep_values_alive() -> None:
    if K.backend() == "theano":
        pytest.skip("PyTensor computes in its own order, where all that is ready comes first")
    x = K.placeholder((None, 256))
    y = x
    for _ in range(30):
        y = K.tanh(y) + K.ones_like(y)
    f = K.function([x], [K.sum(y) * K.cast(K.shape(y)[0], "float32")])
    given = np.ones((256, 256), "float32")
    f([given])
    assert traced_peak(lambda: f([given])) < 6 * given.nbytes
