"""K.function: what a call takes, gives and changes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import value

from kameleon import backend as K
from kameleon.engines._base import Engine
from kameleon.errors import ShapeError
from kameleon.runtime import compiler, engines

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed


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
    monkeypatch.setattr(compiler, "_fold", lambda node, operands: None)  # folding compiles, too
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


def test_updates_under_control_take_a_variable_itself_afresh() -> None:
    """As TensorFlow 1.15: `tf.assign(w, v)` behind an assignment of `v` gives `w` its new value."""
    for make, expected in (
        (lambda v, w: K.update(w, v), (10.0, 10.0)),
        (lambda v, w: K.update_add(w, v), (10.0, 11.0)),
        (lambda v, w: K.update_add(v, v), (20.0, 1.0)),
    ):
        v, w = K.variable(5.0), K.variable(1.0)
        with K.control_dependencies([K.update(v, 10.0)]):
            last = make(v, w)
        K.function([], [], updates=[last])([])
        assert (value(v), value(w)) == expected


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
