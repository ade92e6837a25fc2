"""Reductions, products of matrices, sorting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.ir.types import as_dtype
from kameleon.graph.passes.extrema import EXTREMES
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import linalg, reduce
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.indexing import argsort, falling, take_along, top_k
from kameleon.graph.primitives.movement import broadcast_to, pad, reshape, slice_axis
from kameleon.graph.primitives.sizes import Size, sizes_product

from .elementwise import divide
from .table import fold, pure
from .values import axis_of, dims, dtype_of, integer, integers, positions, sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation

Reduce = Callable[[Node, list[int]], Node]


def mean(x: Node, axes: list[int]) -> Node:
    """The mean over axes; of integers a whole number."""
    sizes, total = dims(x), reduce.reduce_sum(x, axes)
    count = sizes_product([sizes[axis] for axis in axes])
    if not isinstance(count, int):
        return _shared(total, count)
    if not x.dtype.is_float:
        many = full_like(total, max(count, 1))
        return divide(total, many)
    return total / count if count else total / E.constant(np.float32(0))


def _shared(total: Node, count: Node) -> Node:
    """A total over a count that isn't known."""
    many = broadcast_to(E.cast(count, total.dtype), dims(total))
    return divide(total, many)


def root(x: Node) -> Node:
    """The square root; of integers a whole number."""
    return E.sqrt(x) if x.dtype.is_float else E.cast(E.sqrt(E.cast(x, "float64")), x.dtype)


def _extremum(name: str, x: np.ndarray, **told: Any) -> Any:
    """The extremum; of nothing the other end of what the type holds."""
    return getattr(np, name)(x, initial=EXTREMES[f"reduce_{name}"](as_dtype(x.dtype)), **told)


REDUCTIONS: dict[str, tuple[Reduce, Any]] = {
    "Sum": (reduce.reduce_sum, np.sum),
    "Prod": (reduce.reduce_prod, np.prod),
    "Max": (reduce.reduce_max, partial(_extremum, "max")),
    "Min": (reduce.reduce_min, partial(_extremum, "min")),
    "Any": (reduce.reduce_any, np.any),
    "All": (reduce.reduce_all, np.all),
    "Mean": (mean, np.mean),
    "EuclideanNorm": (lambda x, axes: root(reduce.reduce_sum(x * x, axes)), None),
}
for _name, (_reduce, _numpy) in REDUCTIONS.items():

    @pure(_name)
    def _reduced(operation: Operation, x: Any, axes: Any, function: Reduce = _reduce) -> Node:
        node = tensor(x)
        over = positions(integers(axes), len(node.shape))
        found = function(node, over) if over else node
        return reduce.keep(found, node, tuple(over)) if operation.attribute("keep_dims") else found

    if _numpy is None:
        continue

    @fold(_name)
    def _known(operation: Operation, x: Any, axes: Any, function: Any = _numpy) -> np.ndarray:
        over = tuple(positions(integers(axes), x.ndim))
        found = function(x, axis=over, keepdims=operation.attribute("keep_dims"))
        return np.asarray(found).astype(x.dtype)


@pure("ArgMax ArgMin")
def _arg(operation: Operation, x: Any, axis: Any) -> Node:
    node = tensor(x)
    function = reduce.argmax if operation.type == "ArgMax" else reduce.argmin
    found = function(node, axis=axis_of(axis, len(node.shape)))
    return E.cast(found, dtype_of(operation, "output_type"))


@pure("L2Loss")
def _half_square(operation: Operation, x: Any) -> Node:
    node = tensor(x)
    return reduce.reduce_sum(node * node, range(len(node.shape))) * 0.5


@pure("Cumsum Cumprod")
def _cumulative(operation: Operation, x: Any, axis: Any) -> Node:
    node = tensor(x)
    at = axis_of(axis, len(node.shape))
    function = reduce.cumsum if operation.type == "Cumsum" else reduce.cumprod
    if operation.attribute("reverse"):
        node = K.reverse(node, [at])
    found = function(node, axis=at)
    if operation.attribute("exclusive"):
        margins = [(int(axis == at), 0) for axis in range(len(node.shape))]
        padded = pad(found, margins, float(operation.type == "Cumprod"))
        found = slice_axis(padded, at, 0, sizes_of(node)[at])
    return K.reverse(found, [at]) if operation.attribute("reverse") else found


@pure("CumulativeLogsumexp")
def _cumulative_logsumexp(operation: Operation, x: Any, axis: Any) -> Node:
    """Sums over 1, 2, 4 … places before each one."""
    node = tensor(x)
    at = axis_of(axis, len(node.shape))
    size, is_reverse = sizes_of(node)[at], operation.attribute("reverse")

    def shifted(y: Node, by: int) -> Node:
        margins = [(by * (each == at), 0) for each in range(len(y.shape))]
        return slice_axis(pad(y, margins, float(np.finfo(str(y.dtype)).min)), at, 0, size)

    found, step = K.reverse(node, [at]) if is_reverse else node, 1
    if operation.attribute("exclusive"):
        found = shifted(found, 1)
    while step < size:
        other = shifted(found, step)
        most, lower = E.maximum(found, other), E.minimum(found, other)
        found, step = most + E.log1p(E.exp(lower - most)), step * 2
    return K.reverse(found, [at]) if is_reverse else found


@pure("TopKV2 TopK")
def _top(operation: Operation, x: Any, count: Any = None) -> list[Node]:
    size = operation.attribute("k") if count is None else integer(count)
    values, at = top_k(tensor(x), size)
    return [values, E.cast(at, "int32")]


@pure("NthElement")
def _nth(operation: Operation, x: Any, n: Any) -> Node:
    node, at = tensor(x), integer(n)
    last, order = len(node.shape) - 1, node
    if operation.attribute("reverse"):
        order = falling(node)
    places = slice_axis(argsort(order, axis=last), last, at, at + 1)
    return reshape(take_along(node, places, last), sizes_of(node)[:-1])


# Products ---------------------------------------------------------------------------------------


@pure("MatMul")
def _matmul(operation: Operation, a: Any, b: Any) -> Node:
    inner = (0 if operation.attribute("transpose_a") else 1,)
    other = (1 if operation.attribute("transpose_b") else 0,)
    return linalg.contract(tensor(a), tensor(b), (inner, other))


@pure("SparseMatMul")
def _product_of_many_zeros(operation: Operation, a: Any, b: Any) -> Node:
    return _matmul(operation, *(E.cast(tensor(x), "float32") for x in (a, b)))


@pure("BatchMatMul BatchMatMulV2")
def _batch_matmul(operation: Operation, a: Any, b: Any) -> Node:
    one, other = tensor(a), tensor(b)
    batch: list[Size] = dims(one)[:-2]
    if one.shape[:-2] != other.shape[:-2]:
        batch = [*np.broadcast_shapes(sizes_of(one, 0, -2), sizes_of(other, 0, -2))]
    one = broadcast_to(one, [*batch, *dims(one)[-2:]])
    other = broadcast_to(other, [*batch, *dims(other)[-2:]])
    rank, each = len(batch), range(len(batch))
    inner = (rank if operation.attribute("adj_x") else rank + 1,)
    inner_too = (rank + 1 if operation.attribute("adj_y") else rank,)
    return linalg.contract(one, other, (inner, inner_too), (each, each))
