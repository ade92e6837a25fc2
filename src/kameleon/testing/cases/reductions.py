"""Cases of reductions, of cumulative primitives, and of argmax and argmin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.primitives import reduce
from .case import (
    CUBE,
    FLOATS,
    INTEGERS,
    SPECIAL,
    TIES,
    Array,
    Case,
    flags,
    lined,
    normal,
    pool,
    reduced,
    spaced,
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
    apply = getattr(reduce, name)
    smooth_there = (0,) if math.isfinite(nothing("float64")) else ()

    def case(label: str, x: Array, axes: tuple[int, ...], wrt: tuple[int, ...] = ()) -> Case:
        return Case(
            primitive=name,
            label=label,
            build=lambda x: apply(x, axes),
            operands=(x,),
            oracle=reduced(lambda items: f(items) if items else nothing(x.dtype), axes),
            wrt=wrt,
            units=32,
        )

    return [
        *(case(f"smooth{axes}", smooth, axes, (0,)) for axes in AXES),
        *(
            case(dtype, np.array([pool(dtype)[-4:], pool(dtype)[:4]], dtype), (1,))
            for dtype in INTEGERS
        ),
        *(case(dtype, normal(5, 4, dtype=dtype), (0,)) for dtype in FLOATS),
        case("special", SPECIAL, (1,)),
        case("nothing-left", np.zeros((0, 3)), (1,), (0,)),
        *(
            case(f"nothing-{dtype}", np.zeros((2, 0), dtype), (1,))
            for dtype in (*INTEGERS, "float16", "float32")
        ),
        case("nothing", np.zeros((2, 0)), (1,), smooth_there),
        case("none", np.zeros((0, 0)), (0, 1), smooth_there),
    ]


def logic_case(name: str, f: Callable[[list[Any]], bool], x: Array, axes: tuple[int, ...]) -> Case:
    return Case(
        primitive=name,
        label=f"{x.shape}{axes}",
        build=lambda x: getattr(reduce, name)(x, axes),
        operands=(x,),
        oracle=reduced(f, axes),
    )


def argument_case(name: str, label: str, x: Array, axis: int) -> Case:
    where = {"argmax": LARGEST, "argmin": SMALLEST}[name]
    return Case(
        primitive=name,
        label=label,
        build=lambda x: REGISTRY[name](x, axis=axis),
        operands=(x,),
        oracle=reduced(where, (axis,), "int64"),
    )


def cumulative_case(name: str, label: str, x: Array, axis: int) -> Case:
    step = {"cumsum": lambda a, b: a + b, "cumprod": lambda a, b: a * b}[name]
    return Case(
        primitive=name,
        label=label,
        build=lambda x: REGISTRY[name](x, axis=axis),
        operands=(x,),
        oracle=lined(lambda line: list(itertools.accumulate(line, step)), axis),
        wrt=(0,) if x.dtype == "float64" else (),
        units=32,
    )


def others_case(label: str, x: Array, axes: tuple[int, ...]) -> Case:
    def oracle(x: Array) -> Array:
        out = np.empty_like(x)
        for at in np.ndindex(*x.shape):
            rest = x.copy()
            rest[at] = 1
            line = tuple(slice(None) if i in axes else k for i, k in enumerate(at))
            out[at] = math.prod(rest[line].ravel().tolist())
        return out

    return Case(
        primitive="product_of_others",
        label=label,
        build=lambda x: reduce.product_of_others(x, axes=axes),
        operands=(x,),
        oracle=oracle,
        wrt=(0,),
        units=64,
    )


def running_slope_case(label: str, g: Array, x: Array, axis: int) -> Case:
    def line(g: list[float], x: list[float]) -> list[float]:
        places = range(len(x))
        return [
            math.fsum(
                g[j] * math.prod(x[k] for k in range(j + 1) if k != i) for j in places if j >= i
            )
            for i in places
        ]

    return Case(
        primitive="cumprod_slope",
        label=label,
        build=lambda g, x: reduce.cumprod_slope(g, x, axis=axis),
        operands=(g, x),
        oracle=lined(line, axis),
        wrt=(0, 1),
        units=64,
    )


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


def linear_scan_case(label: str, a: Array, b: Array, axis: int) -> Case:
    def line(a: list[float], b: list[float]) -> list[float]:
        return list(
            itertools.accumulate(
                zip(a, b, strict=True), lambda y, ab: ab[0] * y + ab[1], initial=0.0
            )
        )[1:]

    return Case(
        primitive="linear_scan",
        label=label,
        build=lambda a, b: REGISTRY["linear_scan"](a, b, axis=axis),
        operands=(a, b),
        oracle=lined(line, axis),
        wrt=(0, 1),
        units=32,
    )


CASES: list[Case] = [
    *(case for name in REDUCTIONS for case in reduction_cases(name)),
    *(
        logic_case(name, f, x, axes)
        for name, f in (("reduce_any", any), ("reduce_all", all))
        for x, axes in (
            (flags(3, 4), (1,)),
            (flags(3, 4), (0, 1)),
            (np.ones((2, 2), bool), (0,)),
            (np.zeros((2, 0), bool), (1,)),
        )
    ),
    *(
        argument_case(name, label, x, axis)
        for name in ("argmax", "argmin")
        for label, x, axis in (
            ("ties", TIES, 1),
            ("rows", TIES, 0),
            ("special", SPECIAL, 1),
            ("cube", CUBE, 1),
            ("bools", flags(2, 5), 1),
            ("nothing-left", np.zeros((0, 3)), 1),
        )
    ),
    *(
        cumulative_case(name, label, x, axis)
        for name in ("cumsum", "cumprod")
        for label, x, axis in (
            ("first", CUBE, 0),
            ("last", CUBE, 2),
            ("empty", np.zeros((2, 0)), 1),
            ("wraps", np.full((9,), 100, "int8"), 0),
            ("unsigned", np.full((9,), 3, "uint8"), 0),
            ("half", normal(6, dtype="float16"), 0),
        )
    ),
    *(
        others_case(f"{name}{axes}", x, axes)
        for name, x in PRODUCTS.items()
        for axes in ((0,), (1,), (0, 1))
    ),
    others_case("apart", with_zeros(CUBE, 3), (0, 2)),
    others_case("one", normal(3, 1), (1,)),
    others_case("nothing", np.zeros((2, 0)), (1,)),
    *(
        running_slope_case(f"{name}{axis}", normal(3, 4, seed=1), x, axis)
        for name, x in PRODUCTS.items()
        for axis in (0, 1)
    ),
    running_slope_case("one", normal(3, 1), normal(3, 1, seed=1), 1),
    running_slope_case("nothing", np.zeros((2, 0)), np.zeros((2, 0)), 1),
    linear_scan_case("first", normal(5, 2), normal(5, 2, seed=1), 0),
    linear_scan_case("last", normal(2, 4), normal(2, 4, seed=1), 1),
    linear_scan_case("one", normal(2, 1), normal(2, 1, seed=1), 1),
    linear_scan_case("empty", normal(0, 2), normal(0, 2), 0),
]
