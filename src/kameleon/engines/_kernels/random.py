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

from collections.abc import Iterator, Sequence
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


def _schedule(key0: int, key1: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yield per group of rounds: its rotations and the two words of the subkey after it."""
    words = (key0, key1, _PARITY ^ key0 ^ key1)
    for group in range(_GROUPS):
        after = group + 1
        subkey0 = words[after % 3]
        subkey1 = (words[(after + 1) % 3] + after) & _MASK
        yield _ROTATIONS[group % 2], subkey0, subkey1


def _encrypt_block(key0: int, key1: int, x0: int, x1: int) -> tuple[int, int]:
    """Encrypt one counter with Python integers: quicker than ufuncs for a single block."""
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


def _key_words(key: NDArray[np.uint32] | Sequence[int]) -> tuple[int, int]:
    """Return the two words of a key as Python integers."""
    words = np.asarray(key)
    if words.shape != (2,) or (isinstance(key, np.ndarray) and key.dtype != np.uint32):
        raise ArgumentError(
            "random key: expected two 32-bit words (shape (2,), dtype uint32), "
            f"got shape {words.shape}, dtype {words.dtype}. "
            "Pass np.array([word0, word1], np.uint32)."
        )
    word0, word1 = int(words[0]), int(words[1])
    if not (0 <= word0 <= _MASK and 0 <= word1 <= _MASK):
        raise ArgumentError(
            f"random key: its words must lie in 0 … 2**32 - 1, got ({word0}, {word1}). "
            "Split a larger seed into a low and a high word."
        )
    return word0, word1


def random_bits(key: NDArray[np.uint32] | Sequence[int], count: int) -> NDArray[np.uint32]:
    """Return the first ``count`` words of the stream of ``key``.

    Args:
        key: two 32-bit words, shape (2,). Equal keys give equal bits.
        count: how many words, 0 … 2**33. The layout depends on ``count`` (see the module's head),
            so a shorter stream is not a prefix of a longer one.

    Returns:
        A new uint32 array of shape (count,).

    Raises:
        ArgumentError: a wrong key, or ``count`` out of range.

    Example:
        >>> [f"{w:08x}" for w in random_bits((0, 0), 2)]
        ['6b200159', '99ba4efe']
    """
    key0, key1 = _key_words(key)
    if not 0 <= count <= MAX_WORDS:
        raise ArgumentError(
            f"random_bits: count must lie in 0 … 2**33, got {count}. "
            "Draw in parts, each under a key of its own (fold_in)."
        )
    n = (count + 1) // 2
    words = np.empty(2 * n, np.uint32)
    scratch = np.empty(min(n, _CHUNK), np.uint32)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        x0, x1 = words[start:stop], words[n + start : n + stop]
        x0[:] = np.arange(start, stop, dtype=np.uint32)
        x1[:] = 0
        encrypt_chunk(key0, key1, x0, x1, scratch[: stop - start])
    return words[:count]


def fold_in(key: NDArray[np.uint32] | Sequence[int], t: int) -> NDArray[np.uint32]:
    """Derive the key of part ``t``: ``threefry(key, (t, 0xFFFFFFFF))``.

    Streams use counters with a high word of 0, so a derived key never repeats words of the
    parent's stream; and as the cipher is a bijection, different ``t`` give different keys.

    Args:
        key: two 32-bit words, shape (2,).
        t: number of the part (of a call, of a random node), 0 … 2**32 - 1.

    Returns:
        A new key: uint32, shape (2,).

    Raises:
        ArgumentError: a wrong key, or ``t`` out of range.

    Example:
        >>> child = fold_in((0, 0), 7)
        >>> child.shape, child.dtype.name, bool((child != fold_in((0, 0), 8)).any())
        ((2,), 'uint32', True)
    """
    key0, key1 = _key_words(key)
    if not 0 <= t <= _MASK:
        raise ArgumentError(
            f"fold_in: t must lie in 0 … 2**32 - 1, got {t}. "
            "Fold a larger number in twice: its low word, then its high word."
        )
    return np.array(_encrypt_block(key0, key1, int(t), _FOLD_TAG), np.uint32)
