"""Functions that the PyTorch engine's lines call beside PyTorch's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ...errors import ShapeError
from .._kernels.arrays import mismatch
from .._kernels.buffers import SMALLEST
from .._kernels.loops import Loops
from .._kernels.sparse import row_starts
from .embedded import KERNELS
from .pool import empty, give
from .tensors import TORCH, as_numpy, shared

Tensor = torch.Tensor

broadcast_shapes = np.broadcast_shapes  # PyTorch's takes twelve times as long


# Reductions --------------------------------------------------------------------------------


def extremum(reduce: Callable[..., Tensor], x: Tensor, axes: Sequence[int], extreme: Any) -> Tensor:
    """The maximum or minimum over some axes; of no elements, which PyTorch refuses, `extreme`."""
    if x.numel():
        return reduce(x, axes)
    return x.new_full([d for i, d in enumerate(x.shape) if i not in axes], extreme)


# Elementwise -------------------------------------------------------------------------------


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; NaN for NaN."""
    found = torch.sign(x)
    return torch.where(torch.isnan(x), x, found) if x.is_floating_point() else found


def mod(x: Tensor, y: Tensor) -> Tensor:
    """The remainder with the sign of y, also where it's 0.

    PyTorch's kernel for vectors gives NaN where x / y overflows, its kernel for numbers doesn't.
    """
    found = torch.remainder(x, y)
    found = torch.where(found == 0, torch.copysign(found, y), found)
    spoilt = torch.isnan(found)
    if not found.is_cpu or not spoilt.any():
        return found
    exact = KERNELS["remainder"](x.to(torch.float64), y.to(torch.float64))
    return torch.where(spoilt, exact.to(found.dtype), found)


def to_integers(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Floats as integers, on any device as on the processor: by way of int32 or int64, whose least
    number stands for what it doesn't hold.
    """
    is_narrow = dtype.itemsize < 4 or dtype is torch.int32
    wide, limit = (torch.int32, 2.0**31) if is_narrow else (torch.int64, 2.0**63)
    fits = (x >= -limit) & (x < limit)
    found = torch.where(fits, x.to(wide), torch.iinfo(wide).min)
    if dtype is not torch.uint64:
        return found.to(dtype)
    return torch.where(x >= limit, x.to(dtype).view(wide), found).view(dtype)


# Where a condition is random `torch.where` takes twenty times as long as arithmetic on bits.
_SMALL = 4096
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def keep_where(condition: Tensor, x: Tensor) -> Tensor:
    """x where the condition holds, else 0 (also where x is infinite or NaN)."""
    if x.numel() < _SMALL or not x.is_cpu:
        return torch.where(condition, x, 0)
    bits = x.view(_BITS[x.itemsize])
    mask = _numbers(condition, broadcast_shapes(condition.shape, x.shape), bits.dtype)
    return mask.mul_(bits).view(x.dtype)


def _numbers(condition: Tensor, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """0 and 1 for False and True, stretched to a shape."""
    return empty(shape, str(dtype)[6:]).copy_(condition)


def keep_unless(condition: Tensor, x: Tensor) -> Tensor:
    """0 where the condition holds, else x."""
    return keep_where(torch.logical_not(condition), x)


def slope(name: str) -> Any:
    """A gradient of PyTorch's as a function of its cotangent and other values.

    The function inside an overload is called directly, where there is one, in a fifth less time.
    """
    packet = getattr(torch.ops.aten, name)
    plain, over = (getattr(f, "_op", f) for f in (packet.default, packet.grad_input))

    def function(*given: Any, out: Any = None) -> Any:
        return plain(*given) if out is None else over(*given, grad_input=out)

    return function


_above = slope("threshold_backward")


def keep_where_positive(y: Tensor, x: Tensor, out: Tensor | None = None) -> Tensor:
    """x where y > 0, else 0, where y is NaN, too: of that, PyTorch's own gradient would give x.

    A comparison that is written as floats takes a tenth of the time of one as bools.
    """
    if not x.is_cpu:
        return torch.where(y > 0, x, 0)
    positive = torch.gt(y, 0, out=empty(y.shape, str(y.dtype)[6:]))
    found: Tensor = _above(x, positive, 0, out=out)
    give(positive)
    return found


def choose(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """a where the condition holds, else b: the bits b ^ (condition * (a ^ b))."""
    if condition.numel() < _SMALL or not condition.is_cpu:
        return torch.where(condition, a, b)
    one, other = a.view(_BITS[a.itemsize]), b.view(_BITS[a.itemsize])
    chosen = _numbers(condition, broadcast_shapes(condition.shape, a.shape, b.shape), one.dtype)
    differ = empty(broadcast_shapes(a.shape, b.shape), str(one.dtype)[6:])
    chosen.mul_(torch.bitwise_xor(one, other, out=differ)).bitwise_xor_(other)
    give(differ)
    return chosen.view(a.dtype)


# Shapes ------------------------------------------------------------------------------------


def pad(x: Tensor, margins: Sequence[int], value: float) -> Tensor:
    """A tensor with margins, those of the last axis first; large results come from the pool.

    Older versions of PyTorch refuse results without elements.
    """
    pairs = list(zip(margins[::2], margins[1::2], strict=True))[::-1]
    axes = list(zip(x.shape, pairs, strict=True))
    shape = [low + size + high for size, (low, high) in axes]
    if x.numel() and math.prod(shape) * x.itemsize < SMALLEST:
        return torch.constant_pad_nd(x, margins, value)
    found = _room(shape, x).fill_(value)
    found[tuple(slice(low, low + size) for size, (low, _) in axes)] = x
    return found


def _room(shape: Sequence[int], like: Tensor) -> Tensor:
    """A tensor with any content, of the dtype and on the device of another one."""
    return empty(shape, str(like.dtype)[6:]) if like.is_cpu else like.new_empty(shape)


def iota(shape: Sequence[int], axis: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The index along `axis`: a view where there are other axes."""
    line = torch.arange(shape[axis], dtype=dtype, device=device)
    if len(shape) == 1:
        return line
    return expanded(line.view([-1 if i == axis else 1 for i in range(len(shape))]), shape)


def expanded(x: Tensor, shape: Sequence[int]) -> Tensor:
    """x stretched to a shape; for PyTorch -1 is the size that x has there."""
    if min(shape) < 0:
        raise ShapeError(f"sizes must not be negative, got {tuple(shape)}")
    return x.expand(shape)


def unslice(g: Tensor, shape: Sequence[int], index: tuple[slice, ...]) -> Tensor:
    """Zeros with g at `index`."""
    out = g.new_zeros(shape)
    part = out[index]
    if part.shape != g.shape:
        mismatch(tuple(part.shape), tuple(g.shape))
    part.copy_(g)
    return out


# Reductions --------------------------------------------------------------------------------


def prod(x: Tensor, axes: Sequence[int], dtype: torch.dtype) -> Tensor:
    """The product over axes, in ascending order."""
    for axis in reversed(axes):
        x = torch.prod(x, axis, dtype=dtype)
    return x


# Indices (on the processor PyTorch's functions check them) -----------------------------------


def as_index(index: Tensor) -> Tensor:
    """Indices as PyTorch takes them."""
    return index if index.dtype is torch.int64 else index.to(torch.int64)


def gather(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Slices of x at `index`."""
    if index.dtype not in (torch.int32, torch.int64):
        index = index.to(torch.int64)
    if index.dim() == 1:
        return torch.index_select(x, axis, index)
    found = torch.index_select(x, axis, index.reshape(-1))
    return found.view((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def scatter_add(g: Tensor, index: Tensor, size: int, axis: int) -> Tensor:
    """Zeros to which the slices of g are added at `index`."""
    before, after = g.shape[:axis], g.shape[axis + index.dim() :]
    out = g.new_zeros((*before, size, *after))
    lines = g.reshape((*before, index.numel(), *after))
    return out.index_add_(axis, as_index(index).reshape(-1), lines)


def take_along(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """The elements of x at `index` along `axis`: one index for each line."""
    return torch.gather(x, axis, as_index(index))


def put_along(g: Tensor, index: Tensor, size: int, axis: int) -> Tensor:
    """The adjoint of `take_along`."""
    shape = (*g.shape[:axis], size, *g.shape[axis + 1 :])
    return g.new_zeros(shape).scatter_add_(axis, as_index(index), g)


# Sparse products ---------------------------------------------------------------------------


def sparse_dot(indices: Tensor, values: Tensor, y: Tensor, rows: int) -> Tensor:
    """The product of a sparse matrix (rows, len(y)), given by its elements, and y: where the rows
    ascend, each row of the result is a weighted sum of a bag of rows of y.
    """
    starts = None
    weighed = y.dtype in (torch.float32, torch.float64)  # PyTorch sums rows of these alone
    if values.numel() and y.shape[1] and weighed:
        starts = row_starts(as_numpy(indices), (rows, len(y)))
    if starts is None:
        return KERNELS["sparse_dot"](indices, values, y, rows)  # type: ignore[no-any-return]
    return torch.nn.functional.embedding_bag(
        as_index(indices[:, 1]).contiguous(),
        y.contiguous(),
        shared(starts[:-1]),
        mode="sum",
        per_sample_weights=values.contiguous(),
    )


# Crossentropies ----------------------------------------------------------------------------


def minus_one_hot(p: Tensor, labels: Tensor, axis: int, out: Tensor | None = None) -> Tensor:
    """p with 1 taken off at each label; in `out`, which may be p itself."""
    index = as_index(labels).unsqueeze(axis)
    minus = p.new_full((), -1).expand(index.shape)
    found = p.clone() if out is None else p if out is p else out.copy_(p)
    return found.scatter_add_(axis, index, minus)


def sparse_softmax_crossentropy(x: Tensor, p: Tensor, labels: Tensor, axis: int) -> Tensor:
    """-log(p[label]), taken from x where that p underflows."""
    index = as_index(labels).unsqueeze(axis)
    picked = torch.gather(p, axis, index)
    loss = torch.log(picked).neg_()
    lost = picked < torch.finfo(p.dtype).tiny
    if lost.any():
        exact = torch.amax(x, axis, keepdim=True) - torch.gather(x, axis, index)
        exact = exact - torch.log(torch.amax(p, axis, keepdim=True))
        loss = torch.where(lost, exact, loss)
    return loss.squeeze(axis)


# Control -----------------------------------------------------------------------------------


def _blank(x: Tensor) -> Tensor:
    """See `Loops.blank`: what a trial gave is still in memory, if the memory of `x` has room for
    exactly one slice. True as a bool, so that checks hold.
    """
    shape, needed = x.shape[1:], x.shape[1:].numel()
    whole = not x.storage_offset() and x.untyped_storage().nbytes() == needed * x.itemsize
    if needed and whole:
        return x.as_strided(shape, x.stride()[1:])
    return x.new_full(shape, x.dtype == torch.bool)


scan = Loops(
    rows=torch.unbind,
    places=torch.unbind,
    room=lambda length, y: _room((length, *y.shape), y),
    copied=torch.clone,
    nothing=lambda shape, dtype, like: like.new_empty(shape, dtype=TORCH[dtype]),
    blank=_blank,
).scan


def upright(x: Tensor) -> Tensor:
    """A matrix in memory with its longer axis outside: products of few rows with the matrix are
    faster by a tenth to a half, as shorter lines collide less often in the cache."""
    rows, columns = x.shape
    if rows == columns or x.stride(int(rows < columns)) != 1:
        return x
    return x.contiguous() if rows > columns else x.T.contiguous().T
