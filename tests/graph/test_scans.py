"""Loops give what the same steps give one after the other: stacks, states, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon.engines._codegen.rules import stacking
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.passes.hoisting import LARGEST_SLICE
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.indexing import argsort, take_along

Tensors = list[Any]
Cell = Callable[[Any, Tensors], tuple[Any, Tensors]]
UNITS = 3
RNG = np.random.default_rng(3)
RECURRENT = RNG.normal(0, 0.5, (UNITS, 4 * UNITS)).astype("float32")


def gates(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """A cell whose gates are slices of one product."""
    hidden, cell = states
    z = K.dot(hidden, K.constant(RECURRENT)) + K.tile(x, (1, 4))
    parts = [K.slice(z, (0, k * UNITS), (-1, UNITS)) for k in range(4)]
    a, b, c = map(K.sigmoid, parts[:3])
    cell = a * cell + b * K.tanh(parts[3])
    hidden = c * K.tanh(cell)
    return hidden, [hidden, cell]


def delayed(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """What comes out is the state of before."""
    return states[0], [K.tanh(x + states[0]), states[1] * states[0]]


def swapped(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """Each state is made of the other one."""
    a, b = states
    return a * b, [b, K.sin(a) * x]


def twins(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """Both states become the same, from different ones."""
    new = K.sin(states[0]) * K.cos(states[1] + x)
    return states[1] * x, [new, new]


def kept(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """A state that no step changes."""
    return K.sin(states[0] * states[1]), [K.cos(states[0]) * states[1] + x, states[1]]


CELLS: list[Cell] = [gates, delayed, swapped, twins, kept]


def results(cell: Cell, x: Any, states: Tensors, backwards: bool, unroll: bool) -> Tensors:
    """All that a loop gives, and the slopes of a sum over all of it."""
    last, outputs, ends = K.rnn(cell, x, states, go_backwards=backwards, unroll=unroll)
    total = K.sum(K.sin(outputs)) + sum(K.sum(K.exp(-K.square(s))) for s in ends)
    return [last, outputs, *ends, *K.gradients(total, [x, *states])]


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_a_loop_gives_what_its_steps_give(
    cell: Cell, backwards: bool, steps: int, engine: str
) -> None:
    x = K.placeholder((2, steps, UNITS))
    states = [K.placeholder((2, UNITS)) for _ in range(2)]
    inputs = [x, *states]
    shapes = [(2, steps, UNITS), (2, UNITS), (2, UNITS)]
    arrays = [RNG.normal(0, 0.5, shape).astype("float32") for shape in shapes]
    unrolled = K.function(inputs, results(cell, x, states, backwards, unroll=True), engine="numpy")
    loop = K.function(inputs, results(cell, x, states, backwards, unroll=False), engine=engine)
    expected = unrolled(arrays)
    for _ in range(3):
        for got, want in zip(loop(arrays), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def loops() -> list[Node]:
    """The loops of `gates` and of its gradient, simplified."""
    x = K.placeholder((2, 5, UNITS))
    states = [K.placeholder((2, UNITS)) for _ in range(2)]
    outputs = results(gates, x, states, backwards=False, unroll=False)
    graph = simplify(Graph([x, *states], outputs))
    return [n for n in graph.nodes if n.primitive.name == "scan"]


def test_slices_of_one_node_are_stacked_as_one() -> None:
    """For its gradient, the loop keeps three gates, which one sigmoid has computed."""
    forward, _ = loops()
    stacked = forward.attrs["body"].outputs[forward.attrs["carry"] :]
    assert not [y for y in stacked if y.primitive.name == "slice"]
    assert [y.shape for y in stacked if y.primitive.name == "sigmoid"] == [(2, 3 * UNITS)]


def test_states_from_before_each_step_have_no_stack_of_their_own() -> None:
    forward, backward = loops()
    body, stacks = forward.attrs["body"], stacking(forward)
    k = forward.attrs["carry"]
    before = body.inputs[forward.attrs["consts"] :][:k]
    for y, (number, is_before) in zip(body.outputs[k:], stacks.views, strict=True):
        assert is_before == (y in before)
        state = stacks.initial[number]
        if is_before:
            assert state is not None
            assert before[state] is y
            assert stacks.given[number] is body.outputs[state]
        else:
            assert stacks.given[number] is y
    assert any(is_before for _, is_before in stacks.views)
    assert stacking(backward).initial.count(None) == len(stacking(backward).given)


# What moves out of a loop ---------------------------------------------------------------------


def body_names(node: Node) -> list[str]:
    """The primitives that a step runs."""
    body = node.attrs["body"]
    return [n.primitive.name for n in body.nodes[len(body.inputs) :]]


def test_slopes_of_activations_are_made_before_the_loop() -> None:
    """A step back multiplies by them: one product for each use of a cotangent."""
    _, backward = loops()
    names = body_names(backward)
    assert "sub" not in names
    assert names.count("mul") == 6
    assert names.count("add") == 2


def products(x: Any, states: Tensors) -> tuple[Any, Tensors]:
    """Two factors of every step that may be of any size."""
    h = states[0] * x * K.abs(x)
    return h, [h]


@pytest.mark.parametrize("engine", engines_under_test())
def test_factors_that_would_overflow_together_stay_apart(engine: str) -> None:
    x, start = K.placeholder((1, 3, UNITS)), K.placeholder((1, UNITS))
    last, *_ = K.rnn(products, x, [start])
    f = K.function([x, start], [last], engine=engine)
    array = np.full((1, 3, UNITS), 1e30, "float32")
    array[:, 1:] = 1e-30
    (got,) = f([array, np.full((1, UNITS), 1e-30, "float32")])
    assert np.isfinite(got).all()


@pytest.mark.parametrize(("units", "moves"), [(8, True), (LARGEST_SLICE, False)])
def test_what_is_large_stays_in_the_loop(units: int, moves: bool) -> None:
    x, start = K.placeholder((2, 3, units)), K.placeholder((2, units))
    last, *_ = K.rnn(lambda x, states: (y := states[0] + K.sin(x), [y]), x, [start])
    graph = simplify(Graph([x, start], [last]))
    (node,) = (n for n in graph.nodes if n.primitive.name == "scan")
    assert ("sin" not in body_names(node)) == moves


def test_gradients_of_loops_that_pick_by_data(engine: str) -> None:
    """What a step picks has a size of its own: the loop backwards picks again."""
    values = RNG.normal(0, 1, (2, 3, 4)).astype("float32")
    mask = np.array([[1, 0, 1], [1, 1, 1]], "float32")
    x, w, chosen = K.variable(values), K.variable(np.arange(4.0)), K.placeholder((2, 3))

    def step(number: Any) -> Any:
        picked = K.gather(x, number)[K.gather(chosen, number) > 0.0]
        sums = K.sum(K.square(picked) * w, -1)
        return K.sum(K.exp(take_along(sums, argsort(sums, axis=0), 0) / 10.0))

    y = K.sum(K.map_fn(step, K.arange(2), dtype="float32"))
    by_x, by_w = K.gradients(y, [x, w])
    again = K.gradients(K.sum(by_w), [w])[0]
    got = K.function([chosen], [y, by_x, by_w, again])([mask])
    shares = np.exp((values**2 * np.arange(4)).sum(-1) / 10) * mask
    squares = (shares[..., None] * values**2).sum((0, 1)) / 10
    slopes = (shares * (values**2).sum(-1))[..., None] * values**2 / 100
    np.testing.assert_allclose(got[0], shares.sum(), rtol=1e-5)
    np.testing.assert_allclose(
        got[1], shares[..., None] * 2 * values * np.arange(4) / 10, rtol=2e-5, atol=1e-6
    )
    np.testing.assert_allclose(got[2], squares, rtol=2e-5)
    np.testing.assert_allclose(got[3], slopes.sum((0, 1)), rtol=2e-5)


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("lazy", [False, True])
def test_a_zero_in_place_of_no_rows(engine: str, lazy: bool) -> None:
    """Losses of detectors are so: without any positive box there's nothing to take a mean of."""
    x, rows = K.placeholder((None, 4)), K.placeholder((None,), dtype="int32")
    picked, nothing = K.gather(x, rows), K.constant(0.0)
    there = K.size(picked) > 0
    loss = K.switch(there, lambda: picked, lambda: nothing) if lazy else None
    loss = K.mean(K.switch(there, picked, nothing) if loss is None else loss)
    f = K.function([x, rows], [loss, *K.gradients(loss, [x])], engine=engine)
    values = np.arange(12, dtype="float32").reshape(3, 4)
    for chosen in ([], [0, 2], [1]):
        mean, slope = f([values, np.array(chosen, "int32")])
        want = np.zeros((3, 4))
        want[chosen] = 1 / (4 * max(1, len(chosen)))
        assert mean == (values[chosen].mean() if chosen else 0.0)
        np.testing.assert_allclose(slope, want)
