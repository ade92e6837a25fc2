"""Values at places, of tensors and of variables: put, added, taken; sums by segments whose number
is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from kameleon.backend.calling import call
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.sizes import Size, plus, size_of, sizes_product

from ..graph import Operation
from ..lowering import Lowering
from ..tensors import dims
from ..variables import Reference
from .demands.places import demand_places
from .elementwise import zero
from .state import given_back
from .table import PURE, effect, pure
from .values import broadcast, sizes_of, tensor, vector_of


def flat_positions(at: Node, sizes: Sequence[Size]) -> Node:
    """Positions in an array of these sizes, given by their coordinates along the last axis."""
    strides = [sizes_product(sizes[place + 1 :]) for place in range(len(sizes))]
    weighted = E.mul(*broadcast(at, vector_of(strides, str(at.dtype))))
    return reduce_sum(weighted, [len(at.shape) - 1])


def by_rows(places: Node, values: Node, shape: list[Size]) -> tuple[Node, Node, Size]:
    """Places as numbers of rows, and what comes there as rows; how many rows there are."""
    [depth] = sizes_of(places, -1)
    rows = flat_positions(places, shape[:depth])
    count = sizes_product(dims(rows))
    given = M.reshape(values, [count, *shape[depth:]])
    return M.reshape(rows, [count]), given, sizes_product(shape[:depth])


def added(rows: Node, values: Node, count: Size) -> Node:
    """So many rows of zeros, to which others are added."""
    return I.scatter_add(values, rows, count, 0)


def put(x: Node, rows: Node, values: Node) -> Node:
    """Rows of a tensor replaced by others; of several for one place the last counts."""
    size = size_of(x, 0)
    if size_of(rows, 0) == 0:
        return x
    if x.dtype.is_bool:
        return E.cast(put(E.cast(x, "int32"), rows, E.cast(values, "int32")), "bool")
    order = I.argsort(rows, axis=0)
    rows, values = I.gather(rows, order, 0), I.gather(values, order, 0)
    ends = E.ne(M.slice_axis(rows, 0, 0, -1), M.slice_axis(rows, 0, 1, None))
    last = M.concatenate([ends, tensor(np.ones(1, bool))], 0)
    placed = added(rows, E.select(_along(last, values), values, zero(values)), size)
    touched = added(rows, E.cast(last, "int32"), size)
    return E.select(_along(E.gt(touched, zero(touched)), x), placed, x)


def _along(marks: Node, like: Node) -> Node:
    """A mark for each row, stretched over the rows."""
    rank = len(like.shape)
    return M.broadcast_to(M.reshape(marks, [-1, *[1] * (rank - 1)]), dims(like))


@pure("ScatterNd")
def _scatter_nd(at: Node, values: Node, sizes: list[Size]) -> Node:
    return M.reshape(added(*by_rows(at, values, sizes)), sizes)


@pure("TensorScatterAdd TensorScatterSub ScatterNdNonAliasingAdd TensorScatterUpdate")
def _changed_at(operation: Operation, x: Node, at: Node, values: Node) -> Node:
    return _with_changes(operation.type, x, at, values)


def _with_changes(how: str, x: Node, at: Node, values: Node) -> Node:
    """A tensor that is changed at coordinates, as `changed` says."""
    rows, given, count = by_rows(at, values, dims(x))
    flat = M.reshape(x, [count, *dims(given)[1:]])
    return M.reshape(changed(how, flat, rows, given), dims(x))


@pure("InplaceAdd InplaceSub InplaceUpdate")
def _in_place(operation: Operation, x: Node, rows: Node, values: Node) -> Node:
    rows = rows % max(sizes_of(x)[0], 1)  # rows beyond the last begin anew
    return changed(operation.type, x, rows, values)


def changed(how: str, x: Node, rows: Node, values: Node) -> Node:
    """Rows of which some are changed, as the end of a word says: `Update`, `Add`, or `Sub`; where
    a place is told more than once, so often.
    """
    if how.endswith("Update"):
        return put(x, rows, values)
    change = added(rows, values, size_of(x, 0))
    return E.sub(x, change) if how.endswith("Sub") else E.add(x, change)


@pure("UnsortedSegmentSum")
def _segments(x: Node, places: Node, count: Size) -> Node:
    """What has a number below zero counts nowhere: it goes before the others, and is cut off."""
    flat = M.reshape(places, [-1])
    rows = E.add(E.maximum(flat, full_like(flat, -1)), full_like(flat, 1))
    given = M.reshape(x, [size_of(flat, 0), *dims(x)[len(places.shape) :]])
    return M.slice_axis(added(rows, given, plus(count, 1)), 0, 1, None)


# In variables -----------------------------------------------------------------------------------


@effect("ResourceGather")
def _gather(x: Node, at: Node) -> Node:
    return I.gather(x, at, 0)


@effect("ResourceGatherNd")
def _gather_coordinates(operation: Operation, x: Node, at: Node) -> Any:
    return PURE["GatherNd"](operation, x, at)


def _rows_changed(how: str, rows: Node, at: Node, values: Node) -> Node:
    """Rows of which some are changed; where a place is told more than once, so often."""
    if how in ("Update", "Add", "Sub"):
        return changed(how, rows, at, values)
    shape, dtype = sizes_of(rows), str(rows.dtype)
    given = [rows, at, values]
    found: list[Node] = call(
        partial(_by_numpy, how), given, "numpy", shapes=[shape], dtypes=[dtype]
    )
    return found[0]


def _by_numpy(how: str, rows: Any, at: Any, values: Any) -> list[Any]:
    functions = {"Mul": np.multiply, "Div": np.divide, "Min": np.fmin, "Max": np.fmax}
    found = np.array(rows)
    if how == "Div" and found.dtype.kind in "iu":
        functions["Div"] = np.floor_divide
    demand_places(places := np.asarray(at), len(found))
    functions[how].at(found, places, np.asarray(values))
    if how in ("Min", "Max"):  # a value stays where none is beyond it, as if it isn't a number
        found = np.where((found == rows) | (rows != rows), rows, found)
    return [found]


_WAYS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")


@effect(*(f"{by}Scatter{way}" for by in ("", "Resource") for way in _WAYS))
def _scatter(
    lowering: Lowering, operation: Operation, reference: Reference, places: Node, given: Node
) -> Any:
    rows = tensor(lowering.value(reference))
    rest = dims(rows)[1:]
    if not given.shape:
        given = M.broadcast_to(given, [*dims(places), *rest])
    count = sizes_product(dims(places))
    flat, given = M.reshape(places, [count]), M.reshape(given, [count, *rest])
    lowering.assign(reference, _rows_changed(operation.type.split("Scatter")[1], rows, flat, given))
    return given_back(operation, reference)


@effect(*(f"{by}ScatterNd{way}" for by in ("", "Resource") for way in ("Update", "Add", "Sub")))
def _scatter_coordinates(
    lowering: Lowering, operation: Operation, reference: Reference, at: Node, values: Node
) -> Any:
    found = _with_changes(operation.type, tensor(lowering.value(reference)), at, values)
    lowering.assign(reference, found)
    return given_back(operation, reference)
