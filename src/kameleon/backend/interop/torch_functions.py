"""Functions of tensors that PyTorch can follow, in place of kernels that look at values, write into
memory, or are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ...engines._kernels import loops
from ...engines._kernels.geometry import Window
from ...engines.torch.windows import at_first_nan, flat_pooled

Tensor = torch.Tensor
SIZE = "_size_that_it_is"


def array(array: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A constant: made anew in each run, so that PyTorch's modes see where it comes from."""
    return torch.tensor(array, dtype=dtype, device=device)


def scalar_tensor(value: Any, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A number as a tensor. One that's a size is kept beside it while a program is exported: read
    from the tensor, it would be a number that PyTorch knows nothing of.
    """
    found = torch.scalar_tensor(value, dtype=dtype, device=device)
    if torch.compiler.is_exporting() and isinstance(value, torch.SymInt):
        found.__dict__[SIZE] = value
    return found


def as_int(x: Tensor) -> Any:
    """A tensor's number; see `scalar_tensor`."""
    size = _size(x)
    return x.item() if size is None else size


def _size(x: Tensor) -> Any:
    return x.__dict__.get(SIZE) if torch.compiler.is_exporting() else None


def mod(x: Tensor, y: Tensor) -> Tensor:
    """See `kernels.mod`."""
    found = torch.fmod(x, y)
    found = torch.where((found != 0) & ((found < 0) != (y < 0)), found + y, found)
    return torch.where(found == 0, torch.copysign(found, y), found)


def keep_where_positive(y: Tensor, x: Tensor) -> Tensor:
    """See `kernels.keep_where_positive`.

    `torch.compile` keeps the comparison for the way back. Of four axes it takes the second for
    channels, and lays them last, which takes long where they are: so there they come second.
    """
    if x.dim() == y.dim() == 4:
        found = torch.where(y.movedim(-1, 1) > 0, x.movedim(-1, 1), 0)
        return found.movedim(1, -1)
    return torch.where(y > 0, x, 0)


def gather(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """See `kernels.gather`."""
    found = torch.index_select(x, axis, index.reshape(-1).to(torch.int64))
    return found.reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def scatter_add(g: Tensor, index: Tensor, size: int, axis: int) -> Tensor:
    """See `kernels.scatter_add`."""
    before, after = g.shape[:axis], g.shape[axis + index.dim() :]
    lines = g.reshape((*before, index.numel(), *after))
    out = g.new_zeros((*before, size, *after))
    return torch.index_add(out, axis, index.reshape(-1).to(torch.int64), lines)


def take_along(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """See `kernels.take_along`."""
    return torch.gather(x, axis, index.to(torch.int64))


def put_along(g: Tensor, index: Tensor, size: int, axis: int) -> Tensor:
    """See `kernels.put_along`."""
    out = g.new_zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]))
    return torch.scatter_add(out, axis, index.to(torch.int64), g)


def minus_one_hot(p: Tensor, labels: Tensor, axis: int) -> Tensor:
    """See `kernels.minus_one_hot`."""
    index = labels.to(torch.int64).unsqueeze(axis)
    return torch.scatter_add(p, axis, index, p.new_full(index.shape, -1))


def sparse_softmax_crossentropy(x: Tensor, p: Tensor, labels: Tensor, axis: int) -> Tensor:
    """See `kernels.sparse_softmax_crossentropy`."""
    index = labels.to(torch.int64).unsqueeze(axis)
    picked = torch.gather(p, axis, index)
    exact = torch.amax(x, axis, keepdim=True) - torch.gather(x, axis, index)
    exact = exact - torch.log(torch.amax(p, axis, keepdim=True))
    lost = picked < torch.finfo(p.dtype).tiny
    return torch.where(lost, exact, torch.neg(torch.log(picked))).squeeze(axis)


def unslice(g: Tensor, shape: Sequence[int], index: Sequence[slice]) -> Tensor:
    """See `kernels.unslice`: axis by axis."""
    for axis, (size, part) in enumerate(zip(shape, index, strict=True)):
        if part != slice(None, None, 1):
            zeros = g.new_zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]))
            g = torch.slice_scatter(zeros, g, axis, part.start, part.stop, part.step or 1)
    return g


def fold(p: Tensor, space: Any, window: Window) -> Tensor:
    """The adjoint of patches: every cell gets the sum of its copies."""
    sizes, strides, padding, dilation = window
    counts, channels = p.shape[1:-1], p.shape[-1] // int(np.prod(sizes))
    wide = [n + low + high for n, (low, high) in zip(space, padding, strict=True)]
    out = p.new_zeros((p.shape[0], *wide, channels))
    for number, offset in enumerate(np.ndindex(*sizes)):
        part = p[..., number * channels : (number + 1) * channels]
        index = [slice(None)] * p.dim()
        for axis, (a, d, s, n) in enumerate(zip(offset, dilation, strides, counts, strict=True), 1):
            index[axis] = slice(a * d, a * d + (n - 1) * s + 1, s)
        out = out + unslice(part, out.shape, index)
    margins = [m for low, high in reversed(padding) for m in (-low, -high)]
    return torch.constant_pad_nd(out, [0, 0, *margins])


def unpool(g: Tensor, index: Tensor, space: Any, window: Window) -> Tensor:
    """Each g added to the cell that `index` chose in its window."""
    cells = range(int(np.prod(window[0])))
    parts = torch.cat([torch.where(index == i, g, 0) for i in cells], -1)
    return fold(parts, space, window)


def flat_max_pool(x: Tensor, window: Window, need: bool) -> Any:
    """See `windows.flat_max_pool`: the first NaN of each window is looked for in any case."""
    found = flat_pooled(x, window, need)
    y = found[0]
    return y, at_first_nan(x, y, found[1], window) if need else None


def int_product(a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices of integers, or of batches of them."""
    return torch.sum(a.unsqueeze(-1) * b.unsqueeze(-3), -2, dtype=a.dtype)


# Control ---------------------------------------------------------------------------------------


def is_followed(tensors: Sequence[Any]) -> bool:
    """Whether PyTorch follows what is computed, beside autograd: lines mustn't look at values."""
    return (
        torch._C._are_functorch_transforms_active()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or any(type(x) not in _PLAIN or x.is_meta for x in tensors)
    )


_PLAIN = (torch.Tensor, torch.nn.Parameter)
_higher = torch.ops.higher_order


def _owned(function: Callable[..., Any]) -> Callable[..., Any]:
    """A body whose results share memory with nothing, as PyTorch's loops and conditions want it."""
    return lambda *given: tuple(y.clone() for y in function(*given))


def cond(
    condition: Tensor, then: Callable[..., Any], otherwise: Callable[..., Any], *given: Tensor
) -> Sequence[Tensor]:
    """Both branches are computed where `vmap` goes over conditions."""
    if torch._C._are_functorch_transforms_active():
        try:
            chosen = bool(condition)
        except RuntimeError:
            pairs = zip(then(*given), otherwise(*given), strict=True)
            return [torch.where(condition, a, b) for a, b in pairs]
        return then(*given) if chosen else otherwise(*given)  # type: ignore[no-any-return]
    if is_followed([condition]):
        found = _higher.cond(condition, _owned(then), _owned(otherwise), given)
        return found  # type: ignore[no-any-return]
    return then(*given) if condition else otherwise(*given)  # type: ignore[no-any-return]


def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], consts: Any, carry: Any
) -> Sequence[Tensor]:
    """See `kernels.while_loop`."""
    if torch._C._are_functorch_transforms_active() or not is_followed([*consts, *carry]):
        return loops.while_loop(condition, body, consts, carry)
    count = len(carry)

    def turned(function: Callable[..., Any]) -> Callable[..., Any]:
        """PyTorch's loops have constants behind what they carry."""
        return lambda *given: function(*given[count:], *given[:count])

    return _higher.while_loop(  # type: ignore[no-any-return]
        lambda *given: turned(condition)(*given)[0], _owned(turned(body)), tuple(carry), consts
    )


def scan(
    step: Callable[..., Any],
    consts: Sequence[Tensor],
    carry: Sequence[Tensor],
    sequences: Sequence[Tensor],
    backwards: bool,
    initial: Sequence[int | None],
    views: Sequence[tuple[int, bool]],
    passed: Sequence[int],
    made: Any,
) -> Sequence[Tensor]:
    """See `Loops.scan`: a line for each step; a loop of PyTorch's, if there may be any number."""
    k, nowhere = len(carry), [None] * len(initial)
    length = sequences[0].shape[0]
    if backwards:
        sequences = [x.flip(0) for x in sequences]
    if isinstance(length, int) and not length:  # a step with zeros says which shapes there are
        found = step(*consts, *carry, *(x.new_zeros(x.shape[1:]) for x in sequences), *nowhere)
        return (*carry, *(found[k:][n].unsqueeze(0)[:0] for n, _ in views))
    if isinstance(length, int):
        rows = list(zip(*(x.unbind(0) for x in sequences), strict=True))
        states, steps = tuple(carry), []
        for row in rows:
            found = step(*consts, *states, *row, *nowhere)
            states = tuple(found[:k])
            steps.append(found[k:])
        stacks = [torch.stack(y) for y in zip(*steps, strict=True)]
    else:
        # A size goes into the body as that of an empty tensor, and PyTorch goes on knowing it.
        sizes = [_size(x) for x in consts]
        pairs = zip(consts, sizes, strict=True)
        kept = [x if n is None else x.new_empty((n, 0)) for x, n in pairs]

        def combined(*given: Any) -> Any:
            own, rows = given[: k + len(sequences)], given[k + len(sequences) :]
            restored = [
                x if n is None else scalar_tensor(x.shape[0], x.dtype, x.device)
                for x, n in zip(rows, sizes, strict=True)
            ]
            return step(*restored, *own, *nowhere)

        inits = [x.clone() for x in carry]
        found = _higher.scan(_owned(combined), inits, list(sequences), tuple(kept))
        states, stacks = tuple(found[:k]), list(found[k:])
    befores = {
        n: torch.cat([carry[i].unsqueeze(0), stacks[n][:-1]])
        for n, i in enumerate(initial)
        if i is not None and (n, True) in views
    }
    found = [befores[n] if before else stacks[n] for n, before in views]
    return (*states, *(x.flip(0) if backwards else x for x in found))


# By the names of the kernels in whose place they are.
FOLLOWED: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(array, as_int, cond, flat_max_pool, fold, gather, int_product, keep_where_positive),
        *(minus_one_hot, mod, put_along, scalar_tensor, scan, scatter_add),
        *(sparse_softmax_crossentropy, take_along, unpool, unslice, while_loop),
    )
}
