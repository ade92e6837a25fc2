"""Sparse tensors as rows of indices, values, and sizes: order, sums, parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Sparse(NamedTuple):
    """A sparse tensor.

    Attributes:
        indices: (count, rank), int64.
        values: (count,).
        shape: (rank,), int64.
    """

    indices: Array
    values: Array
    shape: Array

    def parts(self) -> list[Array]:
        """What operations give."""
        return [self.indices, self.values, self.shape]


def sparse(indices: Any, values: Any, shape: Any) -> Sparse:
    """A sparse tensor of what operations take."""
    found = Sparse(np.asarray(indices), np.asarray(values), np.asarray(shape, np.int64))
    counts = [len(part) for part in found[:2] if part.ndim]
    if len({*counts}) > 1:
        about = "indices and values rows (indexing dimension) must match."
        raise ValueError(f"{about} (indices = {counts[0]}, values = {counts[1]})")
    return found


def order_of(indices: Array) -> Array:
    """The order in which rows rise; equal ones stay in theirs."""
    if indices.shape[1] == 0:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def begins_of(rows: Array) -> Array:
    """Where another row than the one before begins, as bools."""
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    return begins


def ordered(x: Sparse) -> Sparse:
    """With the elements in row-major order."""
    order = order_of(x.indices)
    return Sparse(x.indices[order], x.values[order], x.shape)


def rows(x: Sparse) -> Iterator[Sparse]:
    """The parts along the first axis, without it."""
    for row in range(int(x.shape[0])):
        at = x.indices[:, 0] == row
        yield Sparse(x.indices[at, 1:], x.values[at], x.shape[1:])


class Groups(NamedTuple):
    """Rows, the equal ones together.

    Attributes:
        order: that brings equal rows together.
        starts: where each group begins in that order.
        rows: the different rows.
    """

    order: Array
    starts: Array
    rows: Array

    def numbers(self) -> Array:
        """The number of each element's group, in the elements' own order."""
        found = np.empty(len(self.order), np.int64)
        at = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.order)]))
        found[self.order] = at
        return found

    def reduce(self, function: Any, values: Array) -> Array:
        """What a function of NumPy makes of each group's values."""
        if not len(self.starts):
            return values[:0]
        return np.asarray(function.reduceat(values[self.order], self.starts), values.dtype)


def groups(rows: Array) -> Groups:
    """Equal rows together."""
    order = order_of(rows)
    sorted_rows = rows[order]
    starts = np.flatnonzero(begins_of(sorted_rows))
    return Groups(order, starts, sorted_rows[starts])


# Of two -----------------------------------------------------------------------------------------


def total(a: Sparse, b: Sparse, threshold: Any) -> Sparse:
    """The sum; of what both hold, smaller ones than the threshold are left out."""
    found = groups(np.concatenate([a.indices, b.indices]))
    sums = found.reduce(np.add, np.concatenate([a.values, b.values]))
    counts = np.diff([*found.starts, len(found.order)])
    kept = (counts == 1) | (np.abs(sums) >= threshold)
    return Sparse(found.rows[kept], sums[kept], a.shape)


def places_of(rows: Array, among: Array) -> Array:
    """Where each row stands among others, which are all different; -1, where it doesn't."""
    numbers = groups(np.concatenate([among, rows])).numbers()
    at = np.full(len(rows) + len(among), -1)
    at[numbers[: len(among)]] = np.arange(len(among))
    return at[numbers[len(among) :]]


def slopes_at(g: Array, rows: Array, among: Array) -> Array:
    """The slopes of rows, given those of others; 0 where a row isn't among these."""
    slopes: Array = np.append(g, np.zeros(1, g.dtype))[places_of(rows, among)]
    return slopes


def either(function: Any, a: Sparse, b: Sparse) -> Sparse:
    """Element by element; what one of them lacks is 0."""
    rows = groups(np.concatenate([a.indices, b.indices])).rows
    parts = []
    for x in (a, b):
        column = np.zeros(len(rows), x.values.dtype)
        column[places_of(x.indices, rows)] = x.values
        parts.append(column)
    return Sparse(rows, function(*parts), a.shape)


# Shapes -----------------------------------------------------------------------------------------


def _strides(shape: Sequence[int]) -> Array:
    """How far apart neighbours along each axis lie in row-major order."""
    return np.array([math.prod(shape[at + 1 :]) for at in range(len(shape))], np.int64)


def reshaped(indices: Array, shape: Sequence[int], wanted: Sequence[int]) -> Array:
    """The same elements in another shape."""
    sizes = np.maximum(wanted, 1).astype(np.int64)
    return (indices @ _strides(shape))[:, None] // _strides(sizes.tolist()) % sizes


def cut(x: Sparse, start: Array, size: Array) -> Sparse:
    """A part that begins at some place."""
    ends = np.minimum(start + size, x.shape)
    kept = ((x.indices >= start) & (x.indices < ends)).all(1)
    return Sparse(x.indices[kept] - start, x.values[kept], np.maximum(ends - start, 0))


def split(x: Sparse, axis: int, count: int) -> list[Sparse]:
    """Parts along an axis; the first ones are larger by 1, where the size isn't a multiple."""
    sizes = [x.shape[axis] // count + (at < x.shape[axis] % count) for at in range(count)]
    found, begin = [], np.zeros_like(x.shape)
    for size in sizes:
        extent = x.shape.copy()
        extent[axis] = size
        found.append(cut(x, begin, extent))
        begin[axis] += size
    return found


def joined(parts: Sequence[Sparse], axis: int) -> Sparse:
    """Behind one another along an axis, in row-major order."""
    shape, offset, moved = parts[0].shape.copy(), 0, []
    for part in parts:
        indices = part.indices.copy()
        indices[:, axis] += offset
        moved.append(indices)
        offset += part.shape[axis]
    shape[axis] = offset
    values = np.concatenate([part.values for part in parts])
    return ordered(Sparse(np.concatenate(moved), values, shape))


# Sums -------------------------------------------------------------------------------------------


def reduced(x: Sparse, axes: Sequence[int], keep: bool, function: Any) -> Sparse:
    """Sums, or others, over axes: the groups that have elements."""
    rank = len(x.shape)
    over = {axis % rank for axis in axes}
    left = [axis for axis in range(rank) if axis not in over]
    found = groups(x.indices[:, left])
    values, rows = found.reduce(function, x.values), found.rows
    if not keep:
        return Sparse(rows, values, x.shape[left])
    whole = np.zeros((len(rows), rank), np.int64)
    whole[:, left] = rows
    shape = np.array([1 if axis in over else x.shape[axis] for axis in range(rank)], np.int64)
    return Sparse(whole, values, shape)


def dense(x: Sparse, default: Any = 0) -> Array:
    """The dense tensor; of several values at one place the last."""
    found = np.full(tuple(x.shape), default, x.values.dtype)
    if len(x.shape):
        found[tuple(x.indices.T)] = x.values
    elif len(x.values):
        found[()] = x.values[-1]
    return found


def softmax(x: Sparse) -> Array:
    """Along the last axis, over what is held."""
    found = groups(x.indices[:, :-1])
    at = found.numbers()
    powers = np.exp(x.values - found.reduce(np.maximum, x.values)[at])
    return np.asarray(powers / found.reduce(np.add, powers)[at])


# Rows -------------------------------------------------------------------------------------------


class Filled(NamedTuple):
    """A matrix with an element in each row; which were empty; where each element went."""

    whole: Sparse
    empty: Array
    places: Array


def filled(x: Sparse, default: Any) -> Filled:
    """Each row that has no element gets one, at its begin."""
    rows = int(x.shape[0])
    empty = np.bincount(x.indices[:, 0], minlength=rows) == 0
    new = np.flatnonzero(empty)
    added = np.zeros((len(new), x.indices.shape[1]), np.int64)
    added[:, 0] = new
    numbers = np.concatenate([x.indices[:, 0], new])
    order = np.argsort(numbers, kind="stable")
    values = np.concatenate([x.values, np.full(len(new), default, x.values.dtype)])
    indices = np.concatenate([x.indices, added])
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    whole = Sparse(indices[order], values[order], x.shape)
    return Filled(whole, empty, places[: len(x.values)])


# By what a sum of a segment is divided, of its count.
DIVISORS: dict[str, Callable[[Array], Array]] = {
    "Sum": lambda count: np.ones_like(count),
    "Mean": lambda count: count,
    "SqrtN": np.sqrt,
}


def segment_sums(rows: Array, segments: Array, count: int, kind: str) -> Array:
    """Sums, or means, of rows by the numbers of their segments, which rise."""
    found = np.zeros((count, *rows.shape[1:]), rows.dtype)
    starts = np.flatnonzero(begins_of(segments[:, None]))
    if not len(starts):
        return found
    counts = np.diff([*starts, len(segments)]).astype(rows.dtype)
    over = DIVISORS[kind](counts).reshape(-1, *[1] * (rows.ndim - 1))
    found[segments[starts]] = np.add.reduceat(rows, starts, 0) / over
    return found


def segment_slopes(g: Array, at: Array, segments: Array, count: int, kind: str) -> Array:
    """The gradient of rows of which some, `at`, were summed up, or averaged."""
    counts = np.bincount(segments, minlength=len(g)).astype(g.dtype)
    over = DIVISORS[kind](np.maximum(counts, 1)).reshape(-1, *[1] * (g.ndim - 1))
    found = np.zeros((count, *g.shape[1:]), g.dtype)
    np.add.at(found, at, (g / over)[segments])
    return found
