"""Windows over space: what they see, and the adjoint. Layout (batch, *space, channels).

`Window` says how a window moves; paddings are resolved to (low, high) numbers. A convolution
is a contraction with patches, and `fold` is the adjoint of `patches`: all gradients of
convolutions and pooling follow from these two primitives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ShapeError
from ..ir.node import Node, Primitive
from ..ir.serial import RECORDS
from ..ir.types import Dim, Shape, TensorType, join_shapes, show_shape
from .elementwise import add
from .filling import zeros
from .movement import (
    WHOLE,
    Cut,
    broadcast_to,
    concatenate,
    pad,
    reshape,
    slice_,
    slice_axis,
    unslice,
)
from .sizes import Size, dims_of, merged, minus, plus, quotient, size_of, sizes_product, split


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

    @property
    def spans(self) -> tuple[int, ...]:
        """How many elements the window reaches over along each axis."""
        pairs = zip(self.sizes, self.dilation, strict=True)
        return tuple((size - 1) * step + 1 for size, step in pairs)

    def out_dim(self, axis: int, dim: Dim) -> Dim:
        """How many places the window takes along an axis of size `dim`."""
        if dim is None:
            return None
        low, high = self.padding[axis]
        return max(0, (dim + low + high - self.spans[axis]) // self.strides[axis] + 1)

    def outputs(self, space: Shape) -> Shape:
        """The numbers of places along all spatial axes."""
        return tuple(self.out_dim(i, d) for i, d in enumerate(space))

    @property
    def cells(self) -> int:
        """The number of cells in the window."""
        return int(np.prod(self.sizes, dtype=np.int64))


RECORDS["Window"] = Window


def is_of_single_cells(window: Window) -> bool:
    """Whether a window has one cell, and takes its place at each cell of a space in turn."""
    return window.cells == 1 and set(window.strides) == {1} and not has_margins(window)


def has_margins(window: Window) -> bool:
    """Whether cells are added around a space, or cut off."""
    return any(map(any, window.padding))


def is_dilated(window: Window) -> bool:
    """Whether there are gaps between the window's cells."""
    return any(d > 1 and n > 1 for d, n in zip(window.dilation, window.sizes, strict=True))


def space_of(x: Node) -> Shape:
    return x.shape[1:-1]


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
        behind = window.spans[i] - 1 - start
        cuts.append((start, -behind or None, step))
    return [WHOLE, *cuts, WHOLE]


def framed(x: Node, margins: Sequence[tuple[int, int]], value: float = 0) -> Node:
    """`x` (batch, *space, channels) with margins around its space; negative ones are cut off."""
    cuts: list[Cut] = [(max(0, -a) or None, -max(0, -b) or None, 1) for a, b in margins]
    wide = [(max(0, a), max(0, b)) for a, b in margins]
    return pad(slice_(x, [WHOLE, *cuts, WHOLE]), [(0, 0), *wide, (0, 0)], value)


def corners(x: Node, window: Window, margin: float = 0) -> list[Node]:
    """For each cell of the window, in row-major order, what the cell sees at every place.

    `margin` is what cells see outside of `x`.
    """
    padded = framed(x, window.padding, margin)
    return [slice_(padded, seen_by(cell, window)) for cell in np.ndindex(*window.sizes)]


def put_back(parts: Iterable[Node], batch: Size, space: Sequence[Size], window: Window) -> Node:
    """The adjoint of `corners`: what each cell gets at its places, added up over `space`."""
    if lies_side_by_side(window):
        return _side_by_side(list(parts), batch, space, window)
    wide = [plus(d, a + b) for d, (a, b) in zip(space, window.padding, strict=True)]
    total: Node | None = None
    for part, cell in zip(parts, np.ndindex(*window.sizes), strict=True):
        placed = unslice(part, [batch, *wide, size_of(part, -1)], seen_by(cell, window))
        total = placed if total is None else add(total, placed)
    assert total is not None
    return framed(total, [(-a, -b) for a, b in window.padding])


def lies_side_by_side(window: Window) -> bool:
    """Whether no element is in two windows, or between two windows."""
    apart = window.sizes == window.strides and set(window.dilation) == {1}
    return apart and not has_margins(window)


def _side_by_side(
    parts: Sequence[Node], batch: Size, space: Sequence[Size], window: Window
) -> Node:
    """`put_back`, where nothing has to be added up: parts lie side by side."""
    cells = [_as_grid(part) for part in parts]
    for axis in reversed(range(window.rank)):
        size = window.sizes[axis]
        rows = (cells[i : i + size] for i in range(0, len(cells), size))
        cells = [concatenate(row, 2 * axis + 2) for row in rows]
    return out_of_grid(cells[0], space, window)


def _as_grid(x: Node) -> Node:
    """(batch, *places, channels) with an axis of size 1 behind each place."""
    batch, *places, channels = dims_of(x)
    return reshape(x, [batch, *(size for n in places for size in (n, 1)), channels])


def has_grid(window: Window) -> bool:
    """Whether windows lie side by side, along so few axes that libraries broadcast tensors with one
    more axis for each of these (TensorFlow broadcasts none to eight axes).
    """
    return window.rank < 3 and lies_side_by_side(window)


def over_grid(x: Node, window: Window) -> Node:
    """The value at each place for every cell of its window: (batch, place, cell, …, channels)."""
    batch, *places, channels = dims_of(x)
    pairs = zip(places, window.sizes, strict=True)
    return broadcast_to(_as_grid(x), [batch, *(size for pair in pairs for size in pair), channels])


def out_of_grid(grid: Node, space: Sequence[Size], window: Window) -> Node:
    """Cells of windows that lie side by side as one space, with zeros behind the last window."""
    batch, *rest, channels = dims_of(grid)
    covered = [sizes_product([n, s]) for n, s in zip(rest[::2], window.sizes, strict=True)]
    dims = [batch, *covered, channels]
    x = reshape(grid, dims)
    for axis, whole in enumerate(space, 1):
        left = minus(whole, dims[axis])
        dims[axis] = left
        if left != 0:
            x = concatenate([x, zeros(dims, x.dtype)], axis)
        dims[axis] = whole
    return x


def check_places(what: str, places: Node, space: Shape, window: Window) -> None:
    """Check that a tensor (batch, *places, channels) is what a window makes of a space."""
    check_space(what, places, window)
    join_shapes(window.outputs(space), space_of(places), f"{what}: places of the window")


# Patches and their adjoint -----------------------------------------------------------------


def _infer_patches(x: Node, *, window: Window) -> TensorType:
    check_space("patches", x, window)
    channels = x.shape[-1]
    depth = None if channels is None else channels * window.cells
    return TensorType((x.shape[0], *window.outputs(space_of(x)), depth), x.dtype)


def _expand_patches(x: Node, window: Window) -> Node:
    return concatenate(corners(x, window), len(x.shape) - 1)


_patches = Primitive(
    "patches",
    _infer_patches,
    "all windows of x, laid out along the last axis: cells row-major, then channels",
    expand=_expand_patches,
    parts=("space", "places"),
    accuracy="exact",
    may_alias=True,
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
    channels, axis = quotient(size_of(p, -1), window.cells), len(p.shape) - 1
    split_p = cells_of(p, window, channels)
    dims = [*dims_of(p)[:-1], channels]
    cells = (slice_axis(split_p, axis, i, i + 1) for i in range(window.cells))
    parts = (reshape(cell, dims) for cell in cells)
    return put_back(parts, size_of(p, 0), merged(space, sizes), window)


_fold = Primitive(
    "fold",
    _infer_fold,
    "the adjoint of patches: windows added into a tensor with spatial sizes `space`",
    expand=_expand_fold,
    parts=("places", "space"),
    may_alias=True,
)


def fold(p: Node, space: Sequence[Size], window: Window) -> Node:
    """Windows added up into the space that they came from."""
    shape, sizes = split(space)
    return _fold(p, *sizes, space=shape, window=window)


def cells_of(p: Node, window: Window, channels: Size) -> Node:
    """Patches as (batch, *places, cells, channels)."""
    return reshape(p, [*dims_of(p)[:-1], window.cells, channels])
