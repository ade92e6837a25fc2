"""Depthwise convolution over channels-last arrays, a term per cell of the window.

Operands are those of `windows`. Where the last stride is 1 the terms go over flat
rows, `width * channels` cells at once, with the kernel's cell repeated along the row.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .geometry import (
    Array,
    Dims,
    Offset,
    Slices,
    Window,
    blocks_of,
    flat_rows,
    flat_slices,
    offsets_of,
    window_counts,
)


def depthwise_conv(x: Array, k: Array, window: Window) -> Array:
    """Correlate every channel with its own kernels, of `(*sizes, channels, multiplier)`.

    Gives `(batch, *counts, channels * multiplier)`; channel c with kernel m is at
    `c * multiplier + m`.

    Example:
        >>> x, k = np.arange(4.0).reshape(1, 4, 1), np.array([-1.0, 1.0]).reshape(2, 1, 1)
        >>> depthwise_conv(x, k, ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 1.0, 1.0]
    """
    kernel, x = _flat_kernel(k), _multiplied(x, k.shape[-1])
    y = np.zeros((len(x), *window_counts(x.shape[1:-1], window), x.shape[-1]), x.dtype)
    _terms(x.shape[1:-1], window, x.shape[-1]).add(x, kernel, y)
    return y


def depthwise_input(g: Array, k: Array, spatial: Dims, window: Window) -> Array:
    """The adjoint of `depthwise_conv` in `x`, which has that spatial shape.

    Example:
        >>> g, k = np.ones((1, 3, 1)), np.array([-1.0, 1.0]).reshape(2, 1, 1)
        >>> depthwise_input(g, k, (4,), ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [-1.0, 0.0, 0.0, 1.0]
    """
    kernel, spatial = _flat_kernel(k), tuple(map(int, spatial))
    x = np.zeros((len(g), *spatial, g.shape[-1]), g.dtype)
    _terms(spatial, window, g.shape[-1]).add(g, kernel, x, adjoint=True)
    return _unmultiplied(x, k.shape[-1])


def depthwise_kernel(x: Array, g: Array, window: Window) -> Array:
    """The adjoint of `depthwise_conv` in `k`.

    Example:
        >>> x, g = np.arange(4.0).reshape(1, 4, 1), np.ones((1, 3, 1))
        >>> depthwise_kernel(x, g, ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [3.0, 6.0]
    """
    channels = x.shape[-1]
    multiplier = g.shape[-1] // max(1, channels)
    x = _multiplied(x, multiplier)
    terms = _terms(x.shape[1:-1], window, x.shape[-1])
    grad = np.zeros((prod(window[0]), x.shape[-1]), x.dtype)
    for block in blocks_of(len(x), x[:1].nbytes):
        cells_of, grads_of = terms.view(x[block]), terms.view(g[block])
        axes = "abcdefg"[: cells_of.ndim - 1]
        for number, cells, windows in terms.offsets:
            sums = np.einsum(f"{axes}z,{axes}z->z", cells_of[cells], grads_of[windows])
            grad[number] += sums.reshape(sums.size // x.shape[-1], x.shape[-1]).sum(axis=0)
    return grad.reshape(*window[0], channels, multiplier)


class _Terms(NamedTuple):
    """The terms of a depthwise sum, over flat rows where the last stride allows it."""

    offsets: tuple[Offset, ...]
    flat: bool

    def view(self, x: Array) -> Array:
        return flat_rows(x) if self.flat else x

    def weights(self, kernel: Array, windows: Slices) -> Array:
        """A kernel's cell, one weight per channel, repeated along a flat row."""
        if not self.flat:
            return kernel
        return np.tile(kernel, (windows[-1].stop - windows[-1].start) // max(1, kernel.size))

    def add(self, x: Array, kernel: Array, y: Array, adjoint: bool = False) -> None:
        """Add to `y`, for each window, the cells of `x` that it sees, times the kernel's; or, as
        the adjoint, for each cell what there is of `x` at the windows that see it.
        """
        for block in blocks_of(len(y), y[:1].nbytes):
            source, target = self.view(x[block]), self.view(y[block])
            products = np.empty_like(source if adjoint else target)
            for number, cells, windows in self.offsets:
                of, to = (windows, cells) if adjoint else (cells, windows)
                part = products[windows]
                np.multiply(source[of], self.weights(kernel[number], windows), out=part)
                target[to] += part


def _terms(spatial: Dims, window: Window, channels: int) -> _Terms:
    offsets = offsets_of(spatial, window)
    if window[1][-1] != 1 or channels <= 1:
        return _Terms(offsets, False)
    flat = (
        Offset(n, flat_slices(cells, channels), flat_slices(at, channels))
        for n, cells, at in offsets
    )
    return _Terms(tuple(flat), True)


def _flat_kernel(k: Array) -> Array:
    """`(*window, channels, multiplier)` as `(prod(window), channels * multiplier)`."""
    return k.reshape(prod(k.shape[:-2]), k.shape[-2] * k.shape[-1])


def _multiplied(x: Array, multiplier: int) -> Array:
    """Every channel repeated, so that a multiplier above 1 needs no rules of its own."""
    return x if multiplier == 1 else np.repeat(x, multiplier, axis=-1)


def _unmultiplied(x: Array, multiplier: int) -> Array:
    """The adjoint of `_multiplied`; adding whole arrays is faster than summing a short axis."""
    if multiplier == 1:
        return x
    total = np.zeros((*x.shape[:-1], x.shape[-1] // max(1, multiplier)), x.dtype)
    for m in range(multiplier):
        total += x[..., m::multiplier]
    return total
