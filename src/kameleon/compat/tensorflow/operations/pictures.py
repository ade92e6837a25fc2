"""Images at other sizes and their gradients, crops, colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.reduce import mean
from kameleon.graph.primitives.sizes import Size, sizes_product

from ..arithmetic.pictures import crops, hsv_of, mixed_at, nearest_at, projected, rgb_of
from ..arithmetic.resizing import INTERPOLATIONS, Axis
from ..arithmetic.spans import spans
from .table import pure
from .values import (
    array,
    broadcast,
    dims,
    dtype_of,
    integers,
    result_type,
    sizes_in,
    sizes_of,
    tensor,
)

if TYPE_CHECKING:
    from ..graph import Operation

METHODS = {"linear": 0, "nearest": 1, "cubic": 2, "area": 3}


def slope(function: Callable[[Node], Node], shape: Any, dtype: Any, g: Node) -> Node:
    """The gradient of a linear function of a tensor of that shape."""
    x = K.placeholder(tuple(shape), dtype=str(dtype))
    [found] = K.gradients(K.sum(function(x) * g), [x])
    return found


# Other sizes ------------------------------------------------------------------------------------


def resized(x: Node, sizes: Sequence[Size], method: str, align: bool, half: bool) -> Node:
    """Images (batch, rows, columns, channels) with other rows and columns."""
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise ValueError(f"output dimensions must be positive, not {sizes}")
    found = x
    for axis, wanted in zip((1, 2), sizes, strict=True):
        at = Axis(dims(x)[axis], wanted, align, half)
        found = INTERPOLATIONS[METHODS[method]](found, axis, at)
    return found


def _flags(operation: Operation) -> tuple[bool, bool]:
    names = ("align_corners", "half_pixel_centers")
    align, half = (bool(operation.attribute(name)) for name in names)
    return align, half


def _method(operation: Operation) -> str:
    kinds = {"Bilinear": "linear", "Bicubic": "cubic", "Area": "area"}
    return kinds.get(operation.type.removesuffix("Grad")[6:], "nearest")


@pure("ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor")
def _resize(operation: Operation, x: Any, sizes: Any) -> Node:
    node, method = tensor(x), _method(operation)
    if method != "nearest":
        node = E.cast(node, "float32")
    return resized(node, sizes_in(sizes), method, *_flags(operation))


@pure("ResizeBilinearGrad ResizeBicubicGrad")
def _resize_gradient(operation: Operation, g: Any, x: Any) -> Node:
    given = tensor(g)
    wanted = list(sizes_of(given)[1:3])
    found = slope(
        lambda node: resized(node, wanted, _method(operation), *_flags(operation)),
        sizes_of(x), "float32", given,
    )  # fmt: skip
    return E.cast(found, result_type(operation))


@pure("ResizeNearestNeighborGrad")
def _nearest_gradient(operation: Operation, g: Any, sizes: Any) -> Node:
    given = tensor(g)
    batch, *wanted, depth = sizes_of(given)
    return slope(
        lambda node: resized(node, wanted, "nearest", *_flags(operation)),
        (batch, *integers(sizes), depth), given.dtype, given,
    )  # fmt: skip


def _mixed(operation: Operation, x: Node, sizes: list[int], scale: Any, shift: Any) -> Node:
    """Images whose rows and columns are mixed of those of others."""
    for axis, wanted, by, at in zip((1, 2), sizes, array(scale), array(shift), strict=True):
        kernel = operation.attribute("kernel_type").decode()
        smooth = operation.attribute("antialias")
        shares = spans(sizes_of(x)[axis], wanted, by, at, kernel, smooth)
        x = M.move_axis(contract(x, tensor(shares), ((axis,), (1,))), 3, axis)
    return x


@pure("ScaleAndTranslate")
def _scale(operation: Operation, x: Any, sizes: Any, scale: Any, shift: Any) -> Node:
    return _mixed(operation, E.cast(tensor(x), "float32"), integers(sizes), scale, shift)


@pure("ScaleAndTranslateGrad")
def _scale_gradient(operation: Operation, g: Any, x: Any, scale: Any, shift: Any) -> Node:
    given = tensor(g)
    wanted = list(sizes_of(given)[1:3])
    found = slope(
        lambda node: _mixed(operation, node, wanted, scale, shift), sizes_of(x), "float32", given
    )
    return E.cast(found, result_type(operation))


# Crops ------------------------------------------------------------------------------------------


def _is_nearest(operation: Operation) -> bool:
    return bool(operation.attribute("method") == b"nearest")


@pure("CropAndResize")
def _crop(operation: Operation, x: Any, boxes: Any, which: Any, sizes: Any) -> Node:
    rows, columns = integers(sizes)
    outside = operation.attribute("extrapolation_value") or 0.0
    node, corners, at = E.cast(tensor(x), "float32"), tensor(boxes), tensor(which)
    found: Node = crops(node, corners, at, (rows, columns), _is_nearest(operation), outside)
    return found


@pure("CropAndResizeGradImage")
def _crop_image(operation: Operation, g: Any, boxes: Any, which: Any, sizes: Any) -> Node:
    given, corners, at = tensor(g), tensor(boxes), tensor(which)
    rows, columns = sizes_of(given)[1:3]
    found = slope(
        lambda node: crops(node, corners, at, (rows, columns), _is_nearest(operation), 0.0),
        integers(sizes), "float32", given,
    )  # fmt: skip
    return E.cast(found, dtype_of(operation, "T"))


@pure("CropAndResizeGradBoxes")
def _crop_boxes(operation: Operation, g: Any, x: Any, boxes: Any, which: Any) -> Node:
    given, node, corners = tensor(g), E.cast(tensor(x), "float32"), tensor(boxes)
    rows, columns = sizes_of(given)[1:3]
    here = K.identity(corners)
    found = crops(node, here, tensor(which), (rows, columns), False, 0.0)
    [slopes] = K.gradients(K.sum(found * given), [here])
    return slopes


# Any places -------------------------------------------------------------------------------------


@pure("ImageProjectiveTransform ImageProjectiveTransformV2")
def _transform(operation: Operation, x: Any, moves: Any, sizes: Any = None) -> Node:
    """Images whose pixels come from elsewhere in them, by projections."""
    node = tensor(x)
    batch, *space, depth = dims(node)
    height, width = space if sizes is None else sizes_in(sizes)
    at = K.arange(sizes_product([height, width]))
    across = K.cast(at % width, "float32"), K.cast(at // width, "float32")
    rows, columns, there = projected(tensor(moves), *across[::-1])
    if operation.attribute("interpolation") == b"NEAREST":
        found = nearest_at(node, rows, columns)
    else:
        found = mixed_at(E.cast(node, "float32"), rows, columns)
    found = found * K.cast(K.expand_dims(there, -1), found.dtype)
    return E.cast(M.reshape(found, [batch, height, width, depth]), node.dtype)


def _resampled(x: Node, at: Node) -> Node:
    batch, *between, _ = dims(at)
    places = M.reshape(at, [batch, sizes_product(between), 2])
    found = mixed_at(x, places[..., 1], places[..., 0])
    return M.reshape(found, [batch, *between, dims(x)[-1]])


@pure("Resampler")
def _resample(operation: Operation, x: Any, at: Any) -> Node:
    """Images at places, each a column and a row."""
    return _resampled(tensor(x), tensor(at))


@pure("ResamplerGrad")
def _resample_gradient(operation: Operation, x: Any, at: Any, g: Any) -> list[Node]:
    node, places = K.identity(tensor(x)), K.identity(tensor(at))
    found: list[Node] = K.gradients(K.sum(_resampled(node, places) * tensor(g)), [node, places])
    return found


# Colours ----------------------------------------------------------------------------------------


def _channels(x: Node) -> list[Node]:
    if sizes_of(x)[-1] != 3:
        raise ValueError(f"input must have 3 channels but instead has {sizes_of(x)[-1]}")
    at = len(x.shape) - 1
    return [M.reshape(M.slice_axis(x, at, i, i + 1), sizes_of(x)[:-1]) for i in range(3)]


@pure("RGBToHSV")
def _to_hsv(operation: Operation, x: Any) -> Any:
    return hsv_of(*_channels(tensor(x)))


@pure("HSVToRGB")
def _to_rgb(operation: Operation, x: Any) -> Any:
    return rgb_of(*_channels(tensor(x)))


def _by_hue(x: Any, change: Callable[[Node, Node], tuple[Node, Node]]) -> Node:
    """An image whose hue and saturation are others."""
    node = tensor(x)
    hue, saturation, value = _channels(hsv_of(*_channels(E.cast(node, "float32"))))
    return E.cast(rgb_of(*change(hue, saturation), value), node.dtype)


def _moved(hue: Node, by: Any) -> Node:
    moved = E.add(*broadcast(hue, by))
    return moved - E.floor(moved)


@pure("AdjustHue")
def _turn_hue(operation: Operation, x: Any, delta: Any) -> Node:
    return _by_hue(x, lambda hue, saturation: (_moved(hue, delta), saturation))


@pure("AdjustSaturation")
def _saturate(operation: Operation, x: Any, scale: Any) -> Node:
    def scaled(saturation: Node) -> Node:
        found: Node = K.clip(E.mul(*broadcast(saturation, scale)), 0.0, 1.0)
        return found

    return _by_hue(x, lambda hue, saturation: (hue, scaled(saturation)))


@pure("AdjustContrastv2")
def _contrast(operation: Operation, x: Any, factor: Any) -> Node:
    """Further from each channel's mean, or nearer."""
    node = E.cast(tensor(x), "float32")
    rank = len(node.shape)
    middle = M.expand_dims(M.expand_dims(mean(node, (rank - 3, rank - 2)), rank - 3), rank - 2)
    wide, center, by = broadcast(node, middle, factor)
    return E.cast((wide - center) * by + center, result_type(operation))


# Brightness, and two axes of colour. Source: the NTSC standard (1953), as TensorFlow has it.
YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


@pure("AdjustHsvInYiq")
def _turn_in_yiq(operation: Operation, x: Any, turn: Any, saturate: Any, lighten: Any) -> Node:
    """Colours turned around the grey ones, further from these or nearer, and brighter."""
    angle, wide, bright = (E.cast(tensor(each), "float32") for each in (turn, saturate, lighten))
    along, aside = wide * E.cos(angle), wide * E.sin(angle)
    parts = [YIQ.copy() for _ in range(3)]  # of brightness; along and beside the axes of colour
    parts[0][1:], parts[1][0], parts[2][:] = 0, 0, [0 * YIQ[0], -YIQ[2], YIQ[1]]
    grey, here, there = (tensor((np.linalg.inv(YIQ) @ each).astype("float32").T) for each in parts)
    node = tensor(x)
    table = bright * (grey + along * here + aside * there)
    return E.cast(
        contract(E.cast(node, "float32"), table, ((len(node.shape) - 1,), (0,))), node.dtype
    )


# Glimpses ---------------------------------------------------------------------------------------


@pure("ExtractGlimpse")
def _glimpse(operation: Operation, x: Any, sizes: Any, offsets: Any) -> Node:
    """A part of each image around a place; beyond the image it's noise."""
    node, wanted, at = tensor(x), integers(sizes), array(offsets)
    batch, *space, depth = sizes_of(node)
    whole = np.array(space, np.float32)
    if operation.attribute("normalized"):
        at = at * whole
    if operation.attribute("centered"):
        at = at / 2 + whole / 2
    starts = np.asarray(at - np.array(wanted, np.float32) / 2).astype(np.int64)
    rows, columns = (starts[:, i, None] + np.arange(wanted[i]) for i in range(2))
    inside = ((rows >= 0) & (rows < space[0]))[:, :, None] & (
        (columns >= 0) & (columns < space[1])
    )[:, None]
    flat = rows[:, :, None] * space[1] + columns[:, None]
    flat = np.where(inside, flat + np.arange(batch)[:, None, None] * space[0] * space[1], 0)
    found = K.gather(M.reshape(node, [-1, depth]), tensor(flat))
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
