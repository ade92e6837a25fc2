"""Rows of variables, and values at places in them: taken, replaced, changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon.backend.calling import call
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.indexing import gather

from .scattering import by_rows, changed
from .state import given_back
from .table import PURE, effect
from .values import sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation
    from ..lowering import Lowering
    from ..variables import Reference


@effect("ResourceGather")
def _gather(x: Node, at: Node) -> Node:
    return gather(x, at, 0)


@effect("ResourceGatherNd")
def _gather_nd(operation: Operation, x: Node, at: Node) -> Any:
    return PURE["GatherNd"](operation, x, at)


def _changed(how: str, rows: Node, at: Node, values: Node) -> Node:
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
    functions = {"Mul": np.multiply, "Div": np.divide, "Min": np.minimum, "Max": np.maximum}
    found = np.array(rows)
    if how == "Div" and found.dtype.kind in "iu":
        functions["Div"] = np.floor_divide
    functions[how].at(found, np.asarray(at), np.asarray(values))
    return [found]


_WAYS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")


@effect(*(f"{by}Scatter{way}" for by in ("", "Resource") for way in _WAYS))
def _scatter(
    lowering: Lowering, operation: Operation, reference: Reference, places: Node, given: Node
) -> Any:
    rows = tensor(lowering.value(reference))
    rest = sizes_of(rows)[1:]
    if not given.shape:
        given = M.broadcast_to(given, [*sizes_of(places), *rest])
    count = int(np.prod(sizes_of(places)))
    flat, given = M.reshape(places, [count]), M.reshape(given, [count, *rest])
    lowering.assign(reference, _changed(operation.type.split("Scatter")[1], rows, flat, given))
    return given_back(operation, reference)


@effect(*(f"{by}ScatterNd{way}" for by in ("", "Resource") for way in ("Update", "Add", "Sub")))
def _scatter_nd(
    lowering: Lowering, operation: Operation, reference: Reference, at: Node, values: Node
) -> Any:
    value = tensor(lowering.value(reference))
    rows, given, count = by_rows(at, values, sizes_of(value))
    flat = M.reshape(value, [count, *sizes_of(given)[1:]])
    found = changed(operation.type, flat, rows, given)
    lowering.assign(reference, M.reshape(found, sizes_of(value)))
    return given_back(operation, reference)
