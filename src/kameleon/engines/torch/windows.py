"""Convolutions and pooling for the PyTorch engine, over tensors `(batch, *spatial, channels)`.

PyTorch has channels in front of space; seen through a permutation, a tensor with channels last
is what PyTorch calls `channels_last`, and nothing is copied. One spatial axis becomes two, the
first of size 1. The two margins of an axis differ for maxima alone. But for maxima, no tensor is
empty: see `NONEMPTY`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
import torch.nn.functional as F

from .._kernels.geometry import Dims, Pads, Window, offsets_of, window_counts

Tensor = torch.Tensor

_backward = torch.ops.aten.convolution_backward.default
_LAYOUT = {2: torch.channels_last, 3: torch.channels_last_3d}
_CONV = {2: F.conv2d, 3: F.conv3d}
_MAX_POOL: dict[int, Any] = {2: F.max_pool2d, 3: F.max_pool3d}
_AVG_POOL = {2: F.avg_pool2d, 3: F.avg_pool3d}
_AVG_BACK = {
    2: torch.ops.aten.avg_pool2d_backward.default,
    3: torch.ops.aten.avg_pool3d_backward.default,
}


# Layout -----------------------------------------------------------------------------------------


def _front(x: Tensor) -> Tensor:
    """Channels in front of space, at least two axes of it; a view."""
    if x.dim() == 3:
        x = x.unsqueeze(1)
    return x.movedim(-1, 1)


def _last(x: Tensor, axes: int) -> Tensor:
    """Channels behind space again; a view."""
    x = x.movedim(1, -1)
    return x.squeeze(1) if axes == 1 else x


def _two(dims: Dims, fill: int) -> list[int]:
    return [fill, *dims] if len(dims) == 1 else list(dims)


def _even(padding: Pads) -> list[int]:
    """Margins that are equal on both sides."""
    return _two(tuple(low for low, _ in padding), 0)


# Convolution ------------------------------------------------------------------------------------

# In depthwise convolutions (`apart`) each channel has its kernels: (*window, channels, multiplier).


def _kernel(k: Tensor, apart: bool) -> tuple[Tensor, int]:
    """A kernel (*window, in, out) as (out, in, *window), in the layout of the tensors; and how
    many groups of channels there are.
    """
    groups = k.shape[-2] if apart else 1
    if apart:
        k = k.reshape(*k.shape[:-2], 1, k.shape[-2] * k.shape[-1])
    if k.dim() == 3:
        k = k.unsqueeze(0)
    axes = k.dim() - 2
    front = k.permute(axes + 1, axes, *range(axes))
    return front.contiguous(memory_format=_LAYOUT[axes]), groups


def _adjoint(g: Tensor, x: Tensor, k: Tensor, groups: int, window: Window, number: int) -> Tensor:
    """The cotangent of x (number 0) or of k (1); of the operand itself the shape alone is read."""
    _, strides, padding, dilation = window
    pad, needed = _even(padding), [number == 0, number == 1, False]
    found: Any = _backward(
        _front(g), _front(x), k, None, _two(strides, 1), pad, _two(dilation, 1),
        False, [0] * len(pad), groups, needed,
    )  # fmt: skip
    return found[number]  # type: ignore[no-any-return]


def conv(x: Tensor, k: Tensor, window: Window, apart: bool = False) -> Tensor:
    """Correlation with a kernel (*window, in, out)."""
    _, strides, padding, dilation = window
    front, (kernel, groups) = _front(x), _kernel(k, apart)
    f = _CONV[front.dim() - 2]
    y = f(front, kernel, None, _two(strides, 1), _even(padding), _two(dilation, 1), groups)
    return _last(y, len(strides))


def conv_input(g: Tensor, k: Tensor, space: Dims, window: Window, apart: bool = False) -> Tensor:
    """The adjoint of `conv` in x."""
    x = g.new_empty(1).expand(g.shape[0], *space, k.shape[-2])
    return _last(_adjoint(g, x, *_kernel(k, apart), window, 0), len(space))


def conv_kernel(x: Tensor, g: Tensor, window: Window, apart: bool = False) -> Tensor:
    """The adjoint of `conv` in the kernel."""
    sizes, channels, out = window[0], x.shape[-1], g.shape[-1]
    shape = (*sizes, channels, out // channels if apart else out)
    dummy = x.new_empty(1).expand(out, 1 if apart else channels, *_two(sizes, 1))
    groups = channels if apart else 1
    k = _adjoint(g, x, dummy, groups, window, 1)
    return k.permute(*range(2, k.dim()), 1, 0).reshape(shape)


def fold(p: Tensor, space: Dims, window: Window) -> Tensor:
    """The adjoint of patches: every cell gets the sum of its copies."""
    channels = p.shape[-1] // prod(window[0])
    x = p.new_zeros((p.shape[0], *space, channels))
    if not p.numel() or not x.numel():
        return x
    for number, cells, windows in offsets_of(tuple(space), window):
        at: Any = (*windows, ..., slice(number * channels, (number + 1) * channels))
        part = p[at]
        x[cells] += part
    return x


# Pooling ----------------------------------------------------------------------------------------


def _own_margin(size: int, stride: int, low: int, high: int) -> int | None:
    """The margin on both sides with which PyTorch has all windows of an axis; None: there's none.

    PyTorch takes margins of at most half a window, and windows that end beyond them (`ceil_mode`).
    Callers cut off the windows that are too many at either end.
    """
    for margin in range(low, size // 2 + 1, stride):
        if low >= 0 and 0 <= high < size and high - margin < stride:
            return margin
    return None


def is_regular(window: Window) -> bool:
    """Whether PyTorch's own maximum has these windows, each of which sees some of the tensor."""
    axes = zip(*window, strict=True)
    return all(_own_margin(size, s, *pair) is not None for size, s, pair, _ in axes)


def flat_max_pool(x: Tensor, window: Window, need: bool) -> tuple[Tensor, Tensor | None]:
    """The largest cell of each regular window; and, if needed, where it is in space (flat)."""
    shape = (x.shape[0], *window_counts(tuple(x.shape[1:-1]), window), x.shape[-1])
    if 0 in shape:
        return x.new_zeros(shape), x.new_zeros(shape, dtype=torch.int64)
    if not need:
        return flat_pooled(x, window, False)[0], None
    y, index = flat_pooled(x, window, True)
    if torch.isnan(torch.sum(y)):
        index = at_first_nan(x, y, index, window)
    return y, index


def flat_pooled(x: Tensor, window: Window, need: bool) -> list[Tensor]:
    """What PyTorch gives for `flat_max_pool`: of several NaN it takes the last."""
    counts = window_counts(tuple(x.shape[1:-1]), window)
    sizes, strides, padding, _ = window
    axes = list(zip(sizes, strides, padding, strict=True))
    margins = tuple(_own_margin(size, s, *pair) or 0 for size, s, pair in axes)
    first = [(m - low) // s for m, (_, s, (low, _)) in zip(margins, axes, strict=True)]
    # Without the windows that are too many.
    part = (slice(None), *(slice(a, a + n) for a, n in zip(first, counts, strict=True)))
    exact = all(low == high == m for m, (low, high) in zip(margins, padding, strict=True))
    moves = _two(sizes, 1), _two(strides, 1), _two(margins, 0), 1, not exact
    front = _front(x)
    found = _MAX_POOL[front.dim() - 2](front, *moves, need)
    pooled = [_last(y, len(sizes)) for y in (found if need else (found,))]
    return pooled if exact else [y[part] for y in pooled]


def at_first_nan(x: Tensor, y: Tensor, index: Tensor, window: Window) -> Tensor:
    """Where the largest cells are; in windows with NaN, where the first one is."""
    nans = torch.isnan(x).to(x.dtype)
    return torch.where(torch.isnan(y), flat_pooled(nans, window, True)[1], index)


def flat_unpool(g: Tensor, flat: Tensor, space: Dims) -> Tensor:
    """Zeros to which each g is added where `flat` says."""
    batch, channels = g.shape[0], g.shape[-1]
    x = g.new_zeros((batch, prod(space), channels))
    lines = flat.reshape(batch, prod(flat.shape[1:-1]), channels)
    return x.scatter_add_(1, lines, g.reshape(lines.shape)).view((batch, *space, channels))


def flat_pick(x: Tensor, flat: Tensor) -> Tensor:
    """The elements of x where `flat` says."""
    space, lines = ((y.shape[0], prod(y.shape[1:-1]), y.shape[-1]) for y in (x, flat))
    return torch.gather(x.reshape(space), 1, flat.reshape(lines)).view(flat.shape)


def _moves(window: Window) -> tuple[list[int], list[int], list[int]]:
    sizes, strides, padding, _ = window
    return _two(sizes, 1), _two(strides, 1), _even(padding)


def sum_pool(x: Tensor, window: Window) -> Tensor:
    """The sum over each window; padding counts as 0."""
    front = _front(x)
    y = _AVG_POOL[front.dim() - 2](front, *_moves(window), False, True, 1)
    return _last(y, len(window[0]))


def sum_unpool(g: Tensor, space: Dims, window: Window) -> Tensor:
    """The adjoint of `sum_pool`."""
    front, like = _front(g), _front(g.new_empty((g.shape[0], *space, g.shape[-1])))
    if not g.is_cpu and any(map(any, window[2])):  # CUDA's code for channels last forgets margins
        like = torch.empty_like(like, memory_format=torch.contiguous_format)
    back = _AVG_BACK[front.dim() - 2]
    return _last(back(front, like, *_moves(window), False, True, 1), len(space))
