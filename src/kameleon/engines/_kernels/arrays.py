"""Array functions that the NumPy engine's rules call beside NumPy's own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

import numpy as np

from ...errors import EvaluationError, ShapeError
from .memory import empty, zeros


def mismatch(*sizes: Any) -> NoReturn:
    """Report sizes that were taken as equal and are not."""
    shown = f": {sizes}" if sizes else ""
    raise ShapeError(f"sizes that were taken as equal differ at run time{shown}")


Array = Any

# What an engine says where a size that is computed is no size.
TOO_SMALL = "a size to reshape to is less than -1"


def inferred(shape: Sequence[int], own: Sequence[int]) -> tuple[int, ...]:
    """Sizes to reshape to, with the one that is -1: beside one of 0, those that are 0 don't count.

    >>> inferred([2, -1], [6]), inferred([0, -1], [3, 0, 4])
    ((2, 3), (0, 12))
    """
    total = prod(d for d in own if d or 0 not in shape)
    rest = prod(d for d in shape if d > 0)
    return tuple(total // rest if d == -1 else d for d in shape)


def reshaped(x: Array, shape: tuple[Any, ...]) -> Array:
    """x in another shape, of whose sizes -1 alone is inferred."""
    if min(shape) < -1:
        raise EvaluationError(TOO_SMALL)
    return x.reshape(inferred(shape, x.shape) if 0 in shape and 0 in x.shape else shape)


def sigmoid(x: Array, out: Array = None) -> Array:
    """1 / (1 + exp(-x)); an overflow of exp gives the right limit."""
    if x.dtype == np.float16:  # its exp overflows where the result isn't 0
        return np.positive(sigmoid(x.astype(np.float32)).astype(x.dtype), out)
    if out is None and x.ndim:
        out = empty(x.shape, x.dtype)
    t = np.negative(x, out)
    if not isinstance(t, np.ndarray):
        return t.dtype.type(1) / (t.dtype.type(1) + np.exp(t))
    np.exp(t, t)
    np.add(t, 1, t)
    return np.reciprocal(t, t)


def softplus(x: Array) -> Array:
    """max(x, 0) + log(1 + exp(-|x|))."""
    t = np.negative(np.abs(x))
    if not isinstance(t, np.ndarray):
        return np.log1p(np.exp(t)) + np.maximum(x, x.dtype.type(0))
    np.log1p(np.exp(t, t), t)
    return np.add(t, np.maximum(x, 0), t)


def softmax(x: Array, axis: int) -> Array:
    """exp(x) / sum(exp(x)), shifted by the maximum."""
    e = np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    np.exp(e, e)
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True), e)


def log_softmax(x: Array, axis: int) -> Array:
    """x - log(sum(exp(x))), shifted by the maximum."""
    off = np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    total = np.add.reduce(np.exp(off), axis=axis, keepdims=True)
    return np.subtract(off, np.log(total), off)


def pad(x: Array, margins: Sequence[tuple[int, int]], value: Any) -> Array:
    """x with margins of `value`."""
    shape = tuple(d + a + b for d, (a, b) in zip(x.shape, margins, strict=True))
    out = empty(shape, x.dtype)
    out.fill(value)
    out[tuple(slice(a, a + d) for d, (a, _) in zip(x.shape, margins, strict=True))] = x
    return out


def unslice(g: Array, shape: Sequence[int], index: tuple[slice, ...]) -> Array:
    """Zeros with g at `index`."""
    out = zeros(shape, g.dtype)
    if out[index].shape != g.shape:
        mismatch(out[index].shape, g.shape)
    out[index] = g
    return out


def iota(shape: Sequence[int], axis: int, dtype: Any) -> Array:
    """The index along `axis`."""
    line = np.arange(shape[axis], dtype=dtype)
    if len(shape) == 1:
        return line
    line = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape).copy()


def check_index(index: Array, size: int) -> None:
    """Indices must lie in [0, size)."""
    # Read as unsigned, negative ones are larger than any size.
    if index.size and index.view(f"u{index.itemsize}").max() >= size:
        low, high = index.min(), index.max()
        bad = low if low < 0 else high
        raise EvaluationError(f"index {bad} is out of range for an axis of size {size}")


def gather(x: Array, index: Array, axis: int) -> Array:
    """Slices of x at `index`."""
    check_index(index, x.shape[axis])
    return np.take(x, index, axis)


def scatter_add(g: Array, index: Array, size: int, axis: int) -> Array:
    """Zeros to which the slices of g are added at `index`."""
    check_index(index, size)
    shape = (*g.shape[:axis], size, *g.shape[axis + index.ndim :])
    out = np.zeros(shape, g.dtype)
    where: Any = (slice(None),) * axis + (index,)
    np.add.at(out, where, g)
    return out


def take_along(x: Array, index: Array, axis: int) -> Array:
    """The elements of x at `index`: one index for each line along `axis`."""
    check_index(index, x.shape[axis])
    return np.take_along_axis(x, index, axis)


def put_along(g: Array, index: Array, size: int, axis: int) -> Array:
    """The adjoint of `take_along`."""
    check_index(index, size)
    out = np.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
    where = list(np.ogrid[tuple(slice(0, d) for d in g.shape)])
    where[axis] = index
    np.add.at(out, tuple(where), g)
    return out


def one_hot(index: Array, size: int, dtype: str) -> Array:
    """1 at each index along a new last axis; nothing but 0 for indices out of range."""
    out = np.zeros((index.size, size), dtype)
    flat = np.reshape(index, -1)
    rows = np.flatnonzero((flat >= 0) & (flat < size))
    out[rows, flat[rows]] = 1
    return out.reshape(*index.shape, size)


def _at_labels(shape: tuple[int, ...], labels: Array, axis: int) -> tuple[Array, ...]:
    """The index of one element for each line along `axis`."""
    check_index(labels, shape[axis])
    lines: list[Array] = [np.arange(d) for d in labels.shape]
    if len(lines) > 1:
        lines = list(np.ix_(*lines))
    return (*lines[:axis], labels, *lines[axis:])


def minus_one_hot(p: Array, labels: Array, axis: int, out: Array = None) -> Array:
    """p with 1 taken off at each label; in `out`, which may be p itself."""
    if out is None:
        out = p.copy()
    elif out is not p:
        np.copyto(out, p)
    out[_at_labels(p.shape, labels, axis)] -= 1
    return out


# The least normal numbers: smaller numbers have fewer digits, and so have their logarithms.
_TINY = {name: np.finfo(name).tiny for name in ("float16", "float32", "float64")}


def sparse_softmax_crossentropy(x: Array, p: Array, labels: Array, axis: int) -> Array:
    """-log(p[label]), taken from x where that p underflows."""
    at = _at_labels(p.shape, labels, axis)
    picked = p[at]
    loss = -np.log(picked)
    lost = picked < _TINY[p.dtype.name]
    if lost.any():
        exact = np.maximum.reduce(x, axis=axis) - x[at] - np.log(np.maximum.reduce(p, axis=axis))
        loss = np.where(lost, exact, loss)
    return loss


def linear_scan(a: Array, b: Array, axis: int) -> Array:
    """y[i] = a[i] * y[i-1] + b[i]."""
    a, b = (np.ascontiguousarray(np.moveaxis(x, axis, 0)) for x in (a, b))
    y = np.empty_like(b)
    for i in range(len(b)):
        y[i] = b[i] if i == 0 else a[i] * y[i - 1] + b[i]
    return np.moveaxis(y, 0, axis)


def _divides(products: Array) -> bool:
    """Whether factors can be divided out of all products: none is 0, subnormal, infinite or NaN."""
    sizes = np.abs(products)
    least = np.finfo(sizes.dtype).tiny
    return bool(np.min(sizes, initial=1) >= least and np.max(sizes, initial=1) < np.inf)


def product_of_others(x: Array, axes: tuple[int, ...]) -> Array:
    """For each element the product of all others along `axes`."""
    product = np.multiply.reduce(x, axes, keepdims=True)
    if _divides(product):
        return np.divide(product, x)
    front = tuple(range(len(axes)))
    moved = np.moveaxis(x, axes, front)
    flat = moved.reshape(-1, *moved.shape[len(axes) :])
    others = np.empty_like(flat)
    others[:1] = 1
    np.cumprod(flat[:-1], 0, out=others[1:])
    others[:-1] *= np.cumprod(flat[:0:-1], 0)[::-1]
    return np.ascontiguousarray(np.moveaxis(others.reshape(moved.shape), front, axes))


def cumprod_slope(g: Array, x: Array, axis: int) -> Array:
    """The cotangent of x, given that of its running product."""
    products = np.cumprod(x, axis)
    if _divides(products):
        slope = np.flip(np.cumsum(np.flip(products * g, axis), axis), axis)
        if np.isfinite(slope).all():
            return np.divide(slope, x)
    g, x, before = (np.moveaxis(a, axis, 0) for a in (g, x, products))
    slope = g.copy()
    for i in range(len(x) - 2, -1, -1):
        slope[i] += x[i + 1] * slope[i + 1]
    slope[1:] *= before[:-1]
    return np.moveaxis(slope, 0, axis)


def check(x: Array, holds: Array, message: str) -> Array:
    """x, if everything holds."""
    if not holds.all():
        raise EvaluationError(message)
    return x
