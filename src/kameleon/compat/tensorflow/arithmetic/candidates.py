"""Classes that are drawn to stand for all others, as TensorFlow draws them, and how often each is
to be expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ..resources.philox import Philox
from .drawing import uniform as even
from .drawing import wide

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sampler:
    """A distribution over classes.

    Attributes:
        chances: of an array of classes.
        draw: classes for pairs (count, 2) of numbers of 32 bits, mostly one for each.
        count: how many classes there are.
    """

    chances: Callable[[Array], Array]
    draw: Callable[[Array], Array]
    count: int

    def drawn(self, numbers: Philox, true: Array, number: int, unique: bool) -> list[Array]:
        """Classes, and how often the true ones and they were to be expected.

        Raises:
            ValueError: there aren't so many different ones.
        """
        if unique and number > self.count:
            raise ValueError("Sampler's range is too small.")
        found: list[int] = []
        met: set[int] = set()
        tries = 0
        for each in self._all(numbers, number):
            tries += 1
            if not unique or each not in met:
                found.append(each)
                met.add(each)
            if len(found) == number:
                break

        def expected(classes: Array) -> Array:
            p = self.chances(np.asarray(classes, "float64"))
            times = p * tries if tries == number else -np.expm1(tries * np.log1p(-p))
            return np.asarray(times, "float32")

        sampled = np.array(found, "int64")
        return [sampled, expected(true), expected(sampled)]

    def _all(self, numbers: Philox, number: int) -> Iterator[int]:
        """Classes without end, some at a time."""
        for start in count(0, number):
            blocks = numbers.blocks(np.arange(start, start + number))
            yield from self.draw(blocks.reshape(-1, 2)).tolist()


def log_uniform(count: int) -> Sampler:
    """Classes that are the rarer, the larger they are: by Zipf's law."""
    whole = np.log(count + 1.0)
    return Sampler(
        lambda c: (np.log(c + 2.0) - np.log(c + 1.0)) / whole,
        lambda pairs: (np.exp(even(pairs, "float64")[:, 0] * whole).astype("int64") - 1) % count,
        count,
    )


def uniform(count: int) -> Sampler:
    """Classes of equal chances."""
    return Sampler(
        lambda c: np.full(c.shape, 1.0 / count),
        lambda pairs: wide(pairs)[:, 0] % np.uint64(count),
        count,
    )


def unigrams(count: int, weights: Sequence[float], distortion: float, reserved: int) -> Sampler:
    """Classes by weights, each to a power; so many first classes have none.

    Raises:
        ValueError: there are more or fewer weights than classes.
    """
    powers = np.asarray(weights, "float32") ** np.float32(distortion)
    p = np.concatenate([np.zeros(reserved), powers / powers.sum(dtype="float64")])
    if len(p) != count:
        raise ValueError(f"unigrams give {len(p)} classes, but range_max is {count}")
    shares, others = _shared(p * count)

    def draw(pairs: Array) -> Array:
        at = pairs[:, 1] % count
        return np.where(even(pairs[:, :1], "float32")[:, 0] < shares[at], at, others[at])

    return Sampler(lambda c: p[c.astype("int64")], draw, count)


def counted(times: Array) -> Sampler:
    """Classes by how often they were met, of which each pair of numbers draws two."""
    ends = np.cumsum(times)
    return Sampler(
        lambda c: times[c.astype("int64")] / ends[-1],
        lambda pairs: np.searchsorted(ends, pairs.ravel() % ends[-1], "right"),
        len(times),
    )


def _shared(p: Array) -> tuple[Array, Array]:
    """Places of equal chances: which share of each is its own class's, and whose the rest is
    (Walker's method of aliases); here the mean of the chances is 1.
    """
    p, others = p.copy(), np.arange(len(p))
    few, many = ([*np.nonzero(side)[0]] for side in (p < 1, p >= 1))
    while few and many:
        low, high = few.pop(), many.pop()
        others[low] = high
        p[high] -= 1 - p[low]
        (few if p[high] < 1 else many).append(high)
    return p.astype("float32"), others


def hits(true: Array, sampled: Array) -> tuple[Array, Array]:
    """Where what was sampled is a true class of a row: the rows, and the numbers of the samples."""
    rows, _, at = np.nonzero(true[:, :, None] == sampled)
    return rows.astype("int32"), at.astype("int64")
