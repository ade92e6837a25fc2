"""Functions of TensorFlow 1 over K functions: images, boxes in them, and blocks of pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..backend._windows import Moves, resolve, spatial
from ..errors import ArgumentError
from ..prims import elementwise as ew
from ..prims.indexing import argsort, nonzero
from ..prims.windows import patches
from .tensors import known

Array = np.ndarray[Any, Any]


class ResizeMethod:
    """The numbers by which programs choose an interpolation."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


# Resizing -------------------------------------------------------------------------------------


def resize(method: int, align: bool = False) -> Callable[..., Any]:
    """A function that resizes images by one method."""

    def call(
        images: Any, size: Sequence[int], align_corners: bool = align, name: str | None = None
    ) -> Any:
        return resize_images(images, size, method, align_corners)

    return call


def resize_images(
    images: Any, size: Sequence[int], method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False, preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """(batch, rows, columns, channels), or one image, at another size.

    Pixel i of n is taken at i * size / n; with `align_corners` at i * (size - 1) / (n - 1).
    """
    methods = {0: 0, 1: 1, "bilinear": 0, "nearest": 1}
    if method not in methods or preserve_aspect_ratio:
        raise ArgumentError(
            f"tf.image: method is {method!r}; there are BILINEAR and NEAREST_NEIGHBOR, without"
            " preserve_aspect_ratio"
        )
    x = as_tensor(images, "tf.image")
    if len(x.shape) == 3:
        return K.squeeze(resize_images(K.expand_dims(x, 0), size, method, align_corners), 0)
    smooth = methods[method] == 0
    x = as_float(x, "tf.image") if smooth else x
    for axis, wanted in zip((1, 2), size, strict=True):
        at = _places(known(x, axis, "tf.image"), int(wanted), align_corners)
        x = _between(x, axis, at) if smooth else _nearest(x, axis, at, align_corners)
    return x


def _places(size: int, wanted: int, align_corners: bool) -> Array:
    """Where along an axis of a size the new pixels lie."""
    if align_corners and wanted > 1:
        return np.arange(wanted) * (np.float32(size - 1) / np.float32(wanted - 1))
    return np.arange(wanted) * (np.float32(size) / np.float32(wanted))


def _nearest(x: Any, axis: int, at: Array, align_corners: bool) -> Any:
    index = np.floor(at + 0.5) if align_corners else np.floor(at)
    return _taken(x, axis, np.minimum(index, known(x, axis, "tf.image") - 1))


def _between(x: Any, axis: int, at: Array) -> Any:
    """Pixels mixed linearly from the two beside each place."""
    low = np.minimum(np.floor(at), known(x, axis, "tf.image") - 1)
    high = np.minimum(low + 1, known(x, axis, "tf.image") - 1)
    share = K.constant((at - low).reshape([-1 if i == axis else 1 for i in range(4)]), x.dtype)
    first, second = _taken(x, axis, low), _taken(x, axis, high)
    return first + (second - first) * share


def _taken(x: Any, axis: int, index: Array) -> Any:
    return x[(*[slice(None)] * axis, index.astype("int32"))]


# Changes --------------------------------------------------------------------------------------


def flip(axis: int) -> Callable[..., Any]:
    """A function that mirrors an axis of an image, counted from the end."""
    return lambda image, name=None: K.reverse(as_tensor(image, "tf.image"), axis)


def transpose_image(image: Any, name: str | None = None) -> Any:
    x = as_tensor(image, "tf.image")
    first = range(len(x.shape) - 3)
    rows, columns, channels = range(len(x.shape) - 3, len(x.shape))
    return K.permute_dimensions(x, (*first, columns, rows, channels))


def per_image_standardization(image: Any, name: str | None = None) -> Any:
    """Each image with mean 0 and deviation 1; a deviation counts as 1 / sqrt(pixels) at least."""
    x = as_float(image, "tf.image")
    axes = (-3, -2, -1)
    pixels = K.cast(K.prod(K.shape(x)[-3:]), x.dtype)
    deviation, least = K.std(x, axes, keepdims=True), 1.0 / K.sqrt(pixels)
    return (x - K.mean(x, axes, keepdims=True)) / K.maximum(deviation, least)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    x = as_float(images, "tf.image")
    weights = K.constant([0.2989, 0.587, 0.114], x.dtype)  # of ITU-R BT.601
    return K.sum(x * weights, axis=-1, keepdims=True)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    return K.repeat_elements(as_tensor(images, "tf.image"), 3, axis=-1)


def adjust_brightness(image: Any, delta: Any) -> Any:
    return image + delta


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    x = as_float(images, "tf.image")
    mean = K.mean(x, (-3, -2), keepdims=True)
    return (x - mean) * contrast_factor + mean


# Blocks of pixels -----------------------------------------------------------------------------


def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Any:
    """(batch, rows, columns, c) -> (batch, rows / b, columns / b, b * b * c)."""
    x, b = _last_channels("tf.space_to_depth", input, data_format), block_size
    rows, columns, channels = (known(x, axis, "tf.space_to_depth") for axis in (1, 2, 3))
    parts = K.reshape(x, (-1, rows // b, b, columns // b, b, channels))
    moved = K.permute_dimensions(parts, (0, 1, 3, 2, 4, 5))
    return K.reshape(moved, (-1, rows // b, columns // b, b * b * channels))


def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Any:
    """(batch, rows, columns, b * b * c) -> (batch, rows * b, columns * b, c)."""
    x, b = _last_channels("tf.depth_to_space", input, data_format), block_size
    rows, columns, depth = (known(x, axis, "tf.depth_to_space") for axis in (1, 2, 3))
    parts = K.reshape(x, (-1, rows, columns, b, b, depth // b**2))
    moved = K.permute_dimensions(parts, (0, 1, 3, 2, 4, 5))
    return K.reshape(moved, (-1, rows * b, columns * b, depth // b**2))


def _last_channels(what: str, x: Any, data_format: str) -> Any:
    if data_format != "NHWC":
        raise ArgumentError(f"{what}: data_format is {data_format!r}; there is 'NHWC'")
    return as_tensor(x, what)


def extract_image_patches(
    images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None,
    padding: str = "VALID", name: str | None = None, sizes: Any = None,
) -> Any:  # fmt: skip
    """The pixels of each window side by side: (batch, rows, columns, window * channels)."""
    what = "tf.extract_image_patches"
    given = (sizes if ksizes is None else ksizes, strides, rates)
    names = ("ksizes", "strides", "rates")
    inner = (spatial(g[1:3], 2, what, n) for g, n in zip(given, names, strict=True))
    window, steps, dilation = inner
    moves = Moves(window, steps, dilation, padding.lower())
    return patches(*resolve(as_tensor(images, what), moves, what))


# Boxes ----------------------------------------------------------------------------------------


def crop_and_resize(
    image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
    extrapolation_value: float = 0.0, name: str | None = None, box_indices: Any = None,
) -> Any:  # fmt: skip
    """(boxes, rows, columns, channels): parts of images, each resized.

    Args:
        image: (batch, rows, columns, channels).
        boxes: (boxes, 4): y1, x1, y2, x2 as parts of the image's size less 1.
        box_ind: (boxes,): which image.
        crop_size: two ints.
        method: 'bilinear' or 'nearest'.
        extrapolation_value: what pixels outside of the image are.

    Source: Girshick, "Fast R-CNN" (2015); He et al., "Mask R-CNN" (2017), use such crops.
    """
    what = "tf.image.crop_and_resize"
    if method not in ("bilinear", "nearest"):
        raise ArgumentError(f"{what}: method is {method!r}; there are 'bilinear' and 'nearest'")
    x, boxes = as_float(image, what), as_float(boxes, what)
    which = K.cast(box_indices if box_ind is None else box_ind, "int32")
    size, (height, width) = K.shape(x), map(int, crop_size)
    rows = K.expand_dims(_line(boxes[:, 0::2], size[1], height), 2)
    columns = K.expand_dims(_line(boxes[:, 1::2], size[2], width), 1)
    found = _pixels(x, K.reshape(which, (-1, 1, 1)), rows, columns, method)
    inside = _within(rows, size[1]) * _within(columns, size[2])
    inside = K.expand_dims(inside, -1)
    return K.switch(K.greater(inside, 0), found, K.zeros_like(found) + extrapolation_value)


def _line(ends: Any, size: Any, count: int) -> Any:
    """Where along an axis the pixels of each box lie: (boxes, count)."""
    first, behind = (
        ends[:, :1] * K.cast(size - 1, ends.dtype),
        ends[:, 1:] * K.cast(size - 1, ends.dtype),
    )
    if count == 1:
        return (first + behind) * 0.5
    steps = K.constant(np.arange(count)[None], ends.dtype)
    return first + steps * ((behind - first) / (count - 1))


def _within(at: Any, size: Any) -> Any:
    """1 where a place lies in the image, else 0."""
    last = K.cast(size - 1, at.dtype)
    return K.cast(K.greater_equal(at, 0), "int32") * K.cast(K.less_equal(at, last), "int32")


def _pixels(x: Any, which: Any, rows: Any, columns: Any, method: str) -> Any:
    """The images at places between the pixels."""
    size = K.shape(x)
    flat = K.reshape(x, (-1, size[3]))

    def at(row: Any, column: Any) -> Any:
        row = K.clip(K.cast(row, "int32"), 0, size[1] - 1)
        column = K.clip(K.cast(column, "int32"), 0, size[2] - 1)
        return K.gather(flat, (which * size[1] + row) * size[2] + column)

    if method == "nearest":
        return at(K.round(rows), K.round(columns))
    (top, bottom), (left, right) = ((ew.floor(p), ew.ceil(p)) for p in (rows, columns))
    across, down = K.expand_dims(columns - left, -1), K.expand_dims(rows - top, -1)
    above = at(top, left) + (at(top, right) - at(top, left)) * across
    below = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * across
    return above + (below - above) * down


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = -np.inf, name: str | None = None,
) -> Any:  # fmt: skip
    """Indices of boxes, best first, none of which overlaps a better one by more than a share.

    Args:
        boxes: (boxes, 4): two opposite corners y1, x1, y2, x2.
        scores: (boxes,).
        max_output_size: an int, or an integer scalar.
        iou_threshold: the largest intersection over union of two boxes that are both kept.
        score_threshold: the scores that are kept are larger.

    Returns:
        int32 tensor of unknown size.

    Source: Neubeck and Van Gool, "Efficient non-maximum suppression" (2006).
    """
    what = "tf.image.non_max_suppression"
    # The best of no boxes is an error: so there is one more, which is never chosen.
    boxes, scores = as_float(boxes, what), as_float(scores, what)
    boxes = K.concatenate([boxes, K.zeros((1, 4), K.dtype(boxes))], axis=0)
    scores = K.concatenate([scores, K.constant([-np.inf], K.dtype(scores))], axis=0)
    low, high = K.minimum(boxes[:, :2], boxes[:, 2:]), K.maximum(boxes[:, :2], boxes[:, 2:])
    area = K.prod(high - low, axis=-1)
    order = K.arange(K.shape(scores)[0])

    def goes_on(count: Any, rest: Any, rank: Any) -> Any:
        some = K.any(K.greater(rest, score_threshold))
        return ew.logical_and(K.less(count, max_output_size), some)

    def step(count: Any, rest: Any, rank: Any) -> list[Any]:
        i = K.cast(K.argmax(rest, axis=0), "int32")
        sides = K.minimum(high, high[i]) - K.maximum(low, low[i])
        shared = K.prod(K.maximum(sides, 0.0), axis=-1)
        here = K.equal(order, i)
        gone = K.greater(shared, iou_threshold * (area + area[i] - shared))
        rest = K.switch(ew.logical_or(gone, here), K.zeros_like(rest) - np.inf, rest)
        return [count + 1, rest, K.switch(here, K.zeros_like(rank) + count, rank)]

    start = [K.constant(0, "int32"), scores, K.zeros_like(order) - 1]
    rank = K.while_loop(goes_on, step, start)[2]
    kept = nonzero(K.greater_equal(rank, 0))[:, 0]
    return K.cast(K.gather(kept, argsort(K.gather(rank, kept), axis=0)), "int32")
