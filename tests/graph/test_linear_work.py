"""Simplifying takes work in proportion to the graph: counted in visits of nodes, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.graph.analysis import intervals
from kameleon.graph.ir import node as nodes
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.passes.simplify import simplify
from kameleon.runtime.engines import embedded

UNITS = 2


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many nodes each walk meets."""
    counts: list[int] = []
    walk = nodes.walk

    def counted(outputs: Iterable[Node], stop: Collection[Node] = ()) -> list[Node]:
        found = walk(outputs, stop)
        counts.append(len(found))
        return found

    for name, module in list(sys.modules.items()):
        if name.startswith("kameleon.") and getattr(module, "walk", None) is walk:
            monkeypatch.setattr(module, "walk", counted)
    yield counts


def weights() -> list[Any]:
    return [K.variable(np.full((UNITS, UNITS), 0.1)) for _ in range(2)]


def layers(count: int) -> Graph:
    """Recurrent layers, one on the other, and the gradients of their weights."""
    x = h = K.placeholder((1, 3, UNITS))
    everything = []
    for _ in range(count):
        w, u = weights()
        everything += [w, u]

        def step(x: Any, states: Any, w: Any = w, u: Any = u) -> Any:
            y = K.tanh(K.dot(x, w) + K.dot(states[0], u))
            return y, [y]

        _, h, _ = K.rnn(step, h, [K.zeros((1, UNITS))])
    return Graph([x, *everything], K.gradients(K.mean(h), everything))


def deep_step(count: int) -> Graph:
    """One recurrent layer whose step is long, and its gradients."""
    x, (w, u) = K.placeholder((1, 3, UNITS)), weights()

    def step(x: Any, states: Any) -> Any:
        y = states[0]
        for _ in range(count):
            y = K.tanh(K.dot(x, w) + K.dot(y, u)) * K.sigmoid(x)
        return y, [y]

    last, _, _ = K.rnn(step, x, [K.zeros((1, UNITS))])
    return Graph([x, w, u], K.gradients(K.mean(last), [w, u]))


def branches(count: int) -> Graph:
    """Recurrent layers side by side over one input, in both directions."""
    x, (w, u) = K.placeholder((1, 3, UNITS)), weights()
    total = 0.0
    for number in range(count):

        def step(x: Any, states: Any) -> Any:
            y = K.tanh(K.dot(x, w) * 2.0 + K.dot(states[0], u))
            return y, [y]

        start = K.constant(np.full((1, UNITS), number))
        last, _, _ = K.rnn(step, x, [start], go_backwards=bool(number % 2))
        total = total + K.sum(last)
    return Graph([x, w, u], K.gradients(total, [w, u]))


@pytest.mark.parametrize("build", [layers, deep_step, branches])
def test_twice_the_graph_is_twice_the_work(
    build: Callable[[int], Graph], visits: list[int]
) -> None:
    work = []
    for count in (8, 16, 32):
        graph = build(count)
        visits.clear()
        first = nodes.new_serial()
        simplify(graph, embedded().native)
        work.append((sum(visits), nodes.new_serial() - first))
    for kind in zip(*work, strict=True):  # visits, nodes made
        assert kind[1] < 2.2 * kind[0]
        assert kind[2] < 2.2 * kind[1], kind


def test_what_is_used_twice_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a chain of squares would take a power of two of its length."""
    looked = []
    rule = intervals.RULES["mul"]
    monkeypatch.setitem(intervals.RULES, "mul", lambda n, of: looked.append(n) or rule(n, of))
    x = K.tanh(K.placeholder((2,)))
    for _ in range(intervals.DEPTH - 2):
        x = x * x
    assert intervals.range_of(x, {}) == (0.0, 1.0)
    assert len(looked) == intervals.DEPTH - 2


def test_layers_over_one_another_are_merged_in_one_go() -> None:
    """The gradient's forward scans become the original ones, in all layers."""
    graph = simplify(layers(6))
    scans = [n for n in graph.nodes if n.primitive.name == "scan"]
    assert len(scans) == 12  # forwards and backwards
