"""Functions without their state: names, values, keys; gradients in two parts are those in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.backend.interop.pure import Pure, Stateless
from kameleon.errors import ArgumentError
from kameleon.graph.gradients import pullback
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.program import Graph
from kameleon.runtime.compiler import compiled
from kameleon.runtime.engines import load
from kameleon.testing.cases import CASES
from kameleon.testing.cases.case import Case

Array = np.ndarray[Any, Any]
ROWS = np.random.default_rng(0).normal(size=(4, 3))
SMOOTH = [c for c in CASES if c.wrt]


def run(graph: Graph, arguments: Sequence[Any]) -> list[Array]:
    """What the embedded engine makes of it."""
    return list(compiled(graph, load("numpy"))(arguments))


def in_two_parts(pure: Pure, arguments: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    """Cotangents of the inputs, by what is kept between the two graphs; and the second graph with
    its arguments."""
    found = pure.reverse(pure.differentiable[0], [True] * len(pure.graph.outputs))
    there = [*arguments, *run(found.forward.graph, arguments)]
    given = [*(there[i] for i in found.kept), *cotangents]
    parts = run(found.backward.graph, given)
    return [None if i is None else parts[i] for i in found.flows], found.backward, given


def in_one(pure: Pure, arguments: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The same by one graph over the inputs and the cotangents."""
    inputs, outputs = pure.graph.inputs, pure.graph.outputs
    floats = [y for y in outputs if y.dtype.is_float]
    given = [input_node(y.type) for y in floats]
    parts = pullback(floats, given, inputs)
    found = iter(
        run(
            Graph([*inputs, *given], [g for g in parts if g is not None]), [*arguments, *cotangents]
        )
    )
    return [None if g is None else next(found) for g in parts]


def cotangents_of(pure: Pure, arguments: Sequence[Any], seed: int) -> list[Array]:
    """Random ones for all float outputs."""
    rng = np.random.default_rng(seed)
    values = run(pure.graph, arguments)
    floats = [v for v in values if np.asarray(v).dtype.kind == "f"]
    return [rng.normal(size=np.shape(v)).astype(np.asarray(v).dtype) for v in floats]


def assert_equal(got: Sequence[Any], want: Sequence[Any]) -> None:
    """Both None, or equal but for the order of sums."""
    for a, b in zip(got, want, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("case", SMOOTH, ids=[c.id for c in SMOOTH])
def test_gradients_in_two_parts(case: Case, known: bool) -> None:
    """Of the function, and of its gradient."""
    inputs = case.inputs(known)
    pure, arguments = Pure(Graph(inputs, case.results(inputs))), list(case.operands)
    for seed in range(min(case.order, 2)):
        cotangents = cotangents_of(pure, arguments, seed)
        got, backward, given = in_two_parts(pure, arguments, cotangents)
        assert_equal(got, in_one(pure, arguments, cotangents))
        if not backward.graph.outputs:
            return
        pure, arguments = backward, given


def network() -> tuple[Any, Any, Any]:
    """A step of training with a random draw, two variables of one name, and a nest of outputs."""
    x = K.placeholder((None, 3), name="x")
    w, b = K.variable(np.ones((3, 2)), name="w"), K.variable([0.5, 1.0], name="w")
    y = K.dropout(K.tanh(K.dot(x, w) + b), 0.5, seed=3)
    loss = K.mean(K.square(y))
    step = K.update_sub(w, K.gradients(loss, [w])[0] * 0.1)
    return K.function([x], {"loss": loss, "more": (y, K.shape(y))}, [step]), w, b


def test_state_goes_in_and_comes_out() -> None:
    function, w, _ = network()
    found = Stateless(function, "to_x")
    before, keys = found.values, found.keys
    assert found.names == ["w", "w_1"]
    assert found.updated == {0: 0}
    assert [k.dtype for k in keys] == ["uint32"]
    values = run(found.pure().graph, [ROWS.astype("float32"), *before, *keys])
    for _ in range(2):  # neither has changed anything
        again = run(found.pure().graph, [ROWS.astype("float32"), *before, *keys])
        assert all(np.array_equal(a, b) for a, b in zip(values, again, strict=True))
        assert np.array_equal(K.get_value(w), before[0])
    results = function([ROWS])
    rebuilt = found.rebuilt(values[:3])
    assert np.array_equal(rebuilt["loss"], results["loss"])
    assert np.array_equal(rebuilt["more"][0], results["more"][0])
    assert np.array_equal(values[3], K.get_value(w))
    assert found.keys[0].tolist() == [3, keys[0][1] + 1]  # the next call's


def test_values_are_private() -> None:
    function, w, _ = network()
    found = Stateless(function, "to_x")
    found.values[0][:] = 7
    assert K.get_value(w).max() < 7


def test_a_phase_that_is_known_leaves_no_dead_branch() -> None:
    x = K.placeholder((2,), name="x")
    y = K.in_train_phase(x * 2.0, x + 1.0)
    found = Stateless(K.function([x, K.learning_phase()], [y]), "to_x")
    assert found.phase == 1
    ones = np.ones(2, "float32")
    for phase, want in ((True, 2.0), (False, 2.0)):
        [got] = run(found.pure(phase).graph, [ones, np.array(0, "int32")])
        assert np.array_equal(got, ones * want)
    both = [run(found.pure().graph, [ones * 3, np.array(p, "int32")])[0] for p in (1, 0)]
    assert [v.tolist() for v in both] == [[6.0, 6.0], [4.0, 4.0]]


def test_values_of_feed_dict_are_constants() -> None:
    x, y = K.placeholder((2,)), K.placeholder((2,))
    found = Stateless(K.function([x], [x * y], feed_dict={y: [3.0, 4.0]}), "to_x")
    [got] = run(found.pure().graph, [np.ones(2, "float32")])
    assert got.tolist() == [3.0, 4.0]


def test_no_influence_is_none_and_unwanted_is_not_computed() -> None:
    x, w, n = K.placeholder((2,)), K.placeholder((2,)), K.placeholder((2,), dtype="int32")
    pure = Stateless(K.function([x, w, n], [x * x, K.stop_gradient(w), n]), "to_x").pure()
    assert pure.reverse([True, True, True], [True, True, True]).flows == [0, None, None]
    none = pure.reverse([False, True, False], [True, True, False])
    assert none.flows == [None, None, None]
    assert not none.backward.graph.outputs


OF_TENSORFLOW = type("Function", (), {"__module__": "tensorflow_core.python.keras.backend"})


@pytest.mark.parametrize(
    ("given", "remedy"),
    [(print, "K.function("), (None, "K.function("), ([1], "K.f"), (OF_TENSORFLOW(), "--keras-on")],
)
def test_what_is_no_function_is_refused(given: Any, remedy: str) -> None:
    with pytest.raises(ArgumentError, match=r"to_x takes what K\.function gives") as refused:
        Stateless(given, "to_x")
    assert remedy in str(refused.value)
