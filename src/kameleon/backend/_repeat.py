"""Repeating and interpolating along axes: what tiling and resizing are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph.ir.node import Node
from ..graph.primitives import elementwise as ew
from ..graph.primitives.movement import broadcast_to, concatenate, reshape, slice_axis
from ..graph.primitives.sizes import Size, dims_of, sizes_product


def times(a: Size, b: Size) -> Size:
    """The product of two sizes."""
    return sizes_product([a, b])


def repeated(x: Node, axis: int, count: Size, whole: bool) -> Node:
    """`x` repeated `count` times along `axis`: as a whole, or each element by itself."""
    if count == 1:
        return x
    dims = dims_of(x)
    at = axis if whole else axis + 1
    single = reshape(x, [*dims[:at], 1, *dims[at:]])
    wide = broadcast_to(single, [*dims[:at], count, *dims[at:]])
    return reshape(wide, [*dims[:axis], times(dims[axis], count), *dims[axis + 1 :]])


def tiled(x: Node, counts: Sequence[Size]) -> Node:
    """`x` repeated as a whole, along each axis `counts` times."""
    for axis, count in enumerate(counts):
        x = repeated(x, axis, count, whole=True)
    return x


def interpolated(x: Node, axis: int, factor: int) -> Node:
    """`x` with `factor` cells for each along `axis`: cell i stands for place i / factor in `x`, a
    linear mixture of the two cells around that place; past the last cell of `x`, a copy of it.

    Source: TensorFlow 1, `resize_bilinear` without aligned corners or half pixels.
    """
    if factor == 1:
        return x
    rest = slice_axis(x, axis, 1, None)
    following = concatenate([rest, slice_axis(x, axis, -1, None)], axis)
    dims = dims_of(x)
    wide = [*dims[: axis + 1], factor, *dims[axis + 1 :]]
    share = np.arange(factor) / factor
    near, far = (
        ew.mul(_inserted(part, axis + 1, wide), _line(weights, axis + 1, wide, part))
        for part, weights in ((x, 1 - share), (following, share))
    )
    size = times(dims[axis], factor)
    return reshape(ew.add(near, far), [*dims[:axis], size, *dims[axis + 1 :]])


def _inserted(x: Node, axis: int, dims: Sequence[Size]) -> Node:
    """`x` stretched along a new axis to `dims`."""
    own = dims_of(x)
    return broadcast_to(reshape(x, [*own[:axis], 1, *own[axis:]]), dims)


def _line(weights: np.ndarray, axis: int, dims: Sequence[Size], like: Node) -> Node:
    """Weights along `axis`, stretched to `dims`."""
    shape = [1] * len(dims)
    shape[axis] = len(weights)
    return broadcast_to(ew.constant(weights.reshape(shape), like.dtype), dims)
