"""Convolutions and pooling for the PyTorch engine, over tensors `(batch, *spatial, channels)`.

PyTorch has channels in front of space; seen through a permutation, a tensor with channels last
is what it calls `channels_last`, and nothing is copied. One spatial axis becomes two, the first
of size 1. Paddings are (low, high) for each axis: equal ones are left to PyTorch, for others the
tensor is padded (negative: cropped) beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
import torch.nn.functional as F

from ...kernels import windows as embedded
from ...kernels.geometry import offsets_of, window_counts
from .kernels import on_numpy

Tensor = torch.Tensor
Dims = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]

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
    """The other way round."""
    x = x.movedim(1, -1)
    return x.squeeze(1) if axes == 1 else x


def _kernel(k: Tensor) -> Tensor:
    """A kernel (*window, in, out) as (out, in, *window), in the layout of the tensors."""
    if k.dim() == 3:
        k = k.unsqueeze(0)
    axes = k.dim() - 2
    front = k.permute(axes + 1, axes, *range(axes))
    return front.contiguous(memory_format=_LAYOUT[axes])


def _depth_kernel(k: Tensor) -> Tensor:
    """A depthwise kernel (*window, channels, multiplier) as (channels * multiplier, 1, *window)."""
    return _kernel(k.reshape(*k.shape[:-2], 1, k.shape[-2] * k.shape[-1]))


def _two(dims: Dims, fill: int) -> list[int]:
    return [fill, *dims] if len(dims) == 1 else list(dims)


def _split(padding: Pads) -> tuple[list[int], Pads | None]:
    """What PyTorch can pad, and else what is to be padded beforehand."""
    if all(low == high >= 0 for low, high in padding):
        return _two(tuple(low for low, _ in padding), 0), None
    return _two((0,) * len(padding), 0), padding


def _split_for_kernel(padding: Pads, strides: Dims) -> tuple[list[int], Pads | None]:
    """As `_split`, for the adjoint in the kernel. Along three axes PyTorch 2.13 leaves cells of it
    unwritten, or crashes, where margins are wider than strides above 1.
    """
    wide = any(low >= s > 1 for (low, _), s in zip(padding, strides, strict=True))
    return ([0, 0, 0], padding) if wide and len(strides) == 3 else _split(padding)


def _margins(padding: Pads, sign: int = 1) -> list[int]:
    """Margins as `constant_pad_nd` takes them, for a tensor with channels last."""
    return [0, 0, *(sign * m for pair in reversed(padding) for m in pair)]


def _padded(x: Tensor, padding: Pads | None) -> Tensor:
    return x if padding is None else torch.constant_pad_nd(x, _margins(padding))


def _cropped(x: Tensor, padding: Pads | None) -> Tensor:
    return x if padding is None else torch.constant_pad_nd(x, _margins(padding, -1))


def _grown(space: Dims, padding: Pads | None) -> Dims:
    if padding is None:
        return space
    return tuple(d + low + high for d, (low, high) in zip(space, padding, strict=True))


def _like(x: Tensor, *shape: int) -> Tensor:
    """A tensor that only says its shape: a view of a single element."""
    return x.new_empty(1).expand(shape)


# Convolution ------------------------------------------------------------------------------------


def _places(x: Tensor, window: Dims, strides: Dims, padding: Pads, dilation: Dims) -> Dims:
    return window_counts(tuple(x.shape[1:-1]), window, strides, padding, dilation)


def _conv(x: Tensor, k: Tensor, groups: int, moves: tuple[Dims, Pads, Dims]) -> Tensor:
    strides, padding, dilation = moves
    axes = len(strides)
    pad, before = _split(padding)
    x = _front(_padded(x, before))
    f = _CONV[x.dim() - 2]
    y = f(x, k, None, _two(strides, 1), pad, _two(dilation, 1), groups)
    return _last(y, axes)


def _adjoint(
    g: Tensor,
    x: Tensor | Dims,
    k: Tensor,
    groups: int,
    moves: tuple[Dims, Pads, Dims],
) -> Tensor:
    """The cotangent of x, where its spatial sizes are given instead; else that of the kernel."""
    strides, padding, dilation = moves
    axes, of_input = len(strides), not isinstance(x, Tensor)
    pad, before = _split(padding) if of_input else _split_for_kernel(padding, strides)
    if isinstance(x, Tensor):
        front = _front(_padded(x, before))
    else:
        depth = k.shape[1] * groups
        front = _front(_like(g, g.shape[0], *_grown(x, before), depth))
    found = _backward(
        _front(g), front, k, None, _two(strides, 1), pad, _two(dilation, 1),
        False, [0, 0, 0][: k.dim() - 2], groups, [of_input, not of_input, False],
    )  # fmt: skip
    return _cropped(_last(found[0], axes), before) if of_input else found[1]


def conv(x: Tensor, k: Tensor, strides: Dims, padding: Pads, dilation: Dims) -> Tensor:
    """Correlation with a kernel (*window, in, out)."""
    counts = _places(x, tuple(k.shape[:-2]), strides, padding, dilation)
    if not x.numel() or 0 in counts or not k.numel():
        return x.new_zeros((x.shape[0], *counts, k.shape[-1]))
    return _conv(x, _kernel(k), 1, (strides, padding, dilation))


def conv_input(
    g: Tensor, k: Tensor, space: Dims, sizes: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Tensor:
    """The adjoint of `conv` in x."""
    if not g.numel() or not k.numel() or 0 in space:
        return g.new_zeros((g.shape[0], *space, k.shape[-2]))
    return _adjoint(g, space, _kernel(k), 1, (strides, padding, dilation))


def conv_kernel(
    x: Tensor, g: Tensor, sizes: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Tensor:
    """The adjoint of `conv` in the kernel."""
    shape = (*sizes, x.shape[-1], g.shape[-1])
    if not g.numel() or not x.numel():
        return x.new_zeros(shape)
    dummy = _like(x, g.shape[-1], x.shape[-1], *_two(sizes, 1))
    k = _adjoint(g, x, dummy, 1, (strides, padding, dilation))
    return k.permute(*range(2, k.dim()), 1, 0).reshape(shape)


def depthwise_conv(x: Tensor, k: Tensor, strides: Dims, padding: Pads, dilation: Dims) -> Tensor:
    """Each channel with kernels of its own, (*window, channels, multiplier)."""
    counts = _places(x, tuple(k.shape[:-2]), strides, padding, dilation)
    if not x.numel() or 0 in counts or not k.numel():
        return x.new_zeros((x.shape[0], *counts, k.shape[-2] * k.shape[-1]))
    return _conv(x, _depth_kernel(k), x.shape[-1], (strides, padding, dilation))


def depthwise_input(
    g: Tensor, k: Tensor, space: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Tensor:
    """The adjoint of `depthwise_conv` in x."""
    if not g.numel() or 0 in space:
        return g.new_zeros((g.shape[0], *space, k.shape[-2]))
    return _adjoint(g, space, _depth_kernel(k), k.shape[-2], (strides, padding, dilation))


def depthwise_kernel(
    x: Tensor, g: Tensor, sizes: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Tensor:
    """The adjoint of `depthwise_conv` in the kernel."""
    channels = x.shape[-1]
    shape = (*sizes, channels, g.shape[-1] // max(1, channels))
    if not g.numel() or not x.numel():
        return x.new_zeros(shape)
    dummy = _like(x, g.shape[-1], 1, *_two(sizes, 1))
    k = _adjoint(g, x, dummy, channels, (strides, padding, dilation))
    return k.permute(*range(2, k.dim()), 1, 0).reshape(shape)


# Patches ----------------------------------------------------------------------------------------


def patches(x: Tensor, sizes: Dims, strides: Dims, padding: Pads, dilation: Dims) -> Tensor:
    """What each window sees, side by side: `(batch, *counts, prod(sizes) * channels)`."""
    counts = _places(x, sizes, strides, padding, dilation)
    shape = (x.shape[0], *counts, prod(sizes) * x.shape[-1])
    if 0 in shape:
        return x.new_zeros(shape)
    if any(map(any, padding)):
        x = torch.constant_pad_nd(x, _margins(padding))
    steps = x.stride()
    places = [step * s for step, s in zip(steps[1:-1], strides, strict=True)]
    cells = [step * d for step, d in zip(steps[1:-1], dilation, strict=True)]
    seen = x.as_strided(
        (x.shape[0], *counts, *sizes, x.shape[-1]), (steps[0], *places, *cells, steps[-1])
    )
    found = seen.reshape(shape)  # a view, where windows lie side by side
    return found.clone() if found.data_ptr() == x.data_ptr() else found


def fold(
    p: Tensor, space: Dims, sizes: Dims, strides: Dims, padding: Pads, dilation: Dims
) -> Tensor:
    """The adjoint of `patches`: every cell gets the sum of its copies."""
    channels = p.shape[-1] // prod(sizes)
    x = p.new_zeros((p.shape[0], *space, channels))
    if not p.numel() or not x.numel():
        return x
    for number, cells, windows in offsets_of(tuple(space), sizes, strides, padding, dilation):
        at: Any = (*windows, ..., slice(number * channels, (number + 1) * channels))
        part = p[at]
        x[cells] += part
    return x


# Pooling ----------------------------------------------------------------------------------------


def _own_margin(size: int, stride: int, low: int, high: int) -> int | None:
    """The margin on both sides with which PyTorch has all windows of an axis; None: there's none.

    It takes at most half a window, and windows that end beyond it (`ceil_mode`). Those that are
    too many at either end are cut off.
    """
    for margin in range(low, size // 2 + 1, stride):
        if low >= 0 and 0 <= high < size and high - margin < stride:
            return margin
    return None


def is_regular(sizes: Dims, strides: Dims, padding: Pads) -> bool:
    """Whether PyTorch's own maximum has such windows: each sees something of the tensor."""
    axes = zip(sizes, strides, padding, strict=True)
    return all(_own_margin(size, s, *pair) is not None for size, s, pair in axes)


def max_pool(x: Tensor, sizes: Dims, strides: Dims, padding: Pads, need: bool) -> tuple[Any, Any]:
    """The largest cell of each regular window; and, if needed, where it is in space (flat)."""
    counts = _places(x, sizes, strides, padding, (1,) * len(sizes))
    shape = (x.shape[0], *counts, x.shape[-1])
    if 0 in shape:
        return x.new_zeros(shape), x.new_zeros(shape, dtype=torch.int64)
    if not (x.is_cpu or x.dtype.is_floating_point):  # accelerators have it for floats alone
        y, index = max_pool(x.cpu(), sizes, strides, padding, need)
        return y.to(x.device), index.to(x.device) if need else None
    front = _front(x)
    if not x.dtype.is_floating_point:  # with channels last, PyTorch 2.4 starts from 0
        front = front.contiguous()
    axes = zip(sizes, strides, padding, strict=True)
    margins = tuple(_own_margin(size, s, *pair) or 0 for size, s, pair in axes)
    first = [(m - low) // s for m, (low, _), s in zip(margins, padding, strides, strict=True)]
    found = _MAX_POOL[front.dim() - 2](
        front, _two(sizes, 1), _two(strides, 1), _two(margins, 0), 1, True, need
    )
    y = found[0] if need else found
    y = _fitted(_last(y, len(sizes)), first, counts)
    if not need:
        return y, None
    index = _fitted(_last(found[1], len(sizes)), first, counts)
    if x.dtype.is_floating_point and torch.isnan(torch.sum(y)) and torch.isnan(y).any():
        index = _first_nan(x, y, index, (sizes, strides, padding))
    return y, index


def _fitted(y: Tensor, first: Sequence[int], counts: Dims) -> Tensor:
    """Without the windows that are too many."""
    if y.shape[1:-1] == counts:
        return y
    return y[(slice(None), *(slice(a, a + n) for a, n in zip(first, counts, strict=True)))]


def _first_nan(x: Tensor, y: Tensor, index: Tensor, w: tuple[Dims, Dims, Pads]) -> Tensor:
    """PyTorch takes the last of several NaN; the first one is wanted."""
    _, cells = on_numpy(embedded.max_pool)(x, *w, True)
    flat, _ = flat_of(cells, x.shape[1:-1], *w)
    return torch.where(torch.isnan(y), flat, index)


def _grid(shape: Sequence[int], strides: Dims, padding: Pads, device: Any) -> list[Tensor]:
    """For each spatial axis, where windows start, to be stretched to `shape` without channels."""
    axes = len(strides)
    starts = []
    for i, (s, (low, _)) in enumerate(zip(strides, padding, strict=True)):
        line = torch.arange(shape[i + 1], device=device) * s - low
        starts.append(line.view([-1 if j == i else 1 for j in range(axes)] + [1]))
    return starts


def flat_of(
    cells: Tensor, space: Sequence[int], sizes: Dims, strides: Dims, padding: Pads
) -> tuple[Tensor, Tensor]:
    """Where cells of windows are in space, row-major; and whether they are inside of it at all."""
    rest = cells.to(torch.int64)
    flat = torch.zeros((), dtype=torch.int64, device=cells.device)
    inside = torch.ones((), dtype=torch.bool, device=cells.device)
    stride = prod(sizes)
    starts = _grid(cells.shape, strides, padding, cells.device)
    for start, size, dim in zip(starts, sizes, space, strict=True):
        stride //= size
        at = torch.div(rest, stride, rounding_mode="floor")
        rest = rest - at * stride
        at = at + start
        inside = inside & (at >= 0) & (at < dim)
        flat = flat * dim + at
    return torch.where(inside, flat, 0), inside


def cells_of(
    flat: Tensor,
    dtype: torch.dtype,
    space: Sequence[int],
    sizes: Dims,
    strides: Dims,
    padding: Pads,
) -> Tensor:
    """The numbers of the cells of windows that are at `flat` in space."""
    cell = torch.zeros((), dtype=torch.int64, device=flat.device)
    starts = _grid(flat.shape, strides, padding, flat.device)
    below = prod(space)
    for start, size, dim in zip(starts, sizes, space, strict=True):
        below //= max(1, dim)
        at = torch.div(flat, below, rounding_mode="floor")
        flat = flat - at * below
        cell = cell * size + (at - start)
    return cell.to(dtype)


def unpool_flat(g: Tensor, flat: Tensor, space: Dims) -> Tensor:
    """Zeros to which each g is added where `flat` says."""
    batch, channels = g.shape[0], g.shape[-1]
    x = g.new_zeros((batch, prod(space), channels))
    lines = flat.reshape(batch, prod(flat.shape[1:-1]), channels)
    return x.scatter_add_(1, lines, g.reshape(lines.shape)).view((batch, *space, channels))


def pick_flat(x: Tensor, flat: Tensor) -> Tensor:
    """The elements of x where `flat` says."""
    lines = flat.reshape(flat.shape[0], prod(flat.shape[1:-1]), flat.shape[-1])
    picked = torch.gather(x.reshape(x.shape[0], prod(x.shape[1:-1]), x.shape[-1]), 1, lines)
    return picked.view(flat.shape)


def unpool(
    g: Tensor, cells: Tensor, space: Dims, sizes: Dims, strides: Dims, padding: Pads
) -> Tensor:
    """Each g added to the cell that its window chose; what is put into padding is lost."""
    if not g.numel() or 0 in space:
        return g.new_zeros((g.shape[0], *space, g.shape[-1]))
    flat, inside = flat_of(cells, space, sizes, strides, padding)
    return unpool_flat(g.masked_fill(torch.logical_not(inside), 0), flat, space)


def pool_pick(x: Tensor, cells: Tensor, sizes: Dims, strides: Dims, padding: Pads) -> Tensor:
    """The cell of each window that `cells` chose; 0 in padding."""
    if not x.numel():
        return x.new_zeros(cells.shape)
    flat, inside = flat_of(cells, x.shape[1:-1], sizes, strides, padding)
    return pick_flat(x, flat).masked_fill_(torch.logical_not(inside), 0)


def _can_pad(space: Dims, sizes: Dims, padding: Pads) -> bool:
    """Whether PyTorch pads so itself: by half a window, and spaces of three axes must have room
    for the window as they are."""
    half = all(low <= size // 2 for size, (low, _) in zip(sizes, padding, strict=True))
    return half and (len(sizes) < 3 or all(d >= n for d, n in zip(space, sizes, strict=True)))


def _pool_padding(space: Dims, sizes: Dims, padding: Pads) -> tuple[list[int], Pads | None]:
    """As `_split`, where PyTorch pads so."""
    pad, before = _split(padding)
    if before is None and not _can_pad(space, sizes, padding):
        return [0] * len(pad), padding
    return pad, before


def sum_pool(x: Tensor, sizes: Dims, strides: Dims, padding: Pads) -> Tensor:
    """The sum over each window; padding counts as 0."""
    counts = _places(x, sizes, strides, padding, (1,) * len(sizes))
    shape = (x.shape[0], *counts, x.shape[-1])
    if 0 in shape or not x.numel():
        return x.new_zeros(shape)
    pad, before = _pool_padding(tuple(x.shape[1:-1]), sizes, padding)
    front = _front(_padded(x, before))
    f = _AVG_POOL[front.dim() - 2]
    y = f(front, _two(sizes, 1), _two(strides, 1), pad, False, True, 1)
    return _last(y, len(sizes))


def sum_unpool(g: Tensor, space: Dims, sizes: Dims, strides: Dims, padding: Pads) -> Tensor:
    """The adjoint of `sum_pool`."""
    if not g.numel() or 0 in space:
        return g.new_zeros((g.shape[0], *space, g.shape[-1]))
    pad, before = _pool_padding(space, sizes, padding)
    front = _front(g.new_empty((g.shape[0], *_grown(space, before), g.shape[-1])))
    f = _AVG_BACK[front.dim() - 2]
    x = f(_front(g), front, _two(sizes, 1), _two(strides, 1), pad, False, True, 1)
    return _cropped(_last(x, len(sizes)), before)


# Where PyTorch has no such windows, or not for such numbers.
embedded_max_pool = on_numpy(embedded.max_pool)
embedded_sum_pool = on_numpy(embedded.sum_pool)
embedded_sum_unpool = on_numpy(embedded.sum_pool_grad)
