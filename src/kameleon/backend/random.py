"""Random tensors.

Each call of a function here opens a stream of its own; `graph.primitives.random` says exactly what
is drawn from it. The same seed gives the same numbers: two tensors made with one seed are equal.
Each evaluation of a tensor draws anew, and so does each step of a loop. Without a seed, NumPy's
global generator picks one, so that `numpy.random.seed` makes a program repeatable.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, ShapeError
from ..graph.ir.node import Node, Variable
from ..graph.ir.types import DType, show_shape
from ..graph.primitives import random as draws
from ..graph.primitives.elementwise import abs as magnitude
from ..graph.primitives.elementwise import (
    add,
    cast,
    div,
    eq,
    logical_and,
    mul,
    ne,
    select,
    sub,
)
from ..graph.primitives.filling import full_like, scaled
from ..graph.primitives.movement import broadcast_to
from ..graph.primitives.sizes import Size, dims_of, size_of
from ..graph.primitives.stretching import stretch
from . import _seeds
from ._tensors import Tensor, TensorLike, as_float, check_sizes, dims_from, dtype_or_floatx
from .creation import variable

__all__ = [
    "random_uniform_variable",
    "random_normal_variable",
    "dropout",
    "random_normal",
    "random_uniform",
    "random_binomial",
    "truncated_normal",
]


# Arguments ---------------------------------------------------------------------------------


def _stream(seed: Any, what: str) -> Node:
    """The key of a new stream."""
    if seed is None:
        seed = _seeds.draw(_seeds.FOR_TENSORS)
    try:
        return draws.open_source(operator.index(seed))
    except TypeError:
        raise ArgumentError(f"{what}: seed must be an int or None, not {seed!r}") from None


def _dims(shape: Any, what: str) -> list[Size]:
    return check_sizes(dims_from(shape, what), what)


def _float_dtype(dtype: Any, what: str) -> DType:
    kind = dtype_or_floatx(dtype)
    if not kind.is_float:
        raise DTypeError(f"{what} draws floats, not {kind}; K.cast its result")
    return kind


def _parameter(value: Any, like: Node, what: str, name: str) -> Node:
    """A number, or a tensor that stretches to the shape, as a tensor like `like`."""
    if isinstance(value, Node):
        return stretch(cast(value, like.dtype), dims_of(like))
    return full_like(like, _number(value, what, name))


def _number(value: Any, what: str, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what}: {name} must be a number, not {value!r}") from None


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Node) and value == number


def _moved(x: Node, location: tuple[str, Any], scale: tuple[str, Any], what: str) -> Node:
    """location + scale * x; `location` and `scale` are pairs of an argument's name and value."""
    if not _is(scale[1], 1):
        x = mul(x, _parameter(scale[1], x, what, scale[0]))
    if not _is(location[1], 0):
        x = add(x, _parameter(location[1], x, what, location[0]))
    return x


def _probability(value: Any, what: str, name: str, below_one: bool) -> float | Node:
    """A number in [0, 1] (or [0, 1)), or a tensor."""
    if isinstance(value, Node):
        return as_float(value, what)
    number = _number(value, what, name)
    if not 0 <= number <= 1 or (below_one and number == 1):
        bounds = f"0 <= {name} {'<' if below_one else '<='} 1"
        raise ArgumentError(f"{what}: {name} is {value!r}; expected {bounds}")
    return number


# Draws -------------------------------------------------------------------------------------


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Normally distributed numbers.

    Args:
        shape: ints and integer scalar tensors, or a 1-D integer tensor.
        mean, stddev: of the distribution; numbers, or tensors that stretch to the shape.
        dtype: a float dtype; `K.floatx()`, if None.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A tensor of this shape; each evaluation draws anew.

    Raises:
        ShapeError: a size is negative.
        DTypeError: `dtype` isn't a float dtype.

    >>> from kameleon import backend as K
    >>> K.eval(K.random_normal((3,), mean=10., seed=1)).round(2)
    array([10.54,  8.43, 10.23], dtype=float32)
    """
    return _normal(draws.normal, shape, mean, stddev, dtype, seed, "random_normal")


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Normally distributed numbers, given that they lie within two deviations of the mean.

    Args:
        shape: ints and integer scalar tensors, or a 1-D integer tensor.
        mean, stddev: of the distribution before it's truncated; numbers, or tensors that
            stretch to the shape.
        dtype: a float dtype; `K.floatx()`, if None.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A tensor of this shape; each evaluation draws anew.

    Raises:
        ShapeError: a size is negative.
        DTypeError: `dtype` isn't a float dtype.

    >>> from kameleon import backend as K
    >>> x = K.eval(K.truncated_normal((1000,), seed=1))
    >>> bool((abs(x) <= 2).all())
    True
    """
    return _normal(draws.truncated_normal, shape, mean, stddev, dtype, seed, "truncated_normal")


def _normal(
    draw: Callable[[Node, Sequence[Size], DType], Node],
    shape: Any,
    mean: Any,
    stddev: Any,
    dtype: Any,
    seed: Any,
    what: str,
) -> Node:
    kind, dims = _float_dtype(dtype, what), _dims(shape, what)
    z = draw(_stream(seed, what), dims, kind)
    return cast(_moved(z, ("mean", mean), ("stddev", stddev), what), kind)


def random_uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Uniformly distributed numbers in [minval, maxval).

    Args:
        shape: ints and integer scalar tensors, or a 1-D integer tensor.
        minval, maxval: bounds; the upper one doesn't occur. Numbers, or tensors that stretch to
            the shape; ints, where `dtype` is an integer dtype.
        dtype: element type; `K.floatx()`, if None.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A tensor of this shape; each evaluation draws anew.

    Raises:
        ShapeError: a size is negative.
        DTypeError: `dtype` is bool; or it's an integer dtype, and a bound is no int.
        ArgumentError: a bound isn't finite; bounds of integers that enclose nothing, or that the
            dtype can't hold.

    >>> from kameleon import backend as K
    >>> K.eval(K.random_uniform((3,), seed=1))
    array([0.70394367, 0.05771494, 0.58952564], dtype=float32)
    >>> K.eval(K.random_uniform((6,), 0, 10, dtype='int32', seed=1))
    array([7, 5, 9, 3, 3, 8], dtype=int32)
    """
    what = "random_uniform"
    kind, dims = dtype_or_floatx(dtype), _dims(shape, what)
    if kind.is_integer:
        return _uniform_integers(_stream(seed, what), dims, minval, maxval, kind)
    kind = _float_dtype(kind, what)
    u = draws.uniform(_stream(seed, what), dims, kind)
    if _is(minval, 0) and _is(maxval, 1):
        return u
    for name, value in (("minval", minval), ("maxval", maxval)):
        if not isinstance(value, Node) and not isfinite(_number(value, what, name)):
            raise ArgumentError(f"{what}: {name} is {value!r}; expected a finite number")
    return _uniform_between(cast(u, draws.wide(kind)), minval, maxval, kind)


def _uniform_between(u: Node, minval: Any, maxval: Any, kind: DType) -> Node:
    """minval + (maxval - minval) * u; where rounding gives maxval, minval instead.

    A tensor's bound may be infinite, and so is what's drawn then.
    """
    low, high = (
        _parameter(value, u, "random_uniform", name)
        for name, value in (("minval", minval), ("maxval", maxval))
    )
    x = cast(add(mul(u, sub(high, low)), low), kind)
    rounded = eq(x, cast(high, kind))
    if isinstance(maxval, Node):
        rounded = logical_and(rounded, ne(magnitude(high), full_like(high, inf)))
    return select(rounded, cast(low, kind), x)


def _uniform_integers(
    key: Node, dims: Sequence[Size], minval: Any, maxval: Any, kind: DType
) -> Node:
    bounds = {"minval": minval, "maxval": maxval}
    for name, value in bounds.items():
        if not hasattr(value, "__index__"):
            raise DTypeError(
                f"random_uniform: {name} must be an int for dtype {kind}, not {value!r}"
            )
    low, high = (operator.index(value) for value in bounds.values())
    limits = np.iinfo(kind)
    if not (limits.min <= low < high <= int(limits.max) + 1 and high <= 2**63 > high - low):
        raise ArgumentError(
            f"random_uniform: bounds {low} <= x < {high} for dtype {kind}; expected minval <"
            f" maxval within [{limits.min}, {limits.max}] (and within int64), less than 2**63 apart"
        )
    x = draws.integers(key, dims, high - low)
    return cast(add(x, full_like(x, low)), kind)


def random_binomial(shape: Any, p: Any = 0.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Ones with probability `p`, else zeros.

    Args:
        shape: ints and integer scalar tensors, or a 1-D integer tensor.
        p: a number in [0, 1], taken to the nearest multiple of 2**-32; or a float scalar tensor.
        dtype: element type; `K.floatx()`, if None.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A tensor of this shape; each evaluation draws anew.

    Raises:
        ArgumentError: `p` isn't in [0, 1].
        ShapeError: a size is negative.

    >>> from kameleon import backend as K
    >>> K.eval(K.random_binomial((6,), p=0.5, seed=3))
    array([1., 0., 0., 0., 0., 1.], dtype=float32)
    """
    what = "random_binomial"
    kind, dims = dtype_or_floatx(dtype), _dims(shape, what)
    chance = _probability(p, what, "p", below_one=False)
    return cast(draws.below(_stream(seed, what), dims, chance), kind)


# Variables ---------------------------------------------------------------------------------


def _variable(x: Node, dtype: Any, name: str | None) -> Variable:
    from .functions import evaluate

    return variable(evaluate(x), dtype_or_floatx(dtype), name)


def _seed_of_variable(seed: int | None) -> int:
    return _seeds.draw(_seeds.FOR_VARIABLES) if seed is None else seed


def random_uniform_variable(
    shape: Any,
    low: Any,
    high: Any,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """A variable that starts with uniformly distributed numbers in [low, high).

    Args:
        shape: ints.
        low, high: bounds; the upper one doesn't occur.
        dtype: element type; `K.floatx()`, if None.
        name: its name.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A variable.

    >>> from kameleon import backend as K
    >>> v = K.random_uniform_variable((2, 3), 0, 1, seed=1)
    >>> K.int_shape(v), bool((K.eval(v) == K.eval(v)).all())
    ((2, 3), True)
    """
    seed = _seed_of_variable(seed)
    return _variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


def random_normal_variable(
    shape: Any,
    mean: Any,
    scale: Any,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """A variable that starts with normally distributed numbers.

    Args:
        shape: ints.
        mean: of the distribution.
        scale: its standard deviation.
        dtype: a float dtype; `K.floatx()`, if None.
        name: its name.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A variable.

    >>> from kameleon import backend as K
    >>> v = K.random_normal_variable((2, 3), 0, 1, seed=1)
    >>> K.int_shape(v), bool((K.eval(v) == K.eval(v)).all())
    ((2, 3), True)
    """
    seed = _seed_of_variable(seed)
    return _variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


# Dropout -----------------------------------------------------------------------------------


def dropout(x: TensorLike, level: Any, noise_shape: Any = None, seed: int | None = None) -> Tensor:
    """Set elements to 0 at random, and divide the others by the probability to be kept.

    Args:
        x: a tensor.
        level: the probability to be dropped: a number in [0, 1), taken to the nearest multiple
            of 2**-32; or a float scalar tensor.
        noise_shape: sizes of the mask, which is stretched to the shape of `x`: along an axis
            where it has 1, elements stay or go together. None (for an axis, or for all) means
            the size of `x`; ints, integer scalar tensors, or a 1-D integer tensor. A size that
            is known only at run time must be that of `x`.
        seed: an int, of which the lower 32 bits count; if None, one is drawn by NumPy.

    Returns:
        A tensor like `x`: `x` itself for level 0. Dropped elements are 0, also where `x` is NaN.

    Raises:
        ArgumentError: `level` isn't in [0, 1).
        ShapeError: a mask of `noise_shape` doesn't stretch to `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.dropout(K.ones((2, 3)), 0.5, noise_shape=(2, 1), seed=2))
    array([[0., 0., 0.],
           [2., 2., 2.]], dtype=float32)
    """
    what = "dropout"
    dense = as_float(x, what)
    rate = _probability(level, what, "level", below_one=True)
    if isinstance(noise_shape, (int, np.integer)) and seed is None:
        noise_shape, seed = None, int(noise_shape)  # the older call: dropout(x, level, seed)
    dims, key = _noise_dims(dense, noise_shape), _stream(seed, what)
    if not isinstance(rate, Node) and rate == 0:
        return dense
    keep = draws.below(key, dims, _complement(rate))
    return select(broadcast_to(keep, dims_of(dense)), _rescaled(dense, rate), full_like(dense, 0))


def _complement(level: float | Node) -> float | Node:
    return sub(full_like(level, 1), level) if isinstance(level, Node) else 1 - level


def _rescaled(x: Node, level: float | Node) -> Node:
    """x / (1 - level)"""
    if isinstance(level, Node):
        kept = cast(_complement(level), x.dtype)  # type: ignore[arg-type]
        return div(x, broadcast_to(kept, dims_of(x)))
    return scaled(x, 1 / (1 - level))


def _noise_dims(x: Node, noise_shape: Any) -> list[Size]:
    """The dims of the mask, which must stretch to those of `x`."""
    if noise_shape is None:
        return dims_of(x)
    if isinstance(noise_shape, (list, tuple)) and len(noise_shape) == x.type.rank:
        noise_shape = [size_of(x, i) if d is None else d for i, d in enumerate(noise_shape)]
    dims = _dims(noise_shape, "dropout")
    known = x.shape[x.type.rank - len(dims) :]
    fits = len(dims) <= x.type.rank and all(
        isinstance(d, Node) or d == 1 or n is None or d == n
        for d, n in zip(dims, known, strict=True)
    )
    if not fits:
        shown = show_shape(d if isinstance(d, int) else None for d in dims)
        raise ShapeError(
            f"dropout: a mask of noise_shape {shown} doesn't stretch to x of shape {x.shape};"
            " expected the sizes of x, or 1"
        )
    return dims
