"""Windows over space: what they see, and the adjoint. Layout (batch, *space, channels).

`Window` says how a window moves; paddings are resolved to (low, high) numbers. A convolution
is a contraction with patches, and `fold` is the adjoint of `patches`: all gradients of
convolutions and pooling follow from those two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ShapeError
from ..ir.node import Node
from ..ir.primitive import Primitive, jointly
from ..ir.serial import RECORDS
from ..ir.types import Dim, Shape, TensorType, join_shapes, show_shape
from .elementwise import add
from .movement import WHOLE, concatenate, pad, reshape, slice_, slice_axis, unslice
from .movement import Window as Cut
from .sizes import Size, dims_of, over, plus, size_of, split


class Window(NamedTuple):
    """How a window moves over space; one entry for each spatial axis."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.sizes)

    def out_dim(self, axis: int, dim: Dim) -> Dim:
        """How many places the window takes along an axis of size `dim`."""
        if dim is None:
            return None
        low, high = self.padding[axis]
        span = (self.sizes[axis] - 1) * self.dilation[axis] + 1
        return max(0, (dim + low + high - span) // self.strides[axis] + 1)

    def outputs(self, space: Shape) -> Shape:
        """The numbers of places along all spatial axes."""
        return tuple(self.out_dim(i, d) for i, d in enumerate(space))

    @property
    def cells(self) -> int:
        """The number of cells in the window."""
        return int(np.prod(self.sizes, dtype=np.int64))


RECORDS["Window"] = Window


# What moves a window over its first operand.
OVER = frozenset("conv depthwise_conv patches max_pool sum_pool".split())


def space_of(x: Node) -> Shape:
    return x.shape[1:-1]


def space_dims(node: Node) -> list[Size]:
    """The spatial sizes that `space` states: its unknown ones are the node's last operands."""
    space = node.attrs["space"]
    unknown = iter(node.operands[len(node.operands) - space.count(None) :])
    return [next(unknown) if d is None else d for d in space]


def check_space(what: str, x: Node, window: Window) -> None:
    if len(x.shape) != window.rank + 2:
        raise ShapeError(
            f"{what}: {window.rank} spatial axes need a tensor with {window.rank + 2} axes,"
            f" not shape {show_shape(x.shape)}"
        )


def seen_by(cell: Sequence[int], window: Window) -> list[Cut]:
    """What a cell of the window sees of a padded tensor, at all places, as slices.

    Stops are counted from the end, so that they hold for any size: behind the last place there
    are `span - 1 - start` elements that a cell with this start doesn't see.
    """
    cuts: list[Cut] = []
    for i, at in enumerate(cell):
        start, step = at * window.dilation[i], window.strides[i]
        behind = (window.sizes[i] - 1) * window.dilation[i] - start
        cuts.append((start, -behind or None, step))
    return [WHOLE, *cuts, WHOLE]


def corners(x: Node, window: Window) -> list[Node]:
    """For each cell of the window, in row-major order, what it sees at every place."""
    return [slice_(x, seen_by(cell, window)) for cell in np.ndindex(*window.sizes)]


def check_places(what: str, places: Node, space: Shape, window: Window) -> None:
    """That a tensor (batch, *places, channels) is what a window makes of a space."""
    check_space(what, places, window)
    join_shapes(window.outputs(space), space_of(places), f"{what}: places of the window")


# Patches and their adjoint -----------------------------------------------------------------


def _infer_patches(x: Node, *, window: Window) -> TensorType:
    check_space("patches", x, window)
    channels = x.shape[-1]
    depth = None if channels is None else channels * window.cells
    return TensorType((x.shape[0], *window.outputs(space_of(x)), depth), x.dtype)


def _expand_patches(x: Node, window: Window) -> Node:
    x = pad(x, [(0, 0), *window.padding, (0, 0)])
    return concatenate(corners(x, window), len(x.shape) - 1)


_patches = Primitive(
    "patches",
    _infer_patches,
    [lambda g, y, x, window: fold(g, dims_of(x)[1:-1], window)],
    "all windows of x, laid out along the last axis: cells row-major, then channels",
    expand=_expand_patches,
)


def patches(x: Node, window: Window) -> Node:
    """All windows of `x`: (batch, *places, cells * channels)."""
    return _patches(x, window=window)


def _infer_fold(p: Node, *sizes: Node, space: Shape, window: Window) -> TensorType:
    check_places("fold", p, space, window)
    depth = p.shape[-1]
    if depth is not None and depth % window.cells:
        raise ShapeError(f"fold: {depth} channels don't share {window.cells} cells")
    channels = None if depth is None else depth // window.cells
    return TensorType((p.shape[0], *space, channels), p.dtype)


def _expand_fold(p: Node, *sizes: Node, space: Shape, window: Window) -> Node:
    """Each cell's part of the patches is put where the cell saw it, and these are added."""
    rest = iter(sizes)
    padded = [
        plus(next(rest) if d is None else d, a + b)
        for d, (a, b) in zip(space, window.padding, strict=True)
    ]
    channels = over(size_of(p, -1), window.cells)
    dims, axis = [size_of(p, 0), *padded, channels], len(p.shape) - 1
    split_p = cells_of(p, window, channels)
    total: Node | None = None
    for number, cell in enumerate(np.ndindex(*window.sizes)):
        part = slice_axis(split_p, axis, number, number + 1)
        part = reshape(part, [*dims_of(p)[:-1], channels])
        placed = unslice(part, dims, seen_by(cell, window))
        total = placed if total is None else add(total, placed)
    assert total is not None
    crop: list[Cut] = [(a or None, -b or None, 1) for a, b in window.padding]
    return slice_(total, [WHOLE, *crop, WHOLE])


def keep_first(rule: Any) -> jointly:
    """A pullback for a primitive whose other operands are sizes."""
    return jointly(lambda y, gs, needed: [rule(gs[0], y, **y.attrs)] + [None] * (len(needed) - 1))


_fold = Primitive(
    "fold",
    _infer_fold,
    keep_first(lambda g, y, space, window: patches(g, window)),
    "the adjoint of patches: windows added into a tensor with spatial sizes `space`",
    expand=_expand_fold,
)


def fold(p: Node, space: Sequence[Size], window: Window) -> Node:
    """Windows added up into the space that they came from."""
    shape, sizes = split(space)
    return _fold(p, *sizes, space=shape, window=window)


def cells_of(p: Node, window: Window, channels: Size) -> Node:
    """Patches as (batch, *places, cells, channels)."""
    return reshape(p, [*dims_of(p)[:-1], window.cells, channels])
