"""What picks or places elements by index."""

from __future__ import annotations

from functools import partial, reduce

import pytensor.tensor as pt

from ....graph.ir.node import Node
from ..._lowering import Rule
from .lowering import NativeLowering, Value, along, dims_of, filled, of_sizes

L = NativeLowering


def _at(axis: int, index: Value) -> tuple[Value, ...]:
    return (*(slice(None) for _ in range(axis)), index)


def _in_a_line(index: Value) -> Value:
    """The index as int64; with one axis, if it has more: PyTensor's rewrites would do that as well,
    but build a shape behind it that JAX doesn't know when it traces."""
    index = pt.cast(index, "int64")
    return index.flatten() if index.type.ndim > 1 else index


def _gather(low: L, node: Node, x: Value, index: Value) -> Value:
    axis, dims = node.attrs["axis"], dims_of(x)
    found = x[_at(axis, _in_a_line(index))]
    if index.type.ndim < 2:
        return found
    shape = [*dims[:axis], *dims_of(index), *dims[axis + 1 :]]
    return pt.reshape(found, shape, ndim=len(shape))


def _scatter_add(low: L, node: Node, g: Value, index: Value, *sizes: Value) -> Value:
    axis, (size,) = node.attrs["axis"], low.dims(node)
    dims = dims_of(g)
    shape = [*dims[:axis], size, *dims[axis + index.type.ndim :]]
    nothing = filled(0, g.type.dtype, shape)
    if index.type.ndim > 1:
        count = reduce(partial(of_sizes, "mul"), dims_of(index))
        g = pt.reshape(g, [*dims[:axis], count, *dims[axis + index.type.ndim :]])
    return pt.inc_subtensor(nothing[_at(axis, _in_a_line(index))], g)


def _take_along(low: L, node: Node, x: Value, index: Value) -> Value:
    return along(x, pt.cast(index, "int64"), node.attrs["axis"])


def _nonzero(low: L, node: Node, x: Value) -> Value:
    return pt.stack(pt.nonzero(pt.neq(x, 0)), axis=1)


RULES: dict[str, Rule] = {
    "gather": _gather,
    "scatter_add": _scatter_add,
    "take_along": _take_along,
    "nonzero": _nonzero,
}
