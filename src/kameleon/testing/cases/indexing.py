"""Cases of primitives that pick and order elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.ir.types import as_dtype
from ...graph.primitives import indexing
from ...graph.primitives.sizes import size_of
from .case import (
    CUBE,
    SPECIAL,
    TIES,
    Array,
    Case,
    flags,
    lined,
    normal,
    placed,
    whole,
    wrap,
)

NAN = math.nan


def gather_case(label: str, x: Array, index: Array, axis: int) -> Case:
    def oracle(x: Array, index: Array) -> Array:
        k = index.ndim
        shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
        return placed(
            shape, x.dtype, lambda *at: x[(*at[:axis], index[at[axis : axis + k]], *at[axis + k :])]
        )

    return Case(
        primitive="gather",
        label=label,
        build=lambda x, index: indexing.gather(x, index, axis),
        operands=(x, index),
        oracle=oracle,
        wrt=(0,) if x.dtype == "float64" else (),
    )


def scatter_case(
    label: str, g: Array, index: Array, size: int, axis: int, sized: bool = False
) -> Case:
    def oracle(g: Array, index: Array, *like: Array) -> Array:
        k = index.ndim
        out = np.zeros((*g.shape[:axis], size, *g.shape[axis + k :]), g.dtype)
        for at in np.ndindex(*g.shape):
            where = (*at[:axis], index[at[axis : axis + k]], *at[axis + k :])
            out[where] = wrap(out[where].item() + g[at].item(), g.dtype)
        return out

    return Case(
        primitive="scatter_add",
        label=label,
        build=lambda g, index, *like: indexing.scatter_add(
            g, index, size_of(like[0], 0) if like else size, axis
        ),
        operands=(g, index, *([np.zeros(size)] if sized else [])),
        oracle=oracle,
        wrt=(0,) if g.dtype == "float64" else (),
    )


def line_index(index: Array, at: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*at[:axis], int(index[at]), *at[axis + 1 :])


def take_case(label: str, x: Array, index: Array, axis: int) -> Case:
    return Case(
        primitive="take_along",
        label=label,
        build=lambda x, index: indexing.take_along(x, index, axis),
        operands=(x, index),
        oracle=lambda x, index: placed(
            index.shape, x.dtype, lambda *at: x[line_index(index, at, axis)]
        ),
        wrt=(0,),
    )


def put_case(label: str, g: Array, index: Array, size: int, axis: int) -> Case:
    def oracle(g: Array, index: Array) -> Array:
        out = np.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
        for at in np.ndindex(*g.shape):
            out[line_index(index, at, axis)] += g[at]
        return out

    return Case(
        primitive="put_along",
        label=label,
        build=lambda g, index: indexing.put_along(g, index, size, axis),
        operands=(g, index),
        oracle=oracle,
        wrt=(0,),
    )


def hot_case(label: str, index: Array, size: int, dtype: str, sized: bool = False) -> Case:
    def oracle(index: Array, *like: Array) -> Array:
        return placed((*index.shape, size), dtype, lambda *at: index[at[:-1]] == at[-1])

    return Case(
        primitive="one_hot",
        label=label,
        build=lambda index, *like: indexing.one_hot(
            index, size_of(like[0], 0) if like else size, as_dtype(dtype)
        ),
        operands=(index, *([np.zeros(size)] if sized else [])),
        oracle=oracle,
    )


def sort_case(label: str, x: Array, axis: int) -> Case:
    """Ascending, stable, NaN last."""

    def order(line: list[Any]) -> list[int]:
        return sorted(
            range(len(line)),
            key=lambda i: (line[i] != line[i], line[i] if line[i] == line[i] else 0),
        )

    return Case(
        primitive="argsort",
        label=label,
        build=lambda x: REGISTRY["argsort"](x, axis=axis),
        operands=(x,),
        oracle=lined(order, axis, "int64"),
    )


def nonzero_case(label: str, x: Array) -> Case:
    def oracle(x: Array) -> Array:
        rows = [at for at in np.ndindex(*x.shape) if x[at]]
        return np.array(rows, "int64").reshape(len(rows), x.ndim)

    return Case(
        primitive="nonzero",
        label=label,
        build=REGISTRY["nonzero"],
        operands=(x,),
        oracle=oracle,
        data_dependent=True,
    )


CASES: list[Case] = [
    gather_case("rows", normal(5, 3), np.array([4, 0, 0, 2]), 0),
    gather_case("columns", CUBE, np.array([[1, 0], [2, 2]], "int32"), 1),
    gather_case("scalar", normal(5, 3), np.array(3), 0),
    gather_case("nothing", normal(5, 3), np.zeros(0, "int64"), 0),
    gather_case("unsigned", whole(4), np.array([3, 1], "uint8"), 0),
    scatter_case("rows", normal(4, 3), np.array([4, 0, 0, 2]), 5, 0),
    scatter_case("columns", normal(2, 2, 2, 4), np.array([[1, 0], [2, 2]], "int32"), 3, 1),
    scatter_case("nothing", normal(0, 3), np.zeros(0, "int64"), 2, 0),
    scatter_case("sized", normal(4, 3), np.array([4, 0, 0, 2]), 5, 0, sized=True),
    scatter_case("wraps", np.full(3, 100, "int8"), np.zeros(3, "int64"), 2, 0),
    take_case("rows", normal(4, 3), whole(2, 3, below=4), 0),
    take_case("last", CUBE, whole(2, 3, 6, below=4, dtype="int64"), 2),
    take_case("nothing", normal(4, 3), whole(4, 0), 1),
    put_case("rows", normal(2, 3), whole(2, 3, below=4), 4, 0),
    put_case("last", normal(2, 3, 6), whole(2, 3, 6, below=4, dtype="int64"), 4, 2),
    put_case("nothing", normal(4, 0), whole(4, 0), 2, 1),
    hot_case("rows", whole(3, 2, below=4), 4, "float32"),
    hot_case("outside", np.array([-1, 2, 3, 4, 2**31 - 1, -(2**31)], "int32"), 3, "float64"),
    hot_case("scalar", np.array(1, "int64"), 3, "int32"),
    hot_case("unsigned", np.array([2, 2**32 - 1], "uint32"), 3, "bool"),
    hot_case("bytes", np.array([0, 127, 255], "uint8"), 300, "float32"),
    hot_case("narrow", np.array([[-1, 127], [0, -128]], "int8"), 200, "float32"),
    hot_case("sized", whole(4, below=5), 5, "float32", sized=True),
    hot_case("no classes", whole(2, below=5), 0, "float32"),
    hot_case("nothing", np.zeros((0, 2), "int64"), 3, "float32"),
    sort_case("ties", TIES, 1),
    sort_case("rows", TIES, 0),
    sort_case("many-ties", whole(300, below=3), 0),  # short lines are stable by chance
    sort_case("many-ties-of-floats", whole(300, below=3, dtype="float32"), 0),
    sort_case("special", SPECIAL, 1),
    sort_case("infinities", np.array([math.inf, NAN, -math.inf, 0.0, NAN]), 0),
    sort_case("cube", CUBE, 1),
    sort_case("bools", flags(9), 0),
    sort_case("empty", np.zeros((2, 0)), 1),
    nonzero_case("floats", np.array([[0.0, 1.5, NAN], [-0.0, 0.0, -2.0]])),
    nonzero_case("bools", flags(2, 3, 2)),
    nonzero_case("bytes", np.array([[0, -1, 127], [0, 0, -128]], "int8")),
    nonzero_case("halves", np.array([0.0, 6e-8, -0.0, NAN, 2.0], "float16")),
    nonzero_case("none", np.zeros((2, 2))),
    nonzero_case("empty", np.zeros((0, 2))),
]
