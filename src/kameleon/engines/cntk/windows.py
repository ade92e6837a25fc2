"""How CNTK does primitives over windows. This module runs in the worker.

Tensors are (batch, *space, channels), and for CNTK (channels, *space) along a dynamic axis: without
one its pooling gives wrong numbers, and its convolution may crash. Margins are padded, and dilated
kernels get zeros between their cells, so that of its own ways there's one that is used.
"""

from __future__ import annotations

from typing import Any

import cntk as C
import numpy as np

from .functions import (
    dims,
    number,
    padded,
    reshaped,
    shape_of,
    sliced,
    spread,
    transposed,
    unpacked,
    without,
)


def channels_first(x: Any) -> Any:
    """(batch, *space, channels) as (batch, channels, *space)."""
    rank = len(x.shape)
    return transposed(x, [0, rank - 1, *range(1, rank - 1)])


def channels_last(x: Any) -> Any:
    """The other way round."""
    rank = len(x.shape)
    return transposed(x, [0, *range(2, rank), 1])


def framed(x: Any, margins: Any, value: float = 0.0) -> Any:
    """A value (…, …, *space) with margins around its space; negative ones are cut off."""
    cuts = [
        (max(0, -low), d - max(0, -high), 1)
        for (low, high), d in zip(margins, shape_of(x)[2:], strict=True)
    ]
    kept = sliced(x, [(0, d, 1) for d in shape_of(x)[:2]] + cuts)
    wide = [(max(0, low), max(0, high)) for low, high in margins]
    return padded(kept, [(0, 0), (0, 0), *wide], value)


def dilated(x: Any, steps: Any) -> Any:
    """A value (…, …, *space) with zeros between its elements."""
    for axis, step in enumerate(steps, 2):
        x = spread(x, axis, step)
    return x


def correlated(b: Any, x: Any, kernel: Any, steps: Any, strides: Any, groups: int = 1) -> Any:
    """The convolution of (batch, channels, *space), without margins, by a dilated kernel."""
    found = C.convolution(
        dilated(kernel, steps),
        C.to_batch(x),
        strides=tuple(strides),
        auto_padding=[False],
        groups=groups,
    )
    return _guarded(b, unpacked(found, shape_of(x)[0]), steps)


def _guarded(b: Any, found: Any, steps: Any) -> Any:
    """What a dilated kernel gives; NaN may be an infinite number times a zero of the dilation, so
    NumPy computes it.
    """
    if any(step > 1 for step in steps):
        b.guard_nan(found)
    return found


def _kernel(k: Any) -> Any:
    """(*window, in, out) as (out, in, *window)."""
    rank = len(k.shape)
    return transposed(k, [rank - 1, rank - 2, *range(rank - 2)])


def _conv(b: Any, node: Any, x: Any, k: Any) -> Any:
    _, strides, padding, dilation = node.attrs["window"]
    b.same([shape_of(x)[-1]], [shape_of(k)[-2]])
    space = framed(channels_first(x), padding)
    return channels_last(correlated(b, space, _kernel(k), dilation, strides))


def _conv_input(b: Any, node: Any, g: Any, k: Any, *sizes: int) -> Any:
    """The transposed convolution: what the windows reach is made, and brought into the space."""
    _, strides, padding, dilation = node.attrs["window"]
    b.same([shape_of(g)[-1]], [shape_of(k)[-1]])
    kernel = dilated(_kernel(k), dilation)
    reach = [
        (places - 1) * step + span
        for places, step, span in zip(shape_of(g)[1:-1], strides, shape_of(kernel)[2:], strict=True)
    ]
    found = C.convolution_transpose(
        kernel,
        C.to_batch(channels_first(g)),
        strides=tuple(strides),
        auto_padding=[False],
        output_shape=(shape_of(kernel)[1], *reach),
    )
    found = _guarded(b, unpacked(found, shape_of(g)[0]), dilation)
    space = dims(node.attrs["space"], sizes)
    margins = [(-low, d + low - r) for d, r, (low, _) in zip(space, reach, padding, strict=True)]
    return channels_last(framed(found, margins))


def _conv_kernel(b: Any, node: Any, x: Any, g: Any) -> Any:
    """The cotangent as a kernel; channels are the batch, and the batch is summed over."""
    window, strides, padding, dilation = node.attrs["window"]
    b.same([shape_of(x)[0]], [shape_of(g)[0]])
    rank = len(x.shape)
    swapped = [rank - 1, 0, *range(1, rank - 1)]
    space = framed(transposed(x, swapped), padding)
    found = correlated(b, space, transposed(g, swapped), strides, dilation)
    sizes = [(0, d, 1) for d in (*shape_of(found)[:2], *window)]
    return transposed(sliced(found, sizes), [*range(2, rank), 0, 1])


def _depthwise(b: Any, node: Any, x: Any, k: Any) -> Any:
    """A group for each channel; along a line CNTK can't form groups, but in a plane of height 1."""
    window, strides, padding, dilation = node.attrs["window"]
    channels, multiplier = shape_of(k)[-2:]
    b.same([shape_of(x)[-1]], [channels])
    rank = len(k.shape)
    kernel = transposed(k, [rank - 2, rank - 1, *range(rank - 2)])
    kernel = reshaped(kernel, (channels * multiplier, 1, *window))
    x, flat = framed(channels_first(x), padding), len(window) == 1
    if flat:
        x, kernel = _in_a_plane(x), _in_a_plane(kernel)
        strides, dilation = (1, *strides), (1, *dilation)
    found = correlated(b, x, kernel, dilation, strides, groups=channels)
    return channels_last(without(found, [2]) if flat else found)


def _in_a_plane(x: Any) -> Any:
    """(…, …, length) as (…, …, 1, length)."""
    return reshaped(x, (*shape_of(x)[:2], 1, shape_of(x)[2]))


def _pooled(x: Any, kind: Any, node: Any, margin: float) -> Any:
    window, strides, padding, _ = node.attrs["window"]
    space = C.to_batch(framed(channels_first(x), padding, margin))
    found = C.pooling(space, kind, tuple(window), tuple(strides), [False])
    return channels_last(unpacked(found, shape_of(x)[0]))


def _max_pool(b: Any, node: Any, x: Any) -> Any:
    """The maxima, without their places; CNTK passes over NaN."""
    b.guard(C.not_equal(x, x))
    return (_pooled(x, C.MAX_POOLING, node, -np.inf),)


def _sum_pool(b: Any, node: Any, x: Any) -> Any:
    cells = int(np.prod(node.attrs["window"][0]))
    return C.element_times(_pooled(x, C.AVG_POOLING, node, 0.0), number(cells, x))


FUNCTIONS = {
    "conv": _conv,
    "conv_input": _conv_input,
    "conv_kernel": _conv_kernel,
    "depthwise_conv": _depthwise,
    "max_pool": _max_pool,
    "sum_pool": _sum_pool,
}
