"""From a graph to PyTensor's: arithmetic as it stands, the rest as Ops that mean such graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.raise_op import Assert
from pytensor.tensor.type import TensorType as ArrayType

from ...errors import ShapeError
from ...graph.ir.leaves import CONSTANT, input_node
from ...graph.ir.node import Node
from ...graph.ir.program import KEYED_CONSTANT, Graph
from ...graph.ir.rewrite import substitute
from ...graph.ir.types import TensorType
from ...graph.passes.pipeline import prepared
from .._lowering import Lowering
from ..numpy.engine import NumpyEmitter, engine
from .ops import DIFFER, AxisOf, Function, array_type, constant, meant

# So many functions of embedded code are kept for reuse; all are forgotten when there are more.
KEPT = 2048
_functions: dict[Any, Function] = {}


# Primitives whose embedded code gives a view of the first operand.
VIEWS = frozenset({"reshape", "transpose", "slice", "reverse", "bitcast", "check"})


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

        operands = [*(s.value for s in axes), *scalars]
        places = tuple(s.axis for s in axes)
        self.guards.append(equal_sizes(operands, places, tuple(known)))

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
        types = [array_type(r.type) for r in results]
        meaning, kernel = partial(_meaning, graph), partial(_function, graph, own=not view)
        operands, key = list(map(self.value, leaves)), (graph.key, view)
        values = meant(described(node), operands, types, key, meaning, kernel, view)
        if single:
            return values[0]
        found = dict(zip(results, values, strict=True))
        return tuple(found.get(r) for r in node.results)


def described(node: Node) -> str:
    """The primitive with its attributes but for bodies, as PyTensor prints an Op's properties."""
    shown = [f"{name}={v}" for name, v in node.attrs.items() if not isinstance(v, Graph)]
    return f"{node.primitive.name}{{{', '.join(shown)}}}" if shown else node.primitive.name


def _meaning(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    from .native.engine import meaning_of  # which calls that never ask for it needn't load

    return meaning_of(graph, arguments)


def _function(graph: Graph, own: bool) -> Function:
    key = (graph.key, own)
    found = _functions.get(key)
    if found is None:
        if len(_functions) >= KEPT:
            _functions.clear()
        prepared_graph = prepared(graph, engine)  # composites without a line of NumPy are expanded
        found = _functions[key] = NumpyEmitter(prepared_graph).run(own_outputs=own).join()
    return found


def equal_sizes(operands: Sequence[Any], axes: Sequence[int], known: Sequence[int]) -> Any:
    """A variable whose computation fails where sizes differ: those that are known, of the first
    operands' axes, and the other operands themselves."""

    def sizes(values: Sequence[Any]) -> list[Any]:
        found = (x.shape[i] for x, i in zip(values, axes, strict=False))
        return [*known, *values[len(axes) :], *found]

    def same(*values: Any) -> tuple[Any]:
        if len(found := set(map(int, sizes(values)))) > 1:
            raise ShapeError(f"{DIFFER}: {found}")
        return (True,)

    def meaning(values: Sequence[Any]) -> list[Any]:
        first, *others = sizes(values)
        return [Assert(DIFFER)(constant(np.array(True)), *(pt.eq(first, x) for x in others))]

    key = ("equal_sizes", len(operands), axes, known)
    return meant("equal_sizes", operands, [ArrayType("bool", ())], key, meaning, lambda: same)[0]
