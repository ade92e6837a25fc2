"""Quantiles of a stream of weighted numbers, with a bound for their error: levels of summaries that
are merged and compressed (Greenwald and Khanna 2004; Zhang and Wang 2007).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Entry(NamedTuple):
    """A number in a summary, in single precision.

    Attributes:
        value: the number.
        weight: how much it weighs.
        least: the least weight that may be below it.
        most: the greatest that may be up to it.
    """

    value: Any
    weight: Any
    least: Any
    most: Any

    @property
    def before(self) -> Any:
        """The greatest weight that may be below it."""
        return self.most - self.weight

    @property
    def behind(self) -> Any:
        """The least weight that may be up to it."""
        return self.least + self.weight


Summary = list[Entry]
NOTHING = np.float32(0)


def exact(values: Array, weights: Array) -> Summary:
    """All numbers, in order, the equal ones as one."""
    kept = weights > 0
    order = np.argsort(values[kept], kind="stable")
    numbers, shares = values[kept][order], weights[kept][order]
    found: Summary = []
    below = NOTHING
    starts = np.flatnonzero(np.diff(numbers, prepend=np.nan) != 0)
    for start, end in pairwise([*starts.tolist(), len(numbers)]):
        weight = np.add.accumulate(shares[start:end], dtype=np.float32)[-1]
        found.append(Entry(numbers[start], weight, below, below + weight))
        below = below + weight
    return found


def merged(one: Summary, other: Summary) -> Summary:
    """The summary of both streams."""
    if not one or not other:
        return one or other
    found: Summary = []
    at, place = 0, 0
    low, lower = NOTHING, NOTHING  # what is surely below the next one, of each
    while at < len(one) or place < len(other):
        a = one[at] if at < len(one) else None
        b = other[place] if place < len(other) else None
        if a and b and a.value == b.value:
            parts = zip(a[1:], b[1:], strict=True)
            found.append(Entry(a.value, *(x + y for x, y in parts)))
        elif a and (b is None or a.value < b.value):
            above = b.before if b else other[-1].most
            found.append(Entry(a.value, a.weight, a.least + lower, a.most + above))
            b = None
        elif b:
            above = a.before if a else one[-1].most
            found.append(Entry(b.value, b.weight, b.least + low, b.most + above))
            a = None
        if a:
            at, low = at + 1, a.behind
        if b:
            place, lower = place + 1, b.behind
    return found


def compressed(given: Summary, size: int, epsilon: float = 0.0) -> Summary:
    """About so many entries, of which the first and the last one stay."""
    size = max(size, 2)
    if len(given) <= size:
        return given
    gap = float(given[-1].most) * max(1.0 / size, epsilon)
    found, last = [given[0]], 0
    room, read, end = len(given), 0, len(given) - 1
    while read < end:
        following = read + 1
        while following <= end and room > 0 and given[following].before - given[read].behind <= gap:
            room -= size
            following += 1
        read = max(following - 1, read + 1)
        found.append(given[read])
        last = read
        room += len(given)
    return found if last == end else [*found, given[-1]]


def error_of(given: Summary) -> float:
    """The greatest error of a rank, as a part of the whole weight."""
    gaps = [
        max(entry.most - entry.least - entry.weight, entry.before - former.behind)
        for former, entry in pairwise(given)
    ]
    return float(max([NOTHING, *gaps])) / float(given[-1].most) if given else 0.0


def boundaries(given: Summary, count: int) -> list[Any]:
    """About so many different numbers that divide the stream."""
    if not given:
        return []
    epsilon = float(np.float32(error_of(given) + 1.0 / count))
    found = [entry.value for entry in compressed(given, count, epsilon)]
    return [value for at, value in enumerate(found) if at == 0 or value != found[at - 1]]


def quantiles(given: Summary, count: int) -> list[Any]:
    """So many numbers from the least to the greatest one, of equal weights between them."""
    if not given:
        return []
    parts, at, found = max(count - 1, 2), 0, []
    for rank in range(parts + 1):
        twice = np.float32(2) * (np.float32(rank) * given[-1].most / np.float32(parts))
        following = at + 1
        while following < len(given) and twice >= given[following].least + given[following].most:
            following += 1
        at = following - 1
        is_last = following == len(given)
        nearer = is_last or twice < given[at].behind + given[following].before
        found.append(given[at if nearer else following].value)
    return found


class Stream:
    """A stream of which a summary is kept.

    Attributes:
        done: the summary, once nothing more comes.
    """

    def __init__(self, epsilon: float, most: int) -> None:
        self._epsilon, self._most = epsilon, most
        self._block = _block_of(epsilon, most)
        self._levels: list[Summary] = []
        self.done: Summary | None = None

    def add(self, values: Array, weights: Array) -> None:
        """Take numbers."""
        size = min(2 * self._block, self._most)
        kept = weights > 0
        for start in range(0, int(kept.sum()), size):
            part = slice(start, start + size)
            self.add_summary(exact(values[kept][part], weights[kept][part]))

    def add_summary(self, given: Summary) -> None:
        """Take what another stream had."""
        summary, level = compressed(given, self._block, self._epsilon), 0
        while summary:
            if level == len(self._levels):
                self._levels.append([])
            current = self._levels[level]
            summary = merged(summary, current)
            if not current or len(summary) <= self._block + 1:
                self._levels[level] = summary
                return
            summary = compressed(summary, self._block, self._epsilon)
            self._levels[level] = []
            level += 1

    def end(self) -> Summary:
        """Take nothing more: the summary of all."""
        found: Summary = []
        for each in self._levels:
            found = merged(found, each)
        self.done = found
        return found


def _block_of(epsilon: float, most: int) -> int:
    """How many entries a level has: so that the highest one is filled at most once."""
    if epsilon <= np.finfo(np.float64).eps:
        return max(most, 2)
    level, block = 1, 2
    while (1 << level) * block < most:
        block = math.ceil(level / epsilon) + 1
        level += 1
    return max(block, 2)


def of_rows(rows: Array) -> Summary:
    """A summary whose entries are the rows of a matrix."""
    return [Entry(*row) for row in rows.astype(np.float32)]


def as_rows(given: Iterable[Entry]) -> Array:
    """A matrix whose rows are the entries of a summary."""
    rows: Sequence[Entry] = list(given)
    return np.array(rows, np.float32).reshape(-1, 4)
