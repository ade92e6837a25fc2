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
from kameleon.graph.primitives.movement import WHOLE
from kameleon.graph.primitives.sizes import Size, as_node, minus

from ..failures import failure
from ..graph import Operation
from ..lowering import Lowering
from ..parts import clamped
from ..shapes.known import slices_of
from ..variables import Reference
from .state import given_back
from .table import effect, known, pure
from .values import (
    UnknownSizeError,
    are_sizes_open,
    dims,
    elements,
    integer,
    integers,
    sizes_of,
    tensor,
)


class Cuts:
    """A strided slice, axis by axis.

    Attributes:
        windows: the start, end and step on each axis of the operand, steps above zero.
        axes: of the result: which of the operand's each is; None for a new one.
        flipped: axes that are reversed.
        open: by axis that is cut where it's computed: the start, and how much is taken.
    """

    def __init__(self, operation: Operation, shape: Sequence[Size], *parts: Any) -> None:
        begin, end, strides = parts
        slices = slices_of(operation, elements(begin), elements(end), integers(strides))
        consumed = sum(1 for part in slices if part is not None and part is not Ellipsis)
        slices = slices if Ellipsis in slices else (*slices, Ellipsis)
        self.windows: list[Any] = []
        self.axes: list[int | None] = []
        self.flipped: list[int] = []
        self.open: dict[int, tuple[Size, Size]] = {}
        for part in slices:
            if part is None:
                self.axes.append(None)
                continue
            for _ in range(len(shape) - consumed if part is Ellipsis else 1):
                whole = slice(None) if part is Ellipsis else part
                self._cut(whole, shape[len(self.windows)])

    def _cut(self, part: Any, size: Size) -> None:
        axis = len(self.windows)
        if not isinstance(part, slice):
            self.windows.append(self._row(axis, part, size))
            return
        self.axes.append(axis)
        if not are_sizes_open():
            part = slice(_known(part.start), _known(part.stop), part.step)
        if isinstance(part.start, Node) or isinstance(part.stop, Node):
            self.open[axis] = _span_of(part, size)
            self.windows.append(WHOLE)
        elif isinstance(size, Node):
            self.windows.append(self._window(axis, part))
        else:
            picked = range(*part.indices(size))
            if picked.step < 0:
                self.flipped.append(axis)
                picked = picked[::-1]
            self.windows.append((picked.start, max(picked.stop, picked.start), picked.step))

    def _row(self, axis: int, at: Any, size: Size) -> Any:
        """The window of a single row."""
        if isinstance(at, Node):
            self.open[axis] = I.from_front(at, size), 1
            return WHOLE
        if isinstance(size, int):
            at = at % size if size else 0
        return at, None if at == -1 else at + 1, 1

    def _window(self, axis: int, part: slice) -> Any:
        """The window of a slice of an axis of unknown size."""
        if part == slice(None, None, -1):
            self.flipped.append(axis)
            return WHOLE
        if part.step is not None and part.step < 1:
            raise UnknownSizeError(f"a slice {part} of an axis of unknown size")
        return part.start, part.stop, part.step or 1


def _span_of(part: slice, size: Size) -> tuple[Size, Size]:
    """Where a slice begins whose places are computed, and how much it takes."""
    if part.step != 1:
        raise UnknownSizeError(f"a slice {part}")
    start = clamped(0 if part.start is None else part.start, size)
    stop = size if part.stop is None else clamped(part.stop, size)
    count = as_node(minus(stop, start))
    return start, E.maximum(count, full_like(count, 0))


def _known(place: Any) -> int | None:
    return None if place is None else integer(place)


@known("StridedSlice")
def _strided(operation: Operation, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    are_known = not any(isinstance(value, Node) for value in (x, begin, end, strides))
    if are_known:
        slices = slices_of(operation, integers(begin), integers(end), integers(strides))
        return np.asarray(x[slices])
    x = tensor(x)
    cuts = Cuts(operation, dims(x), begin, end, strides)
    for axis, (start, count) in cuts.open.items():
        x = I.span(x, axis, start, count)
    found = M.slice_(x, cuts.windows)
    if cuts.flipped:
        found = K.reverse(found, cuts.flipped)
    sizes = dims(found)
    return M.reshape(found, [1 if axis is None else sizes[axis] for axis in cuts.axes])


@pure("StridedSliceGrad")
def _strided_gradient(
    operation: Operation, shape: list[Size], begin: Any, end: Any, strides: Any, g: Any
) -> Node:
    return _spread(Cuts(operation, shape, begin, end, strides), g, shape)


def _inner(cuts: Cuts, shape: Sequence[int]) -> list[Size]:
    """How much of each axis is cut out."""
    pairs = zip(cuts.windows, shape, strict=True)
    found: list[Size] = [len(range(*slice(*window).indices(size))) for window, size in pairs]
    for axis, (_, count) in cuts.open.items():
        found[axis] = count
    return found


def _spread(cuts: Cuts, part: Any, shape: Sequence[Size]) -> Node:
    """What a slice gave, in its place among zeros."""
    sizes: list[Size] = [1] * len(shape)
    for axis, size in zip(cuts.axes, dims(part), strict=True):
        if axis is not None:
            sizes[axis] = size
    found = M.reshape(tensor(part), sizes)
    if cuts.flipped:
        found = K.reverse(found, cuts.flipped)
    opened = [cuts.open.get(axis, (0, size))[1] for axis, size in enumerate(shape)]
    found = M.unslice(found, opened, cuts.windows)
    for axis, (start, count) in cuts.open.items():
        found = I.scatter_add(found, I.places_of(start, count), shape[axis], axis)
    return found


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
    if not cuts.open and list(part.shape) != whole:
        message = f"a part of shape {whole} can't be assigned a value of {list(part.shape)}"
        raise failure("UNIMPLEMENTED", f"{message}: it isn't broadcast")
    there = _spread(cuts, full_like(part, 1), shape)
    return E.select(E.gt(there, full_like(there, 0)), _spread(cuts, part, shape), tensor(x))
