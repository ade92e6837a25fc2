"""Sliding windows of the embedded engine, held against plain loops and adjoint identities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kameleon.engines._kernels import convolution, depthwise
from kameleon.engines._kernels import windows as w
from kameleon.engines._kernels.geometry import Window, window_counts

cases = settings(max_examples=80)


# The oracle: which cell every window sees at every offset -----------------------------------------


Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Geometry:
    spatial: Sizes
    sizes: Sizes
    strides: Sizes
    padding: Pads
    dilation: Sizes

    @property
    def window(self) -> Window:
        return self.sizes, self.strides, self.padding, self.dilation

    @property
    def counts(self) -> Sizes:
        """Windows are placed one after the other for as long as they fit."""
        counts = []
        for size, cells, stride, (low, high), dilation in zip(
            self.spatial, *self.window, strict=True
        ):
            starts = range(-low, size + high, stride)
            counts.append(sum(start + (cells - 1) * dilation < size + high for start in starts))
        return tuple(counts)

    def seen(self) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...] | None]]:
        """Window, number of the offset, and the cell there: None in the padding."""
        for place in np.ndindex(*self.counts):
            for number, offset in enumerate(np.ndindex(*self.sizes)):
                cell = tuple(
                    i * s + o * d - low
                    for i, o, _, s, (low, _), d in zip(place, offset, *self.window, strict=True)
                )
                inside = all(0 <= c < n for c, n in zip(cell, self.spatial, strict=True))
                yield place, number, cell if inside else None


@st.composite
def geometries(draw: Any, dilated: bool = True) -> Geometry:
    rank = draw(st.integers(1, 3))

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    largest = {1: 12, 2: 7, 3: 4}[rank]
    return Geometry(
        spatial=each(1, largest),
        sizes=each(1, 3),
        strides=each(1, 4),
        padding=tuple(zip(each(-1, 3), each(-1, 3), strict=True)),
        dilation=each(1, 2) if dilated else (1,) * rank,
    )


channel_counts = st.sampled_from([1, 2, 5])
layouts = st.sampled_from(["C", "F", "strided"])


def filled(shape: tuple[int, ...], layout: str = "C", seed: int = 0, dtype: str = "float64") -> Any:
    """Whole numbers between -9 and 9, so that sums are exact and ties happen."""
    rng = np.random.default_rng(seed)
    if layout == "strided":
        wide = rng.integers(-9, 10, [2 * n for n in shape]).astype(dtype)
        return wide[tuple(slice(None, None, -2) for _ in shape)]
    values = rng.integers(-9, 10, shape).astype(dtype)
    return np.asfortranarray(values) if layout == "F" else values


def inner(a: Any, b: Any) -> float:
    assert a.shape == b.shape
    return float((a * b).sum())


@given(geometries())
@cases
def test_counts(geometry: Geometry) -> None:
    assert window_counts(geometry.spatial, geometry.window) == geometry.counts


# Patches ------------------------------------------------------------------------------------------


@given(geometries(), channel_counts, layouts, st.sampled_from(["float32", "int8", "float64"]))
@cases
def test_patches(geometry: Geometry, channels: int, layout: str, dtype: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout, dtype=dtype)
    cells = int(np.prod(geometry.sizes))
    expected = np.zeros((2, *geometry.counts, cells, channels), dtype)
    for place, number, cell in geometry.seen():
        if cell is not None:
            expected[(slice(None), *place, number)] = x[(slice(None), *cell)]
    got = w.patches(x, geometry.window)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, expected.reshape(2, *geometry.counts, cells * channels))


@given(geometries(), channel_counts, layouts)
@cases
def test_fold_is_the_adjoint_of_patches(geometry: Geometry, channels: int, layout: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout, seed=1)
    seen = w.patches(x, geometry.window)
    p = filled(seen.shape, layout, seed=2)
    folded = w.fold(p, geometry.spatial, geometry.window)
    assert folded.shape == x.shape
    assert inner(seen, p) == inner(x, folded)


@given(geometries(), channel_counts, st.sampled_from(["float32", "int32"]))
@cases
def test_fold(geometry: Geometry, channels: int, dtype: str) -> None:
    cells = int(np.prod(geometry.sizes))
    p = filled((2, *geometry.counts, cells, channels), dtype=dtype)
    expected = np.zeros((2, *geometry.spatial, channels), dtype)
    for place, number, cell in geometry.seen():
        if cell is not None:
            expected[(slice(None), *cell)] += p[(slice(None), *place, number)]
    flat = p.reshape(2, *geometry.counts, cells * channels)
    got = w.fold(flat, geometry.spatial, geometry.window)
    assert got.dtype == p.dtype
    np.testing.assert_array_equal(got, expected)


# Convolution --------------------------------------------------------------------------------------


@given(geometries(), channel_counts, st.integers(1, 3), layouts, st.sampled_from([1, 4, 1024]))
@cases
def test_conv(geometry: Geometry, channels: int, filters: int, layout: str, at_once: int) -> None:
    x = filled((2, *geometry.spatial, channels), layout)
    k = filled((*geometry.sizes, channels, filters), layout, seed=1)
    expected = np.zeros((2, *geometry.counts, filters))
    offsets = list(np.ndindex(*geometry.sizes))
    for place, number, cell in geometry.seen():
        if cell is not None:
            expected[(slice(None), *place)] += x[(slice(None), *cell)] @ k[offsets[number]]
    g = filled(expected.shape, layout, seed=2)
    with mock.patch.multiple(convolution, STRIP=1, WINDOWS=at_once):
        y = convolution.conv(x, k, geometry.window)
        dx = convolution.conv_input(g, k, geometry.spatial, geometry.window)
        dk = convolution.conv_kernel(x, g, geometry.window)
    np.testing.assert_array_equal(y, expected)
    assert inner(y, g) == inner(x, dx) == inner(k, dk)


# Pooling ------------------------------------------------------------------------------------------


def largest(x: Any, geometry: Geometry) -> tuple[Any, Any]:
    """Maxima and their offsets (-1: padding alone), by loops over every window."""
    shape = (len(x), *geometry.counts, x.shape[-1])
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    best, index = np.full(shape, lowest, x.dtype), np.full(shape, -1)
    for place, number, cell in geometry.seen():
        if cell is None:
            continue
        for n, c in np.ndindex(len(x), x.shape[-1]):
            at, value = (n, *place, c), x[(n, *cell, c)]
            if not np.isnan(best[at]) and (index[at] < 0 or not value <= best[at]):
                best[at], index[at] = value, number
    return best, index


@given(geometries(dilated=False), channel_counts, layouts, st.sampled_from(["float32", "int16"]))
@cases
def test_max_pool(geometry: Geometry, channels: int, layout: str, dtype: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout, dtype=dtype) // 4
    y, index = w.max_pool(x, geometry.window, True)
    best, first = largest(x, geometry)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, best)
    assert index is not None
    np.testing.assert_array_equal(np.where(first < 0, -1, index), first)
    again, none = w.max_pool(x, geometry.window, False)
    np.testing.assert_array_equal(again, y)
    assert none is None


@given(geometries(dilated=False), st.integers(0, 2**32 - 1))
@cases
def test_max_pool_of_special_values(geometry: Geometry, seed: int) -> None:
    rng = np.random.default_rng(seed)
    special = np.array([np.nan, -np.inf, np.inf, 0.0, 1.0], "float32")
    x = rng.choice(special, (2, *geometry.spatial, 2), p=[0.1, 0.5, 0.1, 0.1, 0.2])
    y, index = w.max_pool(x, geometry.window, True)
    best, first = largest(x, geometry)
    np.testing.assert_array_equal(y, best)
    assert index is not None
    np.testing.assert_array_equal(np.where(first < 0, -1, index), first)


@given(geometries(dilated=False), channel_counts, layouts)
@cases
def test_unpool_and_pool_pick(geometry: Geometry, channels: int, layout: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout)
    y, index = w.max_pool(x, geometry.window, True)
    assert index is not None
    picked = w.pool_pick(x, index, geometry.window)
    _, first = largest(x, geometry)
    np.testing.assert_array_equal(picked, np.where(first < 0, 0, y))

    g = filled(y.shape, layout, seed=3)
    expected = np.zeros(x.shape)
    for place, number, cell in geometry.seen():
        if cell is not None:
            chosen = first[(slice(None), *place)] == number
            expected[(slice(None), *cell)] += np.where(chosen, g[(slice(None), *place)], 0)
    spread = w.unpool(g, index, geometry.spatial, geometry.window)
    np.testing.assert_array_equal(spread, expected)
    u = filled(x.shape, layout, seed=4)
    assert inner(spread, u) == inner(g, w.pool_pick(u, index, geometry.window))


@pytest.mark.parametrize("stride", [1, 2])
def test_unpool_keeps_infinities_where_they_belong(stride: int) -> None:
    x = np.arange(6.0).reshape(1, 6, 1)
    window: Window = (2,), (stride,), ((0, 0),), (1,)
    y, index = w.max_pool(x, window, True)
    assert index is not None
    g = np.zeros_like(y)
    g[0, 1], g[0, 2] = np.inf, np.nan
    spread = w.unpool(g, index, (6,), window).ravel()
    expected = [0, 0, np.inf, np.nan, 0, 0] if stride == 1 else [0, 0, 0, np.inf, 0, np.nan]
    np.testing.assert_array_equal(spread, expected)
    np.testing.assert_array_equal(w.pool_pick(spread.reshape(1, 6, 1), index, window), g)


@pytest.mark.parametrize(("sizes", "dtype"), [((11, 11), "int8"), ((12, 11), "int32")])
def test_the_index_is_as_small_as_it_can_be(sizes: tuple[int, int], dtype: str) -> None:
    x = np.zeros((1, 12, 11, 1))
    x[0, sizes[0] - 1, sizes[1] - 1] = 1
    _, index = w.max_pool(x, (sizes, (9, 9), ((0, 0), (0, 0)), (1, 1)), True)
    assert index is not None
    assert index.dtype == dtype
    assert index.ravel().tolist() == [sizes[0] * sizes[1] - 1]


@given(geometries(dilated=False), channel_counts, layouts, st.sampled_from(["float32", "int32"]))
@cases
def test_sum_pool(geometry: Geometry, channels: int, layout: str, dtype: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout, dtype=dtype)
    expected = np.zeros((2, *geometry.counts, channels))
    for place, _, cell in geometry.seen():
        if cell is not None:
            expected[(slice(None), *place)] += x[(slice(None), *cell)]
    y = w.sum_pool(x, geometry.window)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, expected)
    g = filled(y.shape, layout, seed=5, dtype=dtype)
    grad = w.sum_unpool(g, geometry.spatial, geometry.window)
    assert grad.dtype == g.dtype
    assert inner(y, g) == inner(x, grad)


# Depthwise convolution ----------------------------------------------------------------------------


@given(geometries(), channel_counts, st.integers(1, 3), layouts)
@cases
def test_depthwise_conv(geometry: Geometry, channels: int, multiplier: int, layout: str) -> None:
    x = filled((2, *geometry.spatial, channels), layout)
    k = filled((*geometry.sizes, channels, multiplier), layout, seed=1)
    expected = np.zeros((2, *geometry.counts, channels, multiplier))
    offsets = list(np.ndindex(*geometry.sizes))
    for place, number, cell in geometry.seen():
        if cell is not None:
            expected[(slice(None), *place)] += (
                x[(slice(None), *cell)][..., None] * k[offsets[number]]
            )
    y = depthwise.depthwise_conv(x, k, geometry.window)
    np.testing.assert_array_equal(y, expected.reshape(y.shape))

    g = filled(y.shape, layout, seed=2)
    dx = depthwise.depthwise_input(g, k, geometry.spatial, geometry.window)
    dk = depthwise.depthwise_kernel(x, g, geometry.window)
    assert inner(y, g) == inner(x, dx) == inner(k, dk)


# What holds for all of them -----------------------------------------------------------------------


def _index_of(x: Any, window: Window) -> Any:
    return w.max_pool(x, window, True)[1]


def as_wide(kernel: Any) -> Any:
    """With as many filters as channels."""
    return np.broadcast_to(kernel, (*kernel.shape[:-1], kernel.shape[-2]))


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    # name: (geometry, x, kernel -> result), (geometry, x, result -> adjoint)
    "patches": (
        lambda m, x, k: w.patches(x, m.window),
        lambda m, x, y: w.fold(y, m.spatial, m.window),
    ),
    "max_pool": (
        lambda m, x, k: w.max_pool(x, m.window, True)[0],
        lambda m, x, y: w.unpool(y, _index_of(x, m.window), m.spatial, m.window),
    ),
    "pool_pick": (
        lambda m, x, k: w.pool_pick(x, _index_of(x, m.window), m.window),
        lambda m, x, y: w.unpool(y, _index_of(x, m.window), m.spatial, m.window),
    ),
    "sum_pool": (
        lambda m, x, k: w.sum_pool(x, m.window),
        lambda m, x, y: w.sum_unpool(y, m.spatial, m.window),
    ),
    "conv": (
        lambda m, x, k: convolution.conv(x, as_wide(k), m.window),
        lambda m, x, y: convolution.conv_input(
            y, as_wide(np.ones((*m.sizes, x.shape[-1], 1), x.dtype)), m.spatial, m.window
        ),
    ),
    "depthwise": (
        lambda m, x, k: depthwise.depthwise_conv(x, k, m.window),
        lambda m, x, y: depthwise.depthwise_input(
            y, np.ones((*m.sizes, x.shape[-1], 1), x.dtype), m.spatial, m.window
        ),
    ),
}

LARGE = {
    "overlapping": Geometry((40, 40), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "apart": Geometry((40, 40), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "padded": Geometry((40, 41), (3, 3), (2, 2), ((1, 1), (0, 1)), (1, 1)),
    "single": Geometry((40, 40), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
}


@pytest.mark.parametrize("channels", [1, 24])
@pytest.mark.parametrize("geometry", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_batches_go_item_by_item(name: str, geometry: Geometry, channels: int) -> None:
    """Batches are worked on in blocks; every item comes out as it does alone."""
    forward, adjoint = FUNCTIONS[name]
    x = filled((13, *geometry.spatial, channels), dtype="float32")
    k = filled((*geometry.sizes, channels, 1), seed=1, dtype="float32")
    y = forward(geometry, x, k)
    dx = adjoint(geometry, x, y)
    for i in range(len(x)):
        one = x[i : i + 1]
        np.testing.assert_array_equal(y[i : i + 1], forward(geometry, one, k))
        np.testing.assert_array_equal(dx[i : i + 1], adjoint(geometry, one, y[i : i + 1]))


def test_kernel_gradient_adds_up_over_a_large_batch() -> None:
    m = LARGE["padded"]
    x = filled((13, *m.spatial, 24))
    g = filled(depthwise.depthwise_conv(x, np.ones((*m.sizes, 24, 1)), m.window).shape, seed=1)
    total = sum(
        depthwise.depthwise_kernel(x[i:j], g[i:j], m.window) for i, j in pairwise([0, 1, 6, 13])
    )
    np.testing.assert_array_equal(depthwise.depthwise_kernel(x, g, m.window), total)


@pytest.mark.parametrize("shape", [(0, 5, 5, 2), (2, 5, 5, 0), (2, 1, 5, 2), (2, 0, 5, 2)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_empty_arrays(name: str, shape: tuple[int, ...]) -> None:
    """No items, no channels, no cells, or no window that fits."""
    m = Geometry(shape[1:-1], (3, 2), (1, 1), ((0, 0), (0, 0)), (1, 1))
    forward, adjoint = FUNCTIONS[name]
    x = np.ones(shape, "float32")
    y = forward(m, x, np.ones((*m.sizes, shape[-1], 1), "float32"))
    depth = shape[-1] * (6 if name == "patches" else 1)
    assert (y.shape, y.dtype) == ((shape[0], *m.counts, depth), np.float32)
    back = adjoint(m, x, y)
    assert (back.shape, back.dtype) == (shape, np.float32)
    assert not back.any()


@pytest.mark.parametrize("geometry", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_new_and_operands_untouched(name: str, geometry: Geometry) -> None:
    forward, adjoint = FUNCTIONS[name]
    x = filled((2, *geometry.spatial, 3), dtype="float32")
    before = x.copy()
    x.flags.writeable = False
    y = forward(geometry, x, np.ones((*geometry.sizes, 3, 1), "float32"))
    y.flags.writeable = False
    dx = adjoint(geometry, x, y)
    assert not np.shares_memory(y, x)
    assert not np.shares_memory(dx, y)
    np.testing.assert_array_equal(x, before)


def test_sizes_may_be_numpy_integers() -> None:
    size = (np.array(4), np.int64(4))
    g = np.ones((1, 2, 2, 1))
    window = (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)
    assert w.sum_unpool(g, size, window).sum() == 16  # type: ignore[arg-type]
    ones = np.ones((1, 2, 2, 4))
    assert w.fold(ones, size, window).sum() == 16  # type: ignore[arg-type]
