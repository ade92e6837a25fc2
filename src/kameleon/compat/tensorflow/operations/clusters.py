"""Clusters: the nearest centers, and the choice of the first ones. They run on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..failures import failure
from .table import host

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store


def _distances(points: Any, centers: Any) -> np.ndarray:
    """The squared distance of each point from each center."""
    x, y = np.asarray(points), np.asarray(centers)
    squares = (x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1)
    found: np.ndarray = np.maximum(squares, 0).astype(np.float32)
    return found


@host("NearestNeighbors")
def _nearest(store: Store, operation: Operation, points: Any, centers: Any, k: Any) -> list[Any]:
    found = _distances(points, centers)
    at = np.argsort(found, axis=1, kind="stable")[:, : int(k)]
    return [at.astype(np.int64), np.take_along_axis(found, at, 1)]


def _drawn(source: np.random.RandomState, weights: np.ndarray, count: int) -> np.ndarray:
    """Places, by their weights; where all are 0, each as likely."""
    total = weights.sum(dtype=np.float64)
    return source.choice(len(weights), count, p=weights / total if total else None)


@host("KmeansPlusPlusInitialization")
def _first(
    store: Store, operation: Operation, points: Any, count: Any, seed: Any, retries: Any
) -> Any:
    """Points far from those before: of some that are drawn, the one that lessens distances most."""
    rows, source = np.asarray(points), np.random.RandomState(int(seed) % 2**32)
    if not 0 < int(count) <= len(rows):
        message = f"Expected 0 < num_to_sample <= {len(rows)}: {int(count)}"
        raise failure("INVALID_ARGUMENT", message)
    chosen = [source.randint(len(rows))]
    nearest = _distances(rows, rows[chosen])[:, 0]
    while len(chosen) < int(count):
        tried = _drawn(source, nearest.astype(np.float64), int(retries) + 1)
        lessened = np.minimum(nearest[:, None], _distances(rows, rows[tried]))
        best = int(lessened.sum(0).argmin())
        chosen.append(int(tried[best]))
        nearest = lessened[:, best]
    return rows[chosen]


@host("KMC2ChainInitialization")
def _chain(store: Store, operation: Operation, distances: Any, seed: Any) -> Any:
    """The last place of a Markov chain that goes on to farther points, to nearer ones by chance."""
    given, source = np.asarray(distances), np.random.RandomState(int(seed) % 2**32)
    at = 0
    for place in range(1, len(given)):
        if given[place] > given[at] * source.uniform():
            at = place
    return np.int64(at)
