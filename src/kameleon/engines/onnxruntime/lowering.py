"""From a graph to an ONNX graph, whose values are names; what rules need besides operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import Dim, Shape
from .._lowering import Lowering, Rule
from .model import ONNX_TYPES, Body, Writer, typed


class OnnxLowering(Lowering):
    """Writes one graph; see `Lowering`. Sizes are int64 vectors, as ONNX wants them."""

    title = "ONNX Runtime"
    rules: Mapping[str, Rule] = {}
    has_bitcast = True  # older sets of operators lack it,
    reduces_bools = True  # and have extrema of numbers alone

    def __init__(self, graph: Graph, arguments: Sequence[str], writer: Writer):
        super().__init__(graph, arguments)
        self.writer = writer
        self.op, self.scalar, self.ints = writer.op, writer.scalar, writer.ints
        self._uses: Counter[Node] | None = None

    def _visit(self, node: Node) -> None:
        outer, self.writer.shared.node = self.writer.shared.node, node
        super()._visit(node)
        self.writer.shared.node = outer

    # What the walk asks for --------------------------------------------------------------------

    def constant(self, array: Any) -> str:
        """See `Lowering.constant`."""
        return self.writer.constant(array)

    def size(self, value: str, axis: int) -> str:
        """See `Lowering.size`."""
        return value

    def agree(self, node: Node, sizes: list[Any]) -> None:
        """Does nothing: the graph has flags for it (`flagged`)."""

    def used_once(self, node: Node) -> bool:
        """Whether the value of a node is needed only once."""
        if self._uses is None:
            self._uses = Counter(self.graph.outputs)
            for user in self.graph.nodes:
                self._uses.update(user.operands)
        return self._uses[node] == 1

    # Bodies ------------------------------------------------------------------------------------

    def body(self, graph: Graph, arguments: Sequence[str | None]) -> Body:
        """A graph as a body.

        Args:
            graph: the closed graph.
            arguments: for each of its inputs a value from outside, or None: a parameter.
        """
        inner, params = self.opened(graph, arguments)
        return inner.writer.body(params, inner.run(), [y.type for y in graph.outputs])

    def opened(
        self, graph: Graph, arguments: Sequence[str | None]
    ) -> tuple[OnnxLowering, list[Any]]:
        """A body to be written: its lowering, and its parameters."""
        writer = Writer(self.writer)
        names, params = [], []
        for node, outer in zip(graph.inputs, arguments, strict=True):
            name = outer or writer.shared.name()
            names.append(name)
            if outer is None:
                params.append(typed(name, node.dtype, None))
        return type(self)(graph, names, writer), params

    # Values --------------------------------------------------------------------------------------

    def cast(self, x: str, dtype: str) -> str:
        """x as `dtype`."""
        return self.op("Cast", x, to=ONNX_TYPES[dtype])

    # Sizes ---------------------------------------------------------------------------------------

    def extent(self, size: Node) -> str:
        """See `Lowering.extent`: an int64 vector of one element."""
        node = size
        while node.primitive.name == "cast" and node.operands[0].dtype.is_integer:
            node = node.operands[0]
        if node.primitive is CONSTANT:
            return self.ints(int(node.attrs["value"].array))
        if node.primitive.name == "size":
            return self.axis(self.value(node.operands[0]), node.attrs["axis"])
        return self.op("Reshape", self.cast(self.value(size), "int64"), self.ints(1))

    def axis(self, value: str, axis: int) -> str:
        """The size of an axis of a value, as an int64 vector of one element."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def joined(self, parts: Sequence[Any]) -> str:
        """An int64 vector of ints, size operands, and vectors (names)."""
        pieces: list[str] = []
        known: list[int] = []
        for part in parts:
            if isinstance(part, int):
                known.append(part)
                continue
            if known:
                pieces.append(self.ints(*known))
                known = []
            pieces.append(self.extent(part) if isinstance(part, Node) else part)
        if known or not pieces:
            pieces.append(self.ints(*known))
        if len(pieces) == 1:
            return pieces[0]
        return self.op("Concat", *pieces, axis=0)

    def dim(self, node: Node, axis: int) -> int | str:
        """The size of an axis: an int, or else an int64 vector of one element."""
        size = node.shape[axis]
        return self.axis(self.value(node), axis % len(node.shape)) if size is None else size

    def dims_of(self, node: Node, axes: Sequence[int]) -> list[int | str]:
        """The sizes of some axes, each as `dim` gives it."""
        return [self.dim(node, a) for a in axes]

    def product(self, dims: Sequence[int | str]) -> int | str:
        """The product of sizes."""
        known = int(np.prod([d for d in dims if isinstance(d, int)], dtype=np.int64))
        total: str | None = None
        for d in dims:
            if isinstance(d, str):
                total = d if total is None else self.op("Mul", total, d)
        if total is None or known == 0:
            return known
        return total if known == 1 else self.op("Mul", total, self.ints(known))

    def reshape(self, x: str, dims: Sequence[Any]) -> str:
        """x in the shape of ints, size operands, and vectors."""
        return self.op("Reshape", x, self.joined(dims), allowzero=1)

    def transpose(self, x: str, perm: Sequence[int]) -> str:
        """x with its axes in another order."""
        perm = list(perm)
        if perm == sorted(perm):
            return x
        return self.op("Transpose", x, perm=perm)

    def filled(self, value: Any, dtype: str, dims: Sequence[Any]) -> str:
        """A number in each element of a new value."""
        return self.op("Expand", self.scalar(value, dtype), self.joined(dims))


def known_product(shape: Shape) -> Dim:
    """The number of elements, where it's known."""
    if None in shape:
        return None
    return int(np.prod(np.array(shape, np.int64), dtype=np.int64))
