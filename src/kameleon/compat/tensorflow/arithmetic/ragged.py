"""Ragged tensors: values, and for each ragged axis where its rows begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def splits_of(lengths: Any, kind: Any = "int64") -> Array:
    """Where rows of these lengths begin and end.

    >>> splits_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(kind)


def counted(starts: Array, lengths: Array) -> Array:
    """Numbers from each start on, so many of each.

    >>> counted(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = splits_of(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])


def ranges(starts: Array, limits: Array, steps: Array, kind: Any) -> list[Array]:
    """Ranges as rows: their splits, and all numbers."""
    rows = np.broadcast_arrays(*map(np.atleast_1d, (starts, limits, steps)))
    first, last, step = rows
    lengths = np.maximum(0, np.ceil((last - first) / step)).astype("int64")
    counts = counted(np.zeros(len(lengths), "int64"), lengths)
    values = np.repeat(first, lengths) + counts.astype(first.dtype) * np.repeat(step, lengths)
    return [splits_of(lengths, kind), values.astype(first.dtype)]


def gathered(splits: Sequence[Array], values: Array, at: Array) -> list[Array]:
    """Rows by their numbers: the splits, and the values."""
    kind = splits[0].dtype
    found = []
    for axis in range(1, at.ndim):
        rows = int(np.prod(at.shape[:axis]))
        found.append((np.arange(rows + 1) * at.shape[axis]).astype(kind))
    places = at.ravel()
    for each in splits:
        lengths = each[places + 1] - each[places]
        found.append(splits_of(lengths, kind))
        places = counted(each[places], lengths)
    return [*found, values[places]]


def places_of(splits: Sequence[Array], inner: tuple[int, ...]) -> tuple[Array, list[int]]:
    """The indices of all values, and the sizes of the smallest box that holds them.

    Args:
        inner: the sizes that each value has.
    """
    columns: list[Array] = []
    sizes = [len(splits[0]) - 1]
    columns.append(np.arange(sizes[0]))
    for each in splits:
        lengths = np.diff(each)
        sizes.append(int(lengths.max(initial=0)))
        columns = [np.repeat(column, lengths) for column in columns]
        columns.append(counted(np.zeros(len(lengths), "int64"), lengths))
    for size in inner:
        count = len(columns[0])
        columns = [np.repeat(column, size) for column in columns]
        columns.append(np.tile(np.arange(size), count))
        sizes.append(size)
    return np.stack(columns, 1).astype("int64"), sizes


def rows_of(splits: Sequence[Array], values: Array) -> list[tuple[list[Array], Array]]:
    """Each row, a ragged tensor with an axis less."""
    found = []
    for begin, end in zip(splits[0][:-1].tolist(), splits[0][1:].tolist(), strict=True):
        inner, first, last = [], begin, end
        for each in splits[1:]:
            part = each[first : last + 1]
            inner.append(part - part[0])
            first, last = int(part[0]), int(part[-1])
        found.append((inner, values[first:last]))
    return found


def stacked(rows: Sequence[tuple[Sequence[Array], Array]], kind: Any) -> tuple[list[Array], Array]:
    """Ragged tensors as the rows of one; the reverse of `rows_of`."""
    lengths = [len(splits[0]) - 1 if splits else len(values) for splits, values in rows]
    found = [splits_of(lengths, kind)]
    for axis in range(len(rows[0][0])):
        parts = [np.diff(splits[axis]) for splits, _ in rows]
        found.append(splits_of(np.concatenate(parts), kind))
    return found, np.concatenate([values for _, values in rows])
