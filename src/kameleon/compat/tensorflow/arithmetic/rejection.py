"""Numbers of distributions that are drawn until one fits, as TensorFlow draws them of Philox's.

Each number has a stream of its own, so that it doesn't depend on how often another one was drawn
again. They are drawn in step, those that don't fit once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..resources.philox import Philox
from .drawing import RESERVED, normal, uniform

Array = np.ndarray
_Kind = Callable[[Array, str], Array]  # what makes doubles of blocks
_FEW = 10.0  # of smaller means, Poisson's numbers are counted; of others, drawn


class _Streams:
    """One stream of blocks for each number. A block gives two doubles, of which the last is taken
    first; those of each kind are kept until they're used.
    """

    def __init__(self, numbers: Philox, count: int) -> None:
        self._numbers = numbers
        self._next = np.arange(count) * RESERVED
        kinds: tuple[_Kind, ...] = (uniform, normal)
        self._kept = {kind: np.empty((count, 2)) for kind in kinds}
        self._left = {kind: np.zeros(count, int) for kind in kinds}

    def take(self, kind: _Kind, who: Array) -> Array:
        """The next doubles of a kind, of those whose places are told."""
        kept, left = self._kept[kind], self._left[kind]
        empty = who[left[who] == 0]
        kept[empty] = kind(self._numbers.blocks(self._next[empty]), "float64")
        self._next[empty] += 1
        left[empty] = 2
        left[who] -= 1
        taken: Array = kept[who, left[who]]
        return taken


def _by_parameter(parameters: Array, times: int) -> tuple[Array, tuple[int, int]]:
    """The parameter of each stream, and the shape that streams have: a row for each parameter."""
    flat = np.ravel(parameters).astype(np.float64)
    return np.repeat(flat, times), (flat.size, times)


def gamma(numbers: Philox, times: int, alphas: Array) -> Array:
    """Numbers of gamma distributions with scale 1, by Marsaglia and Tsang's method (2000).

    Args:
        numbers: where they come from.
        times: how many of each distribution.
        alphas: the distributions' shapes.

    Returns:
        A row for each distribution.
    """
    alpha, shape = _by_parameter(alphas, times)
    streams, found = _Streams(numbers, alpha.size), np.full(alpha.size, np.nan)
    [even] = np.nonzero(alpha == 1)
    found[even] = -np.log1p(-streams.take(uniform, even))
    [rest] = np.nonzero((alpha != 1) & ~np.isnan(alpha))
    d = alpha + np.where(alpha < 1, 2 / 3, -1 / 3)
    with np.errstate(invalid="ignore"):
        c = 1 / 3 / np.sqrt(d)
    while rest.size:
        x = streams.take(normal, rest)
        v = 1 + c[rest] * x
        able = ~(v <= 0)  # no shape below zero has a root: what comes of it is no number
        who, x, v = rest[able], x[able], v[able] ** 3
        u, scale = streams.take(uniform, who), d[who]
        fits = u < 1 - 0.0331 * x**4
        fits |= np.log(u) < 0.5 * x * x + scale * (1 - v + np.log(v))
        done = who[fits]
        found[done] = d[done] * v[fits]
        low = done[alpha[done] < 1]
        with np.errstate(divide="ignore"):
            found[low] *= streams.take(uniform, low) ** (1 / alpha[low])
        rest = np.setdiff1d(rest, done, assume_unique=True)
    return found.reshape(shape)


def poisson(numbers: Philox, times: int, means: Array) -> Array:
    """Numbers of Poisson distributions: Knuth's method of products for small means, Hörmann's
    transformed rejection (1993) for others.

    Args:
        numbers: where they come from.
        times: how many of each distribution.
        means: the distributions' means.

    Returns:
        A row for each distribution.
    """
    mean, shape = _by_parameter(means, times)
    streams, found = _Streams(numbers, mean.size), np.where(np.isinf(mean), mean, np.nan)
    [rest] = np.nonzero(mean < _FEW)
    product, count, least = np.ones(mean.size), np.zeros(mean.size), np.exp(-mean)
    while rest.size:
        product[rest] *= streams.take(uniform, rest)
        fits = product[rest] <= least[rest]
        found[rest[fits]] = count[rest[fits]]
        rest = rest[~fits]
        count[rest] += 1
    [rest] = np.nonzero((mean >= _FEW) & np.isfinite(mean))
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    while rest.size:
        u = streams.take(uniform, rest) - 0.5
        v = streams.take(uniform, rest)
        near = 0.5 - np.abs(u)
        rate, height, width = mean[rest], b[rest], a[rest]
        number = np.floor((2 * width / near + height) * u + rate + 0.43)
        chance = np.log(v * (1.1239 + 1.1328 / (height - 3.4)) / (width / near**2 + height))
        factorial = np.array([*map(math.lgamma, np.maximum(number, 0) + 1)])
        fits = chance <= -rate + number * np.log(rate) - factorial
        fits &= (number >= 0) & ~((near < 0.013) & (v > near))
        fits |= (near >= 0.07) & (v <= 0.9277 - 3.6224 / (height - 2))
        found[rest[fits]] = number[fits]
        rest = rest[~fits]
    return found.reshape(shape)


# One number after the other ---------------------------------------------------------------------


def binomial(numbers: Philox, count: Any, chance: Any) -> float:
    """How many of so many tries are good: by the gaps between them where few are, else by
    Hörmann's transformed rejection (1993, "The generation of binomial random variates").

    Args:
        numbers: where it's drawn from; what follows is what's next there.
        count: how many tries.
        chance: of each one to be good; of the type that products with it are rounded to.
    """
    if count <= 0 or chance <= 0:
        return 0.0
    if not chance < 1:
        return float(count if chance >= 1 else np.nan)
    less = chance if chance <= 0.5 else 1 - chance
    draw = _by_gaps if count * less < _FEW else _by_rejection
    found = draw(float(count), float(less), _evenly(numbers))
    return found if chance <= 0.5 else float(count) - found


def _evenly(numbers: Philox) -> Iterator[float]:
    """Doubles from 0 to 1, two of each block, of which the last is taken first."""
    while True:
        [pair] = uniform(numbers.reserved(4).blocks(np.arange(1)), "float64")
        yield from pair[::-1].tolist()


def _by_gaps(count: float, chance: float, even: Iterator[float]) -> float:
    tries, found = 0.0, 0.0
    with np.errstate(divide="ignore"):
        while (tries := tries + np.ceil(np.log(next(even)) / np.log1p(-chance))) <= count:
            found += 1
    return found


def _by_rejection(count: float, chance: float, even: Iterator[float]) -> float:
    odds, likeliest = chance / (1 - chance), math.floor((count + 1) * chance)
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    while True:
        u, v = next(even) - 0.5, next(even)
        near = 0.5 - abs(u)
        number = float(np.floor((2 * a / near + b) * u + count * chance + 0.5))
        if near >= 0.07 and v <= 0.92 - 4.2 / b:
            return number
        if 0 <= number <= count:
            height = v * (2.83 + 5.1 / b) * deviation / (a / near**2 + b)
            most = (number - likeliest) * math.log(odds)
            for k, sign in ((likeliest, 1), (number, -1)):
                most += sign * (math.lgamma(k + 1) + math.lgamma(count - k + 1))
            if height <= math.exp(most):
                return number
