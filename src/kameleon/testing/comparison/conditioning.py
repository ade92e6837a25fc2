"""How far the last bits of what a graph is given move its results.

An optimizer that divides a slope by the root of its square takes last bits for whole steps, where
the slope is all rounding. There no two engines agree within a fixed tolerance, and none is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.compiler import compiled, run
from ...runtime.engines import embedded
from .problem import Array, Problem
from .result import TOLERANCES, Difference, difference

RUNS = 6
UNITS = 4  # in the last place, by which a number is moved at most
MARGIN = 4.0  # of the largest movement that so few runs find


def is_rounding(
    problem: Problem, reference: Sequence[Array], differences: Sequence[Difference]
) -> bool:
    """Whether an engine is about as far from the embedded one as that is from itself, where floats
    among inputs and state are moved by a few units in the last place. Integers must be equal.

    Args:
        problem: what was computed.
        reference: what the embedded engine gives.
        differences: of the engine, for each result.
    """
    far = [i for i, d in enumerate(differences) if not d.within()]
    if not all(differences[i].dtype in TOLERANCES for i in far):
        return False
    code = compiled(problem.graph, embedded())
    largest = dict.fromkeys(far, 0.0)
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        found = run(code, [_moved(x, random) for x in problem.values])
        for i in far:
            largest[i] = max(largest[i], difference("", found[i], reference[i]).absolute)
    return all(differences[i].absolute <= MARGIN * largest[i] < np.inf for i in far)


def _moved(x: Array, random: np.random.Generator) -> Array:
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return x.copy()
    units = random.integers(-UNITS, UNITS + 1, x.shape)
    return (x * (1 + units * np.finfo(x.dtype).eps)).astype(x.dtype)
