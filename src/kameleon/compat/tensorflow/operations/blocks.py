"""Blocks of space as channels or batches, and back; turning along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M

from .networks import as_told, channels_last
from .table import pure
from .values import array, integers, sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation


# Blocks -----------------------------------------------------------------------------------------


@pure("SpaceToBatchND")
def _space_to_batch(operation: Operation, x: Any, block: Any, pads: Any) -> Tensor:
    """(b, s, …) to (b * blocks, s / blocks, …), padded before."""
    return space_to_batch(x, integers(block), pads)


@pure("SpaceToBatch")
def _squares_to_batch(operation: Operation, x: Any, pads: Any) -> Tensor:
    return space_to_batch(x, [operation.attribute("block_size")] * 2, pads)


def space_to_batch(x: Any, sides: list[int], pads: Any) -> Tensor:
    """Blocks of space as batches."""
    node = tensor(x)
    count = len(sides)
    margins = [(int(a), int(b)) for a, b in array(pads)]
    rest = [(0, 0)] * (len(node.shape) - count - 1)
    node = M.pad(node, [(0, 0), *margins, *rest])
    batch, *space = sizes_of(node)[: count + 1]
    inner = sizes_of(node)[count + 1 :]
    cut = [part for size, side in zip(space, sides, strict=True) for part in (size // side, side)]
    node = M.reshape(node, [batch, *cut, *inner])
    within = [2 + 2 * at for at in range(count)]
    across = [1 + 2 * at for at in range(count)]
    last = range(1 + 2 * count, len(node.shape))
    node = M.transpose(node, [*within, 0, *across, *last])
    across_sizes = [size // side for size, side in zip(space, sides, strict=True)]
    return M.reshape(node, [batch * int(np.prod(sides)), *across_sizes, *inner])


@pure("BatchToSpaceND")
def _batch_to_space(operation: Operation, x: Any, block: Any, crops: Any) -> Tensor:
    """The way back, cropped behind."""
    return batch_to_space(x, integers(block), crops)


@pure("BatchToSpace")
def _batch_to_squares(operation: Operation, x: Any, crops: Any) -> Tensor:
    return batch_to_space(x, [operation.attribute("block_size")] * 2, crops)


def batch_to_space(x: Any, sides: list[int], crops: Any) -> Tensor:
    """Batches as blocks of space."""
    node = tensor(x)
    count = len(sides)
    batch, *space = sizes_of(node)[: count + 1]
    inner = sizes_of(node)[count + 1 :]
    batch //= int(np.prod(sides))
    node = M.reshape(node, [*sides, batch, *space, *inner])
    pairs = [axis for at in range(count) for axis in (count + 1 + at, at)]
    node = M.transpose(node, [count, *pairs, *range(2 * count + 1, len(node.shape))])
    whole = [size * side for size, side in zip(space, sides, strict=True)]
    node = M.reshape(node, [batch, *whole, *inner])
    for axis, (before, after) in enumerate(array(crops), 1):
        node = M.slice_axis(node, axis, int(before), whole[axis - 1] - int(after))
    return node


@pure("SpaceToDepth")
def _space_to_depth(operation: Operation, x: Any) -> Tensor:
    side, node = operation.attribute("block_size"), channels_last(operation, x)
    batch, rows, columns, depth = sizes_of(node)
    node = M.reshape(node, [batch, rows // side, side, columns // side, side, depth])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    found = M.reshape(node, [batch, rows // side, columns // side, side * side * depth])
    return as_told(operation, found)


@pure("DepthToSpace")
def _depth_to_space(operation: Operation, x: Any) -> Tensor:
    side, node = operation.attribute("block_size"), channels_last(operation, x)
    batch, rows, columns, depth = sizes_of(node)
    node = M.reshape(node, [batch, rows, columns, side, side, depth // side**2])
    node = M.transpose(node, [0, 1, 3, 2, 4, 5])
    return as_told(
        operation, M.reshape(node, [batch, rows * side, columns * side, depth // side**2])
    )


# Turning ----------------------------------------------------------------------------------------


@pure("Roll")
def _roll(operation: Operation, x: Any, shift: Any, axes: Any) -> Tensor:
    node = tensor(x)
    for by, axis in zip(integers(shift), integers(axes), strict=True):
        at = axis % len(node.shape)
        places = np.roll(np.arange(sizes_of(node)[at], dtype=np.int32), by)
        node = I.gather(node, tensor(places), at)
    return node


@pure("MirrorPadGrad")
def _mirror_gradient(operation: Operation, g: Any, pads: Any) -> Tensor:
    mode: Any = {b"REFLECT": "reflect", b"SYMMETRIC": "symmetric"}[operation.attribute("mode")]
    node = tensor(g)
    for axis, (before, after) in enumerate(array(pads)):
        size = sizes_of(node)[axis] - int(before) - int(after)
        at = np.pad(np.arange(size), (int(before), int(after)), mode=mode).astype(np.int32)
        node = I.scatter_add(node, tensor(at), size, axis)
    return node


@pure("Reverse")
def _reverse(operation: Operation, x: Any, marks: Any) -> Any:
    axes = np.flatnonzero(array(marks)).tolist()
    return K.reverse(tensor(x), axes) if axes else x


# Layouts ----------------------------------------------------------------------------------------


@pure("DataFormatVecPermute")
def _permuted(operation: Operation, x: Any) -> Tensor:
    """A vector with a number for each axis, or the rows of such numbers, in another layout."""
    source, target = (operation.attribute(f"{name}_format") for name in ("src", "dst"))
    return I.gather(tensor(x), tensor(np.array([source.index(axis) for axis in target])), 0)


@pure("DataFormatDimMap")
def _mapped(operation: Operation, x: Any) -> Tensor:
    """Numbers of axes in another layout."""
    source, target = (operation.attribute(f"{name}_format") for name in ("src", "dst"))
    node = tensor(x)
    table = np.array([target.index(axis) for axis in source]).astype(str(node.dtype))
    return I.gather(tensor(table), node % len(source), 0)
