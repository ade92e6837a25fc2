"""Pools whose windows are of two sizes, in an order drawn at random. They run on the host.

Source: Graham, "Fractional max-pooling" (2014).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..failures import invalid
from ..graph import Operation
from ..resources.philox import Philox
from ..variables import Store
from .table import fold, host

Array = np.ndarray


# Where windows begin ----------------------------------------------------------------------------


def _bounds(size: int, count: int, stream: Philox, in_step: bool) -> Array:
    """Where so many windows begin, and where the last one ends."""
    least = size // count
    if not in_step:
        numbers, widths = stream.reserved(count), [least + (i < size % count) for i in range(count)]
        for at in range(count - 1):
            other = at + numbers.next() % (count - at)
            widths[at], widths[other] = widths[other], widths[at]
        return np.cumsum([0, *widths])
    ratio, numbers = size / count, stream.reserved(2)
    most = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
    high, low = numbers.next(), numbers.next()
    start = ((high & 0xFFFFF) << 32 | low) / 2**52 * most
    inner = [int(np.ceil(ratio * (at + start))) for at in range(1, count)]
    return np.array([1, *inner, size + 1]) - 1


def _windows(
    operation: Operation, rows: Any, columns: Any, space: tuple[int, ...]
) -> Iterator[tuple[int, int, tuple[slice, slice, slice]]]:
    """The rows and columns of the result, and what of the images each window sees."""
    more = 1 if operation.attribute("overlapping") else 0
    for row, (top, bottom) in enumerate(itertools.pairwise(rows)):
        for column, (left, right) in enumerate(itertools.pairwise(columns)):
            across = slice(left, min(right + more, space[1]))
            yield row, column, (slice(None), slice(top, min(bottom + more, space[0])), across)


@host("FractionalMaxPool FractionalAvgPool")
def _pool(
    store: Store, operation: Operation, given: Array,
    *, pooling_ratio: list[float], pseudo_random: bool, deterministic: bool, seed: int, seed2: int,
) -> list[Array]:  # fmt: skip
    seeds = seed, seed2
    if any(seeds) and not deterministic:
        raise invalid("Both seed and seed2 should be 0 if deterministic is false.")
    key = (operation.graph.function, operation.name)
    fixed = deterministic and any(seeds)
    stream = Philox(*seeds) if fixed else store.streams.setdefault(key, Philox(*seeds))
    pairs = zip(given.shape, pooling_ratio, strict=True)
    sizes = [int(np.floor(size / ratio)) for size, ratio in pairs]
    rows, columns = (_bounds(given.shape[i], sizes[i], stream, pseudo_random) for i in (1, 2))
    found = np.zeros(sizes, given.dtype)
    reduce: Any = np.max if operation.type == "FractionalMaxPool" else np.mean
    for row, column, seen in _windows(operation, rows, columns, given.shape[1:3]):
        found[:, row, column] = reduce(given[seen], axis=(1, 2))
    return [found, rows.astype(np.int64), columns.astype(np.int64)]


# Gradients --------------------------------------------------------------------------------------


@fold("FractionalMaxPoolGrad")
def _max_gradient(
    operation: Operation, x: Array, y: Array, g: Array, rows: Array, columns: Array
) -> Array:
    """The gradient goes to the first of the largest."""
    found = np.zeros_like(x)
    for row, column, seen in _windows(operation, rows, columns, x.shape[1:3]):
        part = x[seen].reshape(len(x), -1, x.shape[3])
        first = np.arange(part.shape[1])[:, None] == part.argmax(1)[:, None]
        spread = np.where(first, g[:, row, column][:, None], 0)
        found[seen] += spread.reshape(x[seen].shape).astype(x.dtype)
    return found


@fold("FractionalAvgPoolGrad")
def _mean_gradient(
    operation: Operation, sizes: list[int], g: Array, rows: Array, columns: Array
) -> Array:
    found = np.zeros(sizes, g.dtype)
    for row, column, seen in _windows(operation, rows, columns, found.shape[1:3]):
        cells = found[seen].shape[1] * found[seen].shape[2]
        found[seen] += (g[:, row, column] / cells)[:, None, None]
    return found
