"""Everything that the text of a line may name."""

from __future__ import annotations

from typing import Any

import torch

from .._codegen.blocks import blockwise
from .._kernels.arrays import check, mismatch, reshaped
from .._kernels.loops import while_loop
from .._names import functions_of, names
from . import kernels, pool, windows
from .embedded import KERNELS
from .tensors import TORCH

SLOPES = "sigmoid_backward", "tanh_backward"

# By primitive, PyTorch's function.
FUNCTIONS = names(
    "neg abs exp expm1 log log1p sqrt sin cos tanh floor ceil round sigmoid logical_not add sub mul"
    " div pow maximum minimum eq ne lt le gt ge logical_and logical_or floor_div=floor_divide"
    " mod=remainder bit_not=bitwise_not bit_and=bitwise_and bit_or=bitwise_or bit_xor=bitwise_xor"
    " shift_left=bitwise_left_shift shift_right=bitwise_right_shift"
)

NAMESPACE: dict[str, Any] = {
    **KERNELS,
    **{
        name: getattr(torch, name)
        for name in (
            *FUNCTIONS.values(),
            *(
                "addcmul addmm all amax amin any argmax argmin argsort constant_pad_nd "
                "cumprod cumsum flip isnan log_softmax scalar_tensor softmax "
                "split_with_sizes sum threshold where"
            ).split(),
        )
    },
    **functions_of(kernels, windows),
    "scan": kernels.scan,
    "check": check,
    "mismatch": mismatch,
    "reshaped": reshaped,
    "while_loop": while_loop,
    **TORCH,
    **{name: kernels.slope(name) for name in SLOPES},
    "concatenate": torch.cat,
    "dot": torch.mm,
    "bmm": torch.bmm,
    "matmul": torch.matmul,
    "softplus": torch.nn.functional.softplus,
    "argwhere": torch.nonzero,
    "blocked": blockwise(pool.empty, torch.Tensor.copy_, torch.Tensor.is_contiguous),
    "empty": pool.empty,
    "give": pool.give,
    "int_min": min,
    "int_max": max,
    "as_int": int,
}

# Those that write into memory which is there, as compilers and tracers take them.
BUFFERLESS: dict[str, Any] = {
    **{name: getattr(torch.ops.aten, name).default for name in SLOPES},
    "choose": torch.where,
    "keep_unless": lambda condition, x: torch.where(condition, 0, x),
    "keep_where": lambda condition, x: torch.where(condition, x, 0),
}
