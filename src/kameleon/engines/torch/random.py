"""Random bits for the PyTorch engine: Threefry-2x32 in signed integers, blocked and in place.

The cipher and the layout of its stream are those of `prims.random`. Words are kept in int32,
where additions wrap as they should; what a shift to the right drags in is masked off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch

from ...errors import EvaluationError
from ...prims.random import PARITY, ROTATIONS

Tensor = torch.Tensor

_MASK: Final = 0xFFFFFFFF
# Two words and scratch of a chunk stay in a usual second-level cache; an accelerator wants much
# at once. Both divide 2**31, where signed counters jump.
_CHUNK: Final = 32_768
_LARGE_CHUNK: Final = 2**28
_LONGEST: Final = 2**33


def signed(word: int) -> int:
    """The signed number with the same 32 bits."""
    word &= _MASK
    return word - 2**32 if word >= 2**31 else word


def _subkeys(key: Tensor) -> list[int]:
    k0, k1 = (int(word) & _MASK for word in key.tolist())
    return [k0, k1, PARITY ^ k0 ^ k1]


def _encrypt(words: Sequence[int], x0: Tensor, x1: Tensor, t: Tensor) -> None:
    """Encrypt counters in place; `t` is scratch of the same length."""
    x0.add_(signed(words[0]))
    x1.add_(signed(words[1]))
    for group in range(5):
        for r in ROTATIONS[group % 2]:
            x0.add_(x1)
            torch.bitwise_left_shift(x1, r, out=t)
            x1.bitwise_right_shift_(32 - r).bitwise_and_((1 << r) - 1)
            x1.bitwise_or_(t).bitwise_xor_(x0)
        after = group + 1
        x0.add_(signed(words[after % 3]))
        x1.add_(signed(words[(after + 1) % 3] + after))


def random_bits(key: Tensor, shape: Sequence[int]) -> Tensor:
    """The words of the stream under `key` in a shape, their bits in int32."""
    count = math.prod(shape)
    if count > _LONGEST:
        raise EvaluationError(f"a random draw of {count} words; one key gives 2**33")
    n = (count + 1) // 2
    words = key.new_empty(2 * n)
    step = _CHUNK if words.is_cpu else _LARGE_CHUNK
    scratch = key.new_empty(min(n, step))
    subkeys = _subkeys(key)
    for start in range(0, n, step):
        stop = min(start + step, n)
        x0, x1 = words[start:stop], words[n + start : n + stop]
        first = signed(start)
        torch.arange(first, first + stop - start, out=x0, device=key.device)
        x1.zero_()
        _encrypt(subkeys, x0, x1, scratch[: stop - start])
    return words[:count].view(tuple(shape))


def fold_in(key: Tensor, t: Tensor) -> Tensor:
    """Another key, for step t of a loop: the block of the counter (t, 2**32 - 1)."""
    x0 = key.new_full((1,), signed(int(t)))
    x1 = key.new_full((1,), -1)
    _encrypt(_subkeys(key), x0, x1, key.new_empty(1))
    return torch.cat((x0, x1))
