"""Elementwise operations on large arrays, block by block: what lies between stays in the cache.

A run is elementwise nodes of one shape that are computed one behind the other. It becomes one
function, which is called for some rows of all arrays at a time. Only what is needed behind the
run is ever in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...graph.ir.context import context, rewriting
from ...graph.ir.leaves import CONSTANT, input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.sizes import Sizes
from ...graph.ir.types import TensorType
from ...graph.primitives.constants import bare
from ...graph.primitives.movement import broadcast_to
from ...graph.primitives.sizes import size_of
from .._kernels.buffers import is_large

# A run gains by the values that are never in memory as a whole: it has so many of them at least.
SHORTEST = 3
# Bytes of one array in a block: several such parts fit the cache of a processor's core.
BLOCK = 512 * 1024
# Smaller arrays are computed as wholes.
SMALLEST = 4 * BLOCK


class Run:
    """Nodes that can be computed together, block by block along the first axis.

    Args:
        sizes: what is known of the graph.
    """

    def __init__(self, sizes: Sizes):
        self.sizes = sizes
        self.nodes: dict[Node, None] = {}

    def takes(self, node: Node) -> bool:
        """Add an elementwise node, if it can be computed with the run; whether it was added."""
        if not node.shape or not self._may_be_large(node):
            return False
        fits = all(self._has_sizes(x, node) for x in (node, *node.operands)) and all(
            x in self.nodes or self._is_given(x) for x in node.operands
        )
        if fits:
            self.nodes[node] = None
        return fits

    def block(self, users: dict[Node, list[Node]], results: Collection[Node]) -> Block | None:
        """The nodes as a block, if there are so many that it pays.

        Args:
            users: by node of the whole graph, the nodes that use it as an operand.
            results: nodes whose values are results of the program.
        """
        outputs = [
            n for n in self.nodes if n in results or not self.nodes.keys() >= {*users.get(n, ())}
        ]
        full = [x for n in self.nodes for x in n.operands if x not in self.nodes and bare(x) is x]
        short = len(self.nodes) - len(outputs) < SHORTEST
        return None if short or not full else Block(self.nodes, outputs, full)

    @staticmethod
    def _may_be_large(node: Node) -> bool:
        return None in node.shape or is_large(node.shape, node.dtype.itemsize, SMALLEST)

    def _has_sizes(self, x: Node, node: Node) -> bool:
        """Whether x provably has the sizes of the run, which may begin with `node`."""
        model = next(iter(self.nodes), node)
        return len(x.shape) == len(model.shape) and all(
            self.sizes.of(x, i) == self.sizes.of(model, i) for i in range(len(x.shape))
        )

    def _is_given(self, x: Node) -> bool:
        """Whether each block can be given its rows of x, or of the node that x broadcasts."""
        base = bare(x)
        return _is_steady(base, x) or self.sizes.of(base, 0) == self.sizes.of(x, 0)


def _is_steady(base: Node, x: Node) -> bool:
    """Whether `base`, which `x` broadcasts, is the same for all rows of `x`."""
    return len(base.shape) < len(x.shape) or (base is not x and base.shape[0] == 1)


class Block:
    """A run as a graph over some rows.

    Attributes:
        outputs: the nodes of the run that are needed behind it.
        sliced: the operands from outside of which some rows are given; the graph's first inputs.
        whole: the operands from outside that are given whole; the graph's other inputs.
        graph: the graph of the outputs' rows.
    """

    def __init__(self, nodes: Collection[Node], outputs: Sequence[Node], full: Sequence[Node]):
        self.outputs = list(outputs)
        self._sliced = {x: _rows_of(x) for x in full}
        self._full = list(self._sliced.values())
        self._whole: dict[Node, Node] = {}
        first = self._full[0]
        self._dims = [size_of(first, i) for i in range(len(first.shape))]
        new = rewriting(self._rebuilt, nodes)
        self.sliced, self.whole = list(self._sliced), list(self._whole)
        params = [*self._sliced.values(), *self._whole.values()]
        self.graph = Graph(params, [new[n] for n in outputs])

    def _rebuilt(self, nodes: Collection[Node]) -> dict[Node, Node]:
        new: dict[Node, Node] = {}
        for node in nodes:
            context.source = node._source
            given = [new[x] if x in new else self._given(x) for x in node.operands]
            new[node] = node.primitive(*given, **node.attrs)
        return new

    def _given(self, x: Node) -> Node:
        """What stands for an operand from outside."""
        base = bare(x)
        if base is x:
            return self._sliced[x]
        if not _is_steady(base, x):
            inner = self._sliced.setdefault(base, _rows_of(base))
        elif base.primitive is CONSTANT and not base.shape:
            inner = base
        else:
            inner = self._whole.setdefault(base, input_node(base.type))
        return broadcast_to(inner, self._dims)

    def state_sizes(self, sizes: Sizes) -> None:
        """State that all sliced operands are given the same rows."""
        first = self._full[0]
        for x in self._sliced.values():
            for axis in range(len(x.shape) if x in self._full else 1):
                sizes.state(sizes.of(first, axis), sizes.of(x, axis))


def _rows_of(x: Node) -> Node:
    """A parameter for some rows of `x`."""
    return input_node(TensorType((None, *x.shape[1:]), x.dtype))


def blockwise(
    empty: Callable[[Sequence[int], str], Any],
    copy: Callable[[Any, Any], Any],
    is_dense: Callable[[Any], bool],
) -> Callable[..., Sequence[Any]]:
    """A function that computes a block's outputs, for arrays of any size.

    Args:
        empty: makes an array of a shape and a dtype.
        copy: copies the second array into the first one.
        is_dense: whether an array's rows lie one behind the other.
    """

    def blocked(
        step: Callable[..., Sequence[Any]],
        sliced: Sequence[Any],
        whole: Sequence[Any],
        dtypes: Sequence[str],
    ) -> Sequence[Any]:
        x = sliced[0]
        if x.nbytes < SMALLEST or not all(map(is_dense, sliced)):
            return step(*sliced, *whole, *[None] * len(dtypes))
        total = len(x)
        rows = max(1, BLOCK * total // x.nbytes)
        rooms = [empty(x.shape, dtype) for dtype in dtypes]
        for a in range(0, total, rows):
            part = slice(a, a + rows)
            places = [room[part] for room in rooms]
            results = step(*[x[part] for x in sliced], *whole, *places)
            for place, y in zip(places, results, strict=True):
                if y is not place:
                    copy(place, y)
        return rooms

    return blocked
