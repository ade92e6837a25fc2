"""Random graphs with their gradients, on every engine that is installed.

What they must give is what the nodes give one by one, each by a program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from _support.random_graphs import SMOOTH, STEPS, Recipe, Trial, around_a_loop, thrown

from kameleon.engines import Engine
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.leaves import CONSTANT, input_node
from kameleon.graph.ir.node import ITEM, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import FLOAT32, FLOAT64, TensorType
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.engines import embedded
from kameleon.runtime.inspection.values import evaluator
from kameleon.testing.comparison.bisect import Search
from kameleon.testing.comparison.problem import Problem
from kameleon.testing.comparison.result import difference

Array = np.ndarray[Any, Any]
# Larger numbers on the way make last bits count.
LARGEST = 1e3
# The last ones have no elements in tensors where libraries didn't expect it.
WILD = [thrown(list(STEPS), 8, seed) for seed in (*range(16), 5012)]
LOOPS = [around_a_loop(seed) for seed in (*range(8), 5020, 5030)]
CALM = [thrown(list(SMOOTH), 8, seed) for seed in range(100, 110)]


def prepared(recipe: Recipe) -> tuple[Graph, list[Array], list[Array]] | None:
    """The last tensor, one on the way, and gradients; feeds, and the values they must have.

    None where a graph proves nothing: it's empty, or leaves the range where digits count.
    """
    trial = Trial(recipe)
    if not trial.made:
        return None
    last = trial.made[-1]
    parts = gradients(reduce_sum(last, range(last.ndim)), trial.inputs)
    outputs = [
        last,
        trial.made[recipe.seed % len(trial.made)],
        *(g for g in parts if g is not None),
    ]
    expected = [trial.value(x) for x in outputs]
    sizes = [np.abs(v).max() for v in map(np.asarray, trial.values.values()) if v.size]
    if not np.isfinite(sizes).all() or max(sizes, default=0) > LARGEST:
        return None
    return Graph(trial.inputs, outputs), trial.feeds, expected


def narrowed(graph: Graph) -> Graph:
    """The same graph in float32."""
    new: dict[Node, Node] = {}
    for x in graph.inputs:
        new[x] = input_node(TensorType(x.shape, FLOAT32 if x.dtype == FLOAT64 else x.dtype))
    for node in graph.nodes[len(graph.inputs) :]:
        if node.primitive is ITEM:
            new[node] = new[node.operands[0]].results[node.attrs["index"]]
        elif node.primitive is CONSTANT:
            array = node.attrs["value"].array
            new[node] = constant(array, FLOAT32 if node.dtype == FLOAT64 else node.dtype)
        else:
            attrs = {k: narrow_attribute(v) for k, v in node.attrs.items()}
            new[node] = node.primitive(*(new[x] for x in node.operands), **attrs)
    return Graph([new[x] for x in graph.inputs], [new[x] for x in graph.outputs])


def narrow_attribute(value: Any) -> Any:
    if isinstance(value, Graph):
        return narrowed(value)
    return FLOAT32 if isinstance(value, str) and value == FLOAT64 else value


def agrees(engine: Engine, graph: Graph, feeds: Sequence[Array], expected: list[Array]) -> bool:
    """Whether it gives what is expected; fails if it doesn't, and one node is to blame.

    Where a number lies at a step (of `floor`, say), last bits decide: nobody is to blame then.
    """
    got = evaluator(engine)(graph, feeds)
    found = [
        difference(f"output {i}", *pair) for i, pair in enumerate(zip(got, expected, strict=True))
    ]
    if all(d.within() for d in found):
        return True
    problem = Problem(graph, list(feeds), frozenset(), [d.name for d in found])
    first = Search(problem, embedded(), engine).first()
    assert first is None or not first.alone, f"{found}\n{first}"
    return False


def hold(engine: Engine, recipes: Sequence[Recipe], dtype: str = "float64") -> None:
    """Every graph agrees; each proves something."""
    for recipe in recipes:
        found = prepared(recipe)
        assert found is not None, f"it proves nothing: choose another recipe than {recipe!r}"
        graph, feeds, expected = found
        if dtype == "float32":
            graph = narrowed(graph)
            feeds = [x.astype(dtype) for x in feeds]
            expected = evaluator(embedded())(graph, feeds)
        try:
            assert agrees(engine, graph, feeds, expected), "at a step, where last bits decide"
        except BaseException as error:
            error.add_note(f"with {recipe!r}")
            raise


@pytest.mark.parametrize("recipes", [CALM, WILD, LOOPS], ids=["smooth", "steps", "loops"])
def test_graphs(engine: Engine, recipes: list[Recipe]) -> None:
    hold(engine, recipes)


@pytest.mark.parametrize("recipes", [CALM, LOOPS], ids=["smooth", "loops"])
def test_single_precision(engine: Engine, recipes: list[Recipe]) -> None:
    hold(engine, recipes, "float32")
