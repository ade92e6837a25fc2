"""What holds for every graph: types, equal values whichever way it runs, gradients, keys.

Each property is held against recipes that Hypothesis grows, which makes failures small, and
against long ones thrown at random, which are more varied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from _support.common import native_in
from _support.random_graphs import (
    SMOOTH,
    STEPS,
    Recipe,
    Trial,
    around_a_loop,
    for_numpy,
    grown,
    thrown,
)
from hypothesis import assume, given, settings

from kameleon.engines._codegen import blocks, code
from kameleon.engines._kernels import memory, pool
from kameleon.engines.numpy.engine import engine
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.forms import substituted
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType
from kameleon.graph.ir.verify import verify
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.elementwise import sin
from kameleon.graph.primitives.formulas import Formulas
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.sizes import size_origin
from kameleon.runtime.compiler import _fold
from kameleon.runtime.function import Function
from kameleon.testing import check_gradients

Array = np.ndarray[Any, Any]
Property = Callable[[Recipe], None]

# A rewriting may change last bits, and those may grow on their way through a graph.
TOLERANCE = 1e-7
# The NumPy engine as if it had no rule for what can be expanded here.
CORE = set(engine.rules) - {"softmax", "log_softmax", "sigmoid", "softplus", "relu", "square"}
CORE -= {"take_along", "put_along"}


class UnsuitedError(Exception):
    """The graph of this recipe proves nothing here."""


def suited(condition: object) -> None:
    if not condition:
        raise UnsuitedError


# Properties --------------------------------------------------------------------------------------


def evaluated(graph: Graph, feeds: Sequence[Array]) -> list[Array]:
    """The values line by line, as one function, and again: the same bits each time."""
    run = engine.compile(for_numpy(graph))
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
    suited(np.isfinite(scale) and scale < 1e6)
    return scale


def some(nodes: Sequence[Node], seed: int) -> list[Node]:
    """A few of them: what isn't asked for may be overwritten."""
    keep = np.random.default_rng(seed).integers(0, len(nodes), 2)
    return [nodes[-1], *(nodes[i] for i in keep)]


def every_way_to_run_gives_the_same(recipe: Recipe) -> None:
    trial = Trial(recipe)
    scale = scale_of(trial)
    for outputs in (trial.made, some(trial.made, recipe.seed)):
        graph = Graph(trial.inputs, outputs)
        verify(graph)
        expected = [trial.value(n) for n in outputs]
        assert_close(evaluated(graph, trial.feeds), expected, scale)
        for native, fold in ((None, None), (engine.native, _fold), (native_in(CORE), _fold)):
            simple = simplify(graph, native, fold)
            verify(simple)
            assert simple.inputs == graph.inputs
            assert_close(evaluated(simple, trial.feeds), expected, scale)


def inferred_types_are_those_of_the_values(recipe: Recipe) -> None:
    trial = Trial(recipe)
    for node, value in trial.values.items():
        if isinstance(node.type, TensorType):
            assert node.dtype == np.asarray(value).dtype
            assert node.type.accepts(np.shape(value)), node
    if all(x.type.is_static for x in trial.inputs):
        assert all(n.type.is_static for n in trial.pool)


def formulas_give_the_sizes(recipe: Recipe) -> None:
    trial, sizes = Trial(recipe), Formulas(size_origin)

    def actual(atom: Any) -> int:
        node, axis = atom if isinstance(atom, tuple) else (atom, None)
        value = np.asarray(trial.value(node))
        return int(value) if axis is None else value.shape[axis]

    for node, value in list(trial.values.items()):
        if isinstance(node.type, TensorType):
            for axis, size in enumerate(np.shape(value)):
                assert substituted(sizes.of(node, axis), actual) == size, (node, axis)


def gradients_are_the_limits_of_differences(recipe: Recipe) -> None:
    trial = Trial(recipe)
    suited(scale_of(trial) < 30)
    loss = reduce_sum(sin(trial.made[-1]), range(trial.made[-1].ndim))
    feeds = dict(zip(trial.inputs, trial.feeds, strict=True))
    check_gradients(loss, trial.inputs, feeds, order=2, step=3e-5, rtol=2e-5, atol=2e-5)


def gradients_run_the_same_simplified_or_not(recipe: Recipe) -> None:
    trial = Trial(recipe)
    scale_of(trial)
    total = reduce_sum(trial.made[-1], range(trial.made[-1].ndim))
    found = gradients(total, trial.inputs)
    outputs = [g for g in found if g is not None]
    wrt = [x for x, g in zip(trial.inputs, found, strict=True) if g is not None]
    expected = [trial.value(g) for g in outputs]
    assert [(v.shape, v.dtype) for v in expected] == [(trial.shape(x), x.dtype) for x in wrt]
    graph = Graph(trial.inputs, outputs)
    verify(graph)
    scale = scale_of(trial)
    assert_close(evaluated(graph, trial.feeds), expected, scale)
    simple = simplify(graph, engine.native, _fold)
    verify(simple)
    assert_close(evaluated(simple, trial.feeds), expected, scale)


def rebuilt_graphs_have_equal_keys(recipe: Recipe) -> None:
    one, two = Trial(recipe), Trial(recipe)
    keys: list[Callable[[Trial], Any]] = [
        lambda t: Graph(t.inputs, t.made).key,
        lambda t: Function(t.inputs, t.made).graph().key,
        lambda t: simplify(Graph(t.inputs, t.made), engine.native, _fold).key,
    ]
    for key in keys:
        a, b = key(one), key(two)
        assert a == b
        assert hash(a) == hash(b)


def equal_keys_mean_equal_values(recipe: Recipe) -> None:
    """A recipe with one number changed: if its graph would share code, it gives the same."""
    name, a, b, c = recipe.steps[-1]
    last = (name, a, (b + 1) % 8, c) if recipe.seed % 2 else (name, a, b, (c + 1) % 8)
    other = Recipe(recipe.shapes, recipe.unknown, (*recipe.steps[:-1], last), recipe.seed)
    one, two = Trial(recipe), Trial(other)
    suited(len(one.made) == len(two.made))
    graphs = [Graph(t.inputs, t.made) for t in (one, two)]
    if graphs[0].key == graphs[1].key:
        np.testing.assert_array_equal(one.value(one.made[-1]), two.value(two.made[-1]))
    if len(set(one.made)) > 1:
        assert graphs[0].key != Graph(one.inputs, one.made[1:] + one.made[:1]).key


def simplifying_settles(recipe: Recipe) -> None:
    """A second time makes nothing larger."""
    trial = Trial(recipe)
    once = simplify(Graph(trial.inputs, trial.made), engine.native, _fold)
    assert len(simplify(once, engine.native, _fold).nodes) <= len(once.nodes)


# By property: the operations, the longest recipe, how many are grown, how many thrown.
PROPERTIES: dict[Property, tuple[dict[str, Any], int, int, int]] = {
    every_way_to_run_gives_the_same: (STEPS, 12, 120, 150),
    inferred_types_are_those_of_the_values: (STEPS, 12, 100, 150),
    formulas_give_the_sizes: (STEPS, 12, 50, 150),
    gradients_are_the_limits_of_differences: (SMOOTH, 6, 80, 120),
    gradients_run_the_same_simplified_or_not: (STEPS, 8, 80, 120),
    rebuilt_graphs_have_equal_keys: (STEPS, 10, 50, 80),
    equal_keys_mean_equal_values: (STEPS, 4, 50, 80),
    simplifying_settles: (STEPS, 10, 50, 80),
}
EACH = pytest.mark.parametrize("holds", PROPERTIES, ids=lambda f: f.__name__)


@EACH
def test_grown(holds: Property) -> None:
    names, longest, count, _ = PROPERTIES[holds]

    tried: list[bool] = []

    @settings(
        max_examples=count,
        derandomize=bool(os.environ.get("CI")),
        database=None,
    )
    @given(grown(list(names), longest))
    def check(recipe: Recipe) -> None:
        tried.append(is_proved(holds, recipe))
        assume(tried[-1])

    check()
    assert_suited(tried)


@EACH
def test_thrown(holds: Property) -> None:
    names, longest, _, count = PROPERTIES[holds]
    hold_for(holds, [thrown(list(names), longest, seed) for seed in range(count)])


@pytest.mark.parametrize(
    "holds", [every_way_to_run_gives_the_same, gradients_run_the_same_simplified_or_not]
)
def test_thrown_where_all_buffers_are_used_again(
    holds: Property, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (memory, pool, code):
        monkeypatch.setattr(module, "SMALLEST", 1)
    names, longest, _, _ = PROPERTIES[holds]
    hold_for(holds, [thrown(list(names), longest, seed) for seed in range(1000, 1100)])
    assert memory.POOL.held > 0
    memory.POOL.clear()


@pytest.mark.parametrize(
    "holds", [every_way_to_run_gives_the_same, gradients_run_the_same_simplified_or_not]
)
def test_thrown_in_blocks(holds: Property, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elementwise operations computed for a few rows at a time."""
    monkeypatch.setattr(blocks, "SMALLEST", 1)
    monkeypatch.setattr(blocks, "SHORTEST", 1)
    monkeypatch.setattr(blocks, "BLOCK", 32)
    made: list[blocks.Block] = []
    build = blocks.Block.__init__

    def counted(block: blocks.Block, *arguments: Any) -> None:
        made.append(block)
        build(block, *arguments)

    monkeypatch.setattr(blocks.Block, "__init__", counted)
    names, longest, _, _ = PROPERTIES[holds]
    hold_for(holds, [thrown(list(names), longest, seed) for seed in range(2000, 2100)])
    assert len(made) > 50


@pytest.mark.parametrize("holds", list(PROPERTIES)[:6], ids=lambda f: f.__name__)
def test_loops(holds: Property) -> None:
    hold_for(holds, [around_a_loop(seed) for seed in range(80)])


def is_proved(holds: Property, recipe: Recipe) -> bool:
    """Whether the recipe is suited; what it then shows is asserted."""
    try:
        holds(recipe)
    except UnsuitedError:
        return False
    return True


def assert_suited(proved: Sequence[bool]) -> None:
    """At most a twentieth of the recipes proves nothing."""
    unsuited = proved.count(False)
    assert unsuited <= 0.05 * len(proved), f"{unsuited} of {len(proved)} recipes prove nothing"


def hold_for(holds: Property, recipes: Sequence[Recipe]) -> None:
    proved = []
    for recipe in recipes:
        try:
            proved.append(is_proved(holds, recipe))
        except BaseException as error:
            error.add_note(f"with {recipe!r}")
            raise
    assert_suited(proved)
