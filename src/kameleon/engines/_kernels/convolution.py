"""Convolutions over channels-last arrays and their adjoints: products with patches.

Operands and geometry are those of `windows`. Patches are made of a strip of windows at a time, so
that they stay in the cache, and all of them never have to be in memory.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from .geometry import Array, Dims, Pads, flat_rows, flat_slices, offsets_of, window_counts
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
    padding: Pads  # what these windows see beyond them


def _strips(
    x: Dims, counts: Dims, window: Dims, strides: Dims, padding: Pads, dilation: Dims, row: int
) -> Iterator[Strip]:
    """All windows in strips, over an array of shape `x`; a window's patch has `row` bytes."""
    at_once = max(WINDOWS, STRIP // row)
    in_item = prod(counts)
    if at_once >= in_item:
        step = at_once // in_item
        for start in range(0, x[0], step):
            items = slice(start, min(x[0], start + step))
            yield Strip(items, slice(0, counts[0]), slice(0, x[1]), padding)
        return
    step = max(1, at_once * counts[0] // in_item)
    reach, low = (window[0] - 1) * dilation[0] + 1, padding[0][0]
    for item in range(x[0]):
        for first in range(0, counts[0], step):
            last = min(counts[0], first + step)
            start, stop = first * strides[0] - low, (last - 1) * strides[0] - low + reach
            begin = min(max(0, start), x[1])
            end = max(begin, min(x[1], stop))
            seen = slice(begin, end)
            beyond = (begin - start, stop - end)
            yield Strip(slice(item, item + 1), slice(first, last), seen, (beyond, *padding[1:]))


def conv(x: Array, kernel: Array, strides: Dims, padding: Pads, dilation: Dims) -> Array:
    """Correlate with kernels.

    Args:
        x: `(batch, *spatial, channels)`.
        kernel: `(*window, channels, filters)`.
        strides, padding, dilation: see the head of `windows`.

    Returns:
        `(batch, *counts, filters)`.

    Example:
        >>> x, k = np.arange(4.0).reshape(1, 4, 1), np.array([-1.0, 1.0]).reshape(2, 1, 1)
        >>> conv(x, k, (1,), ((0, 0),), (1,)).ravel().tolist()
        [1.0, 1.0, 1.0]

    Source: Chellapilla, Puri, Simard, "High performance convolutional neural networks for
    document processing" (2006).
    """
    window, (channels, filters) = kernel.shape[:-2], kernel.shape[-2:]
    matrix = kernel.reshape(prod(window) * channels, filters)
    counts = window_counts(x.shape[1:-1], window, strides, padding, dilation)
    y = empty((len(x), *counts, filters), x.dtype)
    if y.size == 0 or matrix.size == 0:
        y.fill(0)
        return y
    row = len(matrix) * x.itemsize
    for s in _strips(x.shape, counts, window, strides, padding, dilation, row):
        seen = patches(x[s.items, s.cells], window, strides, s.padding, dilation)
        target = y[s.items, s.windows].reshape(-1, filters)
        np.matmul(seen.reshape(-1, len(matrix)), matrix, out=target)
        give(seen)
    return y


def conv_input(
    g: Array, kernel: Array, spatial: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Array:
    """The adjoint of `conv` in `x`: every cell gets the sum over the windows that see it.

    Args:
        g: `(batch, *counts, filters)`.
        kernel: `(*window, channels, filters)`.
        spatial: the spatial shape of the result.
        strides, padding, dilation: as the convolution had them.

    Returns:
        `(batch, *spatial, channels)`.

    Example:
        >>> k = np.array([1.0, 2.0]).reshape(2, 1, 1)
        >>> conv_input(np.ones((1, 3, 1)), k, (4,), (1,), ((0, 0),), (1,))[0, :, 0].tolist()
        [1.0, 3.0, 3.0, 2.0]
    """
    window, (channels, filters) = kernel.shape[:-2], kernel.shape[-2:]
    spatial = tuple(map(int, spatial))
    if prod(strides) == 1 and filters <= channels:
        return _mirrored(g, kernel, spatial, padding, dilation)
    x = zeros((len(g), *spatial, channels), g.dtype)
    if g.size == 0 or x.size == 0:
        return x
    cells = np.ascontiguousarray(kernel.reshape(-1, channels, filters).transpose(0, 2, 1))
    in_rows = strides[-1] == 1
    row = len(cells) * channels * g.itemsize
    for s in _strips(x.shape, g.shape[1:-1], window, strides, padding, dilation, row):
        part, into = g[s.items, s.windows], x[s.items, s.cells]
        made = np.matmul(part.reshape(-1, filters), cells)
        made = made.reshape(len(cells), *part.shape[:-1], channels)
        if in_rows:
            made, into = flat_rows(made), flat_rows(into)
        seen = (s.cells.stop - s.cells.start, *spatial[1:])
        for number, to, of in offsets_of(seen, window, strides, s.padding, dilation):
            if in_rows:
                to, of = flat_slices(to, channels), flat_slices(of, channels)
            into[to] += made[number][of]
    return x


def _mirrored(g: Array, kernel: Array, spatial: Dims, padding: Pads, dilation: Dims) -> Array:
    """`conv_input` with strides of one: it correlates with the mirrored kernel."""
    window = kernel.shape[:-2]
    axes = tuple(range(len(window)))
    mirror = np.ascontiguousarray(np.flip(kernel, axes).swapaxes(-1, -2))
    beyond = [
        ((w - 1) * d - low, n - count + low)
        for n, count, w, d, (low, _) in zip(
            spatial, g.shape[1:-1], window, dilation, padding, strict=True
        )
    ]
    return conv(g, mirror, (1,) * len(window), tuple(beyond), dilation)


def conv_kernel(
    x: Array, g: Array, window: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Array:
    """The adjoint of `conv` in the kernel.

    Args:
        x: `(batch, *spatial, channels)`.
        g: `(batch, *counts, filters)`.
        window, strides, padding, dilation: as the convolution had them.

    Returns:
        `(*window, channels, filters)`.

    Example:
        >>> x = np.arange(4.0).reshape(1, 4, 1)
        >>> conv_kernel(x, np.ones((1, 3, 1)), (2,), (1,), ((0, 0),), (1,)).ravel().tolist()
        [3.0, 6.0]
    """
    channels, filters = x.shape[-1], g.shape[-1]
    rows = prod(window) * channels
    total = empty((rows, filters), x.dtype)
    if g.size == 0 or total.size == 0:
        total.fill(0)
        return total.reshape(*window, channels, filters)
    row, more = rows * x.itemsize, None
    strips = _strips(x.shape, g.shape[1:-1], window, strides, padding, dilation, row)
    for number, s in enumerate(strips):
        seen = patches(x[s.items, s.cells], window, strides, s.padding, dilation)
        part = g[s.items, s.windows].reshape(-1, filters)
        if number:
            more = np.matmul(seen.reshape(-1, rows).T, part, out=more)
            total += more
        else:
            np.matmul(seen.reshape(-1, rows).T, part, out=total)
        give(seen)
    return total.reshape(*window, channels, filters)
