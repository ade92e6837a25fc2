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


# Connectionist temporal classification ----------------------------------------------------------


def _beginnings(scores: Array, states: Array, blank: int, merging: bool) -> Array:
    """By step and state, the sums over all beginnings of paths that spell one sample's labels,
    without the step's own score.

    Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification",
    ICML 2006, section 4.1.

    Args:
        scores: of the states at each step, (time, states), logarithms.
        states: labels, with blanks before, between and after them.
        blank: the class that no label is.
        merging: whether labels that repeat in a path count once.
    """
    is_label, repeats = states != blank, np.zeros(len(states), bool)
    repeats[2:] = (states[2:] == states[:-2]) & merging
    stays = np.where(is_label & (not merging), -np.inf, 0.0)
    skips = np.where(is_label & ~repeats, 0.0, -np.inf)
    found = np.full(scores.shape, -np.inf)
    found[0, :2] = 0.0
    for t in range(1, len(found)):
        before = np.concatenate([[-np.inf] * 2, found[t - 1] + scores[t - 1]])
        ways = [before[2:] + stays, before[1:-1], before[:-2] + skips]
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
        blank = chances.shape[1] - 1
        states = np.full(2 * len(labels) + 1, blank)
        states[1::2] = labels
        own = chances[:, states]
        endings = _beginnings(own[::-1, ::-1], states[::-1], blank, merging)[::-1, ::-1]
        both = _beginnings(own, states, blank, merging) + own + endings
        whole = np.logaddexp.reduce(both[0])
        if np.isfinite(whole):
            at: Any = (slice(None), states)
            np.subtract.at(slopes, at, np.exp(both - whole))
    return -float(whole), slopes


def without_repeats(labels: Sequence[int]) -> list[int]:
    """Of equal labels that follow one another the first.

    >>> without_repeats([1, 1, 2, 1])
    [1, 2, 1]
    """
    return [x for at, x in enumerate(labels) if at == 0 or x != labels[at - 1]]
