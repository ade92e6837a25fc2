"""Sliding windows over channels-last arrays: patches and pooling.

Every function takes arrays `(batch, *spatial, channels)` with 1 to 3 spatial dimensions, or what
there is at the windows' places, `(batch, *counts, channels)`; and a window (see `geometry`). Cells
outside the array are zero (for a maximum: -inf). Results are new arrays of the dtype of the first
operand. Windows that don't fit give results of size 0. An adjoint is given the spatial shape of its
result.

Why they're fast: NumPy pays for each run of cells that lie next to each other in memory, so the
runs are made long. Patches are copied as opaque items of a whole window row; where the last
stride is 1, rows are handled flat, `width * channels` cells at once; and large batches go
through in blocks that fit the cache.
"""

from math import prod
from typing import Any

import numpy as np

from .geometry import (
    Array,
    Dims,
    Offset,
    Slices,
    Window,
    are_apart,
    blocks_of,
    flat_rows,
    flat_slices,
    is_unpadded,
    offsets_of,
    window_counts,
)
from .memory import empty, zeros

# Patches ------------------------------------------------------------------------------------------


def patches(x: Array, window: Window) -> Array:
    """What each window sees, side by side: a convolution is `patches(x) @ kernel`.

    Gives `(batch, *counts, cells * channels)`, the last axis in the order of a kernel
    `(*sizes, channels, filters)` reshaped to two dimensions. Made for `matmul`: contiguous, but
    where there's one channel the last axis comes first in memory.

    Example:
        >>> x = np.arange(4.0).reshape(1, 4, 1)
        >>> patches(x, ((2,), (1,), ((0, 1),), (1,)))[0].tolist()
        [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 0.0]]

    Source: Chellapilla, Puri, Simard, "High performance convolutional neural networks for
    document processing" (2006).
    """
    sizes, strides, padding, _ = window
    counts = window_counts(x.shape[1:-1], window)
    shape = (len(x), *counts, prod(sizes) * x.shape[-1])
    if x.size == 0 or 0 in shape:
        return zeros(shape, x.dtype)
    if prod(sizes) == prod(strides) == 1 and is_unpadded(padding):
        return x.copy(order="C")
    if x.shape[-1] == 1:
        return _offset_patches(x, counts, window)
    return _row_patches(x, shape, window)


def _offset_patches(x: Array, counts: Dims, window: Window) -> Array:
    """Patches of a single channel: offset by offset, so that the runs are rows of the image."""
    create = empty if is_unpadded(window[2]) else zeros
    out: Array = create((prod(window[0]), len(x), *counts), x.dtype)
    for number, cells, windows in offsets_of(x.shape[1:-1], window):
        out[number][windows] = x[cells][..., 0]
    return np.moveaxis(out, 0, -1)


def _row_patches(x: Array, shape: Dims, window: Window) -> Array:
    """Patches copied as opaque items, each a whole row of the window if that is one run."""
    padding = window[2]
    run, offsets = _run(window)
    item = np.dtype((np.void, run * x.shape[-1] * x.itemsize))
    out = empty((*shape[:-1], *offsets), item)
    if is_unpadded(padding) and x.flags.c_contiguous:
        out[...] = _items(x, item, shape[1:-1], offsets, window)
        return out.view(x.dtype).reshape(shape)
    inner, kept = zip(*map(_pad_slices, x.shape[1:-1], padding), strict=True)
    padded = [n + low + high for n, (low, high) in zip(x.shape[1:-1], padding, strict=True)]
    blocks = list(blocks_of(len(x), x[0].nbytes))
    buffer = zeros((min(len(x), blocks[0].stop), *padded, x.shape[-1]), x.dtype)
    seen = _items(buffer, item, shape[1:-1], offsets, window)
    for block in blocks:
        part = x[block]
        buffer[(slice(len(part)), *inner)] = part[(slice(None), *kept)]
        out[block] = seen[: len(part)]
    return out.view(x.dtype).reshape(shape)


def _run(window: Window) -> tuple[int, Dims]:
    """How many cells of a window row lie together, and the offsets that remain to step over."""
    sizes, _, _, dilation = window
    return (sizes[-1], sizes[:-1]) if dilation[-1] == 1 else (1, sizes)


def _items(x: Array, item: np.dtype[Any], counts: Dims, offsets: Dims, window: Window) -> Array:
    """`x`, contiguous, seen as `(batch, *counts, *offsets)` overlapping items."""
    (_, strides, _, dilation), steps = window, x.strides[1:-1]
    jumps = [
        *(step * s for step, s in zip(steps, strides, strict=True)),
        *(step * d for step, d, _ in zip(steps, dilation, offsets, strict=False)),
    ]
    shape = (len(x), *counts, *offsets)
    return np.ndarray(shape, item, buffer=x, strides=(x.strides[0], *jumps))


def _pad_slices(size: int, pad: tuple[int, int]) -> tuple[slice, slice]:
    """Where a dimension lies in its padded version, and which part of it that is."""
    low, high = pad
    cells = slice(max(0, -low), size - max(0, -high))
    return slice(cells.start + low, max(cells.start, cells.stop) + low), cells


def fold(p: Array, spatial: Dims, window: Window) -> Array:
    """The adjoint of `patches`: every cell gets the sum of its copies.

    Example:
        >>> fold(np.ones((1, 3, 2)), (4,), ((2,), (1,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 2.0, 2.0, 1.0]
    """
    spatial, cells_each = tuple(map(int, spatial)), prod(window[0])
    channels = p.shape[-1] // cells_each
    x = zeros((len(p), *spatial, channels), p.dtype)
    if p.size == 0 or x.size == 0:
        return x
    if are_apart(window) and is_unpadded(window[2]):
        run, offsets = _run(window)
        item = np.dtype((np.void, run * channels * p.itemsize))
        seen = _items(x, item, p.shape[1:-1], offsets, window)
        seen[...] = np.ascontiguousarray(p).view(item).reshape(seen.shape)
        return x
    all_offsets = offsets_of(spatial, window)
    if window[1][-1] == 1:
        _fold_rows(p, x, all_offsets)
        return x
    split = p.reshape(*p.shape[:-1], cells_each, channels)
    for number, cells, windows in all_offsets:
        x[cells] += split[windows][..., number, :]
    return x


def _fold_rows(p: Array, x: Array, offsets: tuple[Offset, ...]) -> None:
    """Add patches into `x` as flat rows, after a transposition that brings each offset's rows
    together; the channels of a cell move as one opaque item."""
    channels, rows = x.shape[-1], flat_rows(x)
    item = np.dtype((np.void, channels * p.itemsize)) if channels > 1 else p.dtype
    for block in blocks_of(len(p), p[0].nbytes):
        part = np.ascontiguousarray(p[block]).view(item)
        split = np.ascontiguousarray(np.moveaxis(part, -1, 0)).view(p.dtype)
        target = rows[block]
        for number, cells, windows in offsets:
            target[flat_slices(cells, channels)] += split[number][flat_slices(windows, channels)]


# Pooling ------------------------------------------------------------------------------------------


def max_pool(x: Array, window: Window, need_index: bool) -> tuple[Array, Array | None]:
    """The largest cell of each window of floats or integers, and where it lies.

    That is, if the index is needed, the row-major offset inside the window of the first cell that
    has this value (int8, or int32 for windows of more than 127 cells), or else None. A NaN makes
    its window NaN; the index is the first NaN's. Padding is never the largest. A window of padding
    alone gives -inf (the least integer), and its index points at padding.

    Example:
        >>> x = np.array([1.0, 3.0, 3.0, 2.0]).reshape(1, 4, 1)
        >>> y, index = max_pool(x, ((2,), (2,), ((0, 0),), (1,)), True)
        >>> y.ravel().tolist(), index.ravel().tolist()
        ([3.0, 3.0], [1, 0])
    """
    lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    y = empty((len(x), *window_counts(x.shape[1:-1], window), x.shape[-1]), x.dtype)
    index = None
    if need_index:
        index = empty(y.shape, np.int8 if prod(window[0]) <= 127 else np.int32)
    for block in blocks_of(len(x), x[:1].nbytes):
        _slide(np.maximum, x[block], y[block], lowest, window)
        if index is not None:
            offsets = offsets_of(x.shape[1:-1], window)
            _find_first(x[block], y[block], index[block], offsets)
    return y, index


def _find_first(x: Array, y: Array, index: Array, offsets: tuple[Offset, ...]) -> None:
    """Set `index` to the number of offsets before the first at which `x` equals `y`.

    Counting misses takes no branch, and the last offset needs no look: it's what remains.
    """
    missed = np.ones(y.shape, bool)
    index[...] = 0
    nans = bool((y != y).any())
    for _, cells, windows in offsets[:-1]:
        differs = x[cells] != y[windows]
        if nans:  # NaN differs from itself, but a NaN is what a NaN maximum came from
            differs &= x[cells] == x[cells]
        missed[windows] &= differs
        index += missed.view(np.int8)


def unpool(g: Array, index: Array, spatial: Dims, window: Window) -> Array:
    """Put each `g` where its window's maximum was, as `index` says, which `max_pool` gave: the
    gradient of that. Sums where several windows chose the same cell; what the index puts into
    padding is lost.

    Example:
        >>> g, index = np.array([[[5.0], [6.0]]]), np.array([[[1], [0]]], np.int8)
        >>> unpool(g, index, (4,), ((2,), (2,), ((0, 0),), (1,))).ravel().tolist()
        [0.0, 5.0, 6.0, 0.0]
    """
    spatial = tuple(map(int, spatial))
    x = zeros((len(g), *spatial, g.shape[-1]), g.dtype)
    apart = are_apart(window)
    for block in blocks_of(len(x), x[:1].nbytes):
        target, bits, here = x[block], _bits(g[block]), index[block]
        for number, cells, windows in offsets_of(spatial, window):
            chosen = here[windows] == number
            if apart:
                np.multiply(bits[windows], chosen, out=_bits(target)[cells])
            else:
                target[cells] += (bits[windows] * chosen).view(g.dtype)
    return x


def pool_pick(x: Array, index: Array, window: Window) -> Array:
    """The cells of `x` at the chosen positions, 0 where these are padding: the adjoint of
    `unpool`.

    Example:
        >>> x, index = np.arange(4.0).reshape(1, 4, 1), np.array([[[1], [0]]], np.int8)
        >>> pool_pick(x, index, ((2,), (2,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 2.0]
    """
    y = zeros(index.shape, x.dtype)
    for block in blocks_of(len(x), x[:1].nbytes):
        target, bits, here = _bits(y[block]), _bits(x[block]), index[block]
        for number, cells, windows in offsets_of(x.shape[1:-1], window):
            target[windows] |= bits[cells] * (here[windows] == number)
    return y


def _bits(x: Array) -> Array:
    """The same memory as integers: times 0 or 1 selects exactly, infinities and NaN too."""
    return x.view(f"i{x.itemsize}")


def sum_pool(x: Array, window: Window) -> Array:
    """The sum over each window; padding counts as 0.

    Example:
        >>> x = np.arange(4.0).reshape(1, 4, 1)
        >>> sum_pool(x, ((2,), (2,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 5.0]
    """
    y = empty((len(x), *window_counts(x.shape[1:-1], window), x.shape[-1]), x.dtype)
    for block in blocks_of(len(x), x[:1].nbytes):
        _slide(np.add, x[block], y[block], 0, window)
    return y


def sum_unpool(g: Array, spatial: Dims, window: Window) -> Array:
    """The adjoint of `sum_pool`: each cell gets the sum over the windows that see it.

    Example:
        >>> g = np.array([[[1.0], [5.0]]])
        >>> sum_unpool(g, (4,), ((2,), (2,), ((0, 0),), (1,))).ravel().tolist()
        [1.0, 1.0, 5.0, 5.0]
    """
    x, along = g, list(zip(map(int, spatial), *window, strict=True))
    for axis in range(len(spatial), 0, -1):  # the last axis first: the others are short as yet
        x = _unslide(x, axis, *along[axis - 1])
    return x if x is not g else g.copy()


def _slide(reduce: np.ufunc, x: Array, y: Array, nothing: float, window: Window) -> None:
    """Reduce over windows into `y`, a dimension at a time: `sum(sizes)` steps, not `prod`."""
    for axis, (w, s, pad, d) in enumerate(zip(*window, strict=True), start=1):
        last = axis == len(window[0])
        if w == s == 1 and pad == (0, 0) and not last:
            continue
        size = x.shape[axis]
        shape = (*x.shape[:axis], y.shape[axis], *x.shape[axis + 1 :])
        out = y if last else empty(shape, x.dtype)
        offsets = offsets_of((size,), ((w,), (s,), (pad,), (d,)))
        views = [
            (x[_on_axis(axis, cells[1])], out[_on_axis(axis, windows[1])])
            for _, cells, windows in offsets
        ]
        if pad != (0, 0):
            out[...] = nothing
        elif w == 1:
            out[...] = views.pop()[0]
        else:  # the first two at once: so `out` needs no start value
            first, second = views.pop(0), views.pop(0)
            reduce(first[0], second[0], out=out)
        for cells_, windows_ in views:
            reduce(windows_, cells_, out=windows_)
        x = out


def _unslide(
    g: Array, axis: int, size: int, window: int, stride: int, pad: tuple[int, int], dilation: int
) -> Array:
    """The adjoint of a sum over windows along one axis, which becomes `size` long."""
    if window == stride == 1 and pad == (0, 0):
        return g
    x = zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
    for _, cells, windows in offsets_of((size,), ((window,), (stride,), (pad,), (dilation,))):
        target, source = x[_on_axis(axis, cells[1])], g[_on_axis(axis, windows[1])]
        if stride > (window - 1) * dilation:
            target[...] = source
        else:
            target += source
    return x


def _on_axis(axis: int, part: slice) -> Slices:
    return (*(slice(None),) * axis, part)
