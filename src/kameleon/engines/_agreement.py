"""Dimension guards: sizes that a graph takes as equal, compared before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..graph.analysis.agreement import equalities
from ..graph.ir.node import Node
from ..graph.ir.program import Graph
from ..graph.ir.sizes import Sizes
from ._codegen.fixed_arity import numbered, written
from ._codegen.literal import literal
from ._kernels.arrays import mismatch


class Agreement(NamedTuple):
    """What has to hold of the inputs of a graph.

    condition: as text, of the inputs x0, x1 …, which are NumPy's.
    check: given the inputs, fails where it doesn't hold.
    """

    condition: str
    check: Callable[..., Any]


def agreement(graph: Graph, sizes: Sizes) -> Agreement | None:
    """What has to hold of a graph's inputs; None where nothing has to.

    Args:
        graph: a closed graph.
        sizes: what is known of the graph; the equalities are added.
    """
    number = {x: i for i, x in enumerate(graph.inputs)}
    pairs = list(equalities(graph, sizes))
    if not pairs:
        return None
    # `len` gives the first size of NumPy arrays in half the time; of what is traced it gives a
    # number, where `shape` has a symbol.
    condition, check = (
        " and ".join(" == ".join(_text(x, number, first) for x in pair) for pair in pairs)
        for first in ("len({})", "{}.shape[0]")
    )
    names = ", ".join(numbered("x", len(graph.inputs)))
    rows = [f"def written({names}):", f" {check} or mismatch()"]
    return Agreement(condition, written(rows, mismatch=mismatch))


def _text(root: Any, number: Mapping[Node, int], first: str) -> str:
    """How a size is read, the first one of an input by the given text."""
    if isinstance(root, int):
        return literal(root)
    x, axis = f"x{number[root[0]]}", root[1]
    return f"{x}.shape[{literal(axis)}]" if axis else first.format(x)
