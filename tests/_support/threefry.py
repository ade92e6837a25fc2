"""Threefry-2x32-20 in plain Python, and a draw's words as `graph.primitives.random` has them."""

from __future__ import annotations


def reference_words(key: tuple[int, int], count: int) -> list[int]:
    """The words of a draw of `count` under `key`."""
    half = (count + 1) // 2
    pairs = [reference_block(key, block, 0) for block in range(half)]
    return [*(a for a, _ in pairs), *(b for _, b in pairs)][:count]


def reference_block(key: tuple[int, int], a: int, b: int) -> tuple[int, int]:
    """The cipher of the counter (a, b)."""
    subkeys = [*key, 0x1BD11BDA ^ key[0] ^ key[1]]
    a, b = (a + key[0]) % 2**32, (b + key[1]) % 2**32
    for number in range(20):
        rotation = [13, 15, 26, 6, 17, 29, 16, 24][number % 8]
        a = (a + b) % 2**32
        b = (b << rotation | b >> (32 - rotation)) % 2**32 ^ a
        if number % 4 == 3:
            group = number // 4 + 1
            a = (a + subkeys[group % 3]) % 2**32
            b = (b + subkeys[(group + 1) % 3] + group) % 2**32
    return a, b
