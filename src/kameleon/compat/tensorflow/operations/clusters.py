"""Clusters: the nearest centers, and the choice of the first ones. They run on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..failures import invalid
from .table import host

Array = np.ndarray


def _distances(x: Array, y: Array) -> Array:
    """The squared distance of each point from each center."""
    squares = (x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1)
    found: Array = np.maximum(squares, 0).astype(np.float32)
    return found


@host("NearestNeighbors")
def _nearest(points: Array, centers: Array, k: int) -> list[Any]:
    found = _distances(points, centers)
    at = np.argsort(found, axis=1, kind="stable")[:, :k]
    return [at.astype(np.int64), np.take_along_axis(found, at, 1)]


def _source(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed % 2**32)


def _drawn(source: np.random.RandomState, weights: Array, count: int) -> Array:
    """Places, by their weights; where all are 0, each as likely."""
    total = weights.sum(dtype=np.float64)
    return source.choice(len(weights), count, p=weights / total if total else None)


@host("KmeansPlusPlusInitialization")
def _first(rows: Array, count: int, seed: int, retries: int) -> Array:
    """Points far from those before: of some that are drawn, the one that lessens distances most."""
    source = _source(seed)
    if not 0 < count <= len(rows):
        raise invalid(f"Expected 0 < num_to_sample <= {len(rows)}: {count}")
    chosen = [source.randint(len(rows))]
    nearest = _distances(rows, rows[chosen])[:, 0]
    while len(chosen) < count:
        tried = _drawn(source, nearest.astype(np.float64), retries + 1)
        lessened = np.minimum(nearest[:, None], _distances(rows, rows[tried]))
        best = int(lessened.sum(0).argmin())
        chosen.append(int(tried[best]))
        nearest = lessened[:, best]
    found: Array = rows[chosen]
    return found


@host("KMC2ChainInitialization")
def _chain(distances: Array, seed: int) -> np.int64:
    """The last place of a Markov chain that goes on to farther points, to nearer ones by chance."""
    source, at = _source(seed), 0
    for place in range(1, len(distances)):
        if distances[place] > distances[at] * source.uniform():
            at = place
    return np.int64(at)
