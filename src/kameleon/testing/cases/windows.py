"""Cases of windows over space: convolutions, pools, and their parts."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...graph.primitives import conv, pool, windows
from ...graph.primitives.windows import Window, has_margins
from .case import Array, Case, SizesOf, array_of, normal, spaced, uses, whole

# Windows: everything is a loop over places of the window and its cells ---------------------

LINE = Window((3,), (2,), ((1, 0),), (1,))
DILATED = Window((2,), (1,), ((0, 2),), (3,))
PLANE = Window((2, 3), (1, 2), ((0, 1), (1, 1)), (1, 1))
TILES = Window((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1))
ATROUS = Window((2, 2), (1, 1), ((1, 1), (0, 0)), (2, 1))
BLOCK = Window((2, 1, 2), (1, 2, 1), ((1, 0), (0, 0), (0, 1)), (1, 1, 1))
MANY = Window((8, 9), (2, 1), ((4, 3), (4, 4)), (1, 1))
SPACES = {LINE: (6,), DILATED: (5,), PLANE: (4, 5), TILES: (4, 5), ATROUS: (4, 3), BLOCK: (2, 3, 2)}
FEW = tuple(SPACES)
SPACES[MANY] = (4, 5)  # its cells are many: engines may go another way for depthwise windows
NAMES = {
    LINE: "line", DILATED: "dilated", PLANE: "plane", TILES: "tiles", ATROUS: "atrous",
    BLOCK: "block", MANY: "many cells",
}  # fmt: skip
# The windows that pools take: those without dilation.
POOLS = (LINE, PLANE, TILES, BLOCK)


def places(window: Window) -> tuple[int, ...]:
    """How often the window fits along each axis."""
    return tuple(
        (d + sum(pad) - (k - 1) * gap - 1) // step + 1
        for d, k, step, pad, gap in zip(SPACES[window], *window, strict=True)
    )


def cells(window: Window) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    """(place, number of the cell, where it lies in space), for cells that don't lie in padding."""
    space = SPACES[window]
    for place in np.ndindex(*places(window)):
        for number, cell in enumerate(np.ndindex(*window.sizes)):
            at = tuple(
                p * step + c * gap - low
                for p, c, step, (low, _), gap in zip(
                    place, cell, window.strides, window.padding, window.dilation, strict=True
                )
            )
            if all(0 <= i < d for i, d in zip(at, space, strict=True)):
                yield place, number, at


BATCH, CHANNELS, OUT = 2, 2, 3


# Primitives that are linear in each operand: sums of products ------------------------------------

# By array (see `_arrays`), where its element lies that belongs to a cell of a window: of the sample
# n, the window's place, the number i of the cell, where it lies in space, an input channel a, and b
# of those that are made of it.
ELEMENT: dict[str, Callable[..., tuple[int, ...]]] = {
    "x": lambda n, place, i, at, a, b: (n, *at, a),
    "p": lambda n, place, i, at, a, b: (n, *place, i * CHANNELS + a),
    "k": lambda n, place, i, at, a, b: (i, a, b),
    "g": lambda n, place, i, at, a, b: (n, *place, b),
    "deep": lambda n, place, i, at, a, b: (n, *place, a * OUT + b),
    "pooled": lambda n, place, i, at, a, b: (n, *place, a),
    "chosen": lambda n, place, i, at, a, b: (n, *place, a, i),
}
WITH_FILTERS = {"k", "g", "deep"}  # those that b matters to


def _by_cell(name: str, array: Array, window: Window) -> Array:
    """The array as `ELEMENT` has it: a kernel's cells are numbered, and a chosen one is marked."""
    if name == "k":
        return array.reshape(-1, *array.shape[-2:])
    return array[..., None] == np.arange(window.cells) if name == "chosen" else array


def products(window: Window, operands: str, result: str) -> Callable[..., Array]:
    """The oracle that starts from zeros, and lets each cell of each window add to an element of the
    result the product of the operands' elements.
    """
    names = operands.split()
    shape = _arrays(window)[result].shape
    channels = (CHANNELS, OUT if WITH_FILTERS.intersection((*names, result)) else 1)

    def oracle(*given: Array) -> Array:
        out = np.zeros(shape, given[0].dtype)
        target = _by_cell(result, out, window)
        factors = [(name, _by_cell(name, x, window)) for name, x in zip(names, given, strict=True)]
        for n in range(BATCH):
            for cell, (a, b) in itertools.product(cells(window), np.ndindex(channels)):
                where = (n, *cell, a, b)
                parts = (factor[ELEMENT[name](*where)] for name, factor in factors)
                target[ELEMENT[result](*where)] += math.prod(parts)
        return out

    return oracle


class Linear(NamedTuple):
    """A row of the table: how a node is made of a window and operands; which arrays are these
    operands; which one is of the result's kind; for which windows."""

    build: Callable[..., Any]
    operands: str
    result: str
    takes: Container[Window] = FEW


def _arrays(window: Window) -> dict[str, Array]:
    """x over space, k a kernel, and arrays in the shapes of results: p of `patches`, g of `conv`,
    deep of `depthwise_conv`, pooled of `sum_pool`."""
    space, spots, c = SPACES[window], places(window), CHANNELS
    return {
        "x": normal(BATCH, *space, c),
        "p": normal(BATCH, *spots, window.cells * c),
        "k": normal(*window.sizes, c, OUT, seed=2),
        "g": normal(BATCH, *spots, OUT, seed=1),
        "deep": normal(BATCH, *spots, c * OUT, seed=3),
        "pooled": normal(BATCH, *spots, c, seed=4),
    }


LINEAR: dict[str, Linear] = {
    "patches": Linear(lambda w, x: windows.patches(x, w), "x", "p"),
    "fold": Linear(lambda w, p: windows.fold(p, SPACES[w], w), "p", "x"),
    "conv": Linear(lambda w, x, k: conv.conv(x, k, window=w), "x k", "g"),
    "conv_input": Linear(lambda w, g, k: conv.conv_input(g, k, SPACES[w], w), "g k", "x"),
    "conv_kernel": Linear(lambda w, x, g: conv.conv_kernel(x, g, window=w), "x g", "k"),
    "depthwise_conv": Linear(
        lambda w, x, k: conv.depthwise_conv(x, k, window=w), "x k", "deep", SPACES
    ),
    "depthwise_input": Linear(
        lambda w, g, k: conv.depthwise_input(g, k, SPACES[w], w), "deep k", "x", SPACES
    ),
    "depthwise_kernel": Linear(
        lambda w, x, g: conv.depthwise_kernel(x, g, window=w, multiplier=OUT), "x deep", "k", SPACES
    ),
    "sum_pool": Linear(lambda w, x: pool.sum_pool(x, window=w), "x", "pooled", POOLS),
    "sum_unpool": Linear(lambda w, g: pool.sum_unpool(g, SPACES[w], w), "pooled", "x", POOLS),
}


def window_cases(window: Window) -> Iterator[Case]:
    """All linear primitives over one window: in float64 with gradients, and in float32, the only
    dtype that some kernels are for."""
    arrays = _arrays(window)
    for name, row in LINEAR.items():
        if window not in row.takes:
            continue
        operands = tuple(arrays[x] for x in row.operands.split())
        yield from uses(
            name,
            partial(row.build, window),
            products(window, row.operands, row.result),
            (NAMES[window], operands),
            (f"{NAMES[window]} float32", tuple(x.astype("float32") for x in operands)),
            wrt=(0, 1),
            units=64,
        )


def pooled(window: Window) -> Callable[[Array], tuple[Array, Array]]:
    """Each window's maximum and the first cell that holds it; NaN counts as a maximum.

    All windows here have less than 128 cells, whose numbers are int8.
    """

    def oracle(x: Array) -> tuple[Array, Array]:
        shape = (len(x), *places(window), x.shape[-1])
        top, index = np.zeros(shape, x.dtype), np.full(shape, -1, "int8")
        for n, channel in np.ndindex(len(x), x.shape[-1]):
            for place, number, at in cells(window):
                here, value = (n, *place, channel), x[(n, *at, channel)]
                best = top[here]
                if index[here] < 0 or (best == best and (value != value or value > best)):
                    top[here], index[here] = value, number
        return top, index

    return oracle


def chosen(window: Window) -> Array:
    """For each window and channel one of its cells in space, in turn."""
    inside = defaultdict(list)
    for place, number, _ in cells(window):
        inside[place].append(number)
    shape = (BATCH, *places(window), CHANNELS)
    values = [inside[at[1:-1]][sum(at) % len(inside[at[1:-1]])] for at in np.ndindex(*shape)]
    return array_of(values, shape, "int32")


def in_turn(window: Window) -> Array:
    """For each window and channel one of its cells in turn, those in padding among them."""
    shape = (BATCH, *places(window), CHANNELS)
    values = [sum(at) % math.prod(window.sizes) for at in np.ndindex(*shape)]
    return array_of(values, shape, "int32")


def max_pool_cases(window: Window) -> Iterator[Case]:
    """The maximum, and where it is."""
    x = spaced(BATCH, *SPACES[window], CHANNELS)
    integers = whole(*x.shape, below=9) - 9
    special = whole(*x.shape, below=3).astype("float32")
    special[0, ..., 0] = np.where(special[0, ..., 0] == 0, math.nan, -math.inf)
    yield from uses(
        "max_pool",
        lambda x: pool.max_pool(x, window=window).results[0],
        lambda x: pooled(window)(x)[0],
        (NAMES[window], x),
        wrt=(0,),
    )
    yield from uses(
        "max_pool",
        lambda x: pool.max_pool(x, window=window).results,
        pooled(window),
        (f"{NAMES[window]}-index", x),
        (f"{NAMES[window]}-special", special),
        (f"{NAMES[window]}-integers", integers),
    )


def index_cases(window: Window) -> Iterator[Case]:
    """What follows an index: the cells that it chooses, and the adjoint of that."""
    space, arrays = SPACES[window], _arrays(window)
    small = normal(*arrays["pooled"].shape)
    indices = {NAMES[window]: chosen(window)}
    if has_margins(window):
        indices[f"{NAMES[window]}-padding"] = in_turn(window)
    yield from uses(
        "unpool",
        lambda g, index: pool.unpool(g, index, space, window),
        products(window, "pooled chosen", "x"),
        *((label, (small, at)) for label, at in indices.items()),
        wrt=(0,),
    )
    yield from uses(
        "pool_pick",
        lambda x, index: pool.pool_pick(x, index, window=window),
        products(window, "x chosen", "pooled"),
        *((label, (arrays["x"], at)) for label, at in indices.items()),
        wrt=(0,),
    )


CASES: list[Case] = [
    *(case for window in SPACES for case in window_cases(window)),
    *(case for window in POOLS for case in max_pool_cases(window)),
    *(case for window in POOLS for case in index_cases(window)),
    *uses(
        "fold",
        lambda p, dims: windows.fold(p, dims[1:-1], TILES),
        lambda p, dims: products(TILES, "p", "x")(p),
        ("sizes-from-another", normal(BATCH, 2, 2, 8), SizesOf((BATCH, *SPACES[TILES], CHANNELS))),
        wrt=(0,),
    ),
]
