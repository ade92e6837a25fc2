"""From a graph to tensors in a tf.function that is being traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType
from ...graph.primitives.constants import has_no_reciprocal
from .._lowering import Lowering, Value
from . import kernels
from .kernels import raw

Axis = tuple[Node, int]
# Arrays with more bytes aren't written into the graph, but handed to it at each call.
LARGEST_CONSTANT = 1 << 16


class Tracing(Lowering):
    """Values are symbolic tensors; sizes are ints or int32 scalars.

    Attributes:
        pools: for a `max_pool` node what its gradient needs of it.
        losses: for (p, labels, axis) of a crossentropy p with 1 taken off at the labels.
    """

    title = "TensorFlow"

    def __init__(self, graph: Graph, arguments: Sequence[Value]):
        super().__init__(graph, arguments)
        self.pools: dict[Node, Any] = {}
        self.losses: dict[tuple[Node, Node, int], Value] = {}
        self._shapes: dict[Any, Value] = {}
        self._pairs: list[tuple[Value, Value]] = []
        self._kept: Sequence[tuple[Node, Node]] = ()

    def step(self, graph: Graph, arguments: Sequence[Value], states: slice) -> list[Value]:
        """`inner`, for the body of a loop: the inputs `states` keep their sizes."""
        inner = type(self)(graph, arguments)
        inner._kept = list(zip(graph.inputs[states], graph.outputs, strict=False))
        return inner.run()

    def run(self) -> list[Value]:
        """See `Lowering.run`; the sizes that must agree are compared all at once."""
        values = super().run()
        for place, (old, new) in enumerate(self._kept):
            unknown = [i for i, d in enumerate(old.shape) if d is None]
            self.agree_on_each(new, [((old, i), (new, i)) for i in unknown])
            values[place] = kernels.of_shape(values[place], old.shape)
        if self._pairs:
            left, right = (kernels.vector(list(side)) for side in zip(*self._pairs, strict=True))
            same = raw.All(input=raw.Equal(x=left, y=right), axis=[0])
            kernels.required(same, "sizes that were taken as equal differ")
        return values

    def _visit(self, node: Node) -> None:
        """See `Lowering._visit`. What is known to have no elements is a constant, whose checks
        stay: the optimiser divides by numbers of elements, which ends the process (2.21).
        """
        super()._visit(node)
        if isinstance(node.type, TensorType) and node.type.is_static and 0 in node.shape:
            self.values[node] = tf.zeros(node.shape, str(node.dtype))

    def constant(self, array: Any) -> Value:
        """See `Lowering.constant`."""
        if array.nbytes <= LARGEST_CONSTANT and not has_no_reciprocal(array):
            return tf.constant(array, dtype=array.dtype)
        with tf.init_scope():  # an array outside of the graph, which gets it as an argument
            return tf.constant(array, dtype=array.dtype)

    def size(self, value: Value, axis: int) -> Value:
        """See `Lowering.size`."""
        axis %= len(value.shape)
        known = value.shape[axis]
        if known is not None:
            return int(known)
        key = value.ref()
        if key not in self._shapes:
            self._shapes[key] = raw.Shape(input=value)
        return kernels.element(self._shapes[key], axis)

    def stretched(self, node: Node) -> Sequence[Node]:
        """See `Lowering.stretched`: of many axes TensorFlow stretches numbers alone."""
        operands = super().stretched(node)
        if not node.primitive.elementwise or len(node.shape) <= kernels.MOST_AXES:
            return operands
        pairs = zip(operands, node.operands, strict=True)
        return [bare if bare.shape == () else whole for bare, whole in pairs]

    def agree(self, node: Node, sizes: list[Value]) -> None:
        """See `Lowering.agree`."""
        first, *others = sizes
        self._pairs += [(first, other) for other in others]

    def agree_on_each(self, node: Node, pairs: Sequence[tuple[Axis, Axis]]) -> None:
        """Let it be an error if two axes' sizes differ, unless they provably don't."""
        for a, b in pairs:
            roots = self.sizes.of(*a), self.sizes.of(*b)
            if roots[0] != roots[1]:
                self.agree(node, [self.size_of(*a), self.size_of(*b)])
                self.sizes.state(*roots)
