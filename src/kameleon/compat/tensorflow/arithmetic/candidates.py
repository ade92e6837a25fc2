"""Classes that are drawn to stand for all others, and how often each is to be expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sampler:
    """A distribution over classes.

    Attributes:
        chances: of an array of classes.
        draw: so many classes, by a generator.
        count: how many classes there are.
    """

    chances: Callable[[Array], Array]
    draw: Callable[[Any, int], Array]
    count: int

    def drawn(self, generator: Any, true: Array, number: int, unique: bool) -> list[Array]:
        """Classes, and how often the true ones and they were to be expected.

        Raises:
            ValueError: there aren't so many different ones.
        """
        if unique and number > self.count:
            raise ValueError(f"{number} different classes can't be drawn of {self.count}")
        tries, found = number, self.draw(generator, number)
        if unique:
            different: dict[int, None] = {}
            tries = 0
            while len(different) < number:
                different[int(self.draw(generator, 1)[0])] = None
                tries += 1
            found = np.array(list(different))

        def expected(classes: Array) -> Array:
            p = self.chances(np.asarray(classes, "float64"))
            count = -np.expm1(tries * np.log1p(-p)) if unique else p * tries
            return np.asarray(count, "float32")

        return [np.asarray(found, "int64"), expected(true), expected(found)]


def log_uniform(count: int) -> Sampler:
    """Classes that are the rarer, the larger they are: by Zipf's law."""
    whole = np.log(count + 1.0)
    return Sampler(
        lambda c: (np.log(c + 2.0) - np.log(c + 1.0)) / whole,
        lambda g, n: np.minimum(np.exp(g.random(n) * whole).astype("int64") - 1, count - 1),
        count,
    )


def uniform(count: int) -> Sampler:
    """Classes of equal chances."""
    return Sampler(
        lambda c: np.full(c.shape, 1.0 / count), lambda g, n: g.integers(0, count, n), count
    )


def unigrams(count: int, weights: Sequence[float], distortion: float, reserved: int) -> Sampler:
    """Classes by weights, each to a power; so many first classes have none.

    Raises:
        ValueError: there are more or fewer weights than classes.
    """
    powers = np.asarray(weights, "float64") ** distortion
    p = np.concatenate([np.zeros(reserved), powers / powers.sum()])
    if len(p) != count:
        raise ValueError(f"unigrams give {len(p)} classes, but range_max is {count}")
    return Sampler(lambda c: p[c.astype("int64")], lambda g, n: g.choice(count, n, p=p), count)


def hits(true: Array, sampled: Array) -> tuple[Array, Array]:
    """Where what was sampled is a true class of a row: the rows, and the numbers of the samples."""
    rows, _, at = np.nonzero(true[:, :, None] == sampled)
    return rows.astype("int32"), at.astype("int64")
