"""What holds for every graph: types, equal values whichever way it runs, gradients, keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from random_graphs import SMOOTH, STEPS, Recipe, Trial, recipes

from kameleon.engines.numpy.engine import engine
from kameleon.ir.node import Node
from kameleon.ir.program import Graph
from kameleon.ir.types import TensorType
from kameleon.ir.verify import verify
from kameleon.prims.elementwise import sin
from kameleon.prims.reduce import reduce_sum
from kameleon.runtime.compiler import _fold
from kameleon.runtime.function import Function
from kameleon.testing import check_gradients
from kameleon.transform.grad import gradients
from kameleon.transform.simplify import simplify

Array = np.ndarray[Any, Any]

# A rewriting may change last bits, and those may grow on their way through a graph.
TOLERANCE = 1e-7


def examples(count: int) -> settings:
    """So many graphs; the same ones at each run where CI says so."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def evaluated(graph: Graph, feeds: Sequence[Array]) -> list[Array]:
    """The values line by line, as one function, and again: the same bits each time."""
    run = engine.compile(graph)
    kept = [x.copy() for x in feeds]
    first, *later = ([np.asarray(v) for v in run(feeds)] for _ in range(3))
    for again in later:
        for x, y in zip(first, again, strict=True):
            np.testing.assert_array_equal(x, y)
    for x, y in zip(feeds, kept, strict=True):
        np.testing.assert_array_equal(x, y)
    return first


def assert_close(got: Sequence[Array], want: Sequence[Array], scale: float) -> None:
    for x, y in zip(got, want, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE * max(1.0, scale))


def scale_of(trial: Trial) -> float:
    """The largest number on the way; graphs that leave the range of floats prove nothing."""
    numbers = [np.abs(v).max() for v in map(np.asarray, trial.values.values()) if v.size]
    scale = float(max(numbers, default=1.0))
    assume(np.isfinite(scale) and scale < 1e6)
    return scale


def some(nodes: Sequence[Node], seed: int) -> list[Node]:
    """A few of them: what isn't asked for may be overwritten."""
    keep = np.random.default_rng(seed).integers(0, len(nodes), 2)
    return [nodes[-1], *(nodes[i] for i in keep)]


@examples(250)
@given(recipes(list(STEPS), 12))
def test_every_way_to_run_a_graph_gives_the_same(recipe: Recipe) -> None:
    trial = Trial(recipe)
    assume(trial.made)
    scale = scale_of(trial)
    for outputs in (trial.made, some(trial.made, recipe.seed)):
        graph = Graph(trial.inputs, outputs)
        verify(graph)
        expected = [trial.value(n) for n in outputs]
        assert_close(evaluated(graph, trial.feeds), expected, scale)
        for fold in (None, _fold):
            for native in (None, engine.rules, CORE):
                simple = simplify(graph, native, fold)
                verify(simple)
                assert simple.inputs == graph.inputs
                assert_close(evaluated(simple, trial.feeds), expected, scale)


# The NumPy engine as if it had no rule for what can be expanded here.
CORE = set(engine.rules) - {"softmax", "log_softmax", "sigmoid", "softplus", "relu", "square"}
CORE -= {"take_along", "put_along"}


@examples(150)
@given(recipes(list(STEPS), 12))
def test_inferred_types_are_those_of_the_values(recipe: Recipe) -> None:
    trial = Trial(recipe)
    for node, value in trial.values.items():
        if isinstance(node.type, TensorType):
            assert node.dtype == np.asarray(value).dtype
            assert node.type.accepts(np.shape(value)), node
    if all(x.type.is_static for x in trial.inputs):
        assert all(n.type.is_static for n in trial.pool)


@examples(120)
@given(recipes(list(SMOOTH), 6))
def test_gradients_are_the_limits_of_differences(recipe: Recipe) -> None:
    trial = Trial(recipe)
    assume(trial.made)
    assume(scale_of(trial) < 100)
    loss = reduce_sum(sin(trial.made[-1]), range(trial.made[-1].ndim))
    feeds = dict(zip(trial.inputs, trial.feeds, strict=True))
    check_gradients(loss, trial.inputs, feeds, order=2, step=3e-5, rtol=2e-5, atol=2e-6)


@examples(100)
@given(recipes(list(STEPS), 8))
def test_gradients_run_the_same_simplified_or_not(recipe: Recipe) -> None:
    trial = Trial(recipe)
    assume(trial.made)
    scale = scale_of(trial)
    total = reduce_sum(trial.made[-1], range(trial.made[-1].ndim))
    found = gradients(total, trial.inputs)
    outputs = [g for g in found if g is not None]
    for x, g in zip(trial.inputs, found, strict=True):
        assert g is None or (g.dtype == x.dtype and len(g.shape) == len(x.shape))
    graph = Graph(trial.inputs, outputs)
    verify(graph)
    expected = [trial.value(g) for g in outputs]
    assert [v.shape for v in expected] == [
        trial.shape(x) for x, g in zip(trial.inputs, found, strict=True) if g is not None
    ]
    scale = max(scale, scale_of(trial))
    assert_close(evaluated(graph, trial.feeds), expected, scale)
    assert_close(evaluated(simplify(graph, engine.rules, _fold), trial.feeds), expected, scale)


@examples(150)
@given(recipes(list(STEPS), 10))
def test_rebuilt_graphs_have_equal_keys(recipe: Recipe) -> None:
    one, two = Trial(recipe), Trial(recipe)
    assume(one.made)
    keys = [Graph(t.inputs, t.made).key for t in (one, two)]
    assert keys[0] == keys[1]
    assert hash(keys[0]) == hash(keys[1])
    programs = [Function(t.inputs, t.made).graph().key for t in (one, two)]
    assert programs[0] == programs[1]


@examples(100)
@given(recipes(list(STEPS), 8), recipes(list(STEPS), 8))
def test_equal_keys_mean_equal_values(one: Recipe, two: Recipe) -> None:
    """Graphs that share code compute the same; most pairs differ, and so must their keys."""
    a, b = Trial(one), Trial(two)
    assume(a.made and b.made)
    if Graph(a.inputs, a.made[-1:]).key == Graph(b.inputs, b.made[-1:]).key:
        run = engine.compile(Graph(a.inputs, a.made[-1:]))
        np.testing.assert_array_equal(run(b.feeds)[0], b.value(b.made[-1]))


@examples(100)
@given(recipes(list(STEPS), 10))
def test_simplifying_is_settled_after_one_time(recipe: Recipe) -> None:
    """A second time finds nothing more to share or to drop."""
    trial = Trial(recipe)
    assume(trial.made)
    once = simplify(Graph(trial.inputs, trial.made), engine.rules, _fold)
    twice = simplify(once, engine.rules, _fold)
    assert len(twice.nodes) <= len(once.nodes) <= len(Graph(trial.inputs, trial.made).nodes) * 2
