"""From a graph to PyTensor's: its own operations for arithmetic, Ops over embedded code else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pytensor.tensor.type import TensorType as ArrayType

from ...errors import ShapeError
from ...ir.leaves import CONSTANT, input_node
from ...ir.node import Node
from ...ir.program import KEYED_CONSTANT, Graph
from ...ir.rewrite import substitute
from ...ir.types import TensorType
from .._lowering import Lowering
from ..numpy.engine import NumpyEmitter
from .ops import Function, Kernel, constant

# So many functions of embedded code are kept for reuse; all are forgotten when there are more.
KEPT = 2048
_functions: dict[Any, Function] = {}


# Primitives whose embedded code gives a view of the first operand.
VIEWS = frozenset({"reshape", "transpose", "slice", "reverse", "bitcast", "check"})


class AxisOf(NamedTuple):
    """The size of an axis of a variable."""

    value: Any
    axis: int


class TheanoLowering(Lowering):
    """Gives nodes PyTensor variables.

    Attributes:
        guards: variables whose computation fails where sizes differ; their values mean nothing.
    """

    title = "Theano (PyTensor)"

    def __init__(self, graph: Graph, arguments: Sequence[Any]):
        super().__init__(graph, arguments)
        self.guards: list[Any] = []

    def constant(self, array: Any) -> Any:
        """See `Lowering.constant`."""
        return constant(array)

    def size(self, value: Any, axis: int) -> Any:
        """See `Lowering.size`."""
        return AxisOf(value, axis)

    def agree(self, node: Node, sizes: list[Any]) -> None:
        """PyTensor checks operands of its own operations; sizes of broadcasts are checked here."""
        known = {s for s in sizes if isinstance(s, int)}
        axes = [s for s in sizes if isinstance(s, AxisOf)]
        scalars = [s for s in sizes if not isinstance(s, int | AxisOf)]
        if not scalars and node.primitive.elementwise:
            return

        def same(*values: Any) -> tuple[Any]:
            found = {int(v) for v in values[len(axes) :]} | known
            found |= {v.shape[s.axis] for v, s in zip(values, axes, strict=False)}
            if len(found) > 1:
                raise ShapeError(f"sizes that were taken as equal differ at run time: {found}")
            return (True,)

        kernel = Kernel("agree", same, [ArrayType("bool", ())], view=False)
        self.guards.append(kernel(*(s.value for s in axes), *scalars))

    def embedded(self, node: Node) -> Any:
        """The value of a node that the embedded engine's code computes.

        Broadcasts of its operands are part of that code, and so are constant scalars.
        """
        leaves: dict[Node, None] = {}
        pending = list(reversed(node.operands))
        while pending:
            x = pending.pop()
            if x.primitive.name == "broadcast_to" and x not in self.values:
                pending += reversed(x.operands)
            elif x.primitive is not CONSTANT or x.attrs["value"].array.size > KEYED_CONSTANT:
                leaves[x] = None
        view = node.primitive.name in VIEWS and node.operands[0] in leaves
        single = isinstance(node.type, TensorType)
        results = [r for r in node.results if single or r in self.used]
        # New inputs: the code is kept for reuse, and mustn't keep nodes of the user's graph alive.
        inputs = {x: input_node(x.type) for x in leaves}
        graph = Graph(inputs.values(), substitute(results, inputs))
        function = _function(graph, own=not view)
        types = [array_type(r.type) for r in results]
        values = Kernel(node.primitive.name, function, types, view)(
            *map(self.value, leaves), return_list=True
        )
        if single:
            return values[0]
        found = dict(zip(results, values, strict=True))
        return tuple(found.get(r) for r in node.results)


def array_type(type: TensorType) -> ArrayType:
    """PyTensor's type for a tensor type of a graph."""
    return ArrayType(str(type.dtype), type.shape)


def _function(graph: Graph, own: bool) -> Function:
    key = (graph.key, own)
    found = _functions.get(key)
    if found is None:
        if len(_functions) >= KEPT:
            _functions.clear()
        found = _functions[key] = NumpyEmitter(graph).run(own_outputs=own).join()
    return found
