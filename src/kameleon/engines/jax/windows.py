"""Windows, convolutions and pooling in JAX. Layout (batch, *space, channels).

XLA's convolutions are fast where channels are mixed; a window without mixing (depthwise,
pooling) is much faster as a sum or a maximum over its cells, which XLA fuses into one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax import lax

from ...errors import EvaluationError
from ...ir.node import Node
from ...prims.windows import Window
from .._lowering import Rule
from .lowering import Tracing, Value, as_array, same_shapes, same_sizes, scalar
from .movement import product

Dims = Sequence[int]


def _space(x: Value) -> tuple[int, ...]:
    return tuple(np.shape(x)[1:-1])


def _places(window: Window, space: Dims) -> tuple[int, ...]:
    return tuple(window.outputs(tuple(space)))  # type: ignore[arg-type]


def _check_places(window: Window, space: Dims, x: Value) -> None:
    places = _places(window, space)
    if places != _space(x):
        raise EvaluationError(
            f"a window over space {tuple(space)} takes {places} places, not {_space(x)}"
        )


# Cells -------------------------------------------------------------------------------------


def _padded(x: Value, window: Window, value: Any = 0) -> Value:
    margins = [(0, 0, 0), *((low, high, 0) for low, high in window.padding), (0, 0, 0)]
    return lax.pad(x, scalar(value, x.dtype), margins)


def _starts(window: Window) -> Iterator[list[int]]:
    """Where the first window's cells are in the padded space, in row-major order."""
    for cell in np.ndindex(*window.sizes):
        yield [at * d for at, d in zip(cell, window.dilation, strict=True)]


def _cells(x: Value, window: Window, margin: Any = 0) -> Iterator[Value]:
    """For each cell of the window, what it sees at every place: (batch, *places, channels)."""
    places = _places(window, _space(x))
    x = _padded(x, window, margin)
    batch, channels = x.shape[0], x.shape[-1]
    if 0 in places:
        for _ in range(window.cells):
            yield lax.full((batch, *places, channels), scalar(0, x.dtype))
        return
    moves = list(zip(places, window.strides, strict=True))
    for start in _starts(window):
        stop = [a + (n - 1) * s + 1 for a, (n, s) in zip(start, moves, strict=True)]
        yield lax.slice(x, (0, *start, 0), (batch, *stop, channels), (1, *window.strides, 1))


def _spread(parts: Iterator[Value], space: Dims, window: Window, shape: Dims, dtype: Any) -> Value:
    """The adjoint of `_cells`: the parts, one for each cell, added up in (batch, *space, …)."""
    batch, places, channels = shape[0], shape[1:-1], shape[-1]
    total = lax.full((batch, *space, channels), scalar(0, dtype))
    if 0 in (*places, *space, batch, channels):
        return total
    first = True
    for start, part in zip(_starts(window), parts, strict=True):
        margins = [(0, 0, 0)]
        for a, d, n, s, (low, _) in zip(
            start, space, places, window.strides, window.padding, strict=True
        ):
            margins.append((a - low, d - (a - low) - (n - 1) * s - 1, s - 1))
        placed = lax.pad(part, scalar(0, dtype), [*margins, (0, 0, 0)])
        total = placed if first else lax.add(total, placed)
        first = False
    return total


def _patches(e: Tracing, node: Node, x: Value) -> Value:
    return lax.concatenate(list(_cells(x, node.attrs["window"])), x.ndim - 1)


def _fold(e: Tracing, node: Node, p: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    _check_places(window, space, p)
    return _folded(p, space, window)


def _folded(p: Value, space: Dims, window: Window) -> Value:
    channels = p.shape[-1] // window.cells
    parts = (
        lax.slice_in_dim(p, i * channels, (i + 1) * channels, axis=p.ndim - 1)
        for i in range(window.cells)
    )
    return _spread(parts, space, window, (*p.shape[:-1], channels), p.dtype)


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
    return lax.conv_general_dilated(
        x,
        k,
        tuple(strides),
        list(padding),
        lhs_dilation=tuple(holes[0]),
        rhs_dilation=tuple(holes[1]),
        dimension_numbers=numbers,
        precision=lax.Precision.HIGHEST,
    )


def _ones(window: Window) -> tuple[int, ...]:
    return (1,) * window.rank


def _zeros(shape: Dims, x: Value) -> Value:
    return lax.full(tuple(shape), scalar(0, x.dtype))


def _conv(e: Tracing, node: Node, x: Value, k: Value) -> Value:
    window: Window = node.attrs["window"]
    same_sizes(x.shape[-1], np.shape(k)[-2])
    same_shapes(window.sizes, np.shape(k)[:-2])
    shape = (x.shape[0], *_places(window, _space(x)), np.shape(k)[-1])
    if 0 in (*shape, x.shape[-1]):
        return _zeros(shape, x)
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
    if g.dtype == np.float64:  # XLA's has no fast code for holes in float64
        flat = lax.reshape(k, (window.cells * k.shape[-2], k.shape[-1]))
        return _folded(product(g, flat, ((g.ndim - 1,), (1,))), space, window)
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
    """A convolution of x with g over the batch, at distances of the dilation."""
    window: Window = node.attrs["window"]
    _check_places(window, _space(x), g)
    same_sizes(x.shape[0], g.shape[0])
    shape = (*window.sizes, x.shape[-1], g.shape[-1])
    if 0 in (*shape, *x.shape, *g.shape):
        return _zeros(shape, x)
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


# Depthwise ---------------------------------------------------------------------------------


def _split(g: Value, channels: int, multiplier: int) -> Value:
    return lax.reshape(g, (*g.shape[:-1], channels, multiplier))


def _kernel_cells(k: Value, window: Window) -> Iterator[Value]:
    """For each cell: (channels, multiplier)."""
    flat = lax.reshape(k, (window.cells, *np.shape(k)[-2:]))
    for i in range(window.cells):
        yield lax.index_in_dim(flat, i, keepdims=False)


def _weighted(x: Value, weights: Value) -> Value:
    """x times weights along its last axes."""
    offset = x.ndim - weights.ndim
    wide = lax.broadcast_in_dim(weights, x.shape, tuple(range(offset, x.ndim)))
    return lax.mul(x, wide)


def _depthwise(e: Tracing, node: Node, x: Value, k: Value) -> Value:
    window: Window = node.attrs["window"]
    channels, multiplier = np.shape(k)[-2:]
    same_sizes(x.shape[-1], channels)
    same_shapes(window.sizes, np.shape(k)[:-2])
    x = _repeated(x, multiplier)
    shape = (x.shape[0], *_places(window, _space(x)), channels * multiplier)
    total = _zeros(shape, x)
    for cell, weights in zip(_cells(x, window), _kernel_cells(k, window), strict=True):
        line = lax.reshape(weights, (channels * multiplier,))
        total = lax.add(total, _weighted(cell, line))
    return total


def _repeated(x: Value, multiplier: int) -> Value:
    """Each channel so many times in a row."""
    if multiplier == 1:
        return x
    wide = (*x.shape, multiplier)
    spread = lax.broadcast_in_dim(x, wide, tuple(range(x.ndim)))
    return lax.reshape(spread, (*x.shape[:-1], x.shape[-1] * multiplier))


def _depthwise_input(e: Tracing, node: Node, g: Value, k: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    _check_places(window, space, g)
    channels, multiplier = np.shape(k)[-2:]
    same_sizes(g.shape[-1], channels * multiplier)
    parts = [lax.index_in_dim(_split(g, channels, multiplier), m, g.ndim, False)
             for m in range(multiplier)]  # fmt: skip

    def shares() -> Iterator[Value]:
        for weights in _kernel_cells(k, window):
            total = _zeros(parts[0].shape, g)
            for m, part in enumerate(parts):
                total = lax.add(total, _weighted(part, lax.index_in_dim(weights, m, 1, False)))
            yield total

    shape = (*g.shape[:-1], channels)
    if not parts:
        return _zeros((g.shape[0], *space, channels), g)
    return _spread(shares(), space, window, shape, g.dtype)


def _depthwise_kernel(e: Tracing, node: Node, x: Value, g: Value) -> Value:
    window, multiplier = node.attrs["window"], node.attrs["multiplier"]
    _check_places(window, _space(x), g)
    same_sizes(x.shape[0], g.shape[0])
    channels = x.shape[-1]
    if multiplier is None:
        multiplier = g.shape[-1] // max(channels, 1)
    same_sizes(g.shape[-1], channels * multiplier)
    axes = tuple(range(g.ndim - 1))
    wide = _repeated(x, multiplier)
    rows = [lax.reduce_sum(lax.mul(cell, g), axes) for cell in _cells(wide, window)]
    stacked = lax.concatenate([lax.expand_dims(r, (0,)) for r in rows], 0)
    return lax.reshape(stacked, (*window.sizes, channels, multiplier))


# Pooling -----------------------------------------------------------------------------------


def _inside(x: Value, window: Window) -> Iterator[np.ndarray | None]:
    """For each cell, at which places it isn't padding: (1, *places, 1); None: at all."""
    if not any(map(any, window.padding)):
        for _ in range(window.cells):
            yield None
        return
    places = _places(window, _space(x))
    for start in _starts(window):
        seen = np.ones((), bool)
        for a, d, n, s, (low, _) in zip(
            start, _space(x), places, window.strides, window.padding, strict=True
        ):
            at = a - low + np.arange(n) * s
            seen = np.logical_and.outer(seen, (at >= 0) & (at < d))
        yield seen.reshape(1, *places, 1)


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else -np.inf


def _max_pool(e: Tracing, node: Node, x: Value) -> tuple[Value, Value | None]:
    """The maximum over the cells; and which of them first is larger than all before."""
    window: Window = node.attrs["window"]
    cells = list(_cells(x, window, _lowest(x.dtype)))
    if node.results[1] not in e.used:
        top = cells[0]
        for cell in cells[1:]:
            top = lax.max(top, cell)
        return top, None
    dtype = np.dtype(node.results[1].dtype)
    top, index = cells[0], lax.full(cells[0].shape, scalar(0, dtype))
    inside = list(_inside(x, window))
    found: Any = inside[0]  # whether a cell that isn't padding has been seen
    for number, (cell, real) in enumerate(zip(cells, inside, strict=True)):
        if number:
            better = lax.bitwise_or(
                lax.gt(cell, top), lax.bitwise_and(_nan(cell), lax.eq(top, top))
            )
            if real is not None:
                better = lax.bitwise_and(lax.bitwise_or(better, _mask(~found, cell)),
                                         _mask(real, cell))  # fmt: skip
                found = found | real
            top = lax.select(better, cell, top)
            index = lax.select(better, lax.full(index.shape, scalar(number, dtype)), index)
    return top, index


def _nan(x: Value) -> Value:
    return lax.ne(x, x)


def _mask(where: np.ndarray, like: Value) -> Value:
    return lax.broadcast_in_dim(where, like.shape, tuple(range(like.ndim)))


def _hits(index: Value, number: int) -> Value:
    return lax.eq(index, lax.full(index.shape, scalar(number, index.dtype)))


def _unpool(e: Tracing, node: Node, g: Value, index: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    _check_places(window, space, g)
    same_shapes(g.shape, index.shape)
    zero = _zeros(g.shape, g)
    parts = (lax.select(_hits(index, i), g, zero) for i in range(window.cells))
    return _spread(parts, space, window, g.shape, g.dtype)


def _pool_pick(e: Tracing, node: Node, x: Value, index: Value) -> Value:
    window: Window = node.attrs["window"]
    _check_places(window, _space(x), index)
    picked = _zeros(index.shape, x)
    for number, cell in enumerate(_cells(x, window)):
        picked = lax.select(_hits(index, number), cell, picked)
    return picked


def _sum_pool(e: Tracing, node: Node, x: Value) -> Value:
    total, *rest = _cells(x, node.attrs["window"])
    for cell in rest:
        total = lax.add(total, cell)
    return total


def _sum_unpool(e: Tracing, node: Node, g: Value, *sizes: Value) -> Value:
    window, space = node.attrs["window"], e.shape(node, sizes)
    _check_places(window, space, g)
    parts = (g for _ in range(window.cells))
    return _spread(parts, space, window, g.shape, g.dtype)


def _traced(rule: Callable[..., Value]) -> Rule:
    """A rule whose operands, but for sizes, are arrays of JAX."""

    def with_arrays(e: Tracing, node: Node, *values: Value) -> Value:
        arrays = [as_array(v) if np.shape(v) else v for v in values]
        return rule(e, node, *arrays)

    return with_arrays


KERNELS: dict[str, Rule] = {
    "patches": _patches,
    "fold": _fold,
    "conv": _conv,
    "conv_input": _conv_input,
    "conv_kernel": _conv_kernel,
    "depthwise_conv": _depthwise,
    "depthwise_input": _depthwise_input,
    "depthwise_kernel": _depthwise_kernel,
    "max_pool": _max_pool,
    "unpool": _unpool,
    "pool_pick": _pool_pick,
    "sum_pool": _sum_pool,
    "sum_unpool": _sum_unpool,
}
RULES: dict[str, Rule] = {name: _traced(rule) for name, rule in KERNELS.items()}
