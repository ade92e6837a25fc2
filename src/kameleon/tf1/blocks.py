"""Blocks of TensorFlow 1: space into depth or into the batch, and back; the cells of windows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..backend._windows import Moves, resolve
from ..errors import ShapeError
from ..prims.movement import pad, reshape, transpose
from ..prims.sizes import Size, dims_of
from ..prims.windows import patches
from .arrays import ints_in, known
from .calling import called
from .layouts import each, layout_of, padding_of


def _parted(size: Any, by: int, x: Any, what: str) -> Size:
    """A size by a number that it's a multiple of."""
    if isinstance(size, int) and size % by:
        raise ShapeError(f"{what}: a size of {x!r} isn't a multiple of {by}")
    return size // by  # type: ignore[no-any-return]


# Depth ----------------------------------------------------------------------------------------


def space_to_depth(input: Any, block_size: int, data_format: str, what: str) -> Any:
    """(batch, rows, columns, c) -> (batch, rows / b, columns / b, b * b * c)."""
    layout, b = layout_of(data_format, 2, what), int(block_size)
    x = layout.to_end(as_tensor(input, what), what)
    batch, *space, channels = dims_of(x)
    rows, columns = (_parted(size, b, x, what) for size in space)
    parts = transpose(reshape(x, [batch, rows, b, columns, b, channels]), [0, 1, 3, 2, 4, 5])
    return layout.back(reshape(parts, [batch, rows, columns, _times(channels, b * b)]))


def depth_to_space(input: Any, block_size: int, data_format: str, what: str) -> Any:
    """(batch, rows, columns, b * b * c) -> (batch, rows * b, columns * b, c)."""
    layout, b = layout_of(data_format, 2, what), int(block_size)
    x = layout.to_end(as_tensor(input, what), what)
    batch, rows, columns, depth = dims_of(x)
    channels = _parted(depth, b * b, x, what)
    parts = transpose(reshape(x, [batch, rows, columns, b, b, channels]), [0, 1, 3, 2, 4, 5])
    return layout.back(reshape(parts, [batch, _times(rows, b), _times(columns, b), channels]))


def _times(size: Any, by: int) -> Size:
    return size * by  # type: ignore[no-any-return]


# The batch ------------------------------------------------------------------------------------


def _pairs(value: Any, what: str) -> list[tuple[int, int]]:
    table = np.reshape(value if not K.is_tensor(value) else _rows(value, what), (-1, 2))
    return [(int(a), int(b)) for a, b in table]


def _rows(value: Any, what: str) -> list[list[int]]:
    return [ints_in(value[i], what) for i in range(known(value, 0, what))]


def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, what: str) -> Any:
    """(batch, *space, …) -> (blocks * batch, *space / block, …), zeros added around before."""
    x, blocks, around = as_tensor(input, what), ints_in(block_shape, what), _pairs(paddings, what)
    rest = len(x.shape) - 1 - len(blocks)
    if rest < 0 or len(around) != len(blocks):
        raise ShapeError(f"{what}: blocks {blocks} and paddings {around} don't fit {x!r}")
    x = pad(x, [(0, 0), *around, *[(0, 0)] * rest])
    batch, *sizes = dims_of(x)
    space, others = sizes[: len(blocks)], sizes[len(blocks) :]
    parts = [_parted(size, b, x, what) for size, b in zip(space, blocks, strict=True)]
    split = list(itertools.chain(*zip(parts, blocks, strict=True)))
    wide = reshape(x, [batch, *split, *others])
    inside, outside = range(2, 2 * len(blocks) + 1, 2), range(1, 2 * len(blocks) + 1, 2)
    turned = transpose(wide, [*inside, 0, *outside, *range(2 * len(blocks) + 1, len(wide.shape))])
    return reshape(turned, [_times(batch, int(np.prod(blocks))), *parts, *others])


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, what: str) -> Any:
    """The inverse of `space_to_batch_nd`: what was added around is cut off."""
    x, blocks, around = as_tensor(input, what), ints_in(block_shape, what), _pairs(crops, what)
    rest = len(x.shape) - 1 - len(blocks)
    if rest < 0 or len(around) != len(blocks):
        raise ShapeError(f"{what}: blocks {blocks} and crops {around} don't fit {x!r}")
    whole, *sizes = dims_of(x)
    batch = _parted(whole, int(np.prod(blocks)), x, what)
    space, others = sizes[: len(blocks)], sizes[len(blocks) :]
    count = len(blocks)
    wide = reshape(x, [*blocks, batch, *space, *others])
    mixed = itertools.chain(*((count + 1 + i, i) for i in range(count)))
    turned = transpose(wide, [count, *mixed, *range(2 * count + 1, len(wide.shape))])
    grown = [_times(size, b) for size, b in zip(space, blocks, strict=True)]
    y = reshape(turned, [batch, *grown, *others])
    ends = zip(grown, around, strict=True)
    return y[(slice(None), *(slice(a, size - b) for size, (a, b) in ends))]


def space_to_batch(input: Any, paddings: Any, block_size: Any, block_shape: Any, what: str) -> Any:
    blocks = [int(block_size)] * 2 if block_shape is None else block_shape
    return space_to_batch_nd(input, blocks, paddings, what)


def batch_to_space(input: Any, crops: Any, block_size: Any, block_shape: Any, what: str) -> Any:
    blocks = [int(block_size)] * 2 if block_shape is None else block_shape
    return batch_to_space_nd(input, blocks, crops, what)


# Windows --------------------------------------------------------------------------------------


def extract_image_patches(
    images: Any, ksizes: Any, strides: Any, rates: Any, padding: str, what: str
) -> Any:
    """The pixels of each window side by side: (batch, rows, columns, window * channels)."""
    layout = layout_of(None, 2, what)
    sizes = each(ksizes, layout, what, "ksizes")
    steps, holes = each(strides, layout, what, "strides"), each(rates, layout, what, "rates")
    moves = Moves(sizes, steps, holes, padding_of(padding, what))
    return patches(*resolve(as_tensor(images, what), moves, what))


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, what: str
) -> Any:
    return extract_image_patches(images, sizes, strides, rates, padding, what)


def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, what: str) -> Any:
    """The cells of each window side by side, over three axes."""
    layout = layout_of(None, 3, what)
    sizes, steps = each(ksizes, layout, what, "ksizes"), each(strides, layout, what, "strides")
    moves = Moves(sizes, steps, (1, 1, 1), padding_of(padding, what))
    return patches(*resolve(as_tensor(input, what), moves, what))


PLAIN = called({
    "extract_image_patches": extract_image_patches, "image.extract_patches": extract_patches,
    "extract_volume_patches": extract_volume_patches,
    "space_to_depth": space_to_depth, "depth_to_space": depth_to_space,
    "space_to_batch": space_to_batch, "batch_to_space": batch_to_space,
    "space_to_batch_nd": space_to_batch_nd, "batch_to_space_nd": batch_to_space_nd,
})  # fmt: skip
