"""From a graph to traced JAX code: sizes are numbers of the host, everything else is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from ...errors import EvaluationError
from ...graph.analysis.meetings import meeting_themselves
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import ITEM, Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType
from ...graph.primitives.constants import has_no_reciprocal
from ...graph.primitives.elementwise import constant
from ...graph.primitives.shaping import shape_nodes
from .._embedded import computed
from .._lowering import Lowering, Rule

Value = Any  # a tracer, or a NumPy array or scalar
# What is known while code is made.
HOST = (np.ndarray, np.generic)
# Constants of more bytes are given to compiled code as arguments: inside of it, they would be
# copied into its text, and folded.
LARGE = 4096
# A zero that the compiler doesn't know, since it's an argument: see `rounded`, `materialized`.
NOTHING = constant(np.uint16(0))


def is_large(node: Node) -> bool:
    """Whether a node is a constant that shall be an argument."""
    if node.primitive is not CONSTANT:
        return False
    array = node.attrs["value"].array
    return bool(array.nbytes > LARGE) or has_no_reciprocal(array)


class Tracing(Lowering):
    """Gives the nodes of a graph their values while JAX traces.

    Args:
        graph: any closed graph.
        arguments: a tracer for each input; a NumPy scalar for those that decide shapes.
        table: the rules.
        given: large constants, as tracers.
    """

    title = "JAX"

    def __init__(
        self,
        graph: Graph,
        arguments: Sequence[Value],
        table: Mapping[str, Rule],
        given: Mapping[Node, Value],
    ):
        super().__init__(graph, arguments)
        self.rules, self.given = table, given
        self.host = shape_nodes(graph)
        self.met = meeting_themselves(graph)
        # By output of a scan, the number that each step gives, where that is known.
        self.invariant: dict[Node, Value] = {}

    def inner(self, graph: Graph, arguments: Sequence[Value]) -> list[Value]:
        """See `Lowering.inner`."""
        return type(self)(graph, arguments, self.rules, self.given).run()

    def constant(self, array: Any) -> Value:
        """Small constants stay NumPy arrays: JAX takes them as they are."""
        return array

    def value(self, node: Node) -> Value:
        """See `Lowering.value`."""
        return self.given[node] if node in self.given else super().value(node)

    def _visit(self, node: Node) -> None:
        """What decides shapes is computed now, by the embedded engine's kernels."""
        if node.operands and node.primitive.name != "size" and self._is_early(node):
            operands = [self.value(x) for x in node.operands]
            if all(isinstance(x, HOST) for x in operands):
                self.values[node] = computed(node, operands)
                return
        super()._visit(node)
        if node in self.met and not isinstance(self.values[node], HOST):
            self.values[node] = materialized(self, self.values[node])

    def _is_early(self, node: Node) -> bool:
        """Whether a node decides shapes, or is arithmetic with sizes."""
        if node in self.host:
            return isinstance(node.type, TensorType) and node.primitive is not ITEM
        return node.primitive.elementwise and node.shape == () and node.dtype.is_integer

    def size(self, value: Value, axis: int) -> int:
        """See `Lowering.size`."""
        return int(np.shape(value)[axis])

    def agree(self, node: Node, sizes: list[Value]) -> None:
        """See `Lowering.agree`: sizes are known while code is made."""
        same_sizes(*sizes)

    def extent(self, size: Node) -> Any:
        """See `Lowering.extent`."""
        return self.number(self.value(size))

    def number(self, value: Value) -> Any:
        """The value of an operand that is a size, as a size."""
        return int(value)


def rounded(e: Tracing, x: Value) -> Value:
    """Numbers of float16 or bfloat16 that are really rounded, though XLA has computed them.

    XLA and LLVM leave out the rounding of a float32 to float16 that becomes float32 again, and
    contract products with sums, unless the program reads the bits.
    """
    nothing = lax.broadcast(e.value(NOTHING), x.shape)
    bits = lax.bitwise_xor(lax.bitcast_convert_type(x, np.uint16), nothing)
    return lax.bitcast_convert_type(bits, x.dtype)


def materialized(e: Tracing, x: Value) -> Value:
    """x in memory of its own, the same for all its uses.

    XLA computes what it can fuse anew for each use, and LLVM contracts products with sums and
    differences there: see `analysis.meetings`. XLA drops an `optimization_barrier` before it fuses;
    a branch that depends on an argument stays.
    """
    is_nothing = lax.eq(e.value(NOTHING), NOTHING.attrs["value"].array)
    return lax.cond(is_nothing, lambda x: x, jax.numpy.zeros_like, x)


class SizesError(EvaluationError):
    """Sizes differ that were taken as equal.

    Attributes:
        sizes: groups of those that must be equal.
    """

    def __init__(self, message: str, sizes: Sequence[Sequence[Any]]):
        super().__init__(message)
        self.sizes = sizes


def same_sizes(*sizes: Any) -> None:
    """Sizes that were taken as equal must be.

    Raises:
        SizesError: they aren't.
    """
    found = [int(s) if isinstance(s, HOST) else s for s in sizes]
    if len(set(found)) > 1:
        shown = f"({', '.join(map(str, found))})"
        raise SizesError(f"sizes that were taken as equal differ at run time: {shown}", [found])


def same_shapes(*shapes: Sequence[int]) -> None:
    """Like `same_sizes`, for all axes."""
    if len({tuple(s) for s in shapes}) > 1:
        shown = " and ".join(str(tuple(s)) for s in shapes)
        groups = list(zip(*shapes, strict=False))
        raise SizesError(f"shapes that were taken as equal differ at run time: {shown}", groups)


def stretched(x: Value, shape: tuple[int, ...]) -> Value:
    """x broadcast to `shape`, aligned at the right."""
    own = np.shape(x)
    if own == shape:
        return x
    offset = len(shape) - len(own)
    return lax.broadcast_in_dim(x, shape, tuple(range(offset, len(shape))))


def joined(*values: Value) -> list[Value]:
    """Values broadcast to their common shape."""
    shapes = [np.shape(v) for v in values]
    if all(s == shapes[0] for s in shapes[1:]):
        return list(values)
    shape = lax.broadcast_shapes(*shapes)
    return [stretched(v, shape) for v in values]


def as_array(x: Value) -> Value:
    """x as an array of JAX: what is known while tracing may be NumPy's."""
    return jax.numpy.asarray(x) if isinstance(x, HOST) else x


def scalar(value: Any, dtype: Any) -> Any:
    """A number as a NumPy scalar."""
    return np.dtype(dtype).type(value)


def filled(x: Value, value: Any) -> Value:
    """An array like x with that number everywhere: NumPy's, unless a size has just a name."""
    shape, number = np.shape(x), scalar(value, x.dtype)
    known = all(isinstance(d, int) for d in shape)
    return np.full(shape, number) if known else lax.full(shape, number)
