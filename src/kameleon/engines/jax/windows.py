"""Convolutions in JAX. Layout (batch, *space, channels).

XLA's convolutions are fast where channels are mixed, in lines and planes; volumes are taken plane
by plane. A window without mixing (depthwise, pooling) is much faster as a sum or a maximum over its
cells, as its expansion is: XLA makes one loop of it. Of the gradients of many cells it makes one,
too, but for a minute: there a grouped convolution is as fast, and compiled at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from ...graph.ir.node import Node
from ...graph.primitives.windows import Window
from .._lowering import Rule
from .._windows import has_neighbours
from .arrays import on_processor
from .lowering import SizesError, Tracing, Value, as_array, same_shapes, same_sizes, scalar

Dims = Sequence[int]


def _space(x: Value) -> tuple[int, ...]:
    return tuple(np.shape(x)[1:-1])


def _places(window: Window, space: Dims) -> tuple[int, ...]:
    if all(isinstance(d, int) for d in space):
        return tuple(window.outputs(tuple(space)))  # type: ignore[arg-type]
    rows = zip(space, window.padding, window.spans, window.strides, strict=True)
    return tuple(
        jax.core.max_dim((d + low + high - span) // stride + 1, 0)
        for d, (low, high), span, stride in rows
    )


def _check_places(window: Window, space: Dims, x: Value) -> None:
    places = _places(window, space)
    if places != _space(x):
        raise SizesError(
            f"a window over space {tuple(space)} takes {places} places, not {_space(x)}",
            list(zip(places, _space(x), strict=True)),
        )


# Convolution -------------------------------------------------------------------------------


def _numbers(lhs: str, rhs: str, rank: int) -> lax.ConvDimensionNumbers:
    """Dimension numbers: S stands for all axes of space."""

    def spec(text: str, axes: str) -> tuple[int, ...]:
        space = text.index("S")
        places = {c: i + (rank - 1) * (i > space) for i, c in enumerate(text)}
        return (places[axes[0]], places[axes[1]], *range(space, space + rank))

    return lax.ConvDimensionNumbers(spec(lhs, "NC"), spec(rhs, "OI"), spec("NSC", "NC"))


def _convolved(
    x: Value,
    k: Value,
    numbers: lax.ConvDimensionNumbers,
    strides: Dims,
    padding: Sequence[tuple[int, int]],
    holes: tuple[Dims, Dims],
) -> Value:
    """XLA's convolution; `holes` are the dilations of x and of k."""
    padding = list(padding)
    if not all(isinstance(d, int) for margins in padding for d in margins):
        x, padding = _padded(x, numbers, padding, holes[0]), [(0, 0)] * len(padding)
        holes = (1,) * len(padding), holes[1]
    axis = _axis_to_lengthen(x, k, numbers, strides, padding, holes)
    if axis is not None:
        padding[axis] = (0, strides[axis])
    found = lax.conv_general_dilated(
        x,
        k,
        tuple(strides),
        padding,
        lhs_dilation=tuple(holes[0]),
        rhs_dilation=tuple(holes[1]),
        dimension_numbers=numbers,
        precision=lax.Precision.HIGHEST,
    )
    if axis is None:
        return found
    return lax.slice_in_dim(found, 0, found.shape[1 + axis] - 1, axis=1 + axis)


def _padded(
    x: Value, numbers: lax.ConvDimensionNumbers, padding: Sequence[tuple[Any, Any]], holes: Dims
) -> Value:
    """What a convolution pads and dilates by itself, if it's told numbers: these are symbols."""
    margins: list[tuple[Any, Any, int]] = [(0, 0, 0)] * x.ndim
    for axis, (low, high), hole in zip(numbers.lhs_spec[2:], padding, holes, strict=True):
        margins[axis] = (low, high, hole - 1)
    return lax.pad(x, scalar(0, x.dtype), margins)


# On a processor XLA first gathers all patches of a plane, if nothing is padded. From so many bytes
# on that takes two to four times as long as what it does where something is padded.
MANY_BYTES = 2**24


def _axis_to_lengthen(
    x: Value,
    k: Value,
    numbers: lax.ConvDimensionNumbers,
    strides: Dims,
    padding: Sequence[tuple[int, int]],
    holes: tuple[Dims, Dims],
) -> int | None:
    """The axis of a plane with the most places, which gets another one, where that is faster."""
    if len(strides) != 2 or any(map(any, padding)) or max(holes[0]) > 1 or not on_processor():
        return None
    if not all(isinstance(d, int) for d in x.shape):
        return None  # the size isn't known yet
    batch, features, *space = (x.shape[axis] for axis in numbers.lhs_spec)
    sizes = [k.shape[axis] for axis in numbers.rhs_spec[2:]]
    window = Window(tuple(sizes), tuple(strides), tuple(padding), tuple(holes[1]))
    places = _places(window, space)
    count = batch * features * window.cells * math.prod(places)
    is_slow = window.cells > 1 and x.dtype.kind == "f" and count * x.dtype.itemsize >= MANY_BYTES
    return places.index(max(places)) if is_slow else None


def _ones(window: Window) -> tuple[int, ...]:
    return (1,) * window.rank


def _zeros(shape: Dims, x: Value) -> Value:
    return lax.full(tuple(shape), scalar(0, x.dtype))


def _conv(e: Tracing, node: Node, x: Value, k: Value) -> Value:
    window: Window = node.attrs["window"]
    same_shapes(window.sizes, np.shape(k)[:-2])
    shape = (x.shape[0], *_places(window, _space(x)), np.shape(k)[-1])
    if 0 in (*shape, x.shape[-1]):
        return _zeros(shape, x)
    return _sliding(x, k, window)


def _sliding(x: Value, k: Value, window: Window) -> Value:
    if _is_by_planes(window, x):
        planes = _Planes(window, x.shape[1])
        parts = zip(planes.seen(x), as_array(k), strict=True)
        found = sum(_sliding(part, kernel, planes.window) for part, kernel in parts)
        return planes.apart(found)
    return _convolved(
        x, k, _numbers("NSC", "SIO", window.rank), window.strides, window.padding,
        (_ones(window), window.dilation),
    )  # fmt: skip


def _conv_input(e: Tracing, node: Node, g: Value, k: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    _check_places(window, space, g)
    same_sizes(g.shape[-1], np.shape(k)[-1])
    shape = (g.shape[0], *space, np.shape(k)[-2])
    if 0 in (*shape, *g.shape):
        return _zeros(shape, g)
    return _sliding_back(g, k, space, window)


def _sliding_back(g: Value, k: Value, space: Dims, window: Window) -> Value:
    if _is_by_planes(window, g):
        planes = _Planes(window, space[0])
        parts = (_sliding_back(_as_planes(g), kernel, space[1:], planes.window) for kernel in k)
        return planes.put_back([planes.apart(part) for part in parts])
    padding = []
    for d, n, size, hole, stride, (low, _) in zip(
        space, _space(g), window.sizes, window.dilation, window.strides, window.padding,
        strict=True,
    ):  # fmt: skip
        before = (size - 1) * hole - low
        padding.append((before, d - (n - 1) * stride - 1 + (size - 1) * hole - before))
    mirrored = lax.rev(k, range(window.rank))
    return _convolved(
        g, mirrored, _numbers("NSC", "SOI", window.rank), _ones(window), padding,
        (window.strides, window.dilation),
    )  # fmt: skip


def _conv_kernel(e: Tracing, node: Node, x: Value, g: Value) -> Value:
    window: Window = node.attrs["window"]
    _check_places(window, _space(x), g)
    same_sizes(x.shape[0], g.shape[0])
    shape = (*window.sizes, x.shape[-1], g.shape[-1])
    if 0 in (*shape, *x.shape, *g.shape):
        return _zeros(shape, x)
    return _correlated(x, g, window)


def _correlated(x: Value, g: Value, window: Window) -> Value:
    """A convolution of x with g over the batch, at distances of the dilation."""
    if _is_by_planes(window, x):
        planes = _Planes(window, x.shape[1])
        parts = [_correlated(part, _as_planes(g), planes.window) for part in planes.seen(x)]
        return lax.concatenate([lax.expand_dims(part, (0,)) for part in parts], 0)
    padding = []
    for d, n, size, hole, stride, (low, _) in zip(
        _space(x), _space(g), window.sizes, window.dilation, window.strides, window.padding,
        strict=True,
    ):  # fmt: skip
        padding.append((low, (size - 1) * hole + (n - 1) * stride + 1 - d - low))
    found = _convolved(
        x, g, _numbers("CSN", "ISO", window.rank), window.dilation, padding,
        (_ones(window), window.strides),
    )  # fmt: skip
    rank = window.rank  # (channels, *window, out)
    return lax.transpose(found, (*range(1, rank + 1), 0, rank + 1))


# Volumes ------------------------------------------------------------------------------------


def _is_by_planes(window: Window, x: Value) -> bool:
    """Whether planes, one for each depth of the window, are faster than a volume at once: XLA has
    fast code for planes alone, on a processor.
    """
    return window.rank == 3 and x.dtype.kind == "f" and on_processor()


def _as_planes(x: Value) -> Value:
    """Volumes as the planes of which they consist, one behind the other."""
    return lax.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


class _Planes:
    """A window over volumes, as windows over planes.

    Args:
        window: that over volumes.
        depth: how many planes a volume has.

    Attributes:
        window: that over planes.
    """

    def __init__(self, window: Window, depth: int):
        (size, *sizes), (stride, *strides), (self._padding, *padding), (hole, *holes) = window
        self.window = Window(tuple(sizes), tuple(strides), tuple(padding), tuple(holes))
        self._depth, self._places = depth, window.out_dim(0, depth) or 0
        self._starts, self._stride = range(0, size * hole, hole), stride
        self._reach = (self._places - 1) * stride + 1  # from its first place to its last one

    def seen(self, x: Value) -> list[Value]:
        """For each depth of the window, the planes that it sees in its places."""
        low, high = self._padding
        padded = _margins(x, low, 0, high)
        return [
            _as_planes(lax.slice_in_dim(padded, at, at + self._reach, self._stride, 1))
            for at in self._starts
        ]

    def apart(self, planes: Value) -> Value:
        """Planes as volumes that are as deep as there are places."""
        return lax.reshape(
            planes, (planes.shape[0] // self._places, self._places, *planes.shape[1:])
        )

    def put_back(self, parts: list[Value]) -> Value:
        """The adjoint of `seen`, for volumes."""
        low, _ = self._padding
        behind = self._depth + low - self._reach
        return sum(
            _margins(part, at - low, self._stride - 1, behind - at)
            for at, part in zip(self._starts, parts, strict=True)
        )


def _margins(x: Value, low: int, inner: int, high: int) -> Value:
    """Volumes with planes of zeros before, between and behind theirs; fewer planes for numbers
    below 0.
    """
    margins = [(0, 0, 0), (low, high, inner), *[(0, 0, 0)] * (x.ndim - 2)]
    return lax.pad(x, scalar(0, x.dtype), margins)


# Depthwise gradients ------------------------------------------------------------------------


def _grouped(x: Value, k: Value, window: Window) -> Value:
    """A depthwise convolution as XLA's: the channels are groups."""
    channels, multiplier = np.shape(k)[-2:]
    return lax.conv_general_dilated(
        x,
        lax.reshape(k, (*window.sizes, 1, channels * multiplier)),
        window.strides,
        window.padding,
        rhs_dilation=window.dilation,
        dimension_numbers=_numbers("NSC", "SIO", window.rank),
        feature_group_count=channels,
        precision=lax.Precision.HIGHEST,
    )


def _adjoint(function: Callable[[Value], Value], shape: Dims, g: Value) -> Value:
    """What a linear function of an array of that shape does, transposed, to g."""
    x = jax.ShapeDtypeStruct(tuple(shape), g.dtype)  # type: ignore[no-untyped-call]
    [found] = jax.linear_transpose(function, x)(g)
    return found


def _depthwise_input(e: Tracing, node: Node, g: Value, k: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    channels, multiplier = np.shape(k)[-2:]
    _check_places(window, space, g)
    same_sizes(g.shape[-1], channels * multiplier)
    shape = (g.shape[0], *space, channels)
    if 0 in (*shape, *g.shape):
        return _zeros(shape, g)
    return _adjoint(lambda x: _grouped(x, k, window), shape, g)


def _depthwise_kernel(e: Tracing, node: Node, x: Value, g: Value) -> Value:
    window: Window = node.attrs["window"]
    channels, multiplier = x.shape[-1], node.attrs["multiplier"]
    if multiplier is None:
        multiplier = g.shape[-1] // max(1, channels)
    _check_places(window, _space(x), g)
    same_sizes(x.shape[0], g.shape[0])
    same_sizes(g.shape[-1], channels * multiplier)
    shape = (*window.sizes, channels, multiplier)
    if 0 in (*shape, *x.shape, *g.shape):
        return _zeros(shape, x)
    return _adjoint(lambda k: _grouped(x, k, window), shape, g)


def _traced(rule: Callable[..., Value]) -> Rule:
    """A rule whose operands, but for sizes, are arrays of JAX."""

    def with_arrays(e: Tracing, node: Node, *values: Value) -> Value:
        arrays = [as_array(v) if np.shape(v) else v for v in values]
        return rule(e, node, *arrays)

    return with_arrays


KERNELS: dict[str, Rule] = {
    "conv": _conv,
    "conv_input": _conv_input,
    "conv_kernel": _conv_kernel,
    "depthwise_input": _depthwise_input,
    "depthwise_kernel": _depthwise_kernel,
}
RULES: dict[str, Rule] = {name: _traced(rule) for name, rule in KERNELS.items()}
# Gradients of windows with fewer cells are faster as sums.
MANY_CELLS = 64


def _has_many_cells(node: Node) -> bool:
    return node.attrs["window"].cells >= MANY_CELLS  # type: ignore[no-any-return]


def _has_convolutions(node: Node) -> bool:
    """Whether XLA has them: on GPUs of floats alone."""
    return node.dtype.is_float or on_processor()


WHERE: dict[str, Callable[[Node], bool]] = {
    "conv": _has_convolutions,  # of single cells, too: XLA transposes what a product is taken of
    "conv_kernel": lambda node: _has_convolutions(node) and has_neighbours(node),
    # XLA has no fast code for a dilated input in float64.
    "conv_input": lambda node: node.dtype != "float64" and _has_convolutions(node),
    "depthwise_input": _has_many_cells,
    "depthwise_kernel": _has_many_cells,
}
