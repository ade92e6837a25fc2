"""Everything that the text of a line may name."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...errors import ShapeError
from .._codegen.blocks import blockwise
from .._kernels import arrays, convolution, ctc, depthwise, loops, memory, random, sparse, windows
from .._names import functions_of, names


def beam_search(*arguments: Any) -> tuple[Any, ...]:
    """The labellings, then their log probabilities."""
    labels, scores = ctc.beam_search(*arguments)
    return (*labels, scores)


def random_bits(key: Any, shape: tuple[int, ...]) -> Any:
    """As many words of the key's stream as that shape holds."""
    if min(shape, default=0) < 0:
        sizes = tuple(map(int, shape))
        raise ShapeError(f"sizes of random numbers must not be negative, got {sizes}")
    return random.random_bits(key, prod(shape)).reshape(shape)


UFUNCS = names(
    "neg=negative abs sign exp expm1 log log1p sqrt sin cos tanh square floor ceil round=rint"
    " is_nan=isnan logical_not bit_not=invert add sub=subtract mul=multiply div=divide"
    " floor_div=floor_divide mod=remainder pow=power maximum minimum eq=equal ne=not_equal lt=less"
    " le=less_equal gt=greater ge=greater_equal logical_and logical_or bit_and=bitwise_and"
    " bit_or=bitwise_or bit_xor=bitwise_xor shift_left=left_shift shift_right=right_shift"
)
OTHERS = (
    "argmax argmin argsort argwhere broadcast_to concatenate cumprod cumsum dot int32 matmul where"
).split()

NAMESPACE: dict[str, Any] = {
    **{name: getattr(np, name) for name in (*UFUNCS.values(), *OTHERS)},
    **functions_of(arrays, windows, convolution, depthwise),
    "scan": loops.scan,
    "while_loop": loops.while_loop,
    "random_bits": random_bits,
    "fold_in": random.fold_in,
    "sparse_to_dense": sparse.sparse_to_dense,
    "sparse_dot": sparse.sparse_dot,
    "greedy_decode": ctc.greedy_decode,
    "beam_search": beam_search,
    "blocked": blockwise(memory.empty, np.copyto, lambda x: x.flags.c_contiguous),
    "empty": memory.empty,
    "give": memory.give,
}
