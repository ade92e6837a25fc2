"""Blocks of space as channels or batches, and back; turning along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M

from ..graph import Operation
from .arrays import margins
from .networks import as_told, channels_last
from .table import pure
from .values import sizes_of, tensor

Array = np.ndarray


# Blocks -----------------------------------------------------------------------------------------


@pure("SpaceToBatchND SpaceToBatch")
def _space_to_batch(operation: Operation, x: Node, *told: Array) -> Node:
    """(b, s, …) to (b * blocks, s / blocks, …), padded before."""
    sides, pads = _sides(operation, told)
    count = len(sides)
    rest = [(0, 0)] * (len(x.shape) - count - 1)
    x = M.pad(x, [(0, 0), *margins(pads), *rest])
    batch, *space = sizes_of(x)[: count + 1]
    inner = sizes_of(x)[count + 1 :]
    across = [size // side for size, side in zip(space, sides, strict=True)]
    cut = [part for pair in zip(across, sides, strict=True) for part in pair]
    x = M.reshape(x, [batch, *cut, *inner])
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2)]
    x = M.transpose(x, [*order, *range(1 + 2 * count, len(x.shape))])
    return M.reshape(x, [batch * int(np.prod(sides)), *across, *inner])


def _sides(operation: Operation, told: Sequence[Array]) -> tuple[list[int], Array]:
    """The sides of blocks, which are an input or else squares, and the margins."""
    *sides, margin = told
    return sides[0].tolist() if sides else [operation.attribute("block_size")] * 2, margin


@pure("BatchToSpaceND BatchToSpace")
def _batch_to_space(operation: Operation, x: Node, *told: Array) -> Node:
    """The way back, cropped behind."""
    sides, crops = _sides(operation, told)
    count = len(sides)
    batch, *space = sizes_of(x)[: count + 1]
    inner = sizes_of(x)[count + 1 :]
    batch //= int(np.prod(sides))
    x = M.reshape(x, [*sides, batch, *space, *inner])
    pairs = [axis for at in range(count) for axis in (count + 1 + at, at)]
    x = M.transpose(x, [count, *pairs, *range(2 * count + 1, len(x.shape))])
    whole = [size * side for size, side in zip(space, sides, strict=True)]
    x = M.reshape(x, [batch, *whole, *inner])
    for axis, (before, after) in enumerate(margins(crops), 1):
        x = M.slice_axis(x, axis, before, whole[axis - 1] - after)
    return x


@pure("SpaceToDepth")
def _space_to_depth(operation: Operation, x: Any, *, block_size: int) -> Node:
    side, node = block_size, channels_last(operation, x)
    batch, rows, columns, depth = sizes_of(node)
    node = M.reshape(node, [batch, rows // side, side, columns // side, side, depth])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    found = M.reshape(node, [batch, rows // side, columns // side, side * side * depth])
    return as_told(operation, found)


@pure("DepthToSpace")
def _depth_to_space(operation: Operation, x: Any, *, block_size: int) -> Node:
    side, node = block_size, channels_last(operation, x)
    batch, rows, columns, depth = sizes_of(node)
    depth //= side**2
    node = M.reshape(node, [batch, rows, columns, side, side, depth])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    return as_told(operation, M.reshape(node, [batch, rows * side, columns * side, depth]))


# Turning ----------------------------------------------------------------------------------------


@pure("Roll")
def _roll(x: Node, shifts: list[int], axes: list[int]) -> Node:
    for by, axis in zip(shifts, axes, strict=True):
        at = axis % len(x.shape)
        x = I.gather(x, tensor(np.roll(np.arange(sizes_of(x)[at], dtype=np.int32), by)), at)
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
