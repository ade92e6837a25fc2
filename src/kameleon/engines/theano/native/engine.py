"""The engine that runs PyTensor's own operations: its table, and what it asks of graph passes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ....graph.ir.node import Node
from ....graph.ir.program import Graph
from ....graph.passes.extrema import of_some
from ....graph.passes.indices import INDEXED
from ....graph.passes.pipeline import prepared
from ....graph.primitives.division import divides_safely
from ....graph.primitives.linalg import is_of_matrices
from ..._lowering import Rule
from ...numpy.engine import NumpyEngine
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
    """What graphs made of PyTensor's symbolic operations alone can do. It runs none itself."""

    name = "pytensor-graph"
    title = "PyTensor's graph"
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = {
        "contract": is_of_matrices,
        "neg": lambda node: node.dtype.kind != "unsigned",  # its rewrites would multiply by -1
        # In C it takes integers for floats here, which hold no large integers.
        **dict.fromkeys(
            ("maximum", "minimum"), lambda node: node.dtype.is_float or node.dtype.itemsize < 8
        ),
        **dict.fromkeys(("reduce_max", "reduce_min"), of_some),
        # Of floats it would round the quotient before it takes the whole number below.
        "floor_div": lambda node: node.dtype.is_integer and divides_safely(node),
        "mod": divides_safely,
        "pow": lambda node: node.dtype.is_float,
    }
    half: Collection[str] | None = frozenset()
    # PyTensor's running sums and products are of 64 bits.
    carriers: Mapping[str, Mapping[str, str]] = dict.fromkeys(
        ("cumsum", "cumprod"), dict.fromkeys(NARROW, "int64")
    )
    # It counts negative indices from the end, and its JAX and Numba don't check any.
    unchecked = INDEXED
    empty_loops = False
    lacks: Mapping[str, str] = {"bfloat16": "PyTensor has no such dtype"}
    # What PyTensor has no operation for, and why: an Op of ours does it.
    ops: Mapping[str, str] = {
        **dict.fromkeys(("shift_left", "shift_right"), "its arithmetic moves no bits"),
        "bitcast": "it doesn't read the bits of a number as another dtype",
        "cast": "it raises in Python code where integers don't hold a number; only for these",
        **dict.fromkeys(("ctc_greedy", "ctc_beam_search"), "sizes would follow from a search"),
    }


def meaning_of(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    """A graph as one of PyTensor's own operations, over PyTensor variables."""
    return Symbolic(prepared(graph, GraphEngine()), arguments).run()
