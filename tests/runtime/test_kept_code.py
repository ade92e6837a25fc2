"""Compiled code is shared by graphs that are equal bit by bit, and by no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import FLOAT32, TensorType
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.movement import pad
from kameleon.runtime.compiler import compiled
from kameleon.runtime.engines import embedded

P: dict[str, Any] = REGISTRY
MARGIN = ((1, 0),)
NAN = float("nan")
# Attributes that are equal for Python, and are not the same.
UNLIKE: list[tuple[Any, Any]] = [(0.0, -0.0), (0.0, 0), (1, True), (1.0, True), (1.0, 1)]


def graph_of(build: Callable[[Node], Node]) -> Graph:
    x = input_node(TensorType((2,), FLOAT32))
    return Graph([x], [build(x)])


def padded(x: Node, value: Any) -> Node:
    return pad(x, MARGIN, value)


def in_a_branch(x: Node, value: Any) -> Node:
    branch, other = (graph_of(lambda y, v=v: padded(y, v)) for v in (value, 3.0))
    made: Node = P["cond"](constant(True), x, then=branch, otherwise=other)
    return made.results[0]


@pytest.mark.parametrize("build", [padded, in_a_branch])
@pytest.mark.parametrize(("one", "other"), UNLIKE, ids=repr)
def test_keys_compare_types_and_bits(build: Any, one: Any, other: Any) -> None:
    first, again, second = (graph_of(lambda x, v=v: build(x, v)) for v in (one, one, other))
    assert first.key == again.key and hash(first.key) == hash(again.key)
    assert first.key != second.key


@pytest.mark.parametrize("build", [padded, in_a_branch])
def test_nan_is_found_again(build: Any) -> None:
    first, second = (graph_of(lambda x: build(x, float("nan"))) for _ in range(2))
    assert compiled(first, embedded()) is compiled(second, embedded())


def signs(array: Any) -> list[bool]:
    return np.signbit(array).tolist()


def test_code_for_one_zero_does_not_run_for_the_other() -> None:
    made = []
    for value in (0.0, -0.0):
        code = compiled(graph_of(lambda x, v=value: padded(x, v)), embedded())
        made.append(signs(code([np.ones(2, "float32")])[0]))
    assert made == [[False] * 3, [True, False, False]]


def test_equal_nodes_are_merged_only_if_their_bits_are() -> None:
    x = input_node(TensorType((2,), FLOAT32))
    values = (0.0, -0.0, NAN, 0.0, float("nan"))
    simple = simplify(Graph([x], [padded(x, v) for v in values])).outputs
    assert simple[0] is simple[3] and simple[2] is simple[4]
    assert len(set(simple)) == 3


def test_constants_are_folded_by_their_bits() -> None:
    from kameleon.runtime.compiler import _fold

    ones = constant(np.ones(2, "float32"))
    assert [signs(_fold(padded(ones, v), [np.ones(2, "float32")])) for v in (0.0, -0.0)] == [
        [False] * 3,
        [True, False, False],
    ]
