"""The Threefry kernel of the NumPy engine: published vectors, statistics, blocking, keys."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kameleon.engines._kernels import random as kernel
from kameleon.errors import ArgumentError

ONES = 0xFFFFFFFF

# Known answers for threefry2x32 with 20 rounds, as published with Random123.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
KEYS = [(0, 0), (1, 0), (0, 1), (0xDEADBEEF, 42), (ONES, ONES)]
LONG = 1 << 20


def straightforward(key: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    """Threefry-2x32-20 round by round, as the paper states it; an independent second writing."""
    rotations = [13, 15, 26, 6, 17, 29, 16, 24]
    subkeys = [key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1]]
    a = (low + subkeys[0]) % 2**32
    b = (high + subkeys[1]) % 2**32
    for round_ in range(20):
        a = (a + b) % 2**32
        r = rotations[round_ % 8]
        b = (b * 2**r) % 2**32 + b // 2 ** (32 - r)
        b ^= a
        if round_ % 4 == 3:
            s = round_ // 4 + 1
            a = (a + subkeys[s % 3]) % 2**32
            b = (b + subkeys[(s + 1) % 3] + s) % 2**32
    return a, b


def straightforward_stream(key: tuple[int, int], count: int) -> list[int]:
    blocks = [straightforward(key, b, 0) for b in range((count + 1) // 2)]
    return [*(a for a, _ in blocks), *(b for _, b in blocks)][:count]


def bits_of(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.unpackbits(words.view(np.uint8))


def z_of_mean_bit(bits: NDArray[np.uint8]) -> float:
    """Standard deviations between the share of ones and one half."""
    return float(2.0 * (np.mean(bits, dtype=np.float64) - 0.5) * np.sqrt(bits.size))


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_known_answers(
    key: tuple[int, int], counter: tuple[int, int], expected: tuple[int, int]
) -> None:
    x0, x1 = (np.array([word], np.uint32) for word in counter)
    kernel.encrypt_chunk(*key, x0, x1, np.empty_like(x0))
    assert (int(x0[0]), int(x1[0])) == expected
    assert straightforward(key, *counter) == expected


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 101, 1000])
def test_blocked_equals_straightforward(key: tuple[int, int], count: int) -> None:
    words = kernel.random_bits(np.array(key, np.uint32), count)
    assert words.dtype == np.uint32
    assert words.tolist() == straightforward_stream(key, count)


@pytest.mark.parametrize("chunk", [1, 2, 7, 50, 4096])
@pytest.mark.parametrize("count", [99, 100, 101])
def test_chunk_length_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, chunk: int, count: int
) -> None:
    monkeypatch.setattr(kernel, "_CHUNK", chunk)
    assert kernel.random_bits((5, 6), count).tolist() == straightforward_stream((5, 6), count)


def test_stream_across_the_real_chunk_border() -> None:
    n = kernel._CHUNK + 3
    words = kernel.random_bits((5, 6), 2 * n)
    for block in (0, kernel._CHUNK - 1, kernel._CHUNK, n - 1):
        assert (int(words[block]), int(words[n + block])) == straightforward((5, 6), block, 0)


def test_arguments_are_left_alone_and_results_are_new() -> None:
    key = np.array([3, 4], np.uint32)
    first, second = kernel.random_bits(key, 10), kernel.random_bits(key, 10)
    assert key.tolist() == [3, 4]
    assert not np.shares_memory(first, second)
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("key", KEYS)
def test_bytes_are_uniform(key: tuple[int, int]) -> None:
    stream = kernel.random_bits(key, LONG).view(np.uint8)
    observed = np.bincount(stream, minlength=256)
    expected = stream.size / 256
    chi_square = float(np.sum((observed - expected) ** 2 / expected))
    # 255 degrees of freedom: mean 255, deviation 22.6. Five deviations on either side.
    assert 255 - 113 < chi_square < 255 + 113


@pytest.mark.parametrize("key", KEYS)
def test_each_bit_is_balanced(key: tuple[int, int]) -> None:
    words = kernel.random_bits(key, LONG)
    for position in range(32):
        bit = ((words >> np.uint32(position)) & np.uint32(1)).astype(np.uint8)
        assert abs(z_of_mean_bit(bit)) < 5, position


@pytest.mark.parametrize("lag", [1, 2, 3, LONG // 2 - 1, LONG // 2])
def test_words_are_not_serially_correlated(lag: int) -> None:
    words = kernel.random_bits((11, 12), LONG)
    assert abs(z_of_mean_bit(bits_of(words[lag:] ^ words[:-lag]))) < 5
    uniform = words.astype(np.float64) / 2.0**32 - 0.5
    correlation = 12 * float(np.mean(uniform[lag:] * uniform[:-lag]))
    assert abs(correlation) * np.sqrt(LONG - lag) < 5


@pytest.mark.parametrize("other", [(11, 13), (12, 11), (11 ^ 1 << 31, 12)])
def test_streams_of_near_keys_are_independent(other: tuple[int, int]) -> None:
    difference = kernel.random_bits((11, 12), LONG) ^ kernel.random_bits(other, LONG)
    assert abs(z_of_mean_bit(bits_of(difference))) < 5


def test_a_flipped_counter_bit_flips_half_of_the_output() -> None:
    low = np.arange(4096, dtype=np.uint32)
    base = (low.copy(), np.zeros_like(low))
    kernel.encrypt_chunk(1, 2, *base, np.empty_like(low))
    for position in range(32):
        flipped = (low ^ np.uint32(1 << position), np.zeros_like(low))
        kernel.encrypt_chunk(1, 2, *flipped, np.empty_like(low))
        changed = np.concatenate([b ^ f for b, f in zip(base, flipped, strict=True)])
        assert abs(z_of_mean_bit(bits_of(changed))) < 5, position


def test_no_word_pair_repeats() -> None:
    # A bijection of distinct counters: all pairs differ.
    words = kernel.random_bits((8, 9), LONG).astype(np.uint64)
    pairs = words[: LONG // 2] << np.uint64(32) | words[LONG // 2 :]
    assert np.unique(pairs).size == LONG // 2


def test_fold_in_is_threefry_of_the_tagged_counter() -> None:
    for key in KEYS:
        for t in (0, 1, 77, ONES):
            child = kernel.fold_in(np.array(key, np.uint32), t)
            assert child.tolist() == kernel.fold_in(key, t + 2**32).tolist()
            assert child.dtype == np.uint32
            assert tuple(child.tolist()) == straightforward(key, t, ONES)


def test_fold_in_gives_distinct_unrelated_keys() -> None:
    children = [kernel.fold_in((1, 2), t) for t in range(2000)]
    assert len({tuple(child.tolist()) for child in children}) == 2000
    firsts = np.stack([kernel.random_bits(child, 64) for child in children])
    assert abs(z_of_mean_bit(bits_of(firsts[1:] ^ firsts[:-1]))) < 5
    parent = set(kernel.random_bits((1, 2), 4000).tolist())
    shared = sum(word in parent for child in children for word in child.tolist())
    assert shared <= 1  # 4000 * 4000 / 2**32 are expected by chance: 0.004


def test_no_stream_is_longer_than_its_counter() -> None:
    with pytest.raises(ArgumentError, match="count must lie"):
        kernel.random_bits((1, 2), kernel.MAX_WORDS + 1)
