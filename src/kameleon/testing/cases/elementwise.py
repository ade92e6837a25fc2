"""Cases of elementwise primitives: every dtype they take, with its extremes and specials."""

from __future__ import annotations

import math
import operator
import statistics
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.ir.types import as_dtype
from ...graph.primitives.elementwise import cast
from ...graph.primitives.filling import full_like
from .case import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Case,
    Oracle,
    crossed,
    each,
    flags,
    ieee,
    normal,
    pool,
    uses,
)

INF, NAN = math.inf, math.nan


class Row(NamedTuple):
    """A primitive: its meaning for Python numbers, dtypes, and where it is smooth."""

    f: Callable[..., Any]
    dtypes: Sequence[str]
    smooth: Sequence[Sequence[float]] | None = None
    pools: Sequence[Callable[[str], list[Any]]] | None = None
    result: str | None = None


# Scalar meanings that Python lacks ---------------------------------------------------------


def finite(f: Callable[[float], float]) -> Callable[[float], float]:
    """`f`, and the identity on infinities and NaN."""
    return lambda x: float(f(x)) if math.isfinite(x) else x


def sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def log(x: float) -> float:
    return -INF if x == 0 else ieee(math.log)(x)


def divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1, b)


def floor_divide(a: Any, b: Any) -> Any:
    return a // b if b != 0 else divide(a, b)


def modulo(a: Any, b: Any) -> Any:
    return a % b if b != 0 else NAN


def power(a: float, b: float) -> float:
    if a == 0 and b < 0:
        return math.copysign(INF, a) if b % 2 == 1 else INF
    return ieee(math.pow)(a, b)


def extremum(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Of two numbers the chosen one; NaN if either is."""
    return lambda a, b: NAN if a != a or b != b else choose(a, b)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 or x != x else 0.0


def softplus(x: float) -> float:
    return x if x > 40 else math.log1p(math.exp(x))


def relu(x: float) -> float:
    return x if x > 0 or x != x else 0.0


def quantile(x: float) -> float:
    return statistics.NormalDist().inv_cdf((1 + x) / 2)


def exponents(dtype: str) -> list[Any]:
    return pool(dtype) if dtype in FLOATS else [0, 1, 2, 3, 7]


def shifts(dtype: str) -> list[Any]:
    return [0, 1, 5, 8 * np.dtype(dtype).itemsize - 1]


LINE = [(-2.3, -1.1, -0.4, 0.3, 0.9, 2.7)]
POSITIVE = [(0.2, 0.7, 1.0, 1.6, 3.3)]
PLANE = [(-2.3, -0.7, 0.4, 1.9), (1.3, -1.6, 0.8, 2.9)]
WIDE = lambda dtype: [*pool(dtype), 1e-6, 20.0, 30.0, 100.0, -100.0, 1e3]  # noqa: E731

# 1 / 0.1 is rounded up to 10, but 0.1 (with its own rounding) fits into 1 only nine times.
DIVIDENDS = lambda dtype: [*pool(dtype), np.dtype(dtype).type(0.1).item()]  # noqa: E731

UNARY: dict[str, Row] = {
    "neg": Row(operator.neg, NUMBERS, LINE),
    "abs": Row(abs, NUMBERS, LINE),
    "sign": Row(sign, NUMBERS),
    "exp": Row(ieee(math.exp), FLOATS, LINE, [WIDE]),
    "expm1": Row(ieee(math.expm1), FLOATS, LINE, [WIDE]),
    "log": Row(log, FLOATS, POSITIVE, [WIDE]),
    "log1p": Row(lambda x: -INF if x == -1 else ieee(math.log1p)(x), FLOATS, POSITIVE, [WIDE]),
    "sqrt": Row(ieee(math.sqrt), FLOATS, POSITIVE, [WIDE]),
    "sin": Row(ieee(math.sin), FLOATS, LINE),
    "cos": Row(ieee(math.cos), FLOATS, LINE),
    "tanh": Row(math.tanh, FLOATS, LINE, [WIDE]),
    "square": Row(lambda x: x * x, NUMBERS, LINE),
    "floor": Row(finite(math.floor), FLOATS),
    "ceil": Row(finite(math.ceil), FLOATS),
    "round": Row(finite(round), FLOATS),
    "is_nan": Row(math.isnan, FLOATS, result="bool"),
    "logical_not": Row(operator.not_, ["bool"]),
    "bit_not": Row(operator.invert, INTEGERS),
    "sigmoid": Row(sigmoid, FLOATS, LINE, [WIDE]),
    "softplus": Row(softplus, FLOATS, LINE, [WIDE]),
    "relu": Row(relu, FLOATS, LINE),
    "elu": Row(lambda x: x if x > 0 or x != x else math.expm1(x), FLOATS, LINE, [WIDE]),
    "normal_quantile": Row(
        quantile,
        FLOATS,
        [(-0.9, -0.3, 0.1, 0.6)],
        [lambda dtype: [-0.9975, -0.75, -0.5, -0.125, 0.0, 0.25, 0.75, 0.9375]],
    ),
}

BINARY: dict[str, Row] = {
    "add": Row(operator.add, NUMBERS, PLANE),
    "sub": Row(operator.sub, NUMBERS, PLANE),
    "mul": Row(operator.mul, NUMBERS, PLANE),
    "div": Row(divide, FLOATS, PLANE),
    "floor_div": Row(floor_divide, FLOATS, None, [DIVIDENDS, DIVIDENDS]),
    "mod": Row(modulo, FLOATS, PLANE, [DIVIDENDS, DIVIDENDS]),
    "pow": Row(power, FLOATS, [POSITIVE[0], (-2.0, -0.5, 0.3, 1.0, 2.5)]),
    "maximum": Row(extremum(max), NUMBERS, PLANE),
    "minimum": Row(extremum(min), NUMBERS, PLANE),
    "eq": Row(operator.eq, ALL, result="bool"),
    "ne": Row(operator.ne, ALL, result="bool"),
    "lt": Row(operator.lt, ALL, result="bool"),
    "le": Row(operator.le, ALL, result="bool"),
    "gt": Row(operator.gt, ALL, result="bool"),
    "ge": Row(operator.ge, ALL, result="bool"),
    "logical_and": Row(lambda a, b: a and b, ["bool"]),
    "logical_or": Row(lambda a, b: a or b, ["bool"]),
    "bit_and": Row(operator.and_, ["bool", *INTEGERS]),
    "bit_or": Row(operator.or_, ["bool", *INTEGERS]),
    "bit_xor": Row(operator.xor, ["bool", *INTEGERS]),
    "shift_left": Row(operator.lshift, INTEGERS, None, [pool, shifts]),
    "shift_right": Row(operator.rshift, INTEGERS, None, [pool, shifts]),
}
# The same primitives where a dtype needs a meaning or numbers of its own.
BINARY_TOO: list[tuple[str, Row]] = [
    ("add", Row(operator.or_, ["bool"])),
    ("mul", Row(operator.and_, ["bool"])),
    ("pow", Row(operator.pow, INTEGERS, None, [pool, exponents])),
    ("floor_div", Row(lambda a, b: a // b if b else 0, INTEGERS)),
    ("mod", Row(lambda a, b: a % b if b else 0, INTEGERS)),
]


def rows_of(name: str, row: Row, arity: int) -> Iterator[Case]:
    """The cases that a row stands for."""
    pools = row.pools or [pool] * arity
    crosses = ((d, crossed(d, *(numbers(d) for numbers in pools))) for d in row.dtypes)
    yield from uses(name, REGISTRY[name], each(row.f, row.result), *crosses)
    if row.smooth:
        smooth = "smooth", crossed("float64", *row.smooth)
        yield from uses(name, REGISTRY[name], each(row.f), smooth, wrt=range(arity))


# Primitives that are nearly the identity near zero; not elu, for some kernels take 1 from e**x.
TINY = ("expm1", "log1p", "sin", "tanh")


def tiny_cases(name: str) -> list[Case]:
    """f(x) / x where f(x) is nearly x: tiny numbers keep their digits, too."""
    tiny = [s * n for n in (1e-2, 1.5e-3, 3e-4, 1e-6, 1e-9, 1e-20) for s in (1, -1)]
    f = UNARY[name].f
    return uses(
        name,
        lambda x: REGISTRY["div"](REGISTRY[name](x), x),
        each(lambda x: f(x) / x),
        # The rest underflows as float16.
        *((f"tiny-{d}", crossed(d, tiny[: 6 if d == "float16" else None])) for d in FLOATS),
    )


# Mixed dtypes ------------------------------------------------------------------------------


def converted(source: str, target: str) -> Callable[[Any], Any]:
    """A Python number of one dtype as one of the other."""
    if target == "bool":
        return bool
    return int if source in FLOATS and target in INTEGERS else lambda x: x


def castable(source: str, target: str) -> list[Any]:
    """Numbers that the target holds, or wraps."""
    if source in FLOATS and target in INTEGERS:
        return [0.0, 0.5, 1.0, 2.75, 100.9, -0.5, -1.0, -2.75, 300.5, -200.5]
    return pool(source)


def bits(to: str, back: str, target: str) -> Oracle:
    """The bits of one dtype read as another, by the codes of Python's struct."""
    return each(lambda x: struct.unpack(back, struct.pack(to, x))[0], target)


SHAPES: list[tuple[int, ...]] = [(), (0,), (2, 0, 3), (2, 3, 4), (1, 1)]


def shaped(name: str, row: Row, arity: int) -> list[Case]:
    """A scalar, an empty tensor, several axes: the shape is kept, and the dtype."""
    rows = []
    for shape in SHAPES if name in ("add", "sigmoid") else SHAPES[:3]:
        operands = [np.abs(normal(*shape, seed=i)) % 0.9 + 0.05 for i in range(arity)]
        for d in ("float32", "float64"):
            rows.append((f"{d}{shape}", tuple(x.astype(d) for x in operands)))
    wrt = range(arity) if name == "add" else ()
    return uses(name, REGISTRY[name], each(row.f, row.result), *rows, wrt=wrt)


def with_a_number(name: str) -> list[Case]:
    """One operand is a constant scalar, which engines may write out."""
    return uses(
        name,
        lambda x: REGISTRY[name](x, full_like(x, 3)),
        lambda x: each(BINARY[name].f)(x, np.broadcast_to(np.array(3, x.dtype), x.shape)),
        *(
            (f"{dtype}{shape}-with-a-number", np.full(shape, 2, dtype))
            for dtype in NUMBERS
            for shape in ((), (4,))
        ),
    )


def selected(c: Any, a: Any, b: Any) -> Any:
    return a if c else b


def pairs(dtype: str) -> tuple[Any, ...]:
    """A choice between every pair of numbers."""
    a, b = crossed(dtype, pool(dtype), pool(dtype))
    return flags(len(a)), a, b


CASES: list[Case] = [
    *(case for name, row in UNARY.items() for case in rows_of(name, row, 1)),
    *(case for name, row in BINARY.items() for case in rows_of(name, row, 2)),
    *(case for name, row in BINARY_TOO for case in rows_of(name, row, 2)),
    *(case for name in TINY for case in tiny_cases(name)),
    *uses(
        "cast",
        lambda x, source, target: cast(x, target),
        lambda x, source, target: each(converted(source, target), target)(x),
        *(
            (f"{source}-{target}", crossed(source, castable(source, target)), source, target)
            for source in ALL
            for target in ALL
            if source != target
        ),
    ),
    *uses(
        "bitcast",
        lambda x, target, *codes: REGISTRY["bitcast"](x, dtype=as_dtype(target)),
        lambda x, target, to, back: bits(to, back, target)(x),
        *(
            (f"{source}-{target}", crossed(source, pool(source)), target, to, back)
            for source, target, to, back in (
                ("float32", "uint32", "f", "I"),
                ("float32", "int32", "f", "i"),
                ("int64", "float64", "q", "d"),
                ("float16", "int16", "e", "h"),
                ("int8", "uint8", "b", "B"),
            )
        ),
    ),
    *uses("select", REGISTRY["select"], each(selected), *((d, pairs(d)) for d in ALL)),
    *uses(
        "select",
        REGISTRY["select"],
        each(selected),
        ("smooth", (flags(4, 3), normal(4, 3), normal(4, 3, seed=1))),
        wrt=(1, 2),
    ),
    *(
        case
        for table, arity in ((UNARY, 1), (BINARY, 2))
        for name, row in table.items()
        if "float32" in row.dtypes
        for case in shaped(name, row, arity)
    ),
    *(case for name in ("add", "mul", "sub", "maximum") for case in with_a_number(name)),
]
