"""Convolutions in JAX. Layout (batch, *space, channels).

XLA's convolutions are fast where channels are mixed, in lines and planes; volumes are taken plane
by plane. A window without mixing (depthwise, pooling) is much faster as a sum or a maximum over its
cells, as its expansion is: XLA makes one loop of it. Of the gradients of many cells it makes one,
too, but for a minute: there a grouped convolution is as fast, and compiled at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import jax
import numpy as np
from jax import lax

from ...graph.ir.node import Node
from ...graph.primitives.windows import Window, has_margins
from .._lowering import Rule
from .._windows import has_neighbours
from .arrays import on_processor
from .lowering import SizesError, Tracing, Value, as_array, same_shapes, same_sizes, scalar

Dims = Sequence[int]


def _space(x: Value) -> tuple[int, ...]:
    return tuple(np.shape(x)[1:-1])


def _is_known(sizes: Dims) -> bool:
    """Whether there are numbers of an export's open sizes, too; else these have just names."""
    return all(isinstance(d, int) for d in sizes)


def _places(window: Window, space: Dims) -> tuple[int, ...]:
    if _is_known(space):
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


def _conv(e: Tracing, node: Node, x: Value, k: Value) -> Value:
    window: Window = node.attrs["window"]
    same_shapes(window.sizes, np.shape(k)[:-2])
    shape = (x.shape[0], *_places(window, _space(x)), np.shape(k)[-1])
    return _zeros(shape, x) if 0 in (*shape, x.shape[-1]) else _mixing(x, k, window)


def _zeros(shape: Dims, x: Value) -> Value:
    return lax.full(tuple(shape), scalar(0, x.dtype))


def _mixing(x: Value, k: Value, window: Window) -> Value:
    """A convolution with a kernel (*window, in, out)."""
    if _is_by_planes(window, x):
        planes = _Planes(window, x.shape[1])
        parts = zip(planes.seen(x), as_array(k), strict=True)
        return planes.apart(reduce(lax.add, (_mixing(x, k, planes.window) for x, k in parts)))
    axis = _axis_to_lengthen(x, window)
    if axis is None:
        return _convolved(x, k, window)
    padding = [(0, s * (i == axis)) for i, s in enumerate(window.strides)]
    found = _convolved(x, k, window._replace(padding=tuple(padding)))
    return lax.slice_in_dim(found, 0, found.shape[1 + axis] - 1, axis=1 + axis)


def _apart(x: Value, k: Value, window: Window) -> Value:
    """A depthwise convolution, with a kernel (*window, channels, multiplier)."""
    channels, multiplier = np.shape(k)[-2:]
    k = lax.reshape(k, (*window.sizes, 1, channels * multiplier))
    return _convolved(x, k, window, channels)


def _convolved(x: Value, k: Value, window: Window, groups: int = 1) -> Value:
    space = "DHW"[-window.rank :]
    return lax.conv_general_dilated(
        x,
        k,
        window.strides,
        window.padding,
        rhs_dilation=window.dilation,
        dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
        feature_group_count=groups,
        precision=lax.Precision.HIGHEST,
    )


# On a processor XLA first gathers all patches of a plane, if nothing is padded. From so many bytes
# on that takes two to four times as long as what it does where something is padded.
MANY_BYTES = 2**24


def _axis_to_lengthen(x: Value, window: Window) -> int | None:
    """The axis of a plane with the most places, which gets another one, where that is faster."""
    if window.rank != 2 or has_margins(window) or not on_processor():
        return None
    if not _is_known(x.shape):
        return None
    places = _places(window, _space(x))
    count = x.shape[0] * x.shape[-1] * window.cells * math.prod(places)
    is_slow = window.cells > 1 and x.dtype.kind == "f" and count * x.dtype.itemsize >= MANY_BYTES
    return places.index(max(places)) if is_slow else None


# Adjoints -----------------------------------------------------------------------------------

# (x, k, window) -> y, linear in x and in k.
Convolution = Callable[[Value, Value, Window], Value]


def _adjoint(function: Callable[[Value], Value], shape: Dims, g: Value) -> Value:
    """What a linear function of an array of that shape does, transposed, to g."""
    x = jax.ShapeDtypeStruct(tuple(shape), g.dtype)  # type: ignore[no-untyped-call]
    [found] = jax.linear_transpose(function, x)(g)
    return found


def _transposable(convolution: Convolution, x: Value, k: Value, window: Window) -> Value:
    """A convolution as JAX transposes it. Open sizes need a place at least; and margins that are
    part of x, up to the last cell that is seen: then those of the transposed one are numbers.
    """
    if _is_known(_space(x)):
        return convolution(x, k, window)
    margins = [(0, 0, 0)] * x.ndim
    counts = _places(window, _space(x))
    rows = zip(_space(x), counts, window.padding, window.spans, window.strides, strict=True)
    for axis, (d, count, (low, _), span, stride) in enumerate(rows, 1):
        last = (count - 1) * stride
        same_sizes(last + 1, jax.core.max_dim(last + 1, 0))
        margins[axis] = (low, last + span - d - low, 0)
    bare = window._replace(padding=((0, 0),) * window.rank)
    return convolution(lax.pad(x, scalar(0, x.dtype), margins), k, bare)


def _onto_space(convolution: Convolution, depth: Callable[[Dims], int]) -> Rule:
    """The adjoint in x; `depth` gives the channels of y by the sizes of the kernel."""

    def rule(e: Tracing, node: Node, g: Value, k: Value, *sizes: Value) -> Value:
        window, space = node.attrs["window"], e.dims(node)
        _check_places(window, space, g)
        same_sizes(g.shape[-1], depth(np.shape(k)))
        shape = (g.shape[0], *space, np.shape(k)[-2])
        if 0 in (*shape, *g.shape):
            return _zeros(shape, g)
        return _adjoint(lambda x: _transposable(convolution, x, k, window), shape, g)

    return rule


def _onto_kernel(convolution: Convolution, outputs: Callable[[Node, Value, Value], int]) -> Rule:
    """The adjoint in k; `outputs` gives the last size of the kernel."""

    def rule(e: Tracing, node: Node, x: Value, g: Value) -> Value:
        window = node.attrs["window"]
        _check_places(window, _space(x), g)
        same_sizes(x.shape[0], g.shape[0])
        shape = (*window.sizes, x.shape[-1], outputs(node, x, g))
        if 0 in (*shape, *x.shape, *g.shape):
            return _zeros(shape, x)
        return _adjoint(lambda k: _transposable(convolution, x, k, window), shape, g)

    return rule


def _multiplier(node: Node, x: Value, g: Value) -> int:
    channels, multiplier = x.shape[-1], node.attrs["multiplier"]
    if multiplier is None:
        multiplier = g.shape[-1] // max(1, channels)
    same_sizes(g.shape[-1], channels * multiplier)
    return multiplier  # type: ignore[no-any-return]


# Volumes ------------------------------------------------------------------------------------


def _is_by_planes(window: Window, x: Value) -> bool:
    """Whether planes, one for each depth of the window, are faster than a volume at once: XLA has
    fast code for planes alone, on a processor.
    """
    return window.rank == 3 and x.dtype.kind == "f" and on_processor()


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
        self._places = window.out_dim(0, depth) or 0
        self._starts, self._stride = range(0, size * hole, hole), stride
        self._reach = (self._places - 1) * stride + 1  # from its first place to its last one

    def seen(self, x: Value) -> list[Value]:
        """For each depth of the window, the planes that it sees in its places."""
        margins = [(0, 0, 0), (*self._padding, 0), *[(0, 0, 0)] * (x.ndim - 2)]
        padded = lax.pad(x, scalar(0, x.dtype), margins)
        parts = (
            lax.slice_in_dim(padded, at, at + self._reach, self._stride, 1) for at in self._starts
        )
        return [lax.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])) for x in parts]

    def apart(self, planes: Value) -> Value:
        """Planes as volumes that are as deep as there are places."""
        return lax.reshape(
            planes, (planes.shape[0] // self._places, self._places, *planes.shape[1:])
        )


def _traced(rule: Callable[..., Value]) -> Rule:
    """A rule whose operands, but for sizes, are arrays of JAX."""

    def with_arrays(e: Tracing, node: Node, *values: Value) -> Value:
        arrays = [as_array(v) if np.shape(v) else v for v in values]
        return rule(e, node, *arrays)

    return with_arrays


KERNELS: dict[str, Rule] = {
    "conv": _conv,
    "conv_input": _onto_space(_mixing, lambda sizes: sizes[-1]),
    "conv_kernel": _onto_kernel(_mixing, lambda node, x, g: g.shape[-1]),
    "depthwise_input": _onto_space(_apart, lambda sizes: math.prod(sizes[-2:])),
    "depthwise_kernel": _onto_kernel(_apart, _multiplier),
}
RULES: dict[str, Rule] = {name: _traced(rule) for name, rule in KERNELS.items()}
# Gradients of windows with fewer cells are faster as sums.
MANY_CELLS = 64


def _has_many_cells(node: Node) -> bool:
    return node.dtype.is_float and bool(node.attrs["window"].cells >= MANY_CELLS)


def _has_convolutions(node: Node) -> bool:
    """Whether XLA has them: on GPUs of floats alone."""
    return node.dtype.is_float or on_processor()


# JAX transposes functions of floats alone.
WHERE: dict[str, Callable[[Node], bool]] = {
    "conv": _has_convolutions,  # of single cells, too: XLA transposes what a product is taken of
    "conv_kernel": lambda node: node.dtype.is_float and has_neighbours(node),
    # XLA has no fast code for a dilated input in float64.
    "conv_input": lambda node: node.dtype.is_float and node.dtype != "float64",
    "depthwise_input": _has_many_cells,
    "depthwise_kernel": _has_many_cells,
}
