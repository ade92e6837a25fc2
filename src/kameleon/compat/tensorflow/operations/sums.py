"""Sums of products by an equation, such as `ij,jk->ik`."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import reshape, transpose
from kameleon.graph.primitives.reduce import reduce_sum

from ..graph import Operation
from ..shapes.sums import Label, labels
from .elementwise import zero
from .table import fold, pure
from .values import broadcast, dims, sizes_of, tensor

fold("Einsum")(
    lambda operation, *given: np.asarray(
        np.einsum(operation.attribute("equation").decode(), *given)
    )
)


@pure("Einsum")
def _einsum(operation: Operation, *values: Node) -> Node:
    given = [tensor(value) for value in values]
    inputs, output = labels(operation.attribute("equation").decode(), [len(x.shape) for x in given])
    first, last = given[0], given[-1]
    names, others = inputs[0], inputs[-1]
    if len(given) == 1:
        found, names = _distinct(first, names, output)
    else:
        first, names = _distinct(*_unstretched(first, names, last, others), {*others, *output})
        last, others = _distinct(*_unstretched(last, others, first, names), {*names, *output})
        shared = [name for name in names if name in others]
        over, batch = (_paired(names, others, output, stays) for stays in (False, True))
        found = contract(first, last, over, batch)
        names = [
            *(name for name in shared if name in output),
            *(name for name in [*names, *others] if name not in shared),
        ]
    return transpose(found, [names.index(name) for name in output])


def _paired(
    names: list[Label], others: list[Label], output: list[Label], stays: bool
) -> tuple[list[int], list[int]]:
    """The axes that two tensors share, in each of them: those of the result, or the others."""
    shared = [name for name in names if name in others and (name in output) == stays]
    return [names.index(name) for name in shared], [others.index(name) for name in shared]


def _unstretched(
    x: Node, names: list[Label], other: Node, others: list[Label]
) -> tuple[Node, list[Label]]:
    """A tensor without the axes of size 1 that another one stretches."""
    stretched = [
        name in others and isinstance(name, int) and size == 1 != other.shape[others.index(name)]
        for name, size in zip(names, x.shape, strict=True)
    ]
    rest = [at for at, goes in enumerate(stretched) if not goes]
    sizes = dims(x)
    return reshape(x, [sizes[at] for at in rest]), [names[at] for at in rest]


def _distinct(x: Node, names: list[Label], needed: Container[Label]) -> tuple[Node, list[Label]]:
    """A tensor whose axes have each another name: of axes of one name, the diagonal; summed over
    those that aren't needed.
    """
    for at, name in enumerate(names):
        if (before := names.index(name)) < at:
            size = sizes_of(x)[at]
            sizes = [size if axis in (before, at) else 1 for axis in range(len(names))]
            diagonal = np.eye(size, dtype=np.bool_).reshape(sizes)
            where, x = broadcast(diagonal, x)
            x = E.select(where, x, zero(x))
    twice = [at for at, name in enumerate(names) if names.index(name) < at]
    spare = [at for at, name in enumerate(names) if name not in needed]
    rest = [name for at, name in enumerate(names) if at not in {*twice, *spare}]
    return reduce_sum(x, sorted({*twice, *spare})), rest
