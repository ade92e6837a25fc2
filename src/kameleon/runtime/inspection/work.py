"""How much work nodes are: operations and bytes, and how fast an engine does them at best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ...engines._base import Engine
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, bodies
from ...graph.ir.types import FLOAT32, TensorType
from ...graph.passes.windows import inferred_dims
from ...graph.primitives.control import scan_parts
from ...graph.primitives.elementwise import add
from ...graph.primitives.linalg import matmul
from ..compiler import compiled_anew
from ..engines import embedded
from .values import evaluator


class Work(NamedTuple):
    """What a node's results cost: floating point operations, and bytes read and written."""

    flops: float
    bytes: float


class Peak(NamedTuple):
    """What an engine reaches here: operations per second in a product of matrices, and bytes per
    second in a sum of large arrays.
    """

    flops: float
    bandwidth: float

    def share(self, work: Work, seconds: float) -> float:
        """How near to the limit work was done: 1, if neither could have been done faster."""
        least = max(work.flops / self.flops, work.bytes / self.bandwidth)
        return least / seconds if seconds else 0.0


# The sizes of nodes in a call; what isn't there isn't known.
Shapes = Mapping[Node, tuple[int, ...]]


def _elements(node: Node, shapes: Shapes) -> float:
    """NaN, where a size isn't known."""
    return math.prod(shapes[node]) if node in shapes else math.nan


def _contracted(node: Node, shapes: Shapes) -> float:
    factor = node.operands[0]
    if factor not in shapes:
        return math.nan
    over: float = math.prod(shapes[factor][axis] for axis in node.attrs["over"][0])
    return 2 * _elements(node, shapes) * over


def _of_kernel(node: Node, shapes: Shapes) -> float:
    """Of a convolution: each place sees the cells of the window, of all channels that come in."""
    kernel = _part(node, "kernel")
    channels = shapes[kernel][-2] if kernel in shapes else math.nan
    return _of_window(node, shapes) * channels


def _of_window(node: Node, shapes: Shapes) -> float:
    """Each place sees the cells of the window."""
    cells = float(node.attrs["window"].cells)
    return 2 * _elements(_part(node, "places"), shapes) * cells


def _part(node: Node, name: str) -> Node:
    *parts, result = map(str, node.primitive.parts)
    return node.results[0] if result == name else node.operands[parts.index(name)]


# By primitive that does more than one operation for each element: how many it does.
FLOPS: Mapping[str, Callable[[Node, Shapes], float]] = {
    "contract": _contracted,
    **dict.fromkeys(("conv", "conv_input", "conv_kernel"), _of_kernel),
    **dict.fromkeys(("depthwise_conv", "depthwise_input", "depthwise_kernel"), _of_window),
}


def work_of(node: Node, shapes: Shapes) -> Work:
    """The work that a node is; NaN, where sizes aren't known. Loops are the work of their steps.

    >>> a, b = (input_node(TensorType((100, 100), FLOAT32)) for _ in "ab")
    >>> product = matmul(a, b)
    >>> work_of(product, dict.fromkeys((a, b, product), (100, 100)))
    Work(flops=2000000, bytes=120000)
    """
    tensors = [x for x in (*node.results, *node.operands) if isinstance(x.type, TensorType)]
    moved = sum(_elements(x, shapes) * x.dtype.itemsize for x in tensors)
    flops = FLOPS.get(node.primitive.name)
    if flops is not None:
        return Work(flops(node, shapes), moved)
    return Work(sum(_elements(x, shapes) for x in node.results), moved)


class Sized:
    """The sizes of nodes in a call, and how often they're computed, those of bodies, too.

    Args:
        graph: pure.
        values: of its inputs, as NumPy arrays.

    Attributes:
        shapes: by node; where a size follows from data in a loop, it's that for zeros.
        times: by node; NaN, where that's open.
    """

    def __init__(self, graph: Graph, values: Sequence[Any]) -> None:
        self.shapes: dict[Node, tuple[int, ...]] = {}
        self.times: dict[Node, float] = {}
        self._evaluate = evaluator(embedded())
        self._add(graph, values, 1.0)

    def _add(self, graph: Graph, values: Sequence[Any], times: float) -> None:
        shapes = self.shapes
        shapes.update((x, np.shape(v)) for x, v in zip(graph.inputs, values, strict=True))
        rest = [n for n in graph.nodes if isinstance(n.type, TensorType) and n not in shapes]
        dims = {node: inferred_dims(node) for node in rest}
        unknown = [d for sizes in dims.values() for d in sizes if isinstance(d, Node)]
        found = self._evaluate(graph.to(unknown), values) if unknown else []
        known = dict(zip(unknown, map(int, found), strict=True))
        shapes.update(
            (node, tuple(known[d] if isinstance(d, Node) else d for d in sizes))
            for node, sizes in dims.items()
        )
        for node in graph.nodes:
            self.times[node] = times
            for body in bodies(node):
                self._add_body(node, body, times)

    def _add_body(self, node: Node, body: Graph, times: float) -> None:
        operands, steps, sequences = node.operands, math.nan, 0
        if node.primitive.name == "cond":
            operands, steps = operands[1:], 1.0
        elif node.primitive.name == "scan":
            sequences = len(scan_parts(node)[2])
            steps = self.shapes[operands[-1]][0]
        first = len(operands) - sequences
        shapes = [self.shapes[x][i >= first :] for i, x in enumerate(operands)]
        given = [np.zeros(s, x.dtype) for s, x in zip(shapes, body.inputs, strict=True)]
        self._add(body, given, times * steps)


def limit(graph: Graph, values: Sequence[Any], reached: Peak) -> float:
    """The seconds that a call takes at the least: all its operations in the time of a product of
    matrices, or reading its inputs and writing its results in the time of a sum.

    >>> a, b = (input_node(TensorType((100, 100), FLOAT32)) for _ in "ab")
    >>> ones = np.ones((100, 100), "float32")
    >>> product, reached = Graph([a, b], [matmul(a, b)]), Peak(flops=2e9, bandwidth=1e9)
    >>> round(limit(product, [ones, ones], reached), 4)
    0.001
    """
    sized = Sized(graph, values)
    works = ((times, work_of(x, sized.shapes).flops) for x, times in sized.times.items())
    flops = sum(n for times, f in works if not math.isnan(n := times * f))
    ends = {x for x in (*graph.inputs, *graph.outputs) if x in sized.shapes}
    moved = sum(_elements(x, sized.shapes) * x.dtype.itemsize for x in ends)
    return max(flops / reached.flops, moved / reached.bandwidth)


# What is tried: products of square matrices of this side, and sums of so many elements, which
# caches hold.
SIDE, LARGE, TRIALS = 1024, 1 << 18, 20


@cache
def peak(engine: Engine) -> Peak:
    """What an engine reaches on this machine, in its fastest of several tries."""
    a, b = (input_node(TensorType((SIDE, SIDE), FLOAT32)) for _ in range(2))
    product = matmul(a, b)
    x, y = (input_node(TensorType((LARGE,), FLOAT32)) for _ in range(2))
    total = add(x, y)
    return Peak(
        2 * SIDE**3 / _fastest(engine, Graph([a, b], [product])),
        3 * LARGE * FLOAT32.itemsize / _fastest(engine, Graph([x, y], [total])),
    )


def _fastest(engine: Engine, graph: Graph) -> float:
    given = [engine.from_numpy(np.ones(x.shape, np.float32)) for x in graph.inputs]
    call = compiled_anew(graph, engine)
    call(given)
    best = math.inf
    for _ in range(TRIALS):
        start = perf_counter()
        engine.to_numpy(call(given)[0], copy=False)[:1]
        best = min(best, perf_counter() - start)
    return best
