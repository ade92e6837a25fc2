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
    crossed,
    each,
    flags,
    ieee,
    normal,
    pool,
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
    for dtype in row.dtypes:
        pools = [p(dtype) for p in row.pools or [pool] * arity]
        yield Case(
            primitive=name,
            label=dtype,
            build=REGISTRY[name],
            operands=crossed(dtype, *pools),
            oracle=each(row.f, row.result),
        )
    if row.smooth:
        yield Case(
            primitive=name,
            label="smooth",
            build=REGISTRY[name],
            operands=crossed("float64", *row.smooth),
            oracle=each(row.f),
            wrt=tuple(range(arity)),
        )


# Primitives that are nearly the identity near zero; not elu, for some kernels take 1 from e**x.
TINY = ("expm1", "log1p", "sin", "tanh")


def tiny_case(name: str, dtype: str) -> Case:
    """f(x) / x where f(x) is nearly x: tiny numbers keep their digits, too."""
    tiny = [s * n for n in (1e-2, 1.5e-3, 3e-4, 1e-6, 1e-9, 1e-20) for s in (1, -1)]
    most = 6 if dtype == "float16" else len(tiny)  # the rest underflows
    f = UNARY[name].f
    return Case(
        primitive=name,
        label=f"tiny-{dtype}",
        build=lambda x: REGISTRY["div"](REGISTRY[name](x), x),
        operands=crossed(dtype, tiny[:most]),
        oracle=each(lambda x: f(x) / x),
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


def cast_cases() -> Iterator[Case]:
    """From every dtype to every other one."""
    for source in ALL:
        for target in ALL:
            if source != target:
                yield Case(
                    primitive="cast",
                    label=f"{source}-{target}",
                    build=lambda x, target=target: cast(x, target),
                    operands=crossed(source, castable(source, target)),
                    oracle=each(converted(source, target), target),
                )


def bitcast_case(source: str, target: str, to: str, back: str) -> Case:
    """The bits of one dtype read as another, by the codes of Python's struct."""
    return Case(
        primitive="bitcast",
        label=f"{source}-{target}",
        build=lambda x: REGISTRY["bitcast"](x, dtype=as_dtype(target)),
        operands=crossed(source, pool(source)),
        oracle=each(lambda x: struct.unpack(back, struct.pack(to, x))[0], target),
    )


def select_case(dtype: str) -> Case:
    """A choice between every pair of numbers."""
    a, b = crossed(dtype, pool(dtype), pool(dtype))
    return Case(
        primitive="select",
        label=dtype,
        build=REGISTRY["select"],
        operands=(flags(len(a)), a, b),
        oracle=each(lambda c, a, b: a if c else b),
    )


SHAPES: list[tuple[int, ...]] = [(), (0,), (2, 0, 3), (2, 3, 4), (1, 1)]


def shaped(name: str, row: Row, arity: int, shape: tuple[int, ...], dtype: str) -> Case:
    """A scalar, an empty tensor, several axes: the shape is kept, and the dtype."""
    operands = [np.abs(normal(*shape, seed=i)) % 0.9 + 0.05 for i in range(arity)]
    return Case(
        primitive=name,
        label=f"{dtype}{shape}",
        build=REGISTRY[name],
        operands=tuple(x.astype(dtype) for x in operands),
        oracle=each(row.f, row.result),
        wrt=tuple(range(arity)) if name == "add" and dtype == "float64" else (),
    )


def with_a_number(name: str, dtype: str, shape: tuple[int, ...]) -> Case:
    """One operand is a constant scalar, which engines may write out."""
    number = np.array(3, dtype)
    return Case(
        primitive=name,
        label=f"{dtype}{shape}-with-a-number",
        build=lambda x: REGISTRY[name](x, full_like(x, 3)),
        operands=(np.full(shape, 2, dtype),),
        oracle=lambda x: each(BINARY[name].f)(x, np.broadcast_to(number, shape)),
    )


CASES: list[Case] = [
    *(case for name, row in UNARY.items() for case in rows_of(name, row, 1)),
    *(case for name, row in BINARY.items() for case in rows_of(name, row, 2)),
    *(case for name, row in BINARY_TOO for case in rows_of(name, row, 2)),
    *(tiny_case(name, dtype) for name in TINY for dtype in FLOATS),
    *cast_cases(),
    bitcast_case("float32", "uint32", "f", "I"),
    bitcast_case("float32", "int32", "f", "i"),
    bitcast_case("int64", "float64", "q", "d"),
    bitcast_case("float16", "int16", "e", "h"),
    bitcast_case("int8", "uint8", "b", "B"),
    *map(select_case, ALL),
    Case(
        primitive="select",
        label="smooth",
        build=REGISTRY["select"],
        operands=(flags(4, 3), normal(4, 3), normal(4, 3, seed=1)),
        oracle=each(lambda c, a, b: a if c else b),
        wrt=(1, 2),
    ),
    *(
        shaped(name, row, arity, shape, dtype)
        for table, arity in ((UNARY, 1), (BINARY, 2))
        for name, row in table.items()
        if "float32" in row.dtypes
        for shape in (SHAPES if name in ("add", "sigmoid") else SHAPES[:3])
        for dtype in ("float32", "float64")
    ),
    *(
        with_a_number(name, dtype, shape)
        for name in ("add", "mul", "sub", "maximum")
        for dtype in NUMBERS
        for shape in ((), (4,))
    ),
]
