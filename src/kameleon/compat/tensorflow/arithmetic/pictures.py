"""Parts of images, each resized; images at any places; hue, saturation and value."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.backend import surface as K
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.filling import full_like

# Crops ------------------------------------------------------------------------------------------


def crops(
    x: Any, boxes: Any, which: Any, size: tuple[int, int], nearest: bool, outside: float
) -> Any:
    """(boxes, rows, columns, channels): parts of images, each resized.

    Args:
        x: (batch, rows, columns, channels).
        boxes: (boxes, 4): y1, x1, y2, x2 as parts of the image's size less 1.
        which: (boxes,): of which image.
        size: rows and columns.
        nearest: pixels are the nearest ones; else they are mixed.
        outside: what pixels outside of the image are.

    Source: Girshick, "Fast R-CNN" (2015); He et al., "Mask R-CNN" (2017), use such crops.
    """
    whole, (height, width) = K.shape(x), size
    rows = K.expand_dims(_line(boxes[:, 0::2], whole[1], height), 2)
    columns = K.expand_dims(_line(boxes[:, 1::2], whole[2], width), 1)
    found = _pixels(x, K.reshape(which, (-1, 1, 1)), rows, columns, nearest)
    inside = K.expand_dims(_within(rows, whole[1]) * _within(columns, whole[2]), -1)
    return K.switch(K.greater(inside, 0), found, K.zeros_like(found) + outside)


def _line(ends: Any, size: Any, count: int) -> Any:
    """Where along an axis the pixels of each box lie: (boxes, count)."""
    last = K.cast(size - 1, ends.dtype)
    first, behind = ends[:, :1], ends[:, 1:]
    if count == 1:
        return (first + behind) * 0.5 * last
    steps = K.constant(np.arange(count)[None], ends.dtype)
    return first * last + steps * ((behind - first) * last / (count - 1))


def _within(at: Any, size: Any) -> Any:
    """1 where a place lies in the image, else 0."""
    last = K.cast(size - 1, at.dtype)
    return K.cast(K.greater_equal(at, 0), "int32") * K.cast(K.less_equal(at, last), "int32")


def _pixels(x: Any, which: Any, rows: Any, columns: Any, nearest: bool) -> Any:
    """The images at places between the pixels."""
    size = K.shape(x)
    flat = K.reshape(x, (-1, size[3]))

    def at(row: Any, column: Any) -> Any:
        row = K.clip(K.cast(row, "int32"), 0, size[1] - 1)
        column = K.clip(K.cast(column, "int32"), 0, size[2] - 1)
        return K.gather(flat, (which * size[1] + row) * size[2] + column)

    if nearest:
        return at(*(below + K.cast(K.greater_equal(p - below, 0.5), p.dtype)
                    for p in (rows, columns) for below in (ew.floor(p),)))  # fmt: skip
    (top, bottom), (left, right) = ((ew.floor(p), ew.ceil(p)) for p in (rows, columns))
    across, down = K.expand_dims(columns - left, -1), K.expand_dims(rows - top, -1)
    above = at(top, left) + (at(top, right) - at(top, left)) * across
    below = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * across
    return above + (below - above) * down


# Any places -------------------------------------------------------------------------------------


def projected(moves: Any, rows: Any, columns: Any) -> tuple[Any, Any, Any]:
    """The rows and columns (moves, places) that others come from, and 1 where there are any.

    Args:
        moves: (moves, 8): of the numbers a to h, the column at row y and column x comes from
            `(a x + b y + c) / (g x + h y + 1)`, the row from `(d x + e y + f) / (g x + h y + 1)`.
        rows, columns: (places,).
    """
    a, b, c, d, e, f, g, h = (moves[:, i : i + 1] for i in range(8))
    x, y = K.expand_dims(columns, 0), K.expand_dims(rows, 0)
    scale = g * x + h * y + 1.0
    there = K.cast(K.not_equal(scale, 0.0), "int32")
    scale = scale + K.cast(1 - there, scale.dtype)
    return (d * x + e * y + f) / scale, (a * x + b * y + c) / scale, there


def mixed_at(x: Any, rows: Any, columns: Any) -> Any:
    """(batch, places, channels): images mixed of the four pixels around each place.

    Args:
        x: (batch, rows, columns, channels); what is outside is 0.
        rows, columns: (batch, places), or (1, places) of all images.
    """
    top, left = ew.floor(rows), ew.floor(columns)
    down, across = K.expand_dims(rows - top, -1), K.expand_dims(columns - left, -1)
    above, below = (
        (1.0 - across) * _pixel(x, row, left) + across * _pixel(x, row, left + 1.0)
        for row in (top, top + 1.0)
    )
    return (1.0 - down) * above + down * below


def nearest_at(x: Any, rows: Any, columns: Any) -> Any:
    """(batch, places, channels): the pixels nearest to places, as in `mixed_at`."""
    return _pixel(x, _half_outwards(rows), _half_outwards(columns))


def _half_outwards(at: Any) -> Any:
    """The nearest whole numbers: of two that are as near, the one further from 0."""
    low = ew.floor(K.abs(at))
    return K.sign(at) * (low + K.cast(K.greater_equal(K.abs(at) - low, 0.5), at.dtype))


def _pixel(x: Any, rows: Any, columns: Any) -> Any:
    """The pixels at whole numbers of rows and columns; outside they are 0."""
    size = K.shape(x)
    row, column = (
        K.cast(K.clip(at, 0.0, K.cast(size[axis] - 1, at.dtype)), "int32")
        for axis, at in ((1, rows), (2, columns))
    )
    first = K.expand_dims(K.arange(size[0]), 1) * size[1]
    found = K.gather(K.reshape(x, (-1, size[3])), (first + row) * size[2] + column)
    inside = K.expand_dims(_within(rows, size[1]) * _within(columns, size[2]), -1)
    return found * K.cast(inside, found.dtype)


# Colours ----------------------------------------------------------------------------------------


def hsv_of(red: Any, green: Any, blue: Any) -> Any:
    """Hue, saturation and value, all from 0 to 1, along a last axis.

    Source: Smith, "Color gamut transform pairs" (1978).
    """
    value = K.maximum(K.maximum(red, green), blue)
    spread = value - K.minimum(K.minimum(red, green), blue)
    grey, black = K.less_equal(spread, 0.0), K.less_equal(value, 0.0)
    one, nothing = full_like(value, 1), full_like(value, 0)
    saturation = K.switch(black, nothing, spread / K.switch(black, one, value))
    part = 1.0 / (6.0 * K.switch(grey, one, spread))
    hue = K.switch(
        K.equal(red, value), part * (green - blue),
        K.switch(K.equal(green, value), part * (blue - red) + 2 / 6, part * (red - green) + 4 / 6),
    )  # fmt: skip
    hue = K.switch(grey, nothing, hue)
    hue = K.switch(K.less(hue, 0.0), hue + 1.0, hue)
    return K.stack([hue, saturation, value], axis=-1)


def rgb_of(hue: Any, saturation: Any, value: Any) -> Any:
    """Red, green and blue along a last axis: the inverse of `hsv_of`."""
    sixth = hue * 6.0
    parts = [K.abs(sixth - 3.0) - 1.0, 2.0 - K.abs(sixth - 2.0), 2.0 - K.abs(sixth - 4.0)]
    pure = [K.clip(p, 0.0, 1.0) for p in parts]
    return K.stack([value * (1.0 - saturation + saturation * p) for p in pure], axis=-1)
