"""Reductions and cumulative primitives. `axes` are sorted, counted from the front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeGuard, TypeVar

from ...errors import DTypeError, ShapeError
from ..ir.leaves import input_node
from ..ir.node import Node, Primitive
from ..ir.program import Graph
from ..ir.types import FLOAT32, INT64, DType, TensorType, join_shapes
from .control import run_scan, stop_gradient
from .elementwise import abs, add, cast, constant, div, exp, log, lt, mul, select, square, sub
from .filling import full_like, zeros
from .movement import (
    broadcast_to,
    concatenate,
    inverse,
    move_axis,
    pad,
    reshape,
    reverse,
    slice_axis,
    transpose,
)
from .sizes import Size, dims_of, size_of, sizes_product

Axes = tuple[int, ...]
P = ParamSpec("P")
T = TypeVar("T")


def _infer_reduce(x: Node, *, axes: Axes) -> TensorType:
    return TensorType(tuple(d for i, d in enumerate(x.shape) if i not in axes), x.dtype)


def _infer_logic(x: Node, *, axes: Axes) -> TensorType:
    if not x.dtype.is_bool:
        raise DTypeError(f"reduce_any and reduce_all are defined for bools, not {x.dtype}")
    return _infer_reduce(x, axes=axes)


def spread(g: Node, x: Node, axes: Axes) -> Node:
    """`g` (the shape of `x` without `axes`) stretched along `axes` to the shape of `x`."""
    dims = dims_of(x)
    kept: list[Size] = [1 if i in axes else d for i, d in enumerate(dims)]
    return broadcast_to(reshape(g, kept), dims)


def count_of(x: Node, axes: Axes, dtype: DType) -> Node:
    """The number of elements along `axes`, as a scalar of `dtype`."""
    known, unknown = 1, []
    for axis in axes:
        size = size_of(x, axis)
        if isinstance(size, Node):
            unknown.append(cast(size, dtype))
        else:
            known *= size
    count = constant(known, dtype)
    for factor in unknown:
        count = mul(count, factor)
    return count


def _by_prefixes(x: Node, axes: Axes) -> Node:
    """For each element, the product of all before it times the product of all behind it."""
    if len(axes) == 1:
        (axis,) = axes
        behind = reverse(_product_before(reverse(x, axes=axes), axis), axes=axes)
        return mul(_product_before(x, axis), behind)
    perm = (*axes, *(i for i in range(len(x.shape)) if i not in axes))
    moved = dims_of(transpose(x, perm))
    together = [sizes_product(moved[: len(axes)]), *moved[len(axes) :]]
    others = _by_prefixes(reshape(transpose(x, perm), together), (0,))
    return transpose(reshape(others, moved), inverse(perm))


def before(x: Node, axis: int, first: float = 0) -> Node:
    """For each element the one before it along `axis`; for the first one `first`."""
    margins = [(int(i == axis), 0) for i in range(len(x.shape))]
    return slice_axis(pad(x, margins, first), axis, None, -1)


def _product_before(x: Node, axis: int) -> Node:
    """For each element the product of those before it along `axis`."""
    return cumprod(before(x, axis, 1), axis=axis)


product_of_others = Primitive(
    "product_of_others",
    lambda x, *, axes: x.type,
    "for each element the product of all others along `axes`: exact where x has zeros",
    expand=_by_prefixes,
)


_reduce_sum = Primitive("reduce_sum", _infer_reduce, "sum", title="Sum", may_alias=True)
_reduce_prod = Primitive(
    "reduce_prod", _infer_reduce, "product; 1 over nothing", title="Prod", may_alias=True
)
_reduce_max = Primitive(
    "reduce_max",
    _infer_reduce,
    "maximum; NaN wins; of nothing the least value",
    title="Max",
    accuracy="exact",
    moves=slice(1),
    may_alias=True,
)
_reduce_min = Primitive(
    "reduce_min",
    _infer_reduce,
    "minimum; NaN wins; of nothing the greatest value",
    title="Min",
    accuracy="exact",
    moves=slice(1),
    may_alias=True,
)
_reduce_any = Primitive("reduce_any", _infer_logic, "whether any holds", title="Any")
_reduce_all = Primitive("reduce_all", _infer_logic, "whether all hold", title="All")


def _reducer(primitive: Primitive) -> Callable[[Node, Sequence[int]], Node]:
    def reduce(x: Node, axes: Sequence[int]) -> Node:
        axes = tuple(axes)
        return primitive(x, axes=axes) if axes else x

    reduce.__doc__ = f"`{primitive.name}` over `axes`, which are dropped; over none: x itself."
    return reduce


reduce_sum = _reducer(_reduce_sum)
reduce_prod = _reducer(_reduce_prod)
reduce_max = _reducer(_reduce_max)
reduce_min = _reducer(_reduce_min)
reduce_any = _reducer(_reduce_any)
reduce_all = _reducer(_reduce_all)


def keep(reduced: Node, x: Node, axes: Axes) -> Node:
    """`reduced` with the reduced axes of `x` kept with size 1."""
    return reshape(reduced, [1 if i in axes else d for i, d in enumerate(dims_of(x))])


def _infer_arg(x: Node, *, axis: int) -> TensorType:
    if x.shape[axis] == 0:
        raise ShapeError(f"there is no extremum along an axis of size 0 (shape {x.shape})")
    return TensorType(x.shape[:axis] + x.shape[axis + 1 :], INT64)


argmax = Primitive(
    "argmax",
    _infer_arg,
    "index (int64) of the first maximum; a NaN counts as one",
    accuracy="exact",
)
argmin = Primitive(
    "argmin",
    _infer_arg,
    "index (int64) of the first minimum; a NaN counts as one",
    accuracy="exact",
)


def _infer_cumulative(x: Node, *, axis: int) -> TensorType:
    if x.dtype.is_bool:
        raise DTypeError("cumulative sums and products are defined for numbers, not bools")
    return x.type


cumsum = Primitive("cumsum", _infer_cumulative, "running sum along `axis`", may_alias=True)


def _infer_cumprod_slope(g: Node, x: Node, *, axis: int) -> TensorType:
    join_shapes(g.shape, x.shape, "cumprod_slope")
    return x.type


def _by_recurrence(g: Node, x: Node, axis: int) -> Node:
    """p[i-1] * s[i] with s[i] = g[i] + x[i+1] * s[i+1], p the running products."""
    factor = before(reverse(x, axes=(axis,)), axis)
    sums = linear_scan(factor, reverse(g, axes=(axis,)), axis=axis)
    return mul(_product_before(x, axis), reverse(sums, axes=(axis,)))


cumprod_slope = Primitive(
    "cumprod_slope",
    _infer_cumprod_slope,
    "the cotangent of x, given that of its running product along `axis`: exact where x has zeros",
    expand=_by_recurrence,
)


cumprod = Primitive("cumprod", _infer_cumulative, "running product along `axis`", may_alias=True)


def _infer_linear_scan(a: Node, b: Node, *, axis: int) -> TensorType:
    if a.dtype != b.dtype or not a.dtype.is_float:
        raise DTypeError(f"linear_scan needs two equal float dtypes, not {a.dtype} and {b.dtype}")
    return TensorType(join_shapes(b.shape, a.shape, "linear_scan"), b.dtype)


def _by_steps(a: Node, b: Node, axis: int) -> Node:
    """A scan, with 0 in place of a[0], which multiplies nothing and may be infinite."""
    a, b = move_axis(a, axis, 0), move_axis(b, axis, 0)
    nothing = full_like(slice_axis(a, 0, None, 1), 0)  # has no rows where there are no steps
    factors = concatenate([nothing, slice_axis(a, 0, 1, None)], 0)
    state = TensorType(b.shape[1:], b.dtype)
    y, factor, term = inputs = [input_node(state) for _ in range(3)]
    new = add(mul(factor, y), term)
    start = zeros(dims_of(b)[1:], b.dtype)
    _, (sums,) = run_scan(Graph(inputs, [new, new]), [], [start], [factors, b])
    return move_axis(sums, 0, axis)


linear_scan = Primitive(
    "linear_scan",
    _infer_linear_scan,
    "y[i] = a[i] * y[i-1] + b[i] along `axis`, from y[0] = b[0]",
    expand=_by_steps,
)


def is_half(x: Any) -> TypeGuard[Node]:
    """Whether `x` is a tensor of floats of 16 bits."""
    return isinstance(x, Node) and x.dtype.is_float and x.dtype.itemsize == 2


def in_single(function: Callable[P, T]) -> Callable[P, T]:
    """A function of tensors, computed in float32 where they have 16 bits: these have neither the
    sums and counts of many elements, nor the squares of large and of small ones, nor what lies
    near 1 with the digits that its logarithm needs.
    """

    @wraps(function)
    def wide(*args: P.args, **options: P.kwargs) -> T:
        halves = [x.dtype for x in args if is_half(x)]
        if not halves:
            return function(*args, **options)
        singles: Any = [cast(x, FLOAT32) if is_half(x) else x for x in args]
        found: Any = function(*singles, **options)
        if isinstance(found, tuple):
            found = tuple(cast(y, halves[0]) for y in found)
        else:
            found = cast(found, halves[0])
        return found  # type: ignore[no-any-return]

    return wide


@in_single
def mean(x: Node, axes: Axes) -> Node:
    """The mean over `axes`."""
    if not axes:
        return x
    total = reduce_sum(x, axes)
    return div(total, broadcast_to(count_of(x, axes, x.dtype), dims_of(total)))


@in_single
def variance(x: Node, axes: Axes) -> tuple[Node, Node]:
    """Mean and (biased) variance over `axes`."""
    center = mean(x, axes)
    off = sub(x, spread(center, x, axes)) if axes else sub(x, x)
    return center, mean(square(off), axes)


@in_single
def logsumexp(x: Node, axes: Axes) -> Node:
    """log(sum(exp(x))) over `axes`, stable: shifted by the maximum where that is finite."""
    top = stop_gradient(reduce_max(x, axes))
    finite = lt(abs(top), full_like(top, float("inf")))
    shift = select(finite, top, full_like(top, 0))
    total = reduce_sum(exp(sub(x, spread(shift, x, axes))), axes)
    return add(log(total), shift)
