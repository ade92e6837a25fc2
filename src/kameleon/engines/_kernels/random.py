"""Random bits for the NumPy engine: Threefry-2x32 with 20 rounds, blocked and in place.

Threefry is a keyed bijection on pairs of 32-bit words, made of additions, rotations and
exclusive-ors alone. Feeding it 0, 1, 2, … gives a stream that every engine reproduces bit for
bit, that needs no state but the key, and any part of which can be computed on its own.

Layout of a stream of ``count`` words, with ``n = ceil(count / 2)`` blocks: block ``b`` encrypts
the counter ``(b, 0)``; the stream is the first words of blocks 0 … n-1, then their second words,
cut to ``count``.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...errors import ArgumentError

MAX_WORDS: Final = 2**33
"""The longest stream of one key: 2**32 blocks of two words."""

_MASK: Final = 0xFFFFFFFF
_PARITY: Final = 0x1BD11BDA
_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_GROUPS: Final = 5  # of four rounds each, a subkey added after every group
_FOLD_TAG: Final = _MASK  # high counter word of derived keys; streams have 0 there

# Two words and one scratch array of a chunk take 384 KiB: inside a usual second-level cache,
# and long enough that the fixed cost of a ufunc call doesn't show.
_CHUNK: Final = 32_768
_FEW: Final = 8  # so many blocks Python's integers encrypt sooner than ufuncs


def _schedule(key0: int, key1: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yield per group of rounds: its rotations and the two words of the subkey after it."""
    words = (key0, key1, _PARITY ^ key0 ^ key1)
    for group in range(_GROUPS):
        after = group + 1
        subkey0 = words[after % 3]
        subkey1 = (words[(after + 1) % 3] + after) & _MASK
        yield _ROTATIONS[group % 2], subkey0, subkey1


def _encrypt_block(key0: int, key1: int, x0: int, x1: int) -> tuple[int, int]:
    """Encrypt one counter with Python integers."""
    x0, x1 = (x0 + key0) & _MASK, (x1 + key1) & _MASK
    for rotations, subkey0, subkey1 in _schedule(key0, key1):
        for r in rotations:
            x0 = (x0 + x1) & _MASK
            x1 = ((x1 << r | x1 >> (32 - r)) & _MASK) ^ x0
        x0, x1 = (x0 + subkey0) & _MASK, (x1 + subkey1) & _MASK
    return x0, x1


def encrypt_chunk(
    key0: int, key1: int, x0: NDArray[np.uint32], x1: NDArray[np.uint32], t: NDArray[np.uint32]
) -> None:
    """Encrypt counters in place, given as their low and their high words; ``t`` is scratch of the
    same length.
    """
    word = np.uint32
    np.add(x0, word(key0), x0)
    np.add(x1, word(key1), x1)
    for rotations, subkey0, subkey1 in _schedule(key0, key1):
        for r in rotations:
            np.add(x0, x1, x0)
            np.left_shift(x1, word(r), t)
            np.right_shift(x1, word(32 - r), x1)
            np.bitwise_or(x1, t, x1)
            np.bitwise_xor(x1, x0, x1)
        np.add(x0, word(subkey0), x0)
        np.add(x1, word(subkey1), x1)


def random_bits(key: Iterable[int], count: int) -> NDArray[np.uint32]:
    """The first ``count`` words (0 … 2**33) of the stream of a key, which is two 32-bit words.

    The layout depends on ``count`` (see the module's head), so a shorter stream is not a prefix of
    a longer one.

    Raises:
        ArgumentError: there aren't as many words.

    Example:
        >>> [f"{w:08x}" for w in random_bits((0, 0), 2)]
        ['6b200159', '99ba4efe']
    """
    key0, key1 = map(int, key)
    if count > MAX_WORDS:
        raise ArgumentError(
            f"random_bits: count must lie in 0 … 2**33, got {count}. "
            "Draw in parts, each under a key of its own (fold_in)."
        )
    n = (count + 1) // 2
    if n <= _FEW:
        pairs = [_encrypt_block(key0, key1, block, 0) for block in range(n)]
        return np.array(pairs, np.uint32).T.ravel()[:count]
    words = np.empty(2 * n, np.uint32)
    scratch = np.empty(min(n, _CHUNK), np.uint32)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        x0, x1 = words[start:stop], words[n + start : n + stop]
        x0[:] = np.arange(start, stop, dtype=np.uint32)
        x1[:] = 0
        encrypt_chunk(key0, key1, x0, x1, scratch[: stop - start])
    return words[:count]


def fold_in(key: Iterable[int], t: int) -> NDArray[np.uint32]:
    """The key of part ``t`` (of a call, of a random node): ``threefry(key, (t, 0xFFFFFFFF))``.

    Streams use counters with a high word of 0, so a derived key never repeats words of the
    parent's stream; and as the cipher is a bijection, different ``t`` give different keys. Of a
    larger ``t`` the low word counts.

    Example:
        >>> child = fold_in((0, 0), 7)
        >>> child.shape, child.dtype.name, bool((child != fold_in((0, 0), 8)).any())
        ((2,), 'uint32', True)
    """
    key0, key1 = map(int, key)
    return np.array(_encrypt_block(key0, key1, int(t) & _MASK, _FOLD_TAG), np.uint32)
