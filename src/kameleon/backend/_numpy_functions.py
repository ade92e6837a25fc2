"""NumPy's functions of tensors: they take what NumPy's take, and give tensors.

Shapes and numbers are NumPy's. So are dtypes, but that K's default float dtype stands where NumPy
makes float64 of integers. The parameters that no tensor needs (`out`, `order`, `mode` …) are there
for their places; `_numpy` sees to it that they have their defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import BOOL, FLOAT16, FLOAT32, as_dtype, normalize_axes, normalize_axis
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import identity
from ..graph.primitives.filling import full_like, scaled
from ..graph.primitives.indexing import gather
from ..graph.primitives.linalg import contract
from ..graph.primitives.movement import broadcast_to
from ..graph.primitives.movement import transpose as permuted
from ..graph.primitives.reduce import count_of, keep
from ..graph.primitives.sizes import dims_of
from . import reductions, shaping
from ._repeat import repeated, tiled
from ._tensors import (
    as_float,
    as_tensor,
    axis_of,
    binary,
    broadcast_together,
    check_sizes,
    dims_from,
    promoted,
)
from .operators import UnknownLengthError

Function = Callable[..., Any]
FUNCTIONS: dict[Any, Function] = {}  # by NumPy's function


def _stands_for(*names: str) -> Callable[[Function], Function]:
    """Enter a function for NumPy's of these names, as far as the installed NumPy has them."""

    def enter(function: Function) -> Function:
        for name in names:
            if hasattr(np, name):
                FUNCTIONS[getattr(np, name)] = function
        return function

    return enter


# Sums, extrema, moments --------------------------------------------------------------------

# NumPy adds and multiplies small integers in these.
_WIDE = {"bool": "int64", "signed": "int64", "unsigned": "uint64"}


def _widened(x: Any, dtype: Any, what: str) -> Node:
    x = as_tensor(x, what)
    return ew.cast(x, dtype or _WIDE.get(x.dtype.kind, x.dtype))


def _floating(x: Any, dtype: Any, what: str) -> Node:
    return as_float(x, what) if dtype is None else ew.cast(as_tensor(x, what), dtype)


def _typed(name: str, reduce: Function, prepare: Callable[[Any, Any, str], Node]) -> None:
    @_stands_for(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Any:
        return reduce(prepare(a, dtype, f"np.{name}"), axis, keepdims)


def _untyped(names: str, reduce: Function) -> None:
    @_stands_for(*names.split())
    def reduced(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return reduce(a, axis, keepdims)


def _spread(name: str, reduce: Function, of_ratio: Callable[[Node], Node]) -> None:
    @_stands_for(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: Any = False,
    ) -> Any:  # fmt: skip
        x = _floating(a, dtype, f"np.{name}")
        y = reduce(x, axis, keepdims)
        if not ddof:
            return y
        wide = FLOAT32 if x.dtype == FLOAT16 else x.dtype  # float16 doesn't count far
        n = count_of(x, normalize_axes(f"np.{name}", axis, len(x.shape)), wide)
        left = ew.maximum(ew.sub(n, full_like(n, ddof)), full_like(n, 0))
        ratio = ew.cast(of_ratio(ew.div(n, left)), x.dtype)
        return ew.mul(y, broadcast_to(ratio, dims_of(y)))


def _place(name: str, find: Callable[[Any, int], Node]) -> None:
    @_stands_for(name)
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = as_tensor(a, f"np.{name}")
        found = find(shaping.flatten(x), 0) if axis is None else find(x, axis)
        axes = normalize_axes(f"np.{name}", axis, len(x.shape))
        return keep(found, x, axes) if keepdims else found


def _running(name: str, function: Callable[[Any, int], Node]) -> None:
    @_stands_for(name)
    def run(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        x = _widened(a, dtype, f"np.{name}")
        return function(shaping.flatten(x), 0) if axis is None else function(x, axis)


_typed("sum", reductions.sum, _widened)
_typed("prod", reductions.prod, _widened)
_typed("mean", reductions.mean, _floating)
_spread("var", reductions.var, lambda ratio: ratio)
_spread("std", reductions.std, ew.sqrt)
_untyped("max amax", reductions.max)
_untyped("min amin", reductions.min)
_untyped("any", reductions.any)
_untyped("all", reductions.all)
_place("argmax", reductions.argmax)
_place("argmin", reductions.argmin)
_running("cumsum", reductions.cumsum)
_running("cumprod", reductions.cumprod)


@_stands_for("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    holds = as_tensor(a, "np.count_nonzero", BOOL)
    return reductions.sum(ew.cast(holds, "int64"), axis, keepdims)


# Element by element ------------------------------------------------------------------------


@_stands_for("clip")
def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
    max: Any = None,
) -> Any:  # fmt: skip
    low, high = a_min if min is None else min, a_max if max is None else max
    y = x = as_tensor(a, "np.clip")
    if low is not None:
        y = binary(ew.maximum, y, low, "np.clip")
    if high is not None:
        y = binary(ew.minimum, y, high, "np.clip")
    return identity(x) if y is x else y


@_stands_for("round", "around")
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    x = as_tensor(a, "np.round")
    if not x.dtype.is_float:
        return identity(x)
    if not decimals:
        return ew.round(x)
    factor = 10.0 ** abs(decimals)
    there, back = (scaled, _over) if decimals > 0 else (_over, scaled)
    return back(ew.round(there(x, factor)), factor)


def _over(x: Node, factor: float) -> Node:
    return ew.div(x, full_like(x, factor))


@_stands_for("where")
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise TypeError(
            "np.where of a condition alone gives the places where it holds: x[mask] takes the"
            " elements there, K.switch(condition, x, y) chooses between tensors"
        )
    choice = as_tensor(condition, "np.where", BOOL)
    choice, *parts = broadcast_together([choice, *promoted((x, y), "np.where")], "np.where")
    return ew.select(choice, *parts)


@_stands_for("full_like")
def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: Any = "K") -> Any:
    x = as_tensor(a, "np.full_like")
    value = as_tensor(fill_value, "np.full_like", as_dtype(dtype or x.dtype))
    return broadcast_to(value, dims_of(x))


@_stands_for("zeros_like")
def _zeros_like(a: Any, dtype: Any = None, order: Any = "K") -> Any:
    return _full_like(a, 0, dtype)


@_stands_for("ones_like")
def _ones_like(a: Any, dtype: Any = None, order: Any = "K") -> Any:
    return _full_like(a, 1, dtype)


@_stands_for("copy")
def _copy(a: Any, order: Any = "K", subok: Any = None) -> Any:
    return identity(as_tensor(a, "np.copy"))


# Shapes ------------------------------------------------------------------------------------


@_stands_for("shape")
def _shape(a: Any) -> Any:
    return a.shape


@_stands_for("ndim")
def _ndim(a: Any) -> int:
    return len(a.type.shape)


@_stands_for("size")
def _size(a: Any, axis: Any = None) -> int:
    sizes = [a.type.shape[i] for i in normalize_axes("np.size", axis, _ndim(a))]
    if None in sizes:
        raise UnknownLengthError(
            f"the size of {a!r} is known only at run time; K.size(x) and K.shape(x) are tensors"
        )
    return math.prod(sizes)


@_stands_for("reshape")
def _reshape(a: Any, shape: Any = None, order: Any = "C", *, newshape: Any = None) -> Any:
    wanted = newshape if shape is None else shape
    is_one = wanted.shape == () if isinstance(wanted, Node) else not isinstance(wanted, Iterable)
    return shaping.reshape(a, (wanted,) if is_one else wanted)


@_stands_for("ravel")
def _ravel(a: Any, order: Any = "C") -> Any:
    return shaping.flatten(a)


@_stands_for("transpose", "permute_dims")
def _transpose(a: Any, axes: Any = None) -> Any:
    x = as_tensor(a, "np.transpose")
    order = range(len(x.shape))[::-1] if axes is None else axes
    return shaping.permute_dimensions(x, [axis_of(x, i, "np.transpose") for i in order])


@_stands_for("swapaxes")
def _swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    x = as_tensor(a, "np.swapaxes")
    first, second = (axis_of(x, i, "np.swapaxes") for i in (axis1, axis2))
    order = list(range(len(x.shape)))
    order[first], order[second] = second, first
    return permuted(x, order)


@_stands_for("moveaxis")
def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    x = as_tensor(a, "np.moveaxis")
    sources, places = (
        [axis_of(x, i, "np.moveaxis") for i in _listed(axes)] for axes in (source, destination)
    )
    if not len(sources) == len(set(sources)) == len(set(places)) == len(places):
        raise ShapeError(f"np.moveaxis: axes {source} can't go to {destination} one to one")
    order = [i for i in range(len(x.shape)) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return permuted(x, order)


def _listed(axes: Any) -> list[Any]:
    return list(axes) if isinstance(axes, Iterable) else [axes]


@_stands_for("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Any:
    y = x = as_tensor(a, "np.squeeze")
    ones = [i for i, dim in enumerate(x.shape) if dim == 1]
    axes = ones if axis is None else normalize_axes("np.squeeze", axis, len(x.shape))
    for i in reversed(axes):
        y = shaping.squeeze(y, i)
    return identity(x) if y is x else y


@_stands_for("expand_dims")
def _expand_dims(a: Any, axis: Any) -> Any:
    x = as_tensor(a, "np.expand_dims")
    places = _listed(axis)
    rank = len(x.shape) + len(places)
    for i in sorted(normalize_axis("np.expand_dims", i, rank) for i in places):
        x = shaping.expand_dims(x, i)
    return x


@_stands_for("broadcast_to")
def _broadcast_to(array: Any, shape: Any) -> Any:
    dims = check_sizes(dims_from(shape, "np.broadcast_to"), "np.broadcast_to")
    return broadcast_to(_of_rank(as_tensor(array, "np.broadcast_to"), len(dims)), dims)


def _of_rank(x: Node, rank: int) -> Node:
    """`x` with axes of size 1 in front, up to so many axes."""
    missing = rank - len(x.shape)
    return shaping.reshape(x, [*[1] * missing, *dims_of(x)]) if missing > 0 else x


@_stands_for("concatenate")
def _concatenate(arrays: Sequence[Any], axis: Any = 0, out: Any = None) -> Any:
    if axis is None:
        arrays, axis = [shaping.flatten(x) for x in arrays], 0
    return shaping.concatenate(promoted(list(arrays), "np.concatenate"), axis)


@_stands_for("stack")
def _stack(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    return shaping.stack(promoted(list(arrays), "np.stack"), axis)


@_stands_for("vstack")
def _vstack(tup: Sequence[Any]) -> Any:
    return _concatenate([_of_rank(as_tensor(x, "np.vstack"), 2) for x in tup])


@_stands_for("hstack")
def _hstack(tup: Sequence[Any]) -> Any:
    parts = [_of_rank(as_tensor(x, "np.hstack"), 1) for x in tup]
    return _concatenate(parts, 0 if len(parts[0].shape) == 1 else 1)


@_stands_for("tile")
def _tile(A: Any, reps: Any) -> Any:
    counts = check_sizes(dims_from(reps, "np.tile"), "np.tile")
    x = _of_rank(identity(as_tensor(A, "np.tile")), len(counts))
    return tiled(x, [*[1] * (len(x.shape) - len(counts)), *counts])


@_stands_for("repeat")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    x = as_tensor(a, "np.repeat")
    counts = check_sizes(dims_from(repeats, "np.repeat"), "np.repeat")
    if len(counts) != 1:
        raise ShapeError("np.repeat of a tensor takes one count for all elements")
    x = shaping.flatten(x) if axis is None else identity(x)
    return repeated(x, 0 if axis is None else axis_of(x, axis, "np.repeat"), counts[0], whole=False)


@_stands_for("flip")
def _flip(m: Any, axis: Any = None) -> Any:
    x = as_tensor(m, "np.flip")
    return shaping.reverse(x, normalize_axes("np.flip", axis, len(x.shape)))


@_stands_for("take")
def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    x, index = as_tensor(a, "np.take"), as_tensor(indices, "np.take")
    if axis is None:
        return gather(shaping.flatten(x), index, 0)
    return gather(x, index, axis_of(x, axis, "np.take"))


# Products ----------------------------------------------------------------------------------


@_stands_for("dot")
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    x, y = promoted((a, b), "np.dot")
    if not x.shape or not y.shape:
        return binary(ew.mul, x, y, "np.dot")
    return contract(x, y, ((len(x.shape) - 1,), (max(0, len(y.shape) - 2),)))


@_stands_for("outer")
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    x, y = (shaping.flatten(x) for x in promoted((a, b), "np.outer"))
    return contract(x, y, ((), ()))


@_stands_for("tensordot")
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = promoted((a, b), "np.tensordot")
    if isinstance(axes, int):
        axes = (range(len(x.shape) - axes, len(x.shape)), range(axes))
    first, second = (
        tuple(axis_of(part, i, "np.tensordot") for i in _listed(over))
        for part, over in zip((x, y), axes, strict=True)
    )
    return contract(x, y, (first, second))
