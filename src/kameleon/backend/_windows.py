"""How a window moves: from users' strides, paddings and layouts to a `Window` over space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.ir.types import INT32, show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import check
from ..graph.primitives.indexing import gather, span
from ..graph.primitives.movement import broadcast_to, iota, move_axis, pad
from ..graph.primitives.sizes import Size, are_one_size, dims_of, size_of
from ..graph.primitives.windows import Window
from ._tensors import as_tensor, binary

Ints = tuple[int, ...]

ORDINALS = {1: "1 integer", 2: "an integer or 2 of them", 3: "an integer or 3 of them"}


class Moves(NamedTuple):
    """A user's arguments on a window: an entry for each spatial axis, and the padding.

    `same` gives ceil(size / stride) places; the cells to be added for that are split evenly, the
    odd one at the end. `causal` adds cells before the start alone.
    """

    sizes: Ints
    strides: Ints
    dilation: Ints
    padding: str

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.sizes)

    def span(self, axis: int) -> int:
        """How many cells the window reaches over."""
        return (self.sizes[axis] - 1) * self.dilation[axis] + 1

    def window(self, padding: Sequence[tuple[int, int]]) -> Window:
        """The window with its padding resolved to numbers."""
        return Window(self.sizes, self.strides, tuple(padding), self.dilation)


# Users' arguments --------------------------------------------------------------------------


def spatial(value: Any, rank: int, what: str, argument: str) -> Ints:
    """`value` as one positive int for each spatial axis; a single one stands for all."""
    items = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,) * rank
    try:
        ints = tuple(int(v.__index__()) for v in items)
    except AttributeError:
        ints = ()
    if len(ints) != rank or min(ints) < 1:
        raise ArgumentError(f"{what}: {argument} is {value!r}; expected {ORDINALS[rank]}, all >= 1")
    return ints


def padding_name(padding: Any, what: str, allowed: Sequence[str] = ("valid", "same")) -> str:
    """`padding`, which must be one of `allowed`."""
    if padding not in allowed:
        names = " or ".join(map(repr, allowed))
        raise ArgumentError(f"{what}: padding is {padding!r}; expected {names}")
    return str(padding)


def kernel_sizes(kernel: Node, rank: int, what: str) -> Ints:
    """The spatial sizes of a kernel, whose last two axes are channels."""
    if len(kernel.shape) != rank + 2:
        raise ShapeError(
            f"{what}: a kernel with {rank + 2} axes was expected ({rank} of space, 2 of channels),"
            f" got shape {show_shape(kernel.shape)}"
        )
    sizes = tuple(d for d in kernel.shape[:rank] if d is not None)
    if len(sizes) < rank or 0 in sizes:
        raise ShapeError(
            f"{what}: the spatial sizes of the kernel must be known and positive, got shape"
            f" {show_shape(kernel.shape)}; K.reshape it to known sizes"
        )
    return sizes


def channels_to_end(x: Node, layout: str, rank: int, what: str) -> Node:
    """`x` (batch, space and channels in `layout`) as (batch, *space, channels)."""
    if len(x.shape) != rank + 2:
        raise ShapeError(
            f"{what}: a tensor with {rank + 2} axes was expected (batch, channels and {rank} of"
            f" space), got shape {show_shape(x.shape)}"
        )
    return move_axis(x, 1, rank + 1) if layout == "channels_first" else x


def channels_back(y: Node, layout: str) -> Node:
    """(batch, *space, channels) in `layout`."""
    return move_axis(y, len(y.shape) - 1, 1) if layout == "channels_first" else y


def with_equal_channels(what: str, x: Node, kernel: Node, axis: int) -> tuple[Node, Node]:
    """`x` and `kernel` with equal numbers of channels, on the last axis of `x` and on `axis` of
    the kernel: where one of the two numbers is unknown, the other is taken.
    """
    got, wanted = size_of(x, -1), size_of(kernel, axis)
    if are_one_size(got, wanted):
        return x, kernel
    if isinstance(got, int) and isinstance(wanted, int):
        raise ShapeError(
            f"{what}: x has {got} channels (shape {show_shape(x.shape)}, channels last), but the"
            f" kernel of shape {show_shape(kernel.shape)} takes {wanted}"
        )
    if isinstance(got, int):
        return x, _of_size(kernel, axis, got)
    return _of_size(x, -1, wanted), kernel


def _of_size(x: Node, axis: int, size: Size) -> Node:
    """`x` with `size` for an axis of unknown size; an error at run time where that's wrong."""
    dims = dims_of(x)
    dims[axis] = size
    return broadcast_to(x, dims)


# Padding -----------------------------------------------------------------------------------


def same_padding(size: int, stride: int, span: int) -> tuple[int, int]:
    """What `same` adds before and after an axis of known size.

    Source: TensorFlow, "Notes on padding" (API guide of `tf.nn`).
    """
    total = max(0, (-(-size // stride) - 1) * stride + span - size) if size else 0
    return total // 2, total - total // 2


def _open_padding(stride: int, span: int) -> tuple[tuple[int, int], bool]:
    """Padding for `same` on an axis of unknown size, and whether its start depends on the size.

    With r = (size - 1) % stride, `same` adds max(0, span - 1 - r) cells, half of them (rounded
    down) at the start. Further cells at the end make no more places, so only the start matters;
    the margins given are the widest ones.
    """
    widest, narrowest = (span - 1) // 2, max(0, span - stride) // 2
    return (widest, span - 1 - narrowest), widest != narrowest


def _start(size: Node, stride: int, span: int, what: str) -> Node:
    """How many cells `same` adds at the start of an axis, at run time."""
    rest = binary(ew.mod, binary(ew.sub, size, 1, what), stride, what)
    total = binary(ew.maximum, binary(ew.sub, span - 1, rest, what), 0, what)
    return binary(ew.floor_div, total, 2, what)


def resolve(x: Node, moves: Moves, what: str, fill: float = 0) -> tuple[Node, Window]:
    """The window with its padding in numbers, and the tensor that it moves over.

    The tensor is `x`; where the padding depends on a size that is known only at run time, it's
    `x` already padded with `fill`.

    Raises:
        ShapeError: the window doesn't fit into a known size.
    """
    padding = []
    for i in range(moves.rank):
        dim, stride, span = x.shape[i + 1], moves.strides[i], moves.span(i)
        if moves.padding != "same":
            margins = (span - 1, 0) if moves.padding == "causal" else (0, 0)
            if dim is not None and dim + sum(margins) < span:
                raise ShapeError(
                    f"{what}: a window that reaches over {span} cells doesn't fit into a size of"
                    f" {dim} (x has shape {show_shape(x.shape)}, channels last); padding='same'"
                    " makes room"
                )
        elif dim is not None:
            margins = same_padding(dim, stride, span)
        else:
            margins, varies = _open_padding(stride, span)
            if varies:
                x, margins = _shifted(x, i + 1, margins, stride, span, fill, what), (0, 0)
        padding.append(margins)
    return x, moves.window(padding)


def _shifted(
    x: Node, axis: int, margins: tuple[int, int], stride: int, reach: int, fill: float, what: str
) -> Node:
    """`x` padded along `axis` as `same` wants it, whatever the size will be."""
    size = as_int32(size_of(x, axis))
    around = [(0, 0)] * len(x.shape)
    around[axis] = margins
    first = binary(ew.sub, margins[0], _start(size, stride, reach, what), what)
    length = binary(ew.add, size, reach - 1, what)
    return span(pad(x, around, fill), axis, first, length)


def strided_in_phases(y: Node, rates: Ints, strides: Ints, what: str) -> Node:
    """Every stride-th place of `y`, counted within each of the phases of a dilation.

    With rate r and stride s, place o of the result is place r * s * (o // r) + o % r of `y`
    (batch, *places, channels), as long as o < r * ceil(size / (r * s)) - (-size mod r).
    """
    for axis, (rate, stride) in enumerate(zip(rates, strides, strict=True), 1):
        size = size_of(y, axis)
        count = rate * -(-size // (rate * stride)) - -size % rate
        place: Any = np.arange(count) if isinstance(count, int) else iota([count])
        y = gather(y, as_tensor(place // rate * (rate * stride) + place % rate, what), axis)
    return y


def as_int32(size: Size) -> Node:
    """A size as an int32 scalar."""
    return ew.cast(size, INT32) if isinstance(size, Node) else ew.constant(size, INT32)


class Target(NamedTuple):
    """The space that a transposed convolution spreads into, and what to cut out of it.

    cuts: axis, start and size, for axes whose padding depends on a size known at run time.
    """

    space: list[Size]
    window: Window
    cuts: list[tuple[int, Node, Node]]


def resolve_transposed(
    x: Node, space: Sequence[Size], moves: Moves, what: str
) -> tuple[Node, Target]:
    """`x` with run-time checks, and the target for spreading it over `space`.

    Raises:
        ShapeError: the convolution of a tensor with sizes `space` doesn't have those of `x`.
    """
    target: list[Size] = []
    padding, cuts = [], []
    for i, size in enumerate(space):
        stride, span, margins = moves.strides[i], moves.span(i), (0, 0)
        x = _checked_places(x, i + 1, size, moves, what)
        if moves.padding == "same" and isinstance(size, int):
            margins = same_padding(size, stride, span)
        elif moves.padding == "same":
            assert isinstance(size, Node)
            margins, varies = _open_padding(stride, span)
            if varies:
                length = as_int32(size)
                cuts.append((i + 1, _start(length, stride, span, what), length))
                size, margins = binary(ew.add, length, span - 1, what), (0, 0)
        target.append(size)
        padding.append(margins)
    return x, Target(target, moves.window(padding), cuts)


def cut_out(y: Node, target: Target) -> Node:
    """The part of `y` that the user asked for."""
    for axis, start, size in target.cuts:
        y = span(y, axis, start, size)
    return y


def _checked_places(x: Node, axis: int, size: Size, moves: Moves, what: str) -> Node:
    """`x`, whose size along `axis` must be the number of places that `size` cells have."""
    stride, span = moves.strides[axis - 1], moves.span(axis - 1)
    rule = f"ceil(size / {stride})"
    if moves.padding == "valid":
        rule = f"(size - {span}) // {stride} + 1"
    message = (
        f"{what}: with padding {moves.padding!r}, an output of some size belongs to an input of"
        f" {rule}; along spatial axis {axis - 1}, output_shape and x don't fit"
    )
    given = x.shape[axis]
    if isinstance(size, int) and given is not None:
        places = _places(size, stride, span, moves.padding)
        if places != given:
            raise ShapeError(f"{message}: {size} belongs to {places}, x has {given}")
        return x
    offset = stride - span if moves.padding == "valid" else stride - 1
    total = binary(ew.add, as_int32(size), offset, what)
    places_node = binary(ew.floor_div, total, stride, what)
    return check(x, ew.eq(places_node, as_int32(size_of(x, axis))), message=message)


def _places(size: int, stride: int, span: int, padding: str) -> int:
    return (size - span) // stride + 1 if padding == "valid" else -(-size // stride)
