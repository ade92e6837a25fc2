"""Cases of reductions, of cumulative primitives, and of argmax and argmin."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...graph.primitives import reduce
from .case import (
    CUBE,
    FLOATS,
    INTEGERS,
    SPECIAL,
    TIES,
    Array,
    Case,
    along,
    flags,
    lined,
    normal,
    pool,
    reduced,
    spaced,
    uses,
)

AXES: list[tuple[int, ...]] = [(0,), (2,), (0, 2), (0, 1, 2)]


def highest(better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], int]:
    """Where the first extremum is; a NaN counts as one."""

    def where(items: list[Any]) -> int:
        best = 0
        for i, x in enumerate(items):
            if items[best] == items[best] and (x != x or better(x, items[best])):
                best = i
        return best

    return where


def value_at(where: Callable[[list[Any]], int]) -> Callable[[list[Any]], Any]:
    return lambda items: items[where(items)]


def total(items: list[Any]) -> Any:
    """The exact sum, of integers as of floats."""
    floats = any(isinstance(i, float) for i in items) and all(map(math.isfinite, items))
    return math.fsum(items) if floats else sum(items)


LARGEST = highest(lambda a, b: a > b)
SMALLEST = highest(lambda a, b: a < b)
# The meaning for a list of Python numbers, a value at which it's smooth, and the meaning for no
# numbers of a dtype.
REDUCTIONS: dict[str, tuple[Callable[[list[Any]], Any], Array, Callable[[Any], Any]]] = {
    "reduce_sum": (total, CUBE, lambda dtype: 0),
    "reduce_prod": (math.prod, CUBE, lambda dtype: 1),
    "reduce_max": (value_at(LARGEST), spaced(2, 3, 4), lambda dtype: limits(dtype)[0]),
    "reduce_min": (value_at(SMALLEST), spaced(2, 3, 4), lambda dtype: limits(dtype)[1]),
}


def limits(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest value."""
    if np.dtype(dtype).kind == "f":
        return -math.inf, math.inf
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def reduction_cases(name: str) -> list[Case]:
    f, smooth, nothing = REDUCTIONS[name]

    def oracle(x: Array, axes: tuple[int, ...]) -> Array:
        found: Array = reduced(lambda items: f(items) if items else nothing(x.dtype))(x, axes)
        return found

    of_nothing = [("nothing", np.zeros((2, 0)), (1,)), ("none", np.zeros((0, 0)), (0, 1))]
    is_finite = math.isfinite(nothing("float64"))
    make = partial(uses, name, getattr(reduce, name), oracle, units=32)
    return [
        *make(
            *((f"smooth{axes}", smooth, axes) for axes in AXES),
            ("nothing-left", np.zeros((0, 3)), (1,)),
            wrt=(0,),
        ),
        *make(*of_nothing, wrt=(0,) if is_finite else ()),
        *make(
            *(
                (dtype, np.array([pool(dtype)[-4:], pool(dtype)[:4]], dtype), (1,))
                for dtype in INTEGERS
            ),
            *((dtype, normal(5, 4, dtype=dtype), (0,)) for dtype in FLOATS),
            ("special", SPECIAL, (1,)),
            *(
                (f"nothing-{dtype}", np.zeros((2, 0), dtype), (1,))
                for dtype in (*INTEGERS, "float16", "float32")
            ),
        ),
    ]


def product_of_others(x: Array, axes: tuple[int, ...]) -> Array:
    out = np.empty_like(x)
    for at in np.ndindex(*x.shape):
        rest = x.copy()
        rest[at] = 1
        line = tuple(slice(None) if i in axes else k for i, k in enumerate(at))
        out[at] = math.prod(rest[line].ravel().tolist())
    return out


def running_slope(g: list[float], x: list[float]) -> list[float]:
    places = range(len(x))
    return [
        math.fsum(g[j] * math.prod(x[k] for k in range(j + 1) if k != i) for j in places if j >= i)
        for i in places
    ]


def linear_scan(a: list[float], b: list[float]) -> list[float]:
    found, y = [], 0.0
    for factor, term in zip(a, b, strict=True):
        y = factor * y + term
        found.append(y)
    return found


def with_zeros(x: Array, *places: int) -> Array:
    """A copy of x, with zeros at these places in row-major order."""
    copy = x.copy()
    copy.reshape(-1)[list(places)] = 0
    return copy


FACTORS = normal(3, 4)
PRODUCTS = {
    "no zero": FACTORS,
    "a zero": with_zeros(FACTORS, 5),
    "two zeros": with_zeros(FACTORS, 4, 6, 11),
    "a zero first": with_zeros(FACTORS, 0, 8),
}


CASES: list[Case] = [
    *(case for name in REDUCTIONS for case in reduction_cases(name)),
    *(
        case
        for name, f in (("reduce_any", any), ("reduce_all", all))
        for case in uses(
            name,
            getattr(reduce, name),
            reduced(f),
            *(
                (f"{x.shape}{axes}", x, axes)
                for x, axes in (
                    (flags(3, 4), (1,)),
                    (flags(3, 4), (0, 1)),
                    (np.ones((2, 2), bool), (0,)),
                    (np.zeros((2, 0), bool), (1,)),
                )
            ),
        )
    ),
    *(
        case
        for name, where in (("argmax", LARGEST), ("argmin", SMALLEST))
        for case in uses(
            name,
            along(name),
            lambda x, axis, where=where: reduced(where, "int64")(x, (axis,)),
            ("ties", TIES, 1),
            ("rows", TIES, 0),
            ("special", SPECIAL, 1),
            ("cube", CUBE, 1),
            ("bools", flags(2, 5), 1),
            ("nothing-left", np.zeros((0, 3)), 1),
        )
    ),
    *(
        case
        for name, step in (("cumsum", operator.add), ("cumprod", operator.mul))
        for case in uses(
            name,
            along(name),
            lined(lambda line, step=step: list(itertools.accumulate(line, step))),
            ("first", CUBE, 0),
            ("last", CUBE, 2),
            ("empty", np.zeros((2, 0)), 1),
            ("wraps", np.full((9,), 100, "int8"), 0),
            ("unsigned", np.full((9,), 3, "uint8"), 0),
            ("half", normal(6, dtype="float16"), 0),
            wrt=(0,),
            units=32,
        )
    ),
    *uses(
        "product_of_others",
        lambda x, axes: reduce.product_of_others(x, axes=axes),
        product_of_others,
        *(
            (f"{name}{axes}", x, axes)
            for name, x in PRODUCTS.items()
            for axes in ((0,), (1,), (0, 1))
        ),
        ("apart", with_zeros(CUBE, 3), (0, 2)),
        ("one", normal(3, 1), (1,)),
        ("nothing", np.zeros((2, 0)), (1,)),
        wrt=(0,),
        units=64,
    ),
    *uses(
        "cumprod_slope",
        lambda g, x, axis: reduce.cumprod_slope(g, x, axis=axis),
        lined(running_slope),
        *(
            (f"{name}{axis}", (normal(3, 4, seed=1), x), axis)
            for name, x in PRODUCTS.items()
            for axis in (0, 1)
        ),
        ("one", (normal(3, 1), normal(3, 1, seed=1)), 1),
        ("nothing", (np.zeros((2, 0)), np.zeros((2, 0))), 1),
        wrt=(0, 1),
        units=64,
    ),
    *uses(
        "linear_scan",
        along("linear_scan"),
        lined(linear_scan),
        ("first", (normal(5, 2), normal(5, 2, seed=1)), 0),
        ("last", (normal(2, 4), normal(2, 4, seed=1)), 1),
        ("one", (normal(2, 1), normal(2, 1, seed=1)), 1),
        ("empty", (normal(0, 2), normal(0, 2)), 0),
        wrt=(0, 1),
        units=32,
    ),
]
