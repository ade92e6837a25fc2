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
from .case import (
    ALL,
    CUBE,
    Array,
    Case,
    SizesOf,
    array_of,
    flags,
    normal,
    placed,
    pool,
    uses,
    whole,
)

Windows = Sequence[tuple[int | None, int | None, int]]


def reshaped(x: Array, dims: Sequence[int], to: Sequence[int] | None = None) -> Array:
    """Row-major order is kept; where -1 stands for what is left, `to` says it."""
    return array_of(x.ravel().tolist(), to or dims, x.dtype)


def stretched(x: Array, dims: Sequence[int]) -> Array:
    """New leading axes, and axes of size 1, are repeated."""

    def element(*at: int) -> Any:
        inner = at[len(dims) - x.ndim :]
        return x[tuple(0 if d == 1 else i for i, d in zip(inner, x.shape, strict=True))].item()

    return placed(dims, x.dtype, element)


def summed_if_one(g: Array, dims: Sequence[int]) -> Array:
    """The sum over the axes that have size 1 there, known or not."""
    spans = [range(n) if d == 1 else None for n, d in zip(g.shape, dims, strict=True)]

    def element(*at: int) -> Any:
        places = [[i] if s is None else s for i, s in zip(at, spans, strict=True)]
        return sum(g[place].item() for place in itertools.product(*places))

    return placed(dims, g.dtype, element)


def counted(dims: Sequence[int], axis: int, dtype: str) -> Array:
    """Each element is its index along the axis."""
    return placed(dims, dtype, lambda *at: at[axis])


def permuted(x: Array, perm: tuple[int, ...]) -> Array:
    """Axis i of the result is axis perm[i]."""
    to = [x.shape[p] for p in perm]
    return placed(to, x.dtype, lambda *at: x[tuple(at[perm.index(i)] for i in range(x.ndim))])


def reversed_along(x: Array, axes: tuple[int, ...]) -> Array:
    """The order along some axes turned round."""

    def element(*at: int) -> Any:
        places = enumerate(zip(at, x.shape, strict=True))
        return x[tuple(d - 1 - i if a in axes else i for a, (i, d) in places)]

    return placed(x.shape, x.dtype, element)


def picked(windows: Windows, size: Sequence[int]) -> list[list[int]]:
    """The indices that windows select along each axis."""
    return [list(range(d))[slice(*w)] for w, d in zip(windows, size, strict=True)]


def sliced(x: Array, windows: Windows) -> Array:
    """Python's slices along each axis."""
    indices = picked(windows, x.shape)
    return placed(
        [len(i) for i in indices],
        x.dtype,
        lambda *at: x[tuple(i[j] for i, j in zip(indices, at, strict=True))],
    )


def unsliced(g: Array, size: Sequence[int], windows: Windows) -> Array:
    """Zeros but for the slice."""
    indices, out = picked(windows, size), np.zeros(size, g.dtype)
    for at in np.ndindex(*g.shape):
        out[tuple(i[j] for i, j in zip(indices, at, strict=True))] = g[at]
    return out


def padded(x: Array, margins: Sequence[tuple[int, int]], value: Any) -> Array:
    """A value around the tensor."""

    def element(*at: int) -> Any:
        inner = tuple(i - low for i, (low, _) in zip(at, margins, strict=True))
        inside = all(0 <= i < d for i, d in zip(inner, x.shape, strict=True))
        return x[inner].item() if inside else value

    sizes = [d + a + b for d, (a, b) in zip(x.shape, margins, strict=True)]
    return placed(sizes, x.dtype, element)


def joined(*parts_and_axis: Any) -> Array:
    """One part behind the other."""
    *parts, axis = parts_and_axis
    lines = [row for p in parts for row in np.moveaxis(p, axis, 0)]
    return np.moveaxis(np.array(lines), 0, axis)


WHOLE = (None, None, 1)
MOVEMENT: list[Case] = [
    *uses(
        "size",
        lambda x, axis: REGISTRY["size"](x, axis=axis),
        lambda x, axis: np.int32((2, 0, 5)[axis]),
        *((f"axis{axis}", np.zeros((2, 0, 5)), axis) for axis in range(3)),
    ),
    *uses(
        "reshape",
        lambda x, dims, *to: movement.reshape(x, dims),
        reshaped,
        ("flat", CUBE, [24]),
        ("inferred", CUBE, [4, -1], [4, 6]),
        ("scalar", np.array([[3.5]]), []),
        ("from-scalar", np.array(2.5), [1, 1]),
        ("empty", np.zeros((3, 0)), [0, 7]),
        ("empty-inferred", np.zeros((0, 3)), [2, -1], [2, 0]),
        ("bools", flags(2, 3), [3, 2]),
        ("sizes-from-another", CUBE, SizesOf((6, 4))),
        wrt=(0,),
    ),
    *uses(
        "broadcast_to",
        movement.broadcast_to,
        stretched,
        ("scalar", np.array(2.5), (2, 3)),
        ("scalar-empty", np.array(2.5), (2, 0)),
        ("lead", normal(3), (2, 4, 3)),
        ("ones", normal(1, 3, 1), (2, 3, 4)),
        ("both", normal(1, 3), (4, 5, 3)),
        ("to-none", normal(1, 3), (0, 3)),
        ("sizes-from-another", normal(1, 3), SizesOf((2, 4, 3))),
        wrt=(0,),
    ),
    *uses(
        "stretch",  # as `broadcast_to`, of axes of size 1 that are known or not
        stretching.stretch,
        stretched,
        ("first", normal(1, 3), SizesOf((4, 3))),
        ("both", normal(1, 1), SizesOf((4, 3))),
        ("none", normal(4, 3), SizesOf((4, 3))),
        ("lead", normal(1, 3), SizesOf((2, 4, 3))),
        ("to-none", normal(1, 3), SizesOf((0, 3))),
        ("integers", whole(1, 3), SizesOf((4, 3))),
        ("bools", flags(3, 1), SizesOf((3, 4))),
        wrt=(0,),
        loose=(0, 1),
    ),
    *uses(
        "sum_to",
        stretching.sum_to,
        summed_if_one,
        ("first", normal(4, 3), SizesOf((1, 3))),
        ("both", normal(4, 3), SizesOf((1, 1))),
        ("none", normal(4, 3), SizesOf((4, 3))),
        ("of-none", np.zeros((0, 3)), SizesOf((1, 3))),
        wrt=(0,),
        loose=(0, 1),
    ),
    *uses(
        "common_size",
        lambda a, b, both: REGISTRY["common_size"](a, b),
        lambda a, b, both: np.array(both, "int32"),  # the one that isn't 1
        *(
            (f"{a}-{b}", (np.array(a, "int32"), np.array(b, "int32")), both)
            for a, b, both in ((1, 5, 5), (5, 1, 5), (1, 1, 1), (4, 4, 4), (1, 0, 0))
        ),
    ),
    *uses(
        "iota",
        movement.iota,
        counted,
        ("vector", (), [5], 0, "int32"),
        ("rows", (), [2, 3], 0, "int64"),
        ("columns", (), [2, 3], 1, "float32"),
        ("empty", (), [0, 3], 1, "uint8"),
        ("sizes-from-another", (), SizesOf((2, 3)), 1, "float64"),
    ),
    *uses(
        "transpose",
        movement.transpose,
        permuted,
        *((f"{p}", CUBE, p) for p in itertools.permutations(range(3)) if p != (0, 1, 2)),
        ("(1, 0)", normal(2, 0), (1, 0)),
        wrt=(0,),
    ),
    *uses(
        "reverse",
        lambda x, axes: REGISTRY["reverse"](x, axes=axes),
        reversed_along,
        *((f"{axes}", CUBE, axes) for axes in ((0,), (1, 2), ())),
        wrt=(0,),
    ),
    *uses(
        "slice",
        movement.slice_,
        sliced,
        ("middle", CUBE, (WHOLE, (1, 2, 1), WHOLE)),
        ("steps", normal(7, 5), ((None, None, 2), (1, None, 3))),
        ("negative", normal(7, 5), ((-4, -1, 1), (None, -2, 2))),
        ("beyond", normal(4), ((2, 99, 1),)),
        ("empty", normal(4, 2), ((3, 1, 1), WHOLE)),
        wrt=(0,),
    ),
    *uses(
        "unslice",
        movement.unslice,
        unsliced,
        ("middle", normal(2, 5), (4, 5), ((1, 3, 1), WHOLE)),
        ("steps", normal(4, 2), (7, 5), ((None, None, 2), (1, None, 3))),
        ("negative", normal(3), (7,), ((-4, -1, 1),)),
        ("empty", normal(0, 2), (4, 2), ((2, 2, 1), WHOLE)),
        wrt=(0,),
    ),
    *uses(
        "pad",
        movement.pad,
        padded,
        ("zeros", normal(2, 3), ((1, 2), (0, 1)), 0),
        ("value", normal(2, 3), ((0, 0), (2, 0)), 1.5),
        ("integers", whole(2, 3), ((1, 0), (0, 1)), 7),
        ("bools", normal(2, 3) > 0, ((1, 0), (0, 1)), True),
        ("nothing", normal(0, 2), ((1, 1), (0, 0)), 0.5),
        wrt=(0,),
    ),
    *uses("pad", movement.pad, padded, ("infinity", normal(2), ((1, 1),), -math.inf)),
    *uses(
        "concatenate",
        lambda *xs: movement.concatenate(xs[:-1], xs[-1]),
        joined,
        ("rows", (normal(2, 3), normal(1, 3), normal(4, 3)), 0),
        ("columns", (normal(2, 3), normal(2, 0), normal(2, 2)), 1),
        ("same", (normal(2), normal(2)), 0),
        ("integers", (whole(2), whole(3, seed=1)), 0),
        wrt=(0, 1, 2),
    ),
    *uses(
        "concatenate",
        lambda x: REGISTRY["concatenate"](x, x, axis=0),
        lambda x: np.array([*x, *x]),
        ("one-operand-twice", normal(2, 2)),
        wrt=(0,),
    ),
]

# Constants are leaves: what they hold is what they give, for every dtype.
CONSTANTS = uses(
    "identity",
    lambda dtype: REGISTRY["identity"](constant(np.array(pool(dtype), dtype))),
    lambda dtype: np.array(pool(dtype), dtype),
    *((f"constant-{dtype}", (), dtype) for dtype in ALL),
)

CASES: list[Case] = [*MOVEMENT, *CONSTANTS]
