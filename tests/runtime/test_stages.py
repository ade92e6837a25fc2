"""Graphs cut into parts: where an engine declines a primitive, and where sizes follow from data.

The engine under test is NumPy's under another name. It insists on what an engine with static
shapes relies on: in each part, all that decides shapes follows from sizes and from numbers given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from kameleon.engines._base import Executable
from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.engines.numpy.rules import RULES
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.control import cond, run_scan, while_
from kameleon.graph.primitives.indexing import gather, nonzero
from kameleon.graph.primitives.movement import (
    broadcast_to,
    concatenate,
    iota,
    pad,
    reshape,
    slice_axis,
)
from kameleon.graph.primitives.reduce import reduce_max, reduce_prod, reduce_sum
from kameleon.graph.primitives.shaping import follows_from_sizes, shape_inputs, shape_nodes
from kameleon.graph.primitives.sizes import as_node, dims_of, size_of
from kameleon.runtime.stages import build

Array = np.ndarray[Any, Any]
Outputs = Callable[..., Sequence[Node]]


class Checked(Executable):
    """Calls the code; notes what decided shapes."""

    def __init__(self, graph: Graph, inner: Executable):
        self.graph, self.inner = graph, inner
        self.static = shape_inputs(graph)
        self.given: list[list[Any]] = []

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        for x, node in zip(arguments, self.graph.inputs, strict=True):
            assert node.type.accepts(np.shape(x)), "a part was given a value of another shape"
        self.given.append([np.asarray(arguments[i]).tolist() for i in self.static])
        return self.inner(arguments)


class StaticEngine(NumpyEngine):
    """Needs sizes before it makes code, and can't do `nonzero`."""

    name = "static"
    title = "Static"
    static_shapes = True
    declined: ClassVar[dict[str, str]] = {"nonzero": "its result has a size of its own"}

    def __init__(self) -> None:
        self.compiled: list[Checked] = []
        self.rules = {name: rule for name, rule in RULES.items() if name not in self.declined}

    def compile(self, graph: Graph) -> Any:
        """NumPy's code for a graph whose shapes are known."""
        late = shape_nodes(graph) - follows_from_sizes(graph)
        assert not late, f"they decide shapes, and nobody knows them: {late}"
        assert "nonzero" not in {n.primitive.name for n in graph.nodes}, "it was declined"
        self.compiled.append(Checked(graph, super().compile(graph)))
        return self.compiled[-1]


def x_of(*shape: int | None, dtype: str = "float32") -> Node:
    return input_node(TensorType(shape, as_dtype(dtype)))


def run(inputs: Sequence[Node], outputs: Sequence[Node], *values: Any) -> tuple[list[Any], Any]:
    """What the engine's code gives, and the engine."""
    engine = StaticEngine()
    executable = build(simplify(Graph(inputs, outputs), engine.native), engine)
    return list(executable(values)), engine


def parts(engine: StaticEngine) -> int:
    return len(engine.compiled)


# --- one part is enough --------------------------------------------------------------------------


def test_sizes_of_axes_are_known() -> None:
    x = x_of(None, None)
    flat = reshape(x, [ew.mul(size_of(x, 0), size_of(x, 1))])
    (got,), engine = run([x], [flat], np.ones((2, 3), "float32"))
    assert (got.shape, parts(engine)) == ((6,), 1)


def test_a_vector_of_sizes_is_known() -> None:
    x = x_of(None, None)
    shape = concatenate([reshape(as_node(d), [1]) for d in dims_of(x)], 0)
    count = reduce_prod(shape, (0,))
    turned = [reshape(slice_axis(shape, 0, i, i + 1), ()) for i in (1, 0)]
    (a, b), engine = run(
        [x], [reshape(x, turned), iota([count])], np.arange(6, dtype="float32").reshape(2, 3)
    )
    assert (a.shape, b.tolist(), parts(engine)) == ((3, 2), [0, 1, 2, 3, 4, 5], 1)


def test_numbers_that_are_fed_are_known() -> None:
    n = x_of(dtype="int32")
    (got,), engine = run([n], [iota([ew.add(n, n)])], np.int32(2))
    assert got.tolist() == [0, 1, 2, 3]
    assert engine.compiled[0].given == [[2]]


def test_short_vectors_that_are_fed_are_known() -> None:
    x, shape = x_of(None), x_of(2, dtype="int32")
    dims = [reshape(slice_axis(shape, 0, i, i + 1), ()) for i in (0, 1)]
    (got,), engine = run(
        [x, shape], [reshape(x, dims)], np.ones(6, "float32"), np.array([2, 3], "int32")
    )
    assert (got.shape, engine.compiled[0].given) == ((2, 3), [[[2, 3]]])


# --- sizes that follow from data -----------------------------------------------------------------


def test_what_a_size_follows_from_runs_first() -> None:
    x = x_of(None)
    n = ew.cast(reduce_max(x, (0,)), "int32")
    line = ew.add(iota([n]), iota([n]))
    (got, doubled), engine = run([x], [line, ew.add(x, x)], np.array([1, 3], "float32"))
    assert (got.tolist(), doubled.tolist(), parts(engine)) == ([0, 2, 4], [2, 6], 2)
    assert engine.compiled[1].given == [[3]]


def test_sizes_that_follow_from_sizes_that_follow_from_data() -> None:
    x = x_of(None)
    n = ew.cast(reduce_max(x, (0,)), "int32")
    squares = ew.mul(iota([n]), iota([n]))
    (got,), engine = run([x], [iota([reduce_sum(squares, (0,))])], np.array([1, 3], "float32"))
    assert (got.tolist(), parts(engine)) == ([0, 1, 2, 3, 4], 3)


# --- declined primitives -------------------------------------------------------------------------


def test_a_declined_primitive_runs_in_between() -> None:
    x = x_of(None)
    index = reshape(nonzero(ew.square(x)), [-1])
    (got,), engine = run([x], [gather(ew.add(x, x), index, 0)], np.array([0, 2, 0, 3], "float32"))
    assert (got.tolist(), parts(engine)) == ([4, 6], 2)


def test_a_declined_primitive_alone() -> None:
    x = x_of(None)
    (got, same), engine = run([x], [nonzero(x), x], np.array([0, 2, 3], "float32"))
    assert (got.tolist(), same.tolist(), parts(engine)) == ([[1], [2]], [0, 2, 3], 0)


def test_what_needs_nothing_is_in_each_part() -> None:
    """A range without operands is used by the embedded engine and behind it."""
    x = x_of(3)
    line = iota([3], 0, "float32")
    mask = ew.mul(x, line)
    rows = nonzero(mask)
    picked = gather(ew.add(line, line), reshape(rows, [-1]), 0)
    (got, again), _ = run([x], [picked, line], np.array([1, 0, 1], "float32"))
    assert (got.tolist(), again.tolist()) == ([4], [0, 1, 2])


def test_outputs_share_no_memory() -> None:
    x = x_of(None)
    rows = nonzero(x)
    given = np.array([0, 1, 1], "float32")
    (a, b, same), _ = run([x], [rows, rows, x], given)
    assert not np.shares_memory(a, b)
    assert not np.shares_memory(same, given)


# --- conditions ----------------------------------------------------------------------------------


def choice(condition: Node, x: Node, then: Outputs, otherwise: Outputs) -> Node:
    branches = []
    for branch in (then, otherwise):
        param = input_node(x.type)
        branches.append(Graph([param], branch(param)))
    return cond(condition, x, then=branches[0], otherwise=branches[1]).results[0]


def test_a_condition_that_chooses_a_size_runs_first() -> None:
    x = x_of(None)
    positive = ew.gt(reduce_max(x, (0,)), ew.constant(0, "float32"))
    y = choice(positive, x, lambda p: [slice_axis(p, 0, 0, 1)], lambda p: [pad(p, [(1, 1)])])
    for value, length in ((2, 1), (-2, 3)):
        (got,), engine = run([x], [ew.add(y, y)], np.array([value], "float32"))
        assert (len(got), parts(engine)) == (length, 2)


def test_a_condition_between_equal_sizes_stays_inside() -> None:
    x = x_of(None)
    positive = ew.gt(reduce_max(x, (0,)), ew.constant(0, "float32"))
    y = choice(positive, x, lambda p: [ew.exp(p)], lambda p: [ew.neg(p)])
    (got,), engine = run([x], [y], np.array([-2, -1], "float32"))
    assert (got.tolist(), parts(engine)) == ([2, 1], 1)


# --- bodies --------------------------------------------------------------------------------------


def sums(x: Node, step: Callable[[Node, Node], Sequence[Node]]) -> tuple[list[Node], list[Node]]:
    """A scan over the rows of x, with a sum of rows as its state."""
    state, row = x_of(None), x_of(None)
    start = broadcast_to(ew.constant(0, "float32"), [size_of(x, 1)])
    return run_scan(Graph([state, row], step(state, row)), [], [start], [x])


def test_sizes_stacked_by_a_scan_are_known() -> None:
    """Each step gives the same: another scan may make tensors of that size."""
    x = x_of(None, None)

    def grown(state: Node, row: Node) -> Sequence[Node]:
        return [ew.add(state, row), as_node(size_of(pad(row, [(1, 0)]), 0))]

    _, (sizes,) = sums(x, grown)
    total, row, size = x_of(dtype="int32"), x_of(None), x_of(dtype="int32")
    body = Graph([total, row, size], [ew.add(total, reduce_sum(iota([size]), (0,)))])
    start = ew.constant(0, "int32")
    (last,), _ = run_scan(body, [], [start], [x, sizes])
    (got,), engine = run([x], [last], np.ones((2, 3), "float32"))
    assert (got, parts(engine)) == (12, 1)  # twice 0 + 1 + 2 + 3


@pytest.mark.parametrize("what", ["state", "sequence"])
def test_a_loop_whose_sizes_change_from_step_to_step_is_the_embedded_engines(what: str) -> None:
    n, other = x_of(dtype="int32"), x_of(dtype="int32")
    size = {"state": n, "sequence": other}[what]
    body = Graph([n, other], [ew.add(n, reduce_sum(iota([size]), (0,)))])
    xs, start = x_of(None, dtype="int32"), x_of(dtype="int32")
    (last,), _ = run_scan(body, [], [start], [xs])
    (got,), engine = run([start, xs], [ew.add(last, last)], np.int32(3), np.array([4, 2], "int32"))
    # 3 + (0 + 1 + 2) = 6, 6 + (0 + … + 5) = 21; or 3 + (0 + … + 3) = 9, 9 + (0 + 1) = 10
    assert (got, parts(engine)) == ({"state": 42, "sequence": 20}[what], 1)


def test_a_size_that_a_loop_is_given_is_known() -> None:
    size, total = x_of(dtype="int32"), x_of(dtype="int32")
    step = ew.add(total, ew.add(reduce_sum(iota([size]), (0,)), ew.constant(1, "int32")))
    c = x_of(dtype="int32")
    condition = Graph([x_of(dtype="int32"), c], [ew.lt(c, ew.constant(10, "int32"))])
    start = x_of(dtype="int32")
    node = while_(size, start, condition=condition, body=Graph([size, total], [step]), consts=1)
    (got,), engine = run([size, start], [node.results[0]], np.int32(3), np.int32(0))
    assert (got, engine.compiled[0].given) == (12, [[3]])


def counted(row: Node) -> Node:
    return ew.cast(size_of(nonzero(row), 0), "float32")


def test_a_loop_that_holds_a_declined_primitive_is_the_embedded_engines() -> None:
    x = x_of(None, None)
    _, (counts,) = sums(ew.tanh(x), lambda state, row: [ew.add(state, row), counted(row)])
    (got,), engine = run([x], [ew.neg(counts)], np.array([[0, 1, 2], [0, 0, 3]], "float32"))
    assert (got.tolist(), parts(engine)) == ([-2, -1], 2)  # before the loop, and behind it
