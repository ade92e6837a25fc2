"""Reductions, products of matrices, sorting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

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

from ..graph import Operation
from .elementwise import divide, from_start, larger, lowest, smaller
from .table import fold, pure
from .values import Kind, axis_of, dims, integers, positions, size_in, sizes_of, tensor

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


def _is_single(x: Any, axes: Iterable[int]) -> bool:
    """Whether each reduced part is one element, which stays, be it a number or not."""
    return all(x.shape[axis] == 1 for axis in axes)


def _extremum(function: Reduce, choose: Callable[..., Node], start: float) -> Reduce:
    def extremum(x: Node, axes: list[int]) -> Node:
        return function(x if _is_single(x, axes) else from_start(choose, x, start), axes)

    return extremum


def _known_extremum(name: str, x: np.ndarray, **options: Any) -> Any:
    """The extremum of numbers; of nothing the other end of what the type holds."""
    if not _is_single(x, options["axis"]):
        options["initial"] = EXTREMES[f"reduce_{name}"](as_dtype(x.dtype))
    return getattr(np, f"f{name}").reduce(x, **options)


def _known_mean(x: np.ndarray, **options: Any) -> Any:
    """The mean; of integers a whole number, whose sum is one of their type, and of none 0."""
    if x.dtype.kind not in "iu":
        return np.mean(x, **options)
    total = np.sum(x, dtype=x.dtype, **options)
    many = max(x.size // max(total.size, 1), 1)
    return np.abs(total) // many * np.sign(total)


REDUCTIONS: dict[str, tuple[Reduce, Any]] = {
    "Sum": (reduce.reduce_sum, np.sum),
    "Prod": (reduce.reduce_prod, np.prod),
    "Max": (_extremum(reduce.reduce_max, larger, -np.inf), partial(_known_extremum, "max")),
    "Min": (_extremum(reduce.reduce_min, smaller, np.inf), partial(_known_extremum, "min")),
    "Any": (reduce.reduce_any, np.any),
    "All": (reduce.reduce_all, np.all),
    "Mean": (mean, _known_mean),
    "EuclideanNorm": (
        lambda x, axes: root(reduce.reduce_sum(x * x, axes)),
        lambda x, **options: np.sqrt(np.sum(x * np.conj(x), dtype=x.dtype, **options)),
    ),
}


def _reduction(function: Reduce) -> Callable[..., Node]:
    def reduced(x: Node, axes: list[int], *, keep_dims: bool) -> Node:
        over = positions(axes, len(x.shape))
        found = function(x, over) if over else x
        return reduce.keep(found, x, tuple(over)) if keep_dims else found

    return reduced


def _known_reduction(function: Any) -> Callable[..., np.ndarray]:
    def reduced(operation: Operation, x: Any, axes: Any) -> np.ndarray:
        over = tuple(positions(integers(axes), x.ndim))
        keeps = operation.attribute("keep_dims")
        found = function(x, axis=over, keepdims=keeps) if over else x
        return np.asarray(found).astype(x.dtype)

    return reduced


for _name, (_function, _of_numpy) in REDUCTIONS.items():
    pure(_name)(_reduction(_function))
    fold(_name)(_known_reduction(_of_numpy))


@pure("ArgMax ArgMin")
def _arg(operation: Operation, x: Node, axis: Any, *, output_type: Kind) -> Node:
    is_max = operation.type == "ArgMax"
    function, choose = (reduce.argmax, larger) if is_max else (reduce.argmin, smaller)
    if x.dtype.is_float:
        x = from_start(choose, x, lowest(x) if is_max else -lowest(x))
    return E.cast(function(x, axis=axis_of(axis, len(x.shape))), output_type)


pure("L2Loss")(lambda x: reduce.reduce_sum(E.square(tensor(x)), range(len(x.shape))) * 0.5)


def _moved(x: Node, at: int, by: int, first: float) -> Node:
    """A tensor moved along an axis, of the same size; before it come such numbers."""
    margins = [(by * (axis == at), 0) for axis in range(len(x.shape))]
    return slice_axis(pad(x, margins, first), at, 0, sizes_of(x)[at])


@pure("Cumsum Cumprod")
def _cumulative(
    operation: Operation, x: Node, axis: Any, *, exclusive: bool, reverse: bool
) -> Node:
    at, is_sum = axis_of(axis, len(x.shape)), operation.type == "Cumsum"
    function = reduce.cumsum if is_sum else reduce.cumprod
    found = function(K.reverse(x, [at]) if reverse else x, axis=at)
    if exclusive:
        found = _moved(found, at, 1, float(not is_sum))
    return K.reverse(found, [at]) if reverse else found


@pure("CumulativeLogsumexp")
def _cumulative_logsumexp(x: Node, axis: Any, *, exclusive: bool, reverse: bool) -> Node:
    """Sums over 1, 2, 4 … places before each one."""
    at, least = axis_of(axis, len(x.shape)), lowest(x)
    found, step = K.reverse(x, [at]) if reverse else x, 1
    if exclusive:
        found = _moved(found, at, 1, least)
    while step < sizes_of(x)[at]:
        other = _moved(found, at, step, least)
        most, lower = E.maximum(found, other), E.minimum(found, other)
        found, step = most + E.log1p(E.exp(lower - most)), step * 2
    return K.reverse(found, [at]) if reverse else found


@pure("TopKV2 TopK")
def _top(x: Node, count: Any = None, *, k: Any) -> list[Node]:
    values, at = top_k(x, k if count is None else size_in(count))
    return [values, E.cast(at, "int32")]


@pure("NthElement")
def _nth(x: Node, at: int, *, reverse: bool) -> Node:
    last, order = len(x.shape) - 1, falling(x) if reverse else x
    places = slice_axis(argsort(order, axis=last), last, at, at + 1)
    return reshape(take_along(x, places, last), sizes_of(x)[:-1])


# Products ---------------------------------------------------------------------------------------


@pure("MatMul")
def _matmul(a: Node, b: Node, *, transpose_a: bool, transpose_b: bool) -> Node:
    return linalg.contract(a, b, ((0 if transpose_a else 1,), (1 if transpose_b else 0,)))


@pure("SparseMatMul")
def _product_of_many_zeros(a: Node, b: Node, *, transpose_a: bool, transpose_b: bool) -> Node:
    one, other = (E.cast(x, "float32") for x in (a, b))
    return _matmul(one, other, transpose_a=transpose_a, transpose_b=transpose_b)


def _common(one: list[Size], other: list[Size]) -> list[Size]:
    """The sizes that two shapes are stretched to; those that aren't known are taken as equal."""
    rank = max(len(one), len(other))
    pairs = zip(*([*[1] * (rank - len(sizes)), *sizes] for sizes in (one, other)), strict=True)
    return [b if a == 1 or (isinstance(b, int) and b != 1) else a for a, b in pairs]


@pure("BatchMatMul BatchMatMulV2")
def _batch_matmul(one: Node, other: Node, *, adj_x: bool, adj_y: bool) -> Node:
    batch: list[Size] = dims(one)[:-2]
    if one.shape[:-2] != other.shape[:-2]:
        batch = _common(dims(one)[:-2], dims(other)[:-2])
    one, other = (broadcast_to(x, [*batch, *dims(x)[-2:]]) for x in (one, other))
    rank, each = len(batch), range(len(batch))
    inner = (rank if adj_x else rank + 1,), (rank + 1 if adj_y else rank,)
    return linalg.contract(one, other, inner, (each, each))
