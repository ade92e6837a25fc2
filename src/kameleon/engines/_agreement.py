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

    condition: as text, of the inputs x0, x1 ….
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
    condition = " and ".join(
        f"{_text(size, number)} == {_text(base, number)}" for size, base in equalities(graph, sizes)
    )
    if not condition:
        return None
    return Agreement(condition, checking(condition, len(graph.inputs)))


def checking(condition: str, count: int, first: Callable[[Any], Any] = len) -> Callable[..., Any]:
    """What fails where a condition doesn't hold.

    Args:
        condition: as text, of inputs x0, x1 ….
        count: how many inputs there are.
        first: gives an input's first size.
    """
    rows = [f"def written({', '.join(numbered('x', count))}):", f" {condition} or mismatch()"]
    return written(rows, mismatch=mismatch, len=first)


def _text(root: Any, number: Mapping[Node, int]) -> str:
    """How a size is read: `len` gives the first size of NumPy arrays in half the time."""
    if isinstance(root, int):
        return literal(root)
    x, axis = f"x{number[root[0]]}", root[1]
    return f"{x}.shape[{literal(axis)}]" if axis else f"len({x})"
