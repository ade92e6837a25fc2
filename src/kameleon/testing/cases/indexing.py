"""Cases of primitives that pick and order elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.ir.types import as_dtype
from ...graph.primitives import indexing
from .case import (
    CUBE,
    SPECIAL,
    TIES,
    Array,
    Case,
    SizesOf,
    along,
    flags,
    lined,
    normal,
    placed,
    uses,
    whole,
    wrap,
)

NAN = math.nan


def gathered(x: Array, index: Array, axis: int) -> Array:
    k = index.ndim
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return placed(
        shape, x.dtype, lambda *at: x[(*at[:axis], index[at[axis : axis + k]], *at[axis + k :])]
    )


def scattered(g: Array, index: Array, size: int, axis: int) -> Array:
    k = index.ndim
    out = np.zeros((*g.shape[:axis], size, *g.shape[axis + k :]), g.dtype)
    for at in np.ndindex(*g.shape):
        where = (*at[:axis], index[at[axis : axis + k]], *at[axis + k :])
        out[where] = wrap(out[where].item() + g[at].item(), g.dtype)
    return out


def line_index(index: Array, at: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*at[:axis], int(index[at]), *at[axis + 1 :])


def taken(x: Array, index: Array, axis: int) -> Array:
    return placed(index.shape, x.dtype, lambda *at: x[line_index(index, at, axis)])


def put(g: Array, index: Array, size: int, axis: int) -> Array:
    out = np.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
    for at in np.ndindex(*g.shape):
        out[line_index(index, at, axis)] += g[at]
    return out


def hot(index: Array, size: int, dtype: str) -> Array:
    return placed((*index.shape, size), dtype, lambda *at: index[at[:-1]] == at[-1])


def order(line: list[Any]) -> list[int]:
    """Ascending, stable, NaN last."""
    return sorted(
        range(len(line)),
        key=lambda i: (line[i] != line[i], line[i] if line[i] == line[i] else 0),
    )


def nonzero(x: Array) -> Array:
    rows = [at for at in np.ndindex(*x.shape) if x[at]]
    return np.array(rows, "int64").reshape(len(rows), x.ndim)


CASES: list[Case] = [
    *uses(
        "gather",
        indexing.gather,
        gathered,
        ("rows", (normal(5, 3), np.array([4, 0, 0, 2])), 0),
        ("columns", (CUBE, np.array([[1, 0], [2, 2]], "int32")), 1),
        ("scalar", (normal(5, 3), np.array(3)), 0),
        ("nothing", (normal(5, 3), np.zeros(0, "int64")), 0),
        ("unsigned", (whole(4), np.array([3, 1], "uint8")), 0),
        wrt=(0,),
    ),
    *uses(
        "scatter_add",
        indexing.scatter_add,
        scattered,
        ("rows", (normal(4, 3), np.array([4, 0, 0, 2])), 5, 0),
        ("columns", (normal(2, 2, 2, 4), np.array([[1, 0], [2, 2]], "int32")), 3, 1),
        ("nothing", (normal(0, 3), np.zeros(0, "int64")), 2, 0),
        ("wraps", (np.full(3, 100, "int8"), np.zeros(3, "int64")), 2, 0),
        ("sized", (normal(4, 3), np.array([4, 0, 0, 2])), SizesOf((5,), 0), 0),
        wrt=(0,),
    ),
    *uses(
        "take_along",
        indexing.take_along,
        taken,
        ("rows", (normal(4, 3), whole(2, 3, below=4)), 0),
        ("last", (CUBE, whole(2, 3, 6, below=4, dtype="int64")), 2),
        ("nothing", (normal(4, 3), whole(4, 0)), 1),
        wrt=(0,),
    ),
    *uses(
        "put_along",
        indexing.put_along,
        put,
        ("rows", (normal(2, 3), whole(2, 3, below=4)), 4, 0),
        ("last", (normal(2, 3, 6), whole(2, 3, 6, below=4, dtype="int64")), 4, 2),
        ("nothing", (normal(4, 0), whole(4, 0)), 2, 1),
        wrt=(0,),
    ),
    *uses(
        "one_hot",
        lambda index, size, dtype: indexing.one_hot(index, size, as_dtype(dtype)),
        hot,
        ("rows", whole(3, 2, below=4), 4, "float32"),
        ("outside", np.array([-1, 2, 3, 4, 2**31 - 1, -(2**31)], "int32"), 3, "float64"),
        ("scalar", np.array(1, "int64"), 3, "int32"),
        ("unsigned", np.array([2, 2**32 - 1], "uint32"), 3, "bool"),
        ("bytes", np.array([0, 127, 255], "uint8"), 300, "float32"),
        ("narrow", np.array([[-1, 127], [0, -128]], "int8"), 200, "float32"),
        ("no classes", whole(2, below=5), 0, "float32"),
        ("nothing", np.zeros((0, 2), "int64"), 3, "float32"),
        ("sized", whole(4, below=5), SizesOf((5,), 0), "float32"),
    ),
    *uses(
        "argsort",
        along("argsort"),
        lined(order, "int64"),
        ("ties", TIES, 1),
        ("rows", TIES, 0),
        ("many-ties", whole(300, below=3), 0),  # short lines are stable by chance
        ("many-ties-of-floats", whole(300, below=3, dtype="float32"), 0),
        ("special", SPECIAL, 1),
        ("infinities", np.array([math.inf, NAN, -math.inf, 0.0, NAN]), 0),
        ("cube", CUBE, 1),
        ("bools", flags(9), 0),
        ("empty", np.zeros((2, 0)), 1),
    ),
    *uses(
        "nonzero",
        REGISTRY["nonzero"],
        nonzero,
        ("floats", np.array([[0.0, 1.5, NAN], [-0.0, 0.0, -2.0]])),
        ("bools", flags(2, 3, 2)),
        ("bytes", np.array([[0, -1, 127], [0, 0, -128]], "int8")),
        ("halves", np.array([0.0, 6e-8, -0.0, NAN, 2.0], "float16")),
        ("none", np.zeros((2, 2))),
        ("empty", np.zeros((0, 2))),
        data_dependent=True,
    ),
]
