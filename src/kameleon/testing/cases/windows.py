"""Cases of windows over space: convolutions, pools, and their parts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...prims import conv, pool, windows
from ...prims.sizes import dims_of
from ...prims.windows import Window
from .case import Array, Build, Case, array_of, normal, spaced, whole

# Windows: everything is a loop over places of the window and its cells ---------------------

LINE = Window((3,), (2,), ((1, 0),), (1,))
DILATED = Window((2,), (1,), ((0, 2),), (3,))
PLANE = Window((2, 3), (1, 2), ((0, 1), (1, 1)), (1, 1))
TILES = Window((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1))
ATROUS = Window((2, 2), (1, 1), ((1, 1), (0, 0)), (2, 1))
BLOCK = Window((2, 1, 2), (1, 2, 1), ((1, 0), (0, 0), (0, 1)), (1, 1, 1))
SPACES = {LINE: (6,), DILATED: (5,), PLANE: (4, 5), TILES: (4, 5), ATROUS: (4, 3), BLOCK: (2, 3, 2)}
# The largest windows that pools take: without dilation.
POOLS = (LINE, PLANE, TILES, BLOCK)


def label_of(window: Window) -> str:
    """A readable name of a window."""
    names = {
        LINE: "line",
        DILATED: "dilated",
        PLANE: "plane",
        TILES: "tiles",
        ATROUS: "atrous",
        BLOCK: "block",
    }
    return names[window]


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


def looped(
    window: Window, shape: tuple[int, ...], visit: Callable[..., None]
) -> Callable[..., Array]:
    """The oracle that starts from zeros and lets each cell of each window add to them."""

    def oracle(*operands: Array) -> Array:
        out = np.zeros(shape, operands[0].dtype)
        for n in range(len(operands[0])):
            for place, number, at in cells(window):
                visit(out, n, place, number, at, *operands)
        return out

    return oracle


BATCH, CHANNELS, OUT = 2, 2, 3


def window_cases(window: Window) -> Iterator[Case]:
    """All linear primitives over one window: (operands, result shape, what each cell adds)."""
    space, spots, count, c = SPACES[window], places(window), window.cells, CHANNELS
    x, p = normal(BATCH, *space, c), normal(BATCH, *spots, count * c)
    g = normal(BATCH, *spots, OUT, seed=1)
    k = normal(*window.sizes, c, OUT, seed=2)
    deep = normal(BATCH, *spots, c * OUT, seed=3)

    def flat(k: Array) -> Array:
        return k.reshape(count, *k.shape[len(space) :])

    def patches(out: Array, n: int, place: Any, i: int, at: Any, x: Array) -> None:
        out[(n, *place)][i * c : (i + 1) * c] += x[(n, *at)]

    def fold(out: Array, n: int, place: Any, i: int, at: Any, p: Array) -> None:
        out[(n, *at)] += p[(n, *place)][i * c : (i + 1) * c]

    def convolve(out: Array, n: int, place: Any, i: int, at: Any, x: Array, k: Array) -> None:
        for a, b in np.ndindex(c, OUT):
            out[(n, *place, b)] += x[(n, *at, a)] * flat(k)[i, a, b]

    def conv_input(out: Array, n: int, place: Any, i: int, at: Any, g: Array, k: Array) -> None:
        for a, b in np.ndindex(c, OUT):
            out[(n, *at, a)] += g[(n, *place, b)] * flat(k)[i, a, b]

    def conv_kernel(out: Array, n: int, place: Any, i: int, at: Any, x: Array, g: Array) -> None:
        for a, b in np.ndindex(c, OUT):
            flat(out)[i, a, b] += x[(n, *at, a)] * g[(n, *place, b)]

    def depthwise(out: Array, n: int, place: Any, i: int, at: Any, x: Array, k: Array) -> None:
        for a, m in np.ndindex(c, OUT):
            out[(n, *place, a * OUT + m)] += x[(n, *at, a)] * flat(k)[i, a, m]

    def depthwise_input(
        out: Array, n: int, place: Any, i: int, at: Any, g: Array, k: Array
    ) -> None:
        for a, m in np.ndindex(c, OUT):
            out[(n, *at, a)] += g[(n, *place, a * OUT + m)] * flat(k)[i, a, m]

    def depthwise_kernel(
        out: Array, n: int, place: Any, i: int, at: Any, x: Array, g: Array
    ) -> None:
        for a, m in np.ndindex(c, OUT):
            flat(out)[i, a, m] += x[(n, *at, a)] * g[(n, *place, a * OUT + m)]

    def sum_pool(out: Array, n: int, place: Any, i: int, at: Any, x: Array) -> None:
        out[(n, *place)] += x[(n, *at)]

    def sum_unpool(out: Array, n: int, place: Any, i: int, at: Any, g: Array) -> None:
        out[(n, *at)] += g[(n, *place)]

    def of(
        name: str, build: Build, operands: tuple[Array, ...], shape: tuple[int, ...], visit: Any
    ) -> Iterator[Case]:
        """In float64 with gradients; in float32, too, for which alone there are some kernels."""
        wrt = tuple(range(len(operands)))
        single = tuple(x.astype("float32") for x in operands)
        for label, values, smooth in (("", operands, wrt), (" float32", single, ())):
            yield Case(
                primitive=name,
                label=f"{label_of(window)}{label}",
                build=build,
                operands=values,
                oracle=looped(window, shape, visit),
                wrt=smooth,
                units=64,
            )

    whole_x, whole_out = (BATCH, *space, c), (BATCH, *spots, OUT)
    yield from of("patches", lambda x: windows.patches(x, window), (x,), p.shape, patches)
    yield from of("fold", lambda p: windows.fold(p, space, window), (p,), whole_x, fold)
    yield from of("conv", lambda x, k: conv.conv(x, k, window=window), (x, k), whole_out, convolve)
    yield from of(
        "conv_input", lambda g, k: conv.conv_input(g, k, space, window), (g, k), whole_x, conv_input
    )
    yield from of(
        "conv_kernel",
        lambda x, g: conv.conv_kernel(x, g, window=window),
        (x, g),
        k.shape,
        conv_kernel,
    )
    yield from of(
        "depthwise_conv",
        lambda x, k: conv.depthwise_conv(x, k, window=window),
        (x, k),
        deep.shape,
        depthwise,
    )
    yield from of(
        "depthwise_input",
        lambda g, k: conv.depthwise_input(g, k, space, window),
        (deep, k),
        whole_x,
        depthwise_input,
    )
    yield from of(
        "depthwise_kernel",
        lambda x, g: conv.depthwise_kernel(x, g, window=window, multiplier=OUT),
        (x, deep),
        k.shape,
        depthwise_kernel,
    )
    if window in POOLS:
        small = normal(BATCH, *spots, c, seed=4)
        yield from of(
            "sum_pool", lambda x: pool.sum_pool(x, window=window), (x,), small.shape, sum_pool
        )
        yield from of(
            "sum_unpool", lambda g: pool.sum_unpool(g, space, window), (small,), whole_x, sum_unpool
        )


def pooled(window: Window) -> Callable[[Array], tuple[Array, Array]]:
    """Each window's maximum and the first cell that holds it; NaN counts as one.

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
    """The maximum, and its two partners that follow an index."""
    space, spots = SPACES[window], places(window)
    x, small, index = (
        spaced(BATCH, *space, CHANNELS),
        normal(BATCH, *spots, CHANNELS),
        chosen(window),
    )

    def unpool(out: Array, n: int, place: Any, i: int, at: Any, g: Array, index: Array) -> None:
        out[(n, *at)] += g[(n, *place)] * (index[(n, *place)] == i)

    def pick(out: Array, n: int, place: Any, i: int, at: Any, x: Array, index: Array) -> None:
        out[(n, *place)] += x[(n, *at)] * (index[(n, *place)] == i)

    def case(
        name: str,
        label: str,
        build: Build,
        operands: tuple[Array, ...],
        oracle: Any,
        smooth: bool = True,
    ) -> Case:
        return Case(
            primitive=name,
            label=f"{label_of(window)}{label}",
            build=build,
            operands=operands,
            oracle=oracle,
            wrt=(0,) if smooth else (),
        )

    def value(x: Any) -> Any:
        return pool.max_pool(x, window=window).results[0]

    def both(x: Any) -> Any:
        return pool.max_pool(x, window=window).results

    special = whole(*x.shape, below=3).astype("float32")
    special[0, ..., 0] = np.where(special[0, ..., 0] == 0, math.nan, -math.inf)
    yield case("max_pool", "", value, (x,), lambda x: pooled(window)(x)[0])
    yield case("max_pool", "-index", both, (x,), pooled(window), smooth=False)
    yield case("max_pool", "-special", both, (special,), pooled(window), smooth=False)
    yield case(
        "max_pool", "-integers", both, (whole(*x.shape, below=9) - 9,), pooled(window), smooth=False
    )
    shape = (BATCH, *space, CHANNELS)
    indices = {"": index}
    if any(map(any, window.padding)):
        indices["-padding"] = in_turn(window)
    for label, at in indices.items():
        yield case(
            "unpool",
            label,
            lambda g, index: pool.unpool(g, index, space, window),
            (small, at),
            looped(window, shape, unpool),
        )
        yield case(
            "pool_pick",
            label,
            lambda x, index: pool.pool_pick(x, index, window=window),
            (normal(*shape), at),
            looped(window, small.shape, pick),
        )


CASES: list[Case] = [
    *(case for window in SPACES for case in window_cases(window)),
    *(case for window in POOLS for case in max_pool_cases(window)),
    Case(
        primitive="fold",
        label="sizes-from-another",
        build=lambda p, like: windows.fold(p, dims_of(like)[1:-1], TILES),
        operands=(normal(BATCH, 2, 2, 8), np.zeros((BATCH, 4, 5, 2))),
        oracle=lambda p, like: np.pad(
            p.reshape(BATCH, 2, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(BATCH, 4, 4, 2),
            ((0, 0), (0, 0), (0, 1), (0, 0)),
        ),
        wrt=(0,),
    ),
]
