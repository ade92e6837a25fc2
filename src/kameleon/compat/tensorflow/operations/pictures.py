"""Images at other sizes and their gradients, crops, colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.reduce import keep, mean
from kameleon.graph.primitives.sizes import Size, sizes_product

from ..arithmetic.pictures import crops, hsv_of, mixed_at, nearest_at, projected, rgb_of
from ..arithmetic.resizing import INTERPOLATIONS, Axis, spans
from ..graph import Operation
from .slopes import slope, slopes
from .table import fold, pure
from .values import (
    Kind,
    broadcast,
    dims,
    result_type,
    sizes_in,
    sizes_of,
    tensor,
)

Array = np.ndarray

# Other sizes ------------------------------------------------------------------------------------


def resized(x: Node, sizes: Sequence[Size], method: str, align: bool, half: bool) -> Node:
    """Images (batch, rows, columns, channels) with other rows and columns."""
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise ValueError("output dimensions must be positive")
    found = x
    for axis, wanted in zip((1, 2), sizes, strict=True):
        at = Axis(dims(x)[axis], wanted, align, half)
        found = INTERPOLATIONS[method](found, axis, at)
    return found


@pure("ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor")
def _resize(operation: Operation, x: Node, sizes: Any) -> Node:
    kind = operation.type.removeprefix("Resize").removesuffix("Grad")
    method = {"Bilinear": "linear", "Bicubic": "cubic", "Area": "area"}.get(kind, "nearest")
    names = ("align_corners", "half_pixel_centers")
    align, half = (bool(operation.attribute(name)) for name in names)
    node = x if method == "nearest" else E.cast(x, "float32")
    return resized(node, sizes_in(sizes), method, align, half)


@pure("ResizeBilinearGrad ResizeBicubicGrad")
def _resize_gradient(operation: Operation, g: Node, x: Any) -> Node:
    wanted = list(sizes_of(g)[1:3])
    found = slope(lambda node: _resize(operation, node, wanted), sizes_of(x), "float32", g)
    return E.cast(found, result_type(operation))


@pure("ResizeNearestNeighborGrad")
def _nearest_gradient(operation: Operation, g: Node, sizes: list[int]) -> Node:
    batch, *wanted, depth = sizes_of(g)
    return slope(lambda node: _resize(operation, node, wanted), (batch, *sizes, depth), g.dtype, g)


@pure("ScaleAndTranslate")
def _scale(
    x: Node, sizes: list[int], scale: Array, shift: Array, *, kernel_type: str, antialias: bool
) -> Node:
    """Images whose rows and columns are mixed of those of others."""
    x = E.cast(x, "float32")
    for axis, wanted, by, at in zip((1, 2), sizes, scale, shift, strict=True):
        shares = spans(sizes_of(x)[axis], wanted, by, at, kernel_type, antialias)
        x = M.move_axis(contract(x, tensor(shares), ((axis,), (1,))), 3, axis)
    return x


@pure("ScaleAndTranslateGrad")
def _scale_gradient(
    operation: Operation, g: Node, x: Any, scale: Array, shift: Array,
    *, kernel_type: str, antialias: bool,
) -> Node:  # fmt: skip
    how: Any = {"kernel_type": kernel_type, "antialias": antialias}
    wanted = list(sizes_of(g)[1:3])
    found = slope(lambda node: _scale(node, wanted, scale, shift, **how), sizes_of(x), "float32", g)
    return E.cast(found, result_type(operation))


# Crops ------------------------------------------------------------------------------------------


@pure("CropAndResize")
def _crop(
    x: Node, boxes: Node, which: Node, sizes: list[int],
    *, method: bytes, extrapolation_value: float | None,
) -> Node:  # fmt: skip
    outside, (rows, columns) = extrapolation_value or 0.0, sizes
    node, is_nearest = E.cast(x, "float32"), method == b"nearest"
    found: Node = crops(node, boxes, which, (rows, columns), is_nearest, outside)
    return found


@pure("CropAndResizeGradImage")
def _crop_image(
    g: Node, boxes: Node, which: Node, sizes: list[int], *, method: bytes, T: Kind
) -> Node:
    rows, columns = sizes_of(g)[1:3]
    found = slope(
        lambda node: crops(node, boxes, which, (rows, columns), method == b"nearest", 0.0),
        sizes, "float32", g,
    )  # fmt: skip
    return E.cast(found, T)


@pure("CropAndResizeGradBoxes")
def _crop_boxes(g: Node, x: Node, boxes: Node, which: Node) -> Node:
    node, (rows, columns) = E.cast(x, "float32"), sizes_of(g)[1:3]
    return slopes(lambda here: crops(node, here, which, (rows, columns), False, 0.0), [boxes], g)[0]


# Any places -------------------------------------------------------------------------------------


@pure("ImageProjectiveTransform ImageProjectiveTransformV2")
def _transform(x: Node, moves: Node, sizes: Any = None, *, interpolation: bytes) -> Node:
    """Images whose pixels come from elsewhere in them, by projections."""
    batch, *space, depth = dims(x)
    height, width = space if sizes is None else sizes_in(sizes)
    at = K.arange(sizes_product([height, width]))
    across = K.cast(at % width, "float32"), K.cast(at // width, "float32")
    rows, columns, there = projected(moves, *across[::-1])
    if interpolation == b"NEAREST":
        found = nearest_at(x, rows, columns)
    else:
        found = mixed_at(E.cast(x, "float32"), rows, columns)
    found = found * K.cast(K.expand_dims(there, -1), found.dtype)
    return E.cast(M.reshape(found, [batch, height, width, depth]), x.dtype)


@pure("Resampler")
def _resampled(x: Node, at: Node) -> Node:
    """Images at places, each a column and a row."""
    batch, *between, _ = dims(at)
    places = M.reshape(at, [batch, sizes_product(between), 2])
    found = mixed_at(x, places[..., 1], places[..., 0])
    return M.reshape(found, [batch, *between, dims(x)[-1]])


pure("ResamplerGrad")(lambda x, at, g: slopes(_resampled, [tensor(x), tensor(at)], tensor(g)))


# Colours ----------------------------------------------------------------------------------------


def _channels(x: Any) -> list[Node]:
    if sizes_of(x)[-1] != 3:
        raise ValueError(f"input must have 3 channels but instead has {sizes_of(x)[-1]}")
    node, at = tensor(x), len(x.shape) - 1
    return [M.reshape(M.slice_axis(node, at, i, i + 1), sizes_of(x)[:-1]) for i in range(3)]


pure("RGBToHSV")(lambda x: hsv_of(*_channels(x)))
pure("HSVToRGB")(lambda x: rgb_of(*_channels(x)))


@pure("AdjustHue")
def _turn_hue(x: Node, delta: Any) -> Node:
    hue, saturation, value = _channels(hsv_of(*_channels(E.cast(x, "float32"))))
    moved = E.add(*broadcast(hue, delta))
    return E.cast(rgb_of(moved - E.floor(moved), saturation, value), x.dtype)


@pure("AdjustSaturation")
def _saturate(x: Node, scale: Any) -> Node:
    hue, saturation, value = _channels(hsv_of(*_channels(E.cast(x, "float32"))))
    scaled = K.clip(E.mul(*broadcast(saturation, scale)), 0.0, 1.0)
    return E.cast(rgb_of(hue, scaled, value), x.dtype)


@pure("AdjustContrastv2")
def _contrast(operation: Operation, x: Node, factor: Any) -> Node:
    """Further from each channel's mean, or nearer."""
    node = E.cast(x, "float32")
    axes = (len(x.shape) - 3, len(x.shape) - 2)
    middle = keep(mean(node, axes), node, axes)
    wide, center, by = broadcast(node, middle, factor)
    return E.cast((wide - center) * by + center, result_type(operation))


# Brightness, and two axes of colour. Source: the NTSC standard (1953), as TensorFlow has it.
YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


@pure("AdjustHsvInYiq")
def _turn_in_yiq(x: Node, turn: Node, saturate: Node, lighten: Node) -> Node:
    """Colours turned around the grey ones, further from these or nearer, and brighter."""
    angle, wide, bright = (E.cast(each, "float32") for each in (turn, saturate, lighten))
    along, aside = wide * E.cos(angle), wide * E.sin(angle)
    parts = [YIQ.copy() for _ in range(3)]  # of brightness; along and beside the axes of colour
    parts[0][1:], parts[1][0], parts[2][:] = 0, 0, [0 * YIQ[0], -YIQ[2], YIQ[1]]
    grey, here, there = (tensor((np.linalg.inv(YIQ) @ each).astype("float32").T) for each in parts)
    table = bright * (grey + along * here + aside * there)
    return E.cast(contract(E.cast(x, "float32"), table, ((len(x.shape) - 1,), (0,))), x.dtype)


# Glimpses ---------------------------------------------------------------------------------------


@fold("ImageConnectedComponents")
def _components(pictures: Array) -> Array:
    """Numbers of what's equal and hangs together by sides, from 1 on over all pictures; 0 for 0."""
    # Each pixel points to one of its component, in the end to the first.
    first = np.arange(pictures.size).reshape(pictures.shape)
    moving = True
    while moving:
        before = first.copy()
        for axis in (1, 2):
            values, firsts = np.moveaxis(pictures, axis, 0), np.moveaxis(first, axis, 0)
            least = np.minimum(firsts[1:], firsts[:-1])
            same = values[1:] == values[:-1]
            firsts[1:] = np.where(same, least, firsts[1:])
            firsts[:-1] = np.where(same, np.minimum(least, firsts[:-1]), firsts[:-1])
        first = first.ravel()[first]
        moving = not np.array_equal(first, before)
    kept = pictures != (b"" if pictures.dtype == object else np.zeros((), pictures.dtype))
    heads = kept & (first == np.arange(pictures.size).reshape(pictures.shape))
    numbers = np.cumsum(heads).reshape(pictures.shape)
    return np.where(kept, numbers.ravel()[first], 0)


@pure("ExtractGlimpse")
def _glimpse(
    operation: Operation, x: Node, wanted: list[int], at: Array, *, normalized: bool, centered: bool
) -> Node:
    """A part of each image around a place; beyond the image it's noise."""
    batch, *space, depth = sizes_of(x)
    whole = np.array(space, np.float32)
    if normalized:
        at = at * whole
    if centered:
        at = at / 2 + whole / 2
    starts = np.asarray(at - np.array(wanted, np.float32) / 2).astype(np.int64)
    rows, columns = (starts[:, i, None] + np.arange(wanted[i]) for i in range(2))
    inside = ((rows >= 0) & (rows < space[0]))[:, :, None] & (
        (columns >= 0) & (columns < space[1])
    )[:, None]
    flat = rows[:, :, None] * space[1] + columns[:, None]
    flat = np.where(inside, flat + np.arange(batch)[:, None, None] * space[0] * space[1], 0)
    found = K.gather(M.reshape(x, [-1, depth]), tensor(flat))
    noise = _noise(operation, sizes_of(found))
    there = M.broadcast_to(tensor(inside[..., None]), sizes_of(found))
    return E.select(there, found, noise)


def _noise(operation: Operation, sizes: tuple[int, ...]) -> Node:
    kind = operation.attribute("noise")
    if operation.attribute("uniform_noise") is False and kind == b"uniform":
        kind = b"gaussian"
    if kind == b"zero":
        return tensor(np.zeros(sizes, np.float32))
    drawn: Node = (K.random_uniform if kind == b"uniform" else K.random_normal)(sizes)
    return drawn
