"""Checks as flags: what one engine reports by raising, a flagged graph reports as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines._flags import flagged
from kameleon.errors import KameleonError
from kameleon.graph.analysis.agreement import sizes_of
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.verify import verify
from kameleon.graph.passes.indices import INDEXED, with_checked_indices
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.elementwise import cast, constant, maximum, minimum, sub
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.movement import broadcast_to
from kameleon.graph.primitives.sizes import as_node, dims_of
from kameleon.runtime.engines import embedded
from kameleon.runtime.function import Function

Build = Callable[[Node, Node], Any]
TABLE = np.arange(12.0, dtype="float32").reshape(4, 3)


def in_a_scan(x: Node, i: Node) -> Any:
    """One step for each index."""

    def step(at: Node, states: list[Node]) -> tuple[Node, list[Node]]:
        row = K.gather(x, K.cast(at, "int32"))
        return row + states[0], [row + states[0]]

    sequence = K.expand_dims(K.expand_dims(K.cast(i, "float32"), -1), 0)
    return K.rnn(lambda t, s: step(t[:, 0], s), sequence, [K.constant(np.zeros((1, 3)))])[0]


def in_a_branch(x: Node, i: Node) -> Any:
    first = K.sum(K.cast(i, "float32"))
    return K.switch(first > 0.0, lambda: K.gather(x, i) * 2.0, lambda: K.gather(x, i - i) * 3.0)


def in_a_loop(x: Node, i: Node) -> Any:
    """Counts up to the largest index, reading the row before each step."""
    top = K.max(i)
    return K.while_loop(
        lambda n, total: n <= top,
        lambda n, total: [n + 1, total + K.sum(K.gather(x, n))],
        [top * 0, K.constant(0.0)],
    )[1]


def in_a_loops_condition(x: Node, i: Node) -> Any:
    """The condition reads one row more than the body."""
    top = K.max(i)
    return K.while_loop(
        lambda n: K.any(K.gather(x[:, 1], n) < K.cast(top, "float32") * 3.0),
        lambda n: [n + 1],
        [top * 0],
    )


@dataclass(frozen=True)
class Program:
    """What is built over a table (None, 3) and indices (None,); indices that are right, wrong."""

    build: Build
    right: Sequence[int]
    wrong: Sequence[int]


PROGRAMS = {
    "gather": Program(lambda x, i: K.gather(x, i), [0, 3], [0, 4]),
    "negative": Program(lambda x, i: K.gather(x, i), [0, 3], [-1, 2]),
    "two": Program(lambda x, i: K.gather(x, i) + K.gather(x, i - 1), [1, 3], [0, 3]),
    "slope": Program(
        lambda x, i: K.gradients(K.sum(K.square(K.gather(x, i))), [x])[0], [0, 3], [0, 9]
    ),
    "scan": Program(in_a_scan, [0, 3, 1], [0, 4, 1]),
    "branch": Program(in_a_branch, [1, 3], [1, 7]),
    "branch not taken": Program(in_a_branch, [0, 0], [1, 7]),
    "loop": Program(in_a_loop, [1, 3], [1, 4]),
    "condition": Program(in_a_loops_condition, [0, 3], [0, 9]),
    "sizes": Program(lambda x, i: K.sum(K.cast(i, "float32") + x[:, 0]), [0, 0, 0, 0], [0, 0]),
}


def raising(function: Function, feeds: Sequence[Any]) -> bool:
    """Whether the embedded engine, which checks by itself, refuses these values."""
    try:
        function(feeds)
    except KameleonError:
        return True
    return False


def clipped(graph: Graph) -> Graph:
    """The graph as an engine runs it that checks nothing: indices are moved into the range."""
    new: dict[Node, Node] = {n: n for n in graph.inputs}
    for node in graph.nodes[len(graph.inputs) :]:
        operands = [new[n] for n in node.operands]
        attrs = {k: clipped(v) if isinstance(v, Graph) else v for k, v in node.attrs.items()}
        if node.operands:
            new[node] = node.primitive(*operands, **attrs)
        else:
            new[node] = node
        if node.primitive.bound is not None:
            size = node.primitive.bound(new[node])
            index = new[node].operands[node.primitive.index or 0]
            top = sub(as_node(size), constant(1, "int32"))
            inside = maximum(full_like(index, 0), minimum(index, broadcast_like_index(top, index)))
            operands = [inside if n is index else n for n in operands]
            new[node] = node.primitive(*operands, **attrs)
    return Graph(graph.inputs, [new[n] for n in graph.outputs])


def broadcast_like_index(top: Node, index: Node) -> Node:
    return broadcast_to(cast(top, index.dtype), dims_of(index))


@pytest.mark.parametrize("name", PROGRAMS)
def test_flags_say_what_the_embedded_engine_says(name: str) -> None:
    program = PROGRAMS[name]
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    made = program.build(x, i)
    function = Function([x, i], list(made) if isinstance(made, (list, tuple)) else [made])
    graph = simplify(function.graph(), embedded().native)
    checked = with_checked_indices(graph, INDEXED)
    with_flags, flags = flagged(checked, sizes_of(checked))
    verify(with_flags)
    assert flags
    # Of the outputs only the flags: the others can't be computed where a check fails.
    unchecked = embedded().compile(clipped(Graph(with_flags.inputs, with_flags.outputs[-1:])))
    for indices, fails in ((program.right, False), (program.wrong, True)):
        given = [TABLE, np.array(indices, "int32")]
        assert raising(function, given) == fails
        (found,) = unchecked(given)
        assert (found.dtype, found.shape) == (bool, (len(flags),))
        assert found.any() == fails, [f for f, hit in zip(flags, found, strict=True) if hit]


def test_nothing_to_check_changes_nothing() -> None:
    x, y = K.placeholder((2, 3)), K.placeholder((2, 3))
    graph = simplify(Function([x, y], [x + y]).graph(), embedded().native)
    assert with_checked_indices(graph, INDEXED) is graph
    assert flagged(graph, sizes_of(graph)) == (graph, [])


def test_indices_are_checked_once() -> None:
    x, i = K.placeholder((4, 3)), K.placeholder((None,), dtype="int32")
    loss = K.sum(K.square(K.gather(x, i))) + K.sum(K.gather(x, K.constant([0, 3], "int32")))
    graph = simplify(Function([x, i], K.gradients(loss, [x])).graph(), embedded().native)
    for unchecked, count in (({"gather"}, 0), ({"scatter_add"}, 0), (INDEXED, 1), ((), 0)):
        checked = with_checked_indices(graph, unchecked)
        assert sum(n.primitive.name == "check" for n in checked.nodes) == count
