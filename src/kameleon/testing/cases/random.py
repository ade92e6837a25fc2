"""Cases of random words."""

from __future__ import annotations

import math

import numpy as np

from ...graph.ir.node import REGISTRY
from ...graph.primitives.random import random_bits
from .case import Array, Case, SizesOf, array_of, uses

MASK = 2**32 - 1


def threefry(key: tuple[int, int], x0: int, x1: int) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds, as the paper states it."""
    words = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x0, x1 = (x0 + words[0]) & MASK, (x1 + words[1]) & MASK
    for number, turn in enumerate(
        [13, 15, 26, 6, 17, 29, 16, 24, 13, 15, 26, 6, 17, 29, 16, 24, 13, 15, 26, 6], 1
    ):
        x0 = (x0 + x1) & MASK
        x1 = ((x1 << turn | x1 >> (32 - turn)) & MASK) ^ x0
        if number % 4 == 0:
            step = number // 4
            x0, x1 = (x0 + words[step % 3]) & MASK, (x1 + words[(step + 1) % 3] + step) & MASK
    return x0, x1


def stream(key: Array, count: int) -> list[int]:
    """`count` words: the first words of all blocks, then the second ones."""
    blocks = [threefry((int(key[0]), int(key[1])), i, 0) for i in range((count + 1) // 2)]
    return [word for half in zip(*blocks, strict=True) for word in half][:count]


KEY = np.array([7, 2**31 + 5], "uint32")
CASES: list[Case] = [
    *uses(
        "random_bits",
        random_bits,
        lambda key, shape: array_of(stream(key, math.prod(shape)), shape, "uint32"),
        *((f"{shape}", KEY, shape) for shape in [(), (1,), (5,), (3, 4), (0, 2)]),
        ("sizes-from-another", KEY, SizesOf((3, 5))),
    ),
    *uses(
        "random_fold",
        REGISTRY["random_fold"],
        lambda key, t: np.array(threefry((int(key[0]), int(key[1])), int(t), MASK), "uint32"),
        *((f"{t}", (KEY, np.array(t, "int32"))) for t in (0, 1, 12345)),
    ),
]
