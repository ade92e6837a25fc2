"""What a case is, and helpers that write oracles: plain Python over single elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...graph.ir.leaves import input_node
from ...graph.ir.node import REGISTRY, Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType, as_dtype
from ...graph.primitives.sizes import dims_of

Array = np.ndarray[Any, Any]
Build = Callable[..., Any]
Oracle = Callable[..., Any]

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*UNSIGNED, *SIGNED)
NUMBERS = (*INTEGERS, *FLOATS)
ALL = ("bool", *NUMBERS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One use of a primitive.

    Attributes:
        primitive: its name in the registry.
        label: tells the primitive's cases apart.
        build: nodes of the operands -> the result, or a sequence of results.
        operands: the operands' values.
        oracle: the same values -> what the results must be, by other means.
        wrt: operands by which the results are differentiated (float64, away from kinks).
        order: how often they are.
        units: how far floats may be off, in units in the last place of 1.
        rigid: operands whose sizes must be known.
        loose: operands of which sizes of 1 may be unknown, too.
        data_dependent: sizes of the result depend on values.
    """

    primitive: str
    label: str
    build: Build
    operands: tuple[Array, ...]
    oracle: Oracle
    wrt: tuple[int, ...] = ()
    order: int = 2
    units: float = 8
    rigid: tuple[int, ...] = ()
    loose: tuple[int, ...] = ()
    data_dependent: bool = False

    @property
    def id(self) -> str:
        """What a test's name shows."""
        return f"{self.primitive}-{self.label}"

    @property
    def has_unknown(self) -> bool:
        """Whether `inputs(known=False)` have unknown sizes, unlike `inputs(known=True)`."""
        return any(not x.type.is_static for x in self.inputs(known=False))

    def inputs(self, known: bool) -> list[Node]:
        """Input nodes for the operands; unless `known`, sizes are unknown, but for those of 1."""
        return [
            input_node(type_of(x, known or i in self.rigid, i not in self.loose))
            for i, x in enumerate(self.operands)
        ]

    def results(self, inputs: Sequence[Node]) -> list[Node]:
        """The results over these inputs."""
        built = self.build(*inputs)
        return [built] if isinstance(built, Node) else list(built)

    def expected(self) -> list[Array]:
        """What the oracle says."""
        values = self.oracle(*self.operands)
        return [np.asarray(v) for v in (values if isinstance(values, tuple) else (values,))]


class SizesOf(NamedTuple):
    """Stands behind operands for the sizes of one more, of this shape; or for one of its sizes."""

    shape: tuple[int, ...]
    axis: int | None = None

    def sizes(self, x: Node | Array) -> Any:
        """These sizes: nodes where they're unknown."""
        dims = dims_of(x) if isinstance(x, Node) else x.shape
        return dims if self.axis is None else dims[self.axis]


def uses(
    primitive: str,
    build: Build,
    oracle: Oracle,
    *rows: tuple[Any, ...],
    wrt: Iterable[int] = (),
    **more: Any,
) -> list[Case]:
    """Cases of one primitive.

    Args:
        primitive: its name.
        build: what the nodes of a row's operands, and what stands behind them there, make.
        oracle: what their values, and the same, make.
        rows: for each case its label, its operands (or the one), and what stands behind them;
            `SizesOf` there gives the case another operand.
        wrt: operands by which results are differentiated, where there are such, of float64.
        more: what else all the cases have.
    """
    found = []
    for label, given, *behind in rows:
        operands = given if isinstance(given, tuple) else (given,)
        smooth = tuple(i for i, x in enumerate(operands) if i in wrt and x.dtype == "float64")
        sized = [np.zeros(x.shape) for x in behind if isinstance(x, SizesOf)]
        found.append(
            Case(
                primitive=primitive,
                label=label,
                build=_with_behind(build, behind),
                operands=(*operands, *sized),
                oracle=_with_behind(oracle, behind),
                wrt=smooth,
                **more,
            )
        )
    return found


def _with_behind(f: Callable[..., Any], behind: Sequence[Any]) -> Callable[..., Any]:
    sized = sum(isinstance(x, SizesOf) for x in behind)

    def call(*xs: Any) -> Any:
        count = len(xs) - sized
        others = iter(xs[count:])
        return f(
            *xs[:count], *(x.sizes(next(others)) if isinstance(x, SizesOf) else x for x in behind)
        )

    return call


def along(primitive: str) -> Build:
    """What makes a node of operands with an axis behind them."""
    return lambda *xs: REGISTRY[primitive](*xs[:-1], axis=xs[-1])


def type_of(x: Array, known: bool = True, ones: bool = True) -> TensorType:
    """The type of an array; unless `known`, sizes are unknown, those of 1 unless `ones`."""
    shape = tuple(d if known or (ones and d == 1) else None for d in x.shape)
    return TensorType(shape, as_dtype(x.dtype))


def body(types: Sequence[TensorType], outputs: Callable[..., Sequence[Node]]) -> Graph:
    """A closed graph over parameters of these types."""
    params = [input_node(t) for t in types]
    return Graph(params, outputs(*params))


# Oracles over single elements --------------------------------------------------------------


def wrap(value: Any, dtype: Any) -> Any:
    """A Python number as NumPy stores it in `dtype`: integers modulo 2**bits."""
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        return value
    bits = 8 * kind.itemsize
    value = int(value) % 2**bits
    return value - 2**bits if kind.kind == "i" and value >= 2 ** (bits - 1) else value


def array_of(values: Sequence[Any], shape: Sequence[int], dtype: Any) -> Array:
    """Python numbers as an array."""
    with np.errstate(all="ignore"):
        return np.array([wrap(v, dtype) for v in values], dtype=dtype).reshape(shape)


def each(f: Callable[..., Any], dtype: Any = None) -> Oracle:
    """The oracle of an elementwise primitive: `f` of Python numbers."""

    def oracle(*xs: Array) -> Array:
        values = [
            f(*(x.item() for x in items)) for items in zip(*(x.flat for x in xs), strict=True)
        ]
        return array_of(values, xs[0].shape, dtype or xs[-1].dtype)

    return oracle


def lined(f: Callable[..., Sequence[Any]], dtype: Any = None) -> Oracle:
    """The oracle of a primitive that works along an axis, which stands behind the operands: `f` of
    each line's Python numbers.
    """

    def oracle(x: Array, *rest: Any) -> Array:
        *others, axis = rest
        moved = [np.moveaxis(a, axis, -1) for a in (x, *others)]
        lines = [f(*(a[at].tolist() for a in moved)) for at in np.ndindex(moved[0].shape[:-1])]
        values = [v for line in lines for v in line]
        shape = (*moved[0].shape[:-1], -1) if values else moved[0].shape
        return np.moveaxis(array_of(values, shape, dtype or x.dtype), -1, axis)

    return oracle


def reduced(f: Callable[[list[Any]], Any], dtype: Any = None) -> Oracle:
    """The oracle of a reduction over axes: `f` of the Python numbers that meet in one element."""

    def oracle(x: Array, axes: Sequence[int]) -> Array:
        kept = [i for i in range(x.ndim) if i not in axes]
        moved = x.transpose(*kept, *axes)
        shape = moved.shape[: len(kept)]
        values = [f(moved[at].ravel().tolist()) for at in np.ndindex(shape)]
        return array_of(values, shape, dtype or x.dtype)

    return oracle


def placed(shape: Sequence[int], dtype: Any, f: Callable[..., Any]) -> Array:
    """An array whose element at each index is `f(*index)`."""
    return array_of([f(*at) for at in np.ndindex(*shape)], shape, dtype)


def ieee(f: Callable[..., float]) -> Callable[..., float]:
    """`f` with NaN out of its domain, and infinity where it overflows."""

    def g(*xs: float) -> float:
        try:
            return f(*xs)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return g


def einsum(spec: str) -> Oracle:
    """The oracle of a contraction: sums of products over the letters that the result lacks."""
    sources, target = spec.split("->")
    letters = sources.split(",")

    def oracle(*xs: Array) -> Array:
        sizes = {
            c: d
            for word, x in zip(letters, xs, strict=True)
            for c, d in zip(word, x.shape, strict=True)
        }
        inner = [c for c in sizes if c not in target]

        def element(*at: int) -> Any:
            total: Any = 0
            for more in itertools.product(*(range(sizes[c]) for c in inner)):
                where = dict(zip((*target, *inner), (*at, *more), strict=True))
                total += math.prod(
                    x[tuple(where[c] for c in word)].item()
                    for word, x in zip(letters, xs, strict=True)
                )
            return total

        return placed([sizes[c] for c in target], xs[0].dtype, element)

    return oracle


# Values ------------------------------------------------------------------------------------


def normal(*shape: int, seed: int = 0, dtype: str = "float64") -> Array:
    """Reproducible normal numbers."""
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(dtype)


def whole(*shape: int, below: int = 100, seed: int = 0, dtype: str = "int32") -> Array:
    """Reproducible integers in [0, below)."""
    return np.random.default_rng((seed, *shape)).integers(0, below, shape).astype(dtype)


def flags(*shape: int) -> Array:
    """Reproducible bools."""
    return np.random.default_rng((0, *shape)).integers(0, 2, shape).astype(bool)


def spaced(*shape: int, seed: int = 0) -> Array:
    """Distinct numbers in random order, 0.5 apart: no ties within reach of differences."""
    count = math.prod(shape)
    order = np.random.default_rng((seed, count)).permutation(count)
    return (order.reshape(shape) * 0.5 - count / 4 + 0.13).astype("float64")


def pool(dtype: str) -> list[Any]:
    """Numbers of a dtype that catch mistakes: extremes, zeros, ones, specials."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return [False, True]
    if kind.kind == "f":
        return [-math.inf, -2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 3.0, math.inf, math.nan]
    info = np.iinfo(kind)
    numbers = {info.min, info.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, info.max - 1, info.max}
    return sorted(n for n in numbers if info.min <= n <= info.max)


def crossed(dtype: str, *pools: Sequence[Any]) -> tuple[Array, ...]:
    """Every combination of the pools' numbers, an operand for each pool."""
    rows = list(itertools.product(*pools))
    return tuple(np.array(column, dtype=dtype) for column in zip(*rows, strict=True))


# What several chapters use.
CUBE = normal(2, 3, 4)
TIES = np.array([[2, 5, 5, 1], [3, 3, 3, 3]])
SPECIAL = np.array(
    [[1.0, math.nan, 3.0], [2.0, 2.0, -1.0], [math.inf, 0.0, -math.inf]],
)
