"""Convolutions over channels-last arrays and their adjoints: products with patches.

Operands are those of `windows`. Patches are made of a strip of windows at a time, so
that they stay in the cache, and all of them never have to be in memory.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from .geometry import Array, Dims, Window, flat_rows, flat_slices, offsets_of, window_counts
from .memory import empty, give, zeros
from .windows import patches

# A strip has about so many bytes of patches, and so many windows at least: each product packs the
# whole kernel.
STRIP = 2**21
WINDOWS = 1024


class Strip(NamedTuple):
    """Windows that are worked on together: whole items of the batch, or some rows of one."""

    items: slice
    windows: slice  # along the first spatial dimension of what has an element a window
    cells: slice  # along that of the array: those that these windows see
    window: Window  # with what these see beyond them as padding


def _strips(x: Dims, counts: Dims, window: Window, row: int) -> Iterator[Strip]:
    """All windows in strips, over an array of shape `x`; a window's patch has `row` bytes."""
    sizes, strides, padding, dilation = window
    at_once = max(WINDOWS, STRIP // row)
    in_item = prod(counts)
    if at_once >= in_item:
        step = at_once // in_item
        for start in range(0, x[0], step):
            items = slice(start, min(x[0], start + step))
            yield Strip(items, slice(0, counts[0]), slice(0, x[1]), window)
        return
    step = max(1, at_once * counts[0] // in_item)
    reach, low = (sizes[0] - 1) * dilation[0] + 1, padding[0][0]
    for item in range(x[0]):
        for first in range(0, counts[0], step):
            last = min(counts[0], first + step)
            start, stop = first * strides[0] - low, (last - 1) * strides[0] - low + reach
            begin = min(max(0, start), x[1])
            end = max(begin, min(x[1], stop))
            beyond = (begin - start, stop - end)
            part = sizes, strides, (beyond, *padding[1:]), dilation
            yield Strip(slice(item, item + 1), slice(first, last), slice(begin, end), part)


def conv(x: Array, kernel: Array, window: Window) -> Array:
    """Correlate with a kernel `(*sizes, channels, filters)`; gives `(batch, *counts, filters)`.

    Example:
        >>> x, k = np.arange(4.0).reshape(1, 4, 1), np.array([-1.0, 1.0]).reshape(2, 1, 1)
        >>> conv(x, k, ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 1.0, 1.0]

    Source: Chellapilla, Puri, Simard, "High performance convolutional neural networks for
    document processing" (2006).
    """
    channels, filters = kernel.shape[-2:]
    matrix = kernel.reshape(prod(window[0]) * channels, filters)
    counts = window_counts(x.shape[1:-1], window)
    y = empty((len(x), *counts, filters), x.dtype)
    if y.size == 0 or matrix.size == 0:
        y.fill(0)
        return y
    for s in _strips(x.shape, counts, window, len(matrix) * x.itemsize):
        seen = patches(x[s.items, s.cells], s.window)
        target = y[s.items, s.windows].reshape(-1, filters)
        np.matmul(seen.reshape(-1, len(matrix)), matrix, out=target)
        give(seen)
    return y


def conv_input(g: Array, kernel: Array, spatial: Dims, window: Window) -> Array:
    """The adjoint of `conv` in `x`: every cell of `spatial` gets the sum over the windows that see
    it.

    Example:
        >>> k = np.array([1.0, 2.0]).reshape(2, 1, 1)
        >>> conv_input(np.ones((1, 3, 1)), k, (4,), ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 3.0, 3.0, 2.0]
    """
    (channels, filters), strides = kernel.shape[-2:], window[1]
    spatial = tuple(map(int, spatial))
    if prod(strides) == 1 and filters <= channels:
        return _mirrored(g, kernel, spatial, window)
    x = zeros((len(g), *spatial, channels), g.dtype)
    if g.size == 0 or x.size == 0:
        return x
    cells = np.ascontiguousarray(kernel.reshape(-1, channels, filters).transpose(0, 2, 1))
    in_rows = strides[-1] == 1
    row = len(cells) * channels * g.itemsize
    for s in _strips(x.shape, g.shape[1:-1], window, row):
        part, into = g[s.items, s.windows], x[s.items, s.cells]
        made = np.matmul(part.reshape(-1, filters), cells)
        made = made.reshape(len(cells), *part.shape[:-1], channels)
        if in_rows:
            made, into = flat_rows(made), flat_rows(into)
        seen = (s.cells.stop - s.cells.start, *spatial[1:])
        for number, to, of in offsets_of(seen, s.window):
            if in_rows:
                to, of = flat_slices(to, channels), flat_slices(of, channels)
            into[to] += made[number][of]
    return x


def _mirrored(g: Array, kernel: Array, spatial: Dims, window: Window) -> Array:
    """`conv_input` with strides of one: it correlates with the mirrored kernel."""
    sizes, strides, _, dilation = window
    mirror = np.ascontiguousarray(np.flip(kernel, tuple(range(len(sizes)))).swapaxes(-1, -2))
    rows = zip(spatial, g.shape[1:-1], *window, strict=True)
    beyond = [((w - 1) * d - low, n - count + low) for n, count, w, _, (low, _), d in rows]
    return conv(g, mirror, (sizes, strides, tuple(beyond), dilation))


def conv_kernel(x: Array, g: Array, window: Window) -> Array:
    """The adjoint of `conv` in the kernel.

    Example:
        >>> x = np.arange(4.0).reshape(1, 4, 1)
        >>> conv_kernel(x, np.ones((1, 3, 1)), ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [3.0, 6.0]
    """
    channels, filters = x.shape[-1], g.shape[-1]
    rows = prod(window[0]) * channels
    total = empty((rows, filters), x.dtype)
    if g.size == 0 or total.size == 0:
        total.fill(0)
        return total.reshape(*window[0], channels, filters)
    row, more = rows * x.itemsize, None
    for number, s in enumerate(_strips(x.shape, g.shape[1:-1], window, row)):
        seen = patches(x[s.items, s.cells], s.window)
        part = g[s.items, s.windows].reshape(-1, filters)
        if number:
            more = np.matmul(seen.reshape(-1, rows).T, part, out=more)
            total += more
        else:
            np.matmul(seen.reshape(-1, rows).T, part, out=total)
        give(seen)
    return total.reshape(*window[0], channels, filters)
