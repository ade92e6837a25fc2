"""Blocks of space as channels or batches, and back; turning along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.sizes import (
    Size,
    as_node,
    minus,
    quotient,
    size_of,
    sizes_product,
)

from ..graph import Operation
from ..parts import Margins, padded, part
from .networks import channels_last, in_layout
from .table import pure
from .values import dims, integers, margins, tensor

# Blocks -----------------------------------------------------------------------------------------


@pure("SpaceToBatchND SpaceToBatch")
def _space_to_batch(operation: Operation, x: Node, *settings: Any) -> Node:
    """(b, s, …) to (b * blocks, s / blocks, …), padded before."""
    sides, pads = _sides(operation, settings)
    count = len(sides)
    rest = [(0, 0)] * (len(x.shape) - count - 1)
    x = padded(x, [(0, 0), *pads, *rest])
    batch, *space = dims(x)[: count + 1]
    inner = dims(x)[count + 1 :]
    across = [quotient(size, side) for size, side in zip(space, sides, strict=True)]
    cut = [part for pair in zip(across, sides, strict=True) for part in pair]
    x = M.reshape(x, [batch, *cut, *inner])
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2)]
    x = M.transpose(x, [*order, *range(1 + 2 * count, len(x.shape))])
    return M.reshape(x, [sizes_product([batch, *sides]), *across, *inner])


def _sides(operation: Operation, given: Sequence[Any]) -> tuple[list[int], Margins]:
    """The sides of blocks, which are an input or else squares, and the margins."""
    *sides, margin = given
    return integers(sides[0]) if sides else [operation.attribute("block_size")] * 2, margins(margin)


@pure("BatchToSpaceND BatchToSpace")
def _batch_to_space(operation: Operation, x: Node, *settings: Any) -> Node:
    """The way back, cropped behind."""
    sides, crops = _sides(operation, settings)
    count = len(sides)
    batch, *space = dims(x)[: count + 1]
    inner = dims(x)[count + 1 :]
    batch = quotient(batch, int(np.prod(sides)))
    x = M.reshape(x, [*sides, batch, *space, *inner])
    pairs = [axis for at in range(count) for axis in (count + 1 + at, at)]
    x = M.transpose(x, [count, *pairs, *range(2 * count + 1, len(x.shape))])
    whole = [sizes_product(pair) for pair in zip(space, sides, strict=True)]
    x = M.reshape(x, [batch, *whole, *inner])
    for axis, (before, after) in enumerate(crops, 1):
        x = part(x, axis, before, minus(minus(whole[axis - 1], before), after))
    return x


@pure("SpaceToDepth")
def _space_to_depth(operation: Operation, x: Any, *, block_size: int) -> Node:
    side, node = block_size, channels_last(operation, x)
    batch, *space, depth = dims(node)
    rows, columns = (quotient(size, side) for size in space)
    node = M.reshape(node, [batch, rows, side, columns, side, depth])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    found = M.reshape(node, [batch, rows, columns, sizes_product([side, side, depth])])
    return in_layout(operation, found)


@pure("DepthToSpace")
def _depth_to_space(operation: Operation, x: Any, *, block_size: int) -> Node:
    side, node = block_size, channels_last(operation, x)
    batch, *space, depth = dims(node)
    (rows, columns), depth = space, quotient(depth, side**2)
    node = M.reshape(node, [batch, rows, columns, side, side, depth])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    rows, columns = (sizes_product([size, side]) for size in space)
    return in_layout(operation, M.reshape(node, [batch, rows, columns, depth]))


# Turning ----------------------------------------------------------------------------------------


@pure("Roll")
def _roll(x: Node, shifts: list[Size], axes: list[int]) -> Node:
    for by, axis in zip(shifts, axes, strict=True):
        at = axis % len(x.shape)
        size = size_of(x, at)
        if isinstance(by, int) and isinstance(size, int):
            places = tensor(np.roll(np.arange(size, dtype=np.int32), by))
        else:
            back, around = (M.broadcast_to(as_node(each), [size]) for each in (by, size))
            places = E.mod(E.sub(M.iota([size]), back), around)
        x = I.gather(x, places, at)
    return x


# Layouts ----------------------------------------------------------------------------------------


@pure("DataFormatVecPermute")
def _permuted(x: Node, *, src_format: str, dst_format: str) -> Node:
    """A vector with a number for each axis, or the rows of such numbers, in another layout."""
    return I.gather(x, tensor(np.array([src_format.index(axis) for axis in dst_format])), 0)


@pure("DataFormatDimMap")
def _mapped(x: Node, *, src_format: str, dst_format: str) -> Node:
    """Numbers of axes in another layout."""
    table = np.array([dst_format.index(axis) for axis in src_format]).astype(str(x.dtype))
    return I.gather(tensor(table), x % len(src_format), 0)
