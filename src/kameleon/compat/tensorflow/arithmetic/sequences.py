"""Sequences of labels: the cost of connectionist temporal classification, and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


# Distances --------------------------------------------------------------------------------------


def distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many elements must be changed, added or left out to make one sequence of the other.

    Source: Wagner and Fischer, "The string-to-string correction problem" (1974).

    >>> distance("kitten", "sitting")
    3
    """
    line = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, line[0] = line[0], i
        for j, y in enumerate(b, 1):
            change = before + (x != y)
            before, line[j] = line[j], min(line[j] + 1, line[j - 1] + 1, change)
    return line[-1]


def share_to_change(a: Sequence[Any], b: Sequence[Any], normalize: bool) -> float:
    """The distance, if it's asked for by the length of the second sequence."""
    found = distance(a, b)
    if not normalize:
        return float(found)
    return found / len(b) if len(b) else (np.inf if len(a) else 0.0)


# Connectionist temporal classification ----------------------------------------------------------


class _Paths:
    """The sums over the paths that spell one sample's labels.

    Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification",
    ICML 2006, section 4.1.

    Args:
        chances: of classes at each step, (time, classes), logarithms.
        labels: of the sample.
        merging: whether labels that repeat in a path count once.
    """

    def __init__(self, chances: Array, labels: Sequence[int], merging: bool) -> None:
        blank = chances.shape[1] - 1
        self.states = np.full(2 * len(labels) + 1, blank)
        self.states[1::2] = labels
        self.scores = chances[:, self.states]
        is_label = self.states != blank
        self._stays = np.where(is_label & (not merging), -np.inf, 0.0)
        repeats = np.zeros(len(self.states), bool)
        repeats[2:] = (self.states[2:] == self.states[:-2]) & merging
        self._skips = np.where(is_label & ~repeats, 0.0, -np.inf)
        self._skips[:2] = -np.inf

    def forward(self) -> Array:
        """By step and state, of all beginnings."""
        found = np.full(self.scores.shape, -np.inf)
        found[0, :2] = self.scores[0, :2]
        for t in range(1, len(found)):
            before = np.concatenate([[-np.inf] * 2, found[t - 1]])
            ways = [before[2:] + self._stays, before[1:-1], before[:-2] + self._skips]
            found[t] = np.logaddexp.reduce(ways) + self.scores[t]
        return found

    def backward(self) -> Array:
        """By step and state, of all endings, without the step's own score."""
        found = np.full(self.scores.shape, -np.inf)
        found[-1, -2:] = 0.0
        for t in range(len(found) - 2, -1, -1):
            after = np.concatenate([found[t + 1] + self.scores[t + 1], [-np.inf] * 2])
            skips = np.concatenate([self._skips, [-np.inf] * 2])[2:]
            ways = [after[:-2] + self._stays, after[1:-1], after[2:] + skips]
            found[t] = np.logaddexp.reduce(ways)
        return found


def ctc_cost(scores: Array, labels: Sequence[int], merging: bool) -> tuple[float, Array]:
    """Minus the logarithm of the probability of labels, and its gradient.

    Args:
        scores: of classes at each step, (time, classes), of which the last one is the blank.
        labels: the classes of the sequence.
        merging: whether labels that repeat in a path count once.
    """
    chances = scores.astype("float64")
    chances = chances - chances.max(1, keepdims=True)
    chances = chances - np.log(np.exp(chances).sum(1, keepdims=True))
    slopes = np.exp(chances)
    with np.errstate(all="ignore"):
        paths = _Paths(chances, labels, merging)
        both = paths.forward() + paths.backward()
        whole = np.logaddexp.reduce(both[0])
        if np.isfinite(whole):
            at: Any = (slice(None), paths.states)
            np.subtract.at(slopes, at, np.exp(both - whole))
    return -float(whole), slopes


def without_repeats(labels: Sequence[int]) -> list[int]:
    """Of equal labels that follow one another the first.

    >>> without_repeats([1, 1, 2, 1])
    [1, 2, 1]
    """
    return [x for at, x in enumerate(labels) if at == 0 or x != labels[at - 1]]
