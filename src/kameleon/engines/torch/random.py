"""Random bits for the PyTorch engine: Threefry-2x32 in signed integers, blocked and in place.

The cipher and the layout of its stream are those of `prims.random`. Words are kept in int32,
where additions wrap as they should; what a shift to the right drags in is masked off.

On the processor, the embedded kernels draw: the cipher is a hundred short steps, each of which
costs PyTorch several times what it costs NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch

from ...errors import EvaluationError
from ...kernels import random as embedded
from ...prims.random import PARITY, ROTATIONS
from .tensors import shared

Tensor = torch.Tensor

_MASK: Final = 0xFFFFFFFF
# An accelerator wants much at once. It divides 2**31, where signed counters jump.
_CHUNK: Final = 2**28


def signed(word: int) -> int:
    """The signed number with the same 32 bits."""
    word &= _MASK
    return word - 2**32 if word >= 2**31 else word


def _words(key: Tensor) -> list[int]:
    return [int(word) & _MASK for word in key.tolist()]


def _subkeys(key: Tensor) -> list[int]:
    k0, k1 = _words(key)
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
    """The words of the stream under `key` in a shape."""
    count = math.prod(shape)
    if count > embedded.MAX_WORDS:
        raise EvaluationError(f"a random draw of {count} words; one key gives 2**33")
    draw = _embedded_bits if key.is_cpu else bits_on_device
    return draw(key.view(torch.int32), count).view(torch.uint32).view(tuple(shape))


def _embedded_bits(key: Tensor, count: int) -> Tensor:
    return shared(embedded.random_bits(_words(key), count).view("int32"))


def bits_on_device(key: Tensor, count: int) -> Tensor:
    """The first words of the stream, computed where the key is."""
    n = (count + 1) // 2
    words = key.new_empty(2 * n)
    scratch = key.new_empty(min(n, _CHUNK))
    subkeys = _subkeys(key)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        x0, x1 = words[start:stop], words[n + start : n + stop]
        first = signed(start)
        torch.arange(first, first + stop - start, out=x0, device=key.device)
        x1.zero_()
        _encrypt(subkeys, x0, x1, scratch[: stop - start])
    return words[:count]


def fold_in(key: Tensor, t: Tensor) -> Tensor:
    """Another key, for step t of a loop: the block of the counter (t, 2**32 - 1)."""
    words = embedded.fold_in(_words(key), int(t) & _MASK)
    return shared(words).to(key.device)
