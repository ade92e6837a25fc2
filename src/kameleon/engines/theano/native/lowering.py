"""The walk from a graph to PyTensor's variables, and what its rules share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.raise_op import Assert
from pytensor.tensor.variable import TensorConstant

from ....errors import EngineError
from ....graph.ir.node import Node
from ....graph.ir.program import Graph
from ....graph.ir.types import TensorType
from ..._lowering import Lowering, Rule, made
from ..ops import DIFFER, AxisOf, constant, stretchable
from . import ops

Value = Any


class NativeLowering(Lowering):
    """Gives nodes PyTensor variables.

    Attributes:
        guards: conditions on sizes; where one doesn't hold, computing an output fails.
    """

    title = "PyTensor"

    def __init__(self, graph: Graph, arguments: Sequence[Value]):
        super().__init__(graph, arguments)
        for node, value in zip(graph.inputs, arguments, strict=True):
            self.values[node] = stretchable(value, node.shape)
        self.guards: list[Value] = []

    def run(self) -> list[Value]:
        """See `Lowering.run`."""
        outputs = super().run()
        guards = list(dict.fromkeys(self.guards))
        return [Assert(DIFFER)(y, *guards) for y in outputs] if guards else outputs

    def constant(self, array: Any) -> Value:
        """See `Lowering.constant`."""
        return constant(array)

    def size(self, value: Value, axis: int) -> Value:
        """See `Lowering.size`."""
        return AxisOf(value, axis)

    def agree(self, node: Node, sizes: list[Any]) -> None:
        """PyTensor checks operands of its elementwise operations, but no size known to be 1."""
        elementwise = node.primitive.elementwise or node.primitive.name == "softmax_crossentropy"
        if elementwise and not any(map(_may_stretch, sizes)):
            return
        first, *others = (_as_variable(s) for s in sizes)
        self.guards += [pt.eq(first, other) for other in others]

    def extent(self, size: Node) -> Value:
        """See `Lowering.extent`: in int64 from the start, as JAX, when it traces, wouldn't know the
        size behind a cast.
        """
        name = size.primitive.name
        if name == "size":
            return self.value(size.operands[0]).shape[size.attrs["axis"]]
        if name == "constant":
            return int(size.attrs["value"].array)
        if name in ("cast", "broadcast_to") and not size.operands[0].shape:
            return self.extent(size.operands[0])
        if name in COUNTED:
            return of_sizes(name, *map(self.extent, size.operands))
        return pt.cast(self.value(size), "int64")

    def equal_axes(self, a: Node, i: int, b: Node, j: int) -> None:
        """Let it be an error if two axes differ in size, unless they provably don't."""
        if self.sizes.of(a, i) != self.sizes.of(b, j):
            self.guards.append(pt.eq(self.value(a).shape[i], self.value(b).shape[j]))

    def _visit(self, node: Node) -> None:
        super()._visit(node)
        if not isinstance(node.type, TensorType):
            return
        value = self.values[node]
        found, want = value.type, node.type
        if (found.ndim, found.dtype) != (len(want.shape), str(want.dtype)):
            name = node.primitive.name
            raise EngineError(f"{self.title} makes {found} of {name}, not {want}{made(node)}")
        self.values[node] = stretchable(value, node.shape)


def _may_stretch(size: Any) -> bool:
    """Whether a size is beyond PyTensor's own check: no axis of a variable, or known to be 1."""
    if isinstance(size, AxisOf):
        return bool(size.value.type.shape[size.axis] == 1)
    return not isinstance(size, int) or size == 1


def _as_variable(size: Any) -> Value:
    if isinstance(size, AxisOf):
        return size.value.shape[size.axis]
    return pt.constant(size, dtype="int64") if isinstance(size, int) else size


# Rules are made of these ------------------------------------------------------------------------


def of_values(function: Callable[..., Value]) -> Rule:
    """A rule that needs the values alone."""
    return lambda low, node, *values: function(*values)


def over(function: Callable[..., Value], attribute: str, **options: Any) -> Rule:
    """A rule that is a function along what the attribute `axis` says, or over `axes`."""
    return lambda low, node, x: function(x, axis=node.attrs[attribute], **options)


def raised(rule: Rule) -> Rule:
    """The rule, with constant scalars at the rank of the result: JAX would forget the dtype of
    scalars, and PyTensor would expand them by operations of the graph.
    """

    def at_ranks(low: NativeLowering, node: Node, *values: Value) -> Value:
        return rule(low, node, *(at_rank(x, len(node.shape)) for x in values))

    return at_ranks


def at_rank(x: Value, rank: int) -> Value:
    """A constant scalar with so many axes of size 1; anything else as it is."""
    plain = isinstance(x, TensorConstant) and not x.type.ndim and rank
    return constant(x.data.reshape((1,) * rank)) if plain else x


def asserted(x: Value, message: str, *conditions: Value) -> Value:
    """The variable; an error at run time where not all conditions hold."""
    return Assert(message)(x, *conditions)


# Arithmetic with numbers of Python, by primitive.
COUNTED: dict[str, Callable[..., Value]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floor_div": operator.floordiv,
}


def of_sizes(name: str, a: Value, b: Value) -> Value:
    """The primitive of that name for two sizes, each a number or a variable."""
    if isinstance(a, int) and isinstance(b, int):
        return COUNTED[name](a, b)
    return ops.OF_SIZES[name](*(np.int64(x) if isinstance(x, int) else x for x in (a, b)))


def dims_of(x: Value) -> list[Value]:
    """The sizes of a variable, as numbers where they're known."""
    return [x.shape[i] if d is None else d for i, d in enumerate(x.type.shape)]


def filled(value: Any, dtype: str, shape: Sequence[Value]) -> Value:
    """A tensor full of one value, made of a constant with axes: JAX forgets a scalar's dtype."""
    return pt.alloc(constant(np.full((1,) * len(shape), value).astype(dtype)), *shape)


def counted(size: Value, dtype: str) -> Value:
    """0, 1, 2 … as many as `size` says."""
    if isinstance(size, int):
        return constant(np.arange(size).astype(dtype))
    # Of numbers of Python's PyTensor makes int8, which don't hold the size where JAX counts.
    return pt.cast(pt.arange(np.int64(0), size, np.int64(1)), dtype)


def along(x: Value, index: Value, axis: int) -> Value:
    """`take_along_axis`; PyTensor's own counts in int8 at first."""
    dims, order = dims_of(index), list(range(index.type.ndim))
    lines = [
        counted(dims[i], "int64").dimshuffle(["x" if j != i else 0 for j in order]) for i in order
    ]
    lines[axis] = index
    return x[tuple(lines)]
