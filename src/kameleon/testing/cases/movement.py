"""Cases of primitives that move elements, and of sizes and constants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.primitives import movement, stretching
from ...graph.primitives.elementwise import constant
from ...graph.primitives.sizes import dims_of
from .case import (
    ALL,
    CUBE,
    Array,
    Case,
    array_of,
    flags,
    normal,
    placed,
    pool,
    whole,
)


def reshaped(label: str, dims: Sequence[int], x: Array, to: Sequence[int]) -> Case:
    """Row-major order is kept; -1 stands for what is left."""
    return Case(
        primitive="reshape",
        label=label,
        build=lambda x: movement.reshape(x, dims),
        operands=(x,),
        oracle=lambda x: array_of(x.ravel().tolist(), to, x.dtype),
        wrt=(0,) if x.dtype == "float64" else (),
    )


def stretched(label: str, x: Array, dims: Sequence[int]) -> Case:
    """New leading axes, and axes of size 1, are repeated."""

    def oracle(x: Array) -> Array:
        def element(*at: int) -> Any:
            inner = at[len(dims) - x.ndim :]
            return x[tuple(0 if d == 1 else i for i, d in zip(inner, x.shape, strict=True))].item()

        return placed(dims, x.dtype, element)

    return Case(
        primitive="broadcast_to",
        label=label,
        build=lambda x: movement.broadcast_to(x, dims),
        operands=(x,),
        oracle=oracle,
        wrt=(0,),
    )


def stretched_if_one(label: str, x: Array, like: Array) -> Case:
    """Axes of size 1 are repeated, known or not."""
    return Case(
        primitive="stretch",
        label=label,
        build=lambda x, like: stretching.stretch(x, dims_of(like)),
        operands=(x, like),
        loose=(0, 1),
        oracle=lambda x, like: placed(
            like.shape,
            x.dtype,
            lambda *at: x[
                tuple(
                    0 if d == 1 else i
                    for i, d in zip(at[like.ndim - x.ndim :], x.shape, strict=True)
                )
            ].item(),
        ),
        wrt=(0,) if x.dtype == "float64" else (),
    )


def summed_if_one(label: str, g: Array, like: Array) -> Case:
    """The sum over the axes that have size 1 in `like`, known or not."""

    def oracle(g: Array, like: Array) -> Array:
        spans = [range(n) if d == 1 else None for n, d in zip(g.shape, like.shape, strict=True)]

        def element(*at: int) -> Any:
            places = [[i] if s is None else s for i, s in zip(at, spans, strict=True)]
            return sum(g[place].item() for place in itertools.product(*places))

        return placed(like.shape, g.dtype, element)

    return Case(
        primitive="sum_to",
        label=label,
        build=lambda g, like: stretching.sum_to(g, dims_of(like)),
        operands=(g, like),
        loose=(0, 1),
        oracle=oracle,
        wrt=(0,),
    )


def common(a: int, b: int, both: int) -> Case:
    """The one that isn't 1."""
    return Case(
        primitive="common_size",
        label=f"{a}-{b}",
        build=lambda a, b: REGISTRY["common_size"](a, b),
        operands=(np.array(a, "int32"), np.array(b, "int32")),
        oracle=lambda a, b: np.array(both, "int32"),
    )


def counted(label: str, dims: Sequence[int], axis: int, dtype: str) -> Case:
    """Each element is its index along the axis."""
    return Case(
        primitive="iota",
        label=label,
        build=lambda: movement.iota(dims, axis, dtype),
        operands=(),
        oracle=lambda: placed(dims, dtype, lambda *at: at[axis]),
    )


def permuted(perm: tuple[int, ...], x: Array) -> Case:
    """Axis i of the result is axis perm[i]."""
    to = [x.shape[p] for p in perm]
    return Case(
        primitive="transpose",
        label=f"{perm}",
        build=lambda x: movement.transpose(x, perm),
        operands=(x,),
        oracle=lambda x: placed(
            to, x.dtype, lambda *at: x[tuple(at[perm.index(i)] for i in range(x.ndim))]
        ),
        wrt=(0,),
    )


def reversed_along(*axes: int) -> Case:
    """The order along some axes turned round."""

    def oracle(x: Array) -> Array:
        return placed(
            x.shape,
            x.dtype,
            lambda *at: x[
                tuple(
                    d - 1 - i if a in axes else i
                    for a, (i, d) in enumerate(zip(at, x.shape, strict=True))
                )
            ],
        )

    return Case(
        primitive="reverse",
        label=f"{axes}",
        build=lambda x: REGISTRY["reverse"](x, axes=axes),
        operands=(CUBE,),
        oracle=oracle,
        wrt=(0,),
    )


def picked(
    windows: Sequence[tuple[int | None, int | None, int]], size: Sequence[int]
) -> list[list[int]]:
    """The indices that windows select along each axis."""
    return [list(range(d))[slice(*w)] for w, d in zip(windows, size, strict=True)]


def sliced(label: str, x: Array, *windows: tuple[int | None, int | None, int]) -> Case:
    """Python's slices along each axis."""

    def oracle(x: Array) -> Array:
        indices = picked(windows, x.shape)
        return placed(
            [len(i) for i in indices],
            x.dtype,
            lambda *at: x[tuple(i[j] for i, j in zip(indices, at, strict=True))],
        )

    return Case(
        primitive="slice",
        label=label,
        build=lambda x: movement.slice_(x, windows),
        operands=(x,),
        oracle=oracle,
        wrt=(0,),
    )


def unsliced(label: str, size: Sequence[int], *windows: tuple[int | None, int | None, int]) -> Case:
    """Zeros but for the slice."""
    indices = picked(windows, size)

    def oracle(g: Array) -> Array:
        out = np.zeros(size, g.dtype)
        for at in np.ndindex(*g.shape):
            out[tuple(i[j] for i, j in zip(indices, at, strict=True))] = g[at]
        return out

    return Case(
        primitive="unslice",
        label=label,
        build=lambda g: movement.unslice(g, size, windows),
        operands=(normal(*(len(i) for i in indices)),),
        oracle=oracle,
        wrt=(0,),
    )


def padded(label: str, x: Array, value: Any, *margins: tuple[int, int]) -> Case:
    """A value around the tensor."""

    def oracle(x: Array) -> Array:
        def element(*at: int) -> Any:
            inner = tuple(i - low for i, (low, _) in zip(at, margins, strict=True))
            inside = all(0 <= i < d for i, d in zip(inner, x.shape, strict=True))
            return x[inner].item() if inside else value

        sizes = [d + a + b for d, (a, b) in zip(x.shape, margins, strict=True)]
        return placed(sizes, x.dtype, element)

    return Case(
        primitive="pad",
        label=label,
        build=lambda x: movement.pad(x, margins, value),
        operands=(x,),
        oracle=oracle,
        wrt=(0,) if x.dtype == "float64" and math.isfinite(value) else (),
    )


def joined(label: str, axis: int, *parts: Array) -> Case:
    """One part behind the other."""

    def oracle(*parts: Array) -> Array:
        lines = [row for p in parts for row in np.moveaxis(p, axis, 0)]
        return np.moveaxis(np.array(lines), 0, axis)

    return Case(
        primitive="concatenate",
        label=label,
        build=lambda *xs: movement.concatenate(xs, axis),
        operands=parts,
        oracle=oracle,
        wrt=tuple(range(len(parts))) if parts[0].dtype == "float64" else (),
    )


WHOLE = (None, None, 1)
MOVEMENT: list[Case] = [
    *(
        Case(
            primitive="size",
            label=f"axis{axis}",
            build=lambda x, axis=axis: REGISTRY["size"](x, axis=axis),
            operands=(np.zeros((2, 0, 5)),),
            oracle=lambda x, axis=axis: np.int32((2, 0, 5)[axis]),
        )
        for axis in range(3)
    ),
    reshaped("flat", [24], CUBE, [24]),
    reshaped("inferred", [4, -1], CUBE, [4, 6]),
    reshaped("scalar", [], np.array([[3.5]]), []),
    reshaped("from-scalar", [1, 1], np.array(2.5), [1, 1]),
    reshaped("empty", [0, 7], np.zeros((3, 0)), [0, 7]),
    reshaped("empty-inferred", [2, -1], np.zeros((0, 3)), [2, 0]),
    reshaped("bools", [3, 2], flags(2, 3), [3, 2]),
    Case(
        primitive="reshape",
        label="sizes-from-another",
        build=lambda x, like: movement.reshape(x, dims_of(like)),
        operands=(CUBE, np.zeros((6, 4))),
        oracle=lambda x, like: array_of(x.ravel().tolist(), (6, 4), x.dtype),
        wrt=(0,),
    ),
    stretched("scalar", np.array(2.5), (2, 3)),
    stretched("scalar-empty", np.array(2.5), (2, 0)),
    stretched("lead", normal(3), (2, 4, 3)),
    stretched("ones", normal(1, 3, 1), (2, 3, 4)),
    stretched("both", normal(1, 3), (4, 5, 3)),
    stretched("to-none", normal(1, 3), (0, 3)),
    Case(
        primitive="broadcast_to",
        label="sizes-from-another",
        build=lambda x, like: movement.broadcast_to(x, dims_of(like)),
        operands=(normal(1, 3), np.zeros((2, 4, 3))),
        oracle=lambda x, like: placed((2, 4, 3), x.dtype, lambda i, j, k: x[0, k]),
        wrt=(0,),
    ),
    stretched_if_one("first", normal(1, 3), np.zeros((4, 3))),
    stretched_if_one("both", normal(1, 1), np.zeros((4, 3))),
    stretched_if_one("none", normal(4, 3), np.zeros((4, 3))),
    stretched_if_one("lead", normal(1, 3), np.zeros((2, 4, 3))),
    stretched_if_one("to-none", normal(1, 3), np.zeros((0, 3))),
    stretched_if_one("integers", whole(1, 3), np.zeros((4, 3))),
    stretched_if_one("bools", flags(3, 1), np.zeros((3, 4))),
    summed_if_one("first", normal(4, 3), np.zeros((1, 3))),
    summed_if_one("both", normal(4, 3), np.zeros((1, 1))),
    summed_if_one("none", normal(4, 3), np.zeros((4, 3))),
    summed_if_one("of-none", np.zeros((0, 3)), np.zeros((1, 3))),
    common(1, 5, 5),
    common(5, 1, 5),
    common(1, 1, 1),
    common(4, 4, 4),
    common(1, 0, 0),
    counted("vector", [5], 0, "int32"),
    counted("rows", [2, 3], 0, "int64"),
    counted("columns", [2, 3], 1, "float32"),
    counted("empty", [0, 3], 1, "uint8"),
    Case(
        primitive="iota",
        label="sizes-from-another",
        build=lambda like: movement.iota(dims_of(like), 1, "float64"),
        operands=(normal(2, 3),),
        oracle=lambda like: placed((2, 3), "float64", lambda i, j: j),
    ),
    *(permuted(p, CUBE) for p in itertools.permutations(range(3)) if p != (0, 1, 2)),
    permuted((1, 0), normal(2, 0)),
    reversed_along(0),
    reversed_along(1, 2),
    reversed_along(),
    sliced("middle", CUBE, WHOLE, (1, 2, 1), WHOLE),
    sliced("steps", normal(7, 5), (None, None, 2), (1, None, 3)),
    sliced("negative", normal(7, 5), (-4, -1, 1), (None, -2, 2)),
    sliced("beyond", normal(4), (2, 99, 1)),
    sliced("empty", normal(4, 2), (3, 1, 1), WHOLE),
    unsliced("middle", (4, 5), (1, 3, 1), WHOLE),
    unsliced("steps", (7, 5), (None, None, 2), (1, None, 3)),
    unsliced("negative", (7,), (-4, -1, 1)),
    unsliced("empty", (4, 2), (2, 2, 1), WHOLE),
    padded("zeros", normal(2, 3), 0, (1, 2), (0, 1)),
    padded("value", normal(2, 3), 1.5, (0, 0), (2, 0)),
    padded("infinity", normal(2), -math.inf, (1, 1)),
    padded("integers", whole(2, 3), 7, (1, 0), (0, 1)),
    padded("bools", normal(2, 3) > 0, True, (1, 0), (0, 1)),
    padded("nothing", normal(0, 2), 0.5, (1, 1), (0, 0)),
    joined("rows", 0, normal(2, 3), normal(1, 3), normal(4, 3)),
    joined("columns", 1, normal(2, 3), normal(2, 0), normal(2, 2)),
    joined("same", 0, normal(2), normal(2)),
    joined("integers", 0, whole(2), whole(3, seed=1)),
    Case(
        primitive="concatenate",
        label="one-operand-twice",
        build=lambda x: REGISTRY["concatenate"](x, x, axis=0),
        operands=(normal(2, 2),),
        oracle=lambda x: np.array([*x, *x]),
        wrt=(0,),
    ),
]

# Constants are leaves: what they hold is what they give, for every dtype.
CONSTANTS: list[Case] = [
    Case(
        primitive="identity",
        label=f"constant-{dtype}",
        build=lambda dtype=dtype: REGISTRY["identity"](constant(np.array(pool(dtype), dtype))),
        operands=(),
        oracle=lambda dtype=dtype: np.array(pool(dtype), dtype),
    )
    for dtype in ALL
]

CASES: list[Case] = [*MOVEMENT, *CONSTANTS]
