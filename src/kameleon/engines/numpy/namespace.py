"""Everything that the text of a line may name."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .._codegen.blocks import blockwise
from .._kernels import arrays, ctc, loops, memory, quantile, random, sparse, windows


def beam_search(*arguments: Any) -> tuple[Any, ...]:
    """The labellings, then their log probabilities."""
    labels, scores = ctc.beam_search(*arguments)
    return (*labels, scores)


def random_bits(key: Any, shape: tuple[int, ...]) -> Any:
    """As many words of the key's stream as that shape holds."""
    return random.random_bits(key, prod(shape)).reshape(shape)


NAMESPACE: dict[str, Any] = {
    **{
        name: getattr(np, name)
        for name in (
            "abs add argmax argmin argsort argwhere bitwise_and "
            "bitwise_or bitwise_xor broadcast_to ceil cos cumprod cumsum divide "
            "dot equal exp expm1 floor floor_divide greater greater_equal int32 invert "
            "isnan left_shift less less_equal log log1p logical_and logical_not "
            "logical_or matmul maximum minimum multiply negative not_equal power "
            "remainder right_shift rint sign sin sqrt square subtract tanh where "
            "concatenate"
        ).split()
    },
    **{
        name: getattr(arrays, name)
        for name in (
            "check cumprod_slope gather iota keep_unless keep_where linear_scan log_softmax "
            "minus_one_hot mismatch one_hot pad product_of_others put_along scatter_add "
            "sigmoid softmax softmax_crossentropy softplus sparse_softmax_crossentropy "
            "take_along unslice"
        ).split()
    },
    **{
        name: getattr(windows, name)
        for name in (
            "patches fold conv_input max_pool unpool pool_pick sum_pool "
            "depthwise_conv depthwise_conv_input_grad depthwise_conv_kernel_grad"
        ).split()
    },
    "sum_unpool": windows.sum_pool_grad,
    "scan": loops.scan,
    "while_loop": loops.while_loop,
    "random_bits": random_bits,
    "fold_in": random.fold_in,
    "normal_quantile": quantile.normal_quantile,
    "sparse_to_dense": sparse.sparse_to_dense,
    "sparse_dot": sparse.sparse_dot,
    "greedy_decode": ctc.greedy_decode,
    "beam_search": beam_search,
    "blocked": blockwise(memory.empty, np.copyto, lambda x: x.flags.c_contiguous),
    "empty": memory.empty,
    "give": memory.give,
}
