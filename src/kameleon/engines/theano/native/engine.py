"""The engine that runs PyTensor's own operations: its table, and what it asks of graph passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.mode import Mode

from ....ir.node import Node
from ....ir.program import Graph
from ....kernels.quiet import quiet
from ....prims.division import divides_safely
from ....prims.linalg import is_of_matrices
from ..._base import Executable
from ..._lowering import Rule
from ...numpy.engine import NumpyEngine
from ..lowering import array_type
from . import control, elementwise, indexing, movement, networks, reductions
from .lowering import NativeLowering

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **reductions.RULES,
    **indexing.RULES,
    **networks.RULES,
    **control.RULES,
}


NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


class Symbolic(NativeLowering):
    """The walk, with all rules."""

    rules = RULES


class GraphEngine(NumpyEngine):
    """Graphs made of PyTensor's symbolic operations alone.

    Attributes:
        mode: what PyTensor compiles them with.
    """

    name = "pytensor-graph"
    title = "PyTensor's graph"
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = {
        "contract": is_of_matrices,
        "floor_div": divides_safely,
        "mod": divides_safely,
        "pow": lambda node: node.dtype.is_float,
    }
    half = frozenset[str]()
    # PyTensor's running sums and products are of 64 bits.
    carriers: Mapping[str, Mapping[str, str]] = dict.fromkeys(
        ("cumsum", "cumprod"), dict.fromkeys(NARROW, "int64")
    )
    empty_loops = False
    lacks: Mapping[str, str] = {"bfloat16": "PyTensor has no such dtype"}

    def __init__(self, mode: Any = None):
        self.mode = Mode("vm", None) if mode is None else mode

    def compile(self, graph: Graph) -> Compiled:  # type: ignore[override]
        """See `Engine.compile`."""
        return Compiled(graph, self.mode)


class Compiled(Executable):
    """A function of PyTensor's."""

    def __init__(self, graph: Graph, mode: Any):
        inputs = [array_type(x.type)() for x in graph.inputs]
        outputs = Symbolic(graph, inputs).run()
        function = pytensor.function(
            inputs, outputs, mode=mode, on_unused_input="ignore", trust_input=True
        )
        self.function = quiet(function)

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """See `Executable`."""
        return [np.array(y) for y in self.function(*map(np.asarray, arguments))]
