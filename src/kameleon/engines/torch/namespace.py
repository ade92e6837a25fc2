"""Everything that the text of a line may name."""

from __future__ import annotations

from typing import Any

import torch

from ...kernels.arrays import check, mismatch
from ...kernels.loops import while_loop
from .._code.blocks import blockwise
from . import kernels, pool, sparse, windows
from .embedded import KERNELS
from .tensors import TORCH

_aten = torch.ops.aten


def _slope(packet: Any, *more: Any) -> Any:
    """A gradient of PyTorch's as a function of its cotangent and another tensor.

    What an overload calls is called itself, where it can be had: that takes a fifth less time.
    """
    plain, over = (getattr(f, "_op", f) for f in (packet.default, packet.grad_input))

    def function(g: Any, y: Any, out: Any = None) -> Any:
        return plain(g, y, *more) if out is None else over(g, y, *more, grad_input=out)

    return function


# Gradients: the name, and what they are given beside their cotangent and a tensor.
SLOPES: dict[str, tuple[Any, ...]] = {
    "sigmoid_backward": (),
    "tanh_backward": (),
    "threshold_backward": (0,),
}

NAMESPACE: dict[str, Any] = {
    **{
        name: getattr(torch, name)
        for name in (
            "abs add addcmul addmm all amax amin any argmax argmin argsort bitwise_and "
            "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil "
            "clamp_min constant_pad_nd cos cumprod cumsum div eq exp expm1 flip floor "
            "floor_divide ge gt isnan le log log1p log_softmax logical_and logical_not "
            "logical_or lt maximum minimum mul ne neg nonzero pow remainder round scalar_tensor "
            "sigmoid sin softmax split_with_sizes sqrt sub sum tanh where"
        ).split()
    },
    **{
        name: getattr(kernels, name)
        for name in (
            "choose gather iota keep_unless keep_where minus_one_hot pad prod put_along scan "
            "scatter_add sign softmax_crossentropy sparse_softmax_crossentropy take_along unslice "
            "upright"
        ).split()
    },
    **{
        name: getattr(windows, name)
        for name in (
            "conv conv_input conv_kernel flat_max_pool flat_pick flat_unpool fold sum_pool "
            "sum_unpool"
        ).split()
    },
    **KERNELS,
    "check": check,
    "mismatch": mismatch,
    "while_loop": while_loop,
    **TORCH,
    **{name: _slope(getattr(_aten, name), *more) for name, more in SLOPES.items()},
    "concatenate": torch.cat,
    "dot": torch.mm,
    "matmul": torch.bmm,
    "softplus": torch.nn.functional.softplus,
    "argwhere": torch.nonzero,
    "sparse_dot": sparse.sparse_dot,
    "blocked": blockwise(pool.empty, torch.Tensor.copy_, torch.Tensor.is_contiguous),
    "empty": pool.empty,
    "give": pool.give,
    "int_min": min,
    "int_max": max,
    "as_int": int,
}
