"""Random numbers as TensorFlow draws them of Philox's: the same numbers for the same seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..failures import invalid
from ..resources.philox import Philox

Array = np.ndarray
RESERVED = 256  # blocks that are set aside for each number
# Of a type with a point: the bits that are drawn, the type of integer, the bits of 1.
_BITS = {
    "float16": (10, np.uint16, 15 << 10),
    "float32": (23, np.uint32, 127 << 23),
    "float64": (52, np.uint64, 1023 << 52),
}
_GROUPS = 8192  # at a time: what's computed of them stays in the cache
_SMALLEST = 1e-7  # whose logarithm is taken


def drawn(kind: str, numbers: Philox, shape: tuple[int, ...], dtype: str, *limits: Any) -> Array:
    """Random numbers.

    Args:
        kind: `Uniform`, `Normal`, `TruncatedNormal`, `UniformInt`, or `UniformFullInt`: of all.
        numbers: where they come from, from its place on.
        shape: how many.
        dtype: of which type.
        limits: of integers: the least, and what is above the largest.
    """
    count = int(np.prod(shape, dtype=np.int64))
    if kind.endswith("Int"):
        found = _integers(numbers, count, dtype, *limits)
    elif kind == "TruncatedNormal":
        found = _truncated(numbers, count, dtype)
    else:
        by_block = 2 if dtype == "float64" else 4
        blocks = numbers.blocks(np.arange(-(-count // by_block)))
        found = (uniform if kind == "Uniform" else normal)(blocks, dtype).ravel()
    given: Array = found[:count].reshape(shape).astype(_known(dtype))
    return given


def _known(dtype: str) -> Any:
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return dtype


def wide(blocks: Array) -> Array:
    """Pairs of numbers of 32 bits, low ones first, as numbers of 64."""
    found: Array = blocks[..., 1::2].astype(np.uint64) << np.uint64(32) | blocks[..., ::2]
    return found


def _mixed(blocks: Array) -> Array:
    """The bits of numbers of 64 with a point: of pairs, the high ones first."""
    high = blocks[..., ::2].astype(np.uint64) & np.uint64(0xFFFFF)
    found: Array = high << np.uint64(32) | blocks[..., 1::2]
    return found


def uniform(blocks: Array, dtype: str) -> Array:
    """Numbers from 0 on, below 1."""
    if dtype == "bfloat16":
        bits = (blocks & np.uint32(0x7F)) << np.uint32(16) | np.uint32(127 << 23)
        found: Array = bits.view(np.float32) - np.float32(1)
        return found
    width, kind, one = _BITS[dtype]
    given = _mixed(blocks) if dtype == "float64" else blocks.astype(kind)
    bits = given & kind((1 << width) - 1) | kind(one)
    found = bits.view(dtype) - np.dtype(dtype).type(1)
    return found


def normal(blocks: Array, dtype: str) -> Array:
    """Numbers of the normal distribution, of as many evenly distributed ones."""
    kind = "float64" if dtype == "float64" else "float32"
    given = uniform(blocks, kind)
    radius, turn = given[..., ::2], given[..., 1::2]
    smallest = np.dtype(kind).type(_SMALLEST)
    length = np.sqrt(-2 * np.log(np.maximum(radius, smallest)))
    angle = (2 * np.pi * turn.astype(np.float64)).astype(kind)
    found = np.empty(given.shape, kind)
    np.multiply(np.sin(angle), length, out=found[..., ::2])
    np.multiply(np.cos(angle), length, out=found[..., 1::2])
    return found


def _integers(numbers: Philox, count: int, dtype: str, low: Any = None, high: Any = None) -> Array:
    is_wide = dtype in ("int64", "uint64")
    blocks = numbers.blocks(np.arange(-(-count // (2 if is_wide else 4))))
    given = wide(blocks) if is_wide else blocks
    if low is None:
        return given.ravel()
    span = int(high) - int(low)
    if span <= 0:
        raise invalid(f"Need minval < maxval, got {int(low)} >= {int(high)}")
    found: Array = (given.ravel() % given.dtype.type(span)).astype(dtype)
    moved: Array = found + np.dtype(dtype).type(int(low))
    return moved


def _truncated(numbers: Philox, count: int, dtype: str) -> Array:
    """Of each group of four, the first of the normal distribution that are near enough to 0."""
    size, kind = (2, "float64") if dtype == "float64" else (4, "float32")
    found = np.empty((-(-count // size), size), kind)
    for start in range(0, len(found), _GROUPS):
        part = found[start : start + _GROUPS]
        lacking, width = np.arange(len(part)), 1
        while len(lacking):
            places = (lacking[:, None] + start) * (size * RESERVED // 4) + np.arange(width)
            given = normal(numbers.blocks(places), dtype).reshape(len(lacking), -1)
            near = np.abs(given) < 2
            if width == 1:  # most have enough at once
                enough = near.all(1)
                part[lacking] = given
            else:
                order = near.cumsum(1)
                enough = order[:, -1] >= size
                chosen = near & (order <= size) & enough[:, None]
                part[lacking[enough]] = given[chosen].reshape(-1, size)
            lacking, width = lacking[~enough], 2 * width
    return found.ravel()


def stateless(seeds: Any) -> Philox:
    """The numbers of two seeds, which are mixed before."""
    first, second = (int(seed) & (1 << 64) - 1 for seed in np.asarray(seeds))
    mixed = Philox(0x02461E293EC8F720, second, first).block()
    return Philox(mixed[0] | mixed[1] << 32, mixed[2] | mixed[3] << 32)


def chosen(logits: Array, times: int, numbers: Philox) -> Array:
    """By row, places that are drawn by the logarithms of their weights."""
    rows = len(logits)
    finite = np.isfinite(logits)
    most = np.where(finite, logits, -np.inf).max(1, keepdims=True, initial=-np.inf)
    with np.errstate(all="ignore"):
        weights = np.where(finite, np.exp(logits - most), 0)
    sums = np.cumsum(weights, 1)
    blocks = numbers.blocks(np.arange(-(-rows * times // 2)))
    ways = uniform(blocks, "float64").ravel()[: rows * times].reshape(rows, times)
    pairs = zip(sums, ways * sums[:, -1:], strict=True)
    found = [np.searchsorted(total, way, side="right") for total, way in pairs]
    return np.array(found, np.int64).reshape(rows, times)
