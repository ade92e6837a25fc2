"""Pools of TensorFlow 1 over K's, with their places; greyscale dilation and erosion."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, promoted
from ..backend._windows import Ints, Moves, resolve
from ..backend.pooling import POOLS
from ..errors import ArgumentError, ShapeError
from ..prims import elementwise as ew
from ..prims.filling import least
from ..prims.movement import broadcast_to
from ..prims.pool import max_pool
from ..prims.sizes import Size, dims_of, size_of
from ..prims.windows import corners
from .calling import Leading, called
from .layouts import Layout, each, layout_of, padding_of

MODES = {"MAX": "max", "AVG": "avg"}


def pooled(x: Any, moves: Moves, layout: Layout, mode: str, what: str) -> Any:
    """The largest, or the mean, of the cells of each window; one with holes needs no padding."""
    x = layout.to_end(as_tensor(x, what) if mode == "max" else as_float(x, what), what)
    if max(moves.dilation) == 1:
        return layout.back(POOLS[mode](x, moves, what))
    cells = corners(*resolve(x, moves, what))
    combined = functools.reduce(ew.maximum if mode == "max" else ew.add, cells)
    return layout.back(combined if mode == "max" else combined / len(cells))


def _pool(mode: str, rank: int | None = None) -> Leading:
    """A pool over so many axes of space; over all that the tensor has, if None."""

    def call(x: Any, ksize: Any, strides: Any, padding: Any, letters: Any, what: str) -> Any:
        x = as_tensor(x, what)
        layout = layout_of(letters, len(x.shape) - 2 if rank is None else rank, what)
        return pooled(x, _moves(ksize, strides, padding, layout, what), layout, mode, what)

    return Leading(5, call)


def _moves(ksize: Any, strides: Any, padding: Any, layout: Layout, what: str) -> Moves:
    window = each(ksize, layout, what, "ksize")
    steps = each(strides, layout, what, "strides")
    return Moves(window, steps, (1,) * layout.rank, padding_of(padding, what))


def pool(
    input: Any, window_shape: Any, pooling_type: str, padding: Any, dilation_rate: Any,
    strides: Any, data_format: Any, dilations: Any, what: str,
) -> Any:  # fmt: skip
    """The largest ('MAX') or the mean ('AVG') of windows, over all axes of space."""
    x = as_tensor(input, what)
    if pooling_type not in MODES:
        raise ArgumentError(f"{what}: pooling_type is {pooling_type!r}; there are 'MAX' and 'AVG'")
    layout = layout_of(data_format, len(x.shape) - 2, what)
    window = each(window_shape, layout, what, "window_shape")
    steps = each(strides, layout, what, "strides")
    holes = each(dilation_rate if dilations is None else dilations, layout, what, "dilation_rate")
    if max(holes) > 1 and max(steps) > 1:
        raise ArgumentError(f"{what}: strides {steps} and rates {holes}: one of the two must be 1")
    moves = Moves(window, steps, holes, padding_of(padding, what))
    if max(holes) > 1 and moves.padding == "same":
        raise ArgumentError(f"{what}: with a dilation_rate of {holes} the padding must be 'VALID'")
    return pooled(x, moves, layout, MODES[pooling_type], what)


# Places ---------------------------------------------------------------------------------------


class MaxPool(NamedTuple):
    """The largest element of each window, and its place in the flattened image."""

    output: Any
    argmax: Any


def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, Targmax: Any,
    output_dtype: Any, include_batch_in_index: bool, what: str,
) -> MaxPool:  # fmt: skip
    """The largest elements of windows, and where they are: (row * columns + column) * channels + c.

    Args:
        include_batch_in_index: places are counted through the whole batch.
    """
    layout = layout_of(data_format, 2, what)
    if layout.first:
        raise ArgumentError(f"{what}: data_format is {data_format!r}; there is 'NHWC'")
    x = as_tensor(input, what)
    moves = _moves(ksize, strides, padding, layout, what)
    wide, window = resolve(x, moves, what, least(x.dtype))
    top, cell = max_pool(wide, window=window).results
    cell = K.cast(cell, "int64")
    rows = _place(cell // moves.sizes[1], x, moves, 0)
    columns = _place(cell % moves.sizes[1], x, moves, 1)
    sizes = [_wide(size) for size in dims_of(x)]
    places = (rows * sizes[2] + columns) * sizes[3] + _counted(sizes[3], 3)
    if include_batch_in_index:
        places = places + _counted(sizes[0], 0) * (sizes[1] * sizes[2] * sizes[3])
    return MaxPool(top, K.cast(places, output_dtype or Targmax or "int64"))


def _wide(size: Size) -> Any:
    return size if isinstance(size, int) else K.cast(size, "int64")


def _counted(size: Any, axis: int) -> Any:
    """0, 1, 2 … along one of four axes."""
    numbers = K.arange(size, dtype="int64")
    return K.reshape(numbers, [-1 if i == axis else 1 for i in range(4)])


def _place(cell: Any, x: Any, moves: Moves, axis: int) -> Any:
    """Where along an axis of `x` a window's cell lies."""
    step, size = moves.strides[axis], size_of(x, axis + 1)
    start: Any = 0
    if moves.padding == "same":
        total = (-(-size // step) - 1) * step + moves.span(axis) - size
        start = max(0, total) // 2 if isinstance(total, int) else K.maximum(total, 0) // 2
    count = K.cast(K.shape(cell)[axis + 1], "int64")
    return cell + (_counted(count, axis + 1) * step - K.cast(start, "int64"))


# Morphology -----------------------------------------------------------------------------------


def dilation2d(
    input: Any, filter: Any, strides: Any, rates: Any, padding: Any, dilations: Any, what: str
) -> Any:
    """The largest sum of a cell of the image and one of the kernel, channel by channel."""
    if filter is None or padding is None:
        raise ArgumentError(f"{what}: give the kernel and the padding")
    return _dilated(input, filter, strides, rates or dilations, padding, what)


def _dilated(x: Any, kernel: Any, strides: Any, rates: Any, padding: Any, what: str) -> Any:
    layout = layout_of(None, 2, what)
    x, k = promoted((as_float(x, what), kernel), what)
    sizes = tuple(size for size in k.shape[:2] if size is not None)
    if len(k.shape) != 3 or len(sizes) != 2:
        raise ShapeError(f"{what}: a kernel (rows, columns, channels) was expected, not {k!r}")
    moves = Moves(
        sizes, each(strides, layout, what, "strides"), each(rates, layout, what, "rates"),
        padding_of(padding, what),
    )  # fmt: skip
    wide, window = resolve(x, moves, what, -np.inf)
    seen = corners(wide, window, -np.inf)
    sums = [ew.add(c, _along(k, at, c)) for c, at in zip(seen, np.ndindex(*sizes), strict=True)]
    return functools.reduce(ew.maximum, sums)


def _along(kernel: Any, at: Ints, like: Any) -> Any:
    return broadcast_to(kernel[at], dims_of(like))


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, what: str) -> Any:
    """The smallest difference of a cell of the image and one of the kernel, channel by channel."""
    mirrored = K.reverse(as_tensor(kernel, what), [0, 1])
    return -_dilated(-as_float(value, what), mirrored, strides, rates, padding, what)


PLAIN = called({
    **{f"nn.{mode}_pool": _pool(mode, 2) for mode in MODES.values()},
    "nn.max_pool2d": _pool("max", 2),
    **{f"nn.{mode}_pool{n}d": _pool(mode, n) for mode in MODES.values() for n in (1, 3)},
    **{f"nn.{mode}_pool_v2": _pool(mode) for mode in MODES.values()},
    "nn.pool": pool, "nn.max_pool_with_argmax": max_pool_with_argmax,
    "nn.dilation2d": dilation2d, "nn.erosion2d": erosion2d,
})  # fmt: skip
