"""Strided slices: what they give, their gradients, and assignments to a part of a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import Size, split

from ..failures import failure
from ..graph import Operation
from ..lowering import Lowering
from ..shapes.known import slices_of
from ..variables import Reference
from .state import given_back
from .table import effect, known, pure
from .values import (
    UnknownSizeError,
    dims,
    elements,
    integer,
    integers,
    sizes_in,
    sizes_of,
    tensor,
)


class Cuts:
    """A strided slice, axis by axis.

    Attributes:
        windows: the start, end and step on each axis of the operand, steps above zero.
        axes: of the result: which of the operand's each is; None for a new one.
        flipped: axes that are reversed.
    """

    def __init__(self, operation: Operation, shape: tuple[int | None, ...], *parts: Any) -> None:
        slices = slices_of(operation, *map(integers, parts))
        consumed = sum(1 for part in slices if part is not None and part is not Ellipsis)
        slices = slices if Ellipsis in slices else (*slices, Ellipsis)
        self.windows: list[Any] = []
        self.axes: list[int | None] = []
        self.flipped: list[int] = []
        for part in slices:
            if part is None:
                self.axes.append(None)
                continue
            for _ in range(len(shape) - consumed if part is Ellipsis else 1):
                whole = slice(None) if part is Ellipsis else part
                self._cut(whole, shape[len(self.windows)])

    def _cut(self, part: Any, size: int | None) -> None:
        if isinstance(part, int):
            at = part if size is None else part % size if size else 0
            self.windows.append((at, None if at == -1 else at + 1, 1))
            return
        self.axes.append(len(self.windows))
        if size is None:
            if part.step not in (None, 1):
                raise UnknownSizeError(f"a slice {part} of an axis of unknown size")
            self.windows.append((part.start, part.stop, 1))
            return
        picked = range(*part.indices(size))
        if picked.step < 0:
            self.flipped.append(len(self.windows))
            picked = picked[::-1]
        self.windows.append((picked.start, max(picked.stop, picked.start), picked.step))


@known("StridedSlice")
def _strided(operation: Operation, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    rank = len(np.shape(x)) if not isinstance(x, Node) else len(x.shape)
    begin, end, rows = _computed_rows(operation, begin, end, rank)
    for axis, at in rows:
        x = I.gather(tensor(x), _from_the_front(at, *sizes_of(x, axis, axis + 1)), axis)
    if not isinstance(x, Node):
        slices = slices_of(operation, integers(begin), integers(end), integers(strides))
        return np.asarray(x[slices])
    cuts = Cuts(operation, x.shape, begin, end, strides)
    found = M.slice_(x, cuts.windows)
    if cuts.flipped:
        found = K.reverse(found, cuts.flipped)
    sizes = dims(found)
    return M.reshape(found, [1 if axis is None else sizes[axis] for axis in cuts.axes])


def _computed_rows(
    operation: Operation, begin: Any, end: Any, rank: int
) -> tuple[Any, Any, list[tuple[int, Node]]]:
    """Of a slice such as `x[:, i]`, where `i` is computed: what is left if there's nothing but
    the row on that axis, and each such axis with the row that's taken.

    Raises:
        NeedsValueError: something else than a single row is taken where it's computed.
    """
    if not isinstance(begin, Node):
        return begin, end, []
    masks = {name: operation.attribute(f"{name}_mask") for name in ("begin", "end", "shrink_axis")}
    starts, stops = elements(begin), elements(end)
    axes, rows = _axes(operation, len(starts), rank), []
    for place, start in enumerate(starts):
        bit = 1 << place
        if place not in axes:
            starts[place] = stops[place] = 0
        elif not masks["shrink_axis"] & bit:
            starts[place] = 0 if masks["begin"] & bit else start
            stops[place] = 0 if masks["end"] & bit else stops[place]
        elif isinstance(start, Node):
            rows.append((axes[place], start))
            starts[place] = stops[place] = 0
    if any(isinstance(start, Node) for start in starts):
        integers(begin)
    if any(isinstance(stop, Node) for stop in stops):
        integers(end)
    return starts, stops, rows


def _axes(operation: Operation, count: int, rank: int) -> dict[int, int]:
    """By place in a slice, the axis of what is sliced, where there's just one."""
    whole, new = (operation.attribute(f"{name}_mask") for name in ("ellipsis", "new_axis"))
    places = [place for place in range(count) if not (whole | new) >> place & 1]
    behind = [place for place in places if whole and whole < 1 << place]
    found = {place: axis for axis, place in enumerate(places)}
    found.update((place, rank - at) for at, place in enumerate(reversed(behind), 1))
    return found


def _from_the_front(at: Node, size: int) -> Node:
    """A number of a row, counted from the front if it's negative; as a vector."""
    row = M.reshape(at, [1])
    return E.select(E.lt(row, full_like(row, 0)), E.add(row, full_like(row, size)), row)


@pure("StridedSliceGrad")
def _strided_gradient(
    operation: Operation, sizes: Any, begin: Any, end: Any, strides: Any, g: Any
) -> Node:
    shape = sizes_in(sizes)
    begin, end, rows = _computed_rows(operation, begin, end, len(shape))
    picked = list(shape)
    for axis, _ in rows:
        picked[axis] = 1
    known, _ = split(picked)
    found = _spread(Cuts(operation, known, begin, end, strides), g, picked)
    for axis, at in rows:
        size = integer(shape[axis])
        found = I.scatter_add(found, _from_the_front(at, size), size, axis)
    return found


def _inner(cuts: Cuts, shape: tuple[int, ...]) -> list[int]:
    """How much of each axis is cut out."""
    pairs = zip(cuts.windows, shape, strict=True)
    return [len(range(*slice(*window).indices(size))) for window, size in pairs]


def _spread(cuts: Cuts, part: Any, shape: Sequence[Size]) -> Node:
    """What a slice gave, in its place among zeros."""
    sizes: list[Size] = [1] * len(shape)
    for axis, size in zip(cuts.axes, dims(part), strict=True):
        if axis is not None:
            sizes[axis] = size
    found = M.reshape(tensor(part), sizes)
    if cuts.flipped:
        found = K.reverse(found, cuts.flipped)
    return M.unslice(found, shape, cuts.windows)


# Assignments ------------------------------------------------------------------------------------


@effect("StridedSliceAssign ResourceStridedSliceAssign")
def _assign(lowering: Lowering, operation: Operation, reference: Reference, *given: Any) -> Any:
    begin, end, strides, value = map(lowering.value, given)
    x = lowering.value(reference)
    lowering.assign(reference, _updated(operation, x, begin, end, strides, value))
    return given_back(operation, reference)


@pure("TensorStridedSliceUpdate")
def _updated(operation: Operation, x: Any, begin: Any, end: Any, strides: Any, value: Any) -> Node:
    """A tensor with other values where a slice lies."""
    shape = sizes_of(x)
    cuts = Cuts(operation, shape, begin, end, strides)
    part, inner = tensor(value), _inner(cuts, shape)
    whole = [1 if axis is None else inner[axis] for axis in cuts.axes]
    if list(part.shape) != whole:
        message = f"a part of shape {whole} can't be assigned a value of {list(part.shape)}"
        raise failure("UNIMPLEMENTED", f"{message}: it isn't broadcast")
    there = _spread(cuts, full_like(part, 1), shape)
    return E.select(E.gt(there, full_like(there, 0)), _spread(cuts, part, shape), tensor(x))
