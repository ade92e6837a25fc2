"""Sequences of labels, and sets: their sizes follow from data, so that they're on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from kameleon.engines._kernels.ctc import beam_search

from ..arithmetic import sequences as S
from ..arithmetic import sparse as A
from ..dtypes import in_numpy
from ..failures import failure, invalid
from ..graph import Operation
from .table import fold
from .values import result_type

Array = np.ndarray
Rows = dict[tuple[int, ...], list[Any]]


def rows_of(x: A.Sparse) -> Rows:
    """By all indices but the last, the values in their order."""
    found: Rows = {}
    for at, value in zip(x.indices[:, :-1].tolist(), x.values.tolist(), strict=True):
        found.setdefault(tuple(at), []).append(value)
    return found


def of_rows(rows: Iterable[tuple[tuple[int, ...], list[Any]]], first: Any, kind: Any) -> A.Sparse:
    """The sparse tensor of rows that are filled from their begin; `first` are the other sizes."""
    given = list(rows)
    values = [value for _, row in given for value in row]
    column = np.empty(len(values), kind)
    column[:] = values
    counts = np.array([len(row) for _, row in given], np.int64)
    places = np.empty((len(values), len(first) + 1), np.int64)
    heads = np.array([at for at, _ in given], np.int64).reshape(len(given), len(first))
    places[:, :-1] = np.repeat(heads, counts, 0)
    places[:, -1] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return A.Sparse(places, column, np.array([*first, counts.max(initial=0)], np.int64))


def of_batch(rows: Sequence[list[Any]], kind: Any) -> A.Sparse:
    """The sparse tensor of a batch of rows."""
    return of_rows((((at,), row) for at, row in enumerate(rows)), (len(rows),), kind)


# Beams ------------------------------------------------------------------------------------------


@fold("GatherTree")
def _trees(ids: Array, parents: Array, lengths: Array, end: Array) -> Array:
    """Each beam's labels, followed from its last step to its first; `end` behind its first end."""
    times, batches, width = ids.shape
    longest = np.minimum(lengths, times)
    rows, beams = np.arange(batches)[:, None], np.arange(width)
    found, at = np.full_like(ids, end), np.broadcast_to(beams, (batches, width))
    for time in reversed(range(times)):
        is_inside = (time < longest)[:, None]
        found[time] = np.where(is_inside, ids[time][rows, at], end)
        before = parents[time][rows, at]
        wrong = np.argwhere(is_inside & ((before < 0) | (before >= width)))
        if time and wrong.size:
            b, beam = wrong[0].tolist()
            place = f"(batch, time, beam) == ({b}, {time - 1}, {beam})"
            raise invalid(f"Saw invalid parent id {before[b, beam]} at {place}")
        at = np.where(is_inside, before, beams) if time else at
    return np.where(np.cumsum(found == end, 0) > 0, np.asarray(end, ids.dtype), found)


# Distances --------------------------------------------------------------------------------------


@fold("EditDistance")
def _distances(*parts: Any, normalize: bool) -> Array:
    given, truth = A.sparse(*parts[:3]), A.sparse(*parts[3:])
    if len(given.shape) != len(truth.shape):
        raise invalid("hypothesis and truth must have as many axes")
    found = np.zeros(tuple(np.maximum(given.shape, truth.shape)[:-1]), np.float32)
    mine, true = rows_of(given), rows_of(truth)
    for at in {*mine, *true}:
        one, other = mine.get(at, []), true.get(at, [])
        found[at] = S.distance(one, other)
        if normalize:
            found[at] = found[at] / len(other) if other else np.inf if one else 0
    return found


# Connectionist temporal classification ----------------------------------------------------------


def _demand_lengths(scores: Array, steps: Array, code: str = "FAILED_PRECONDITION") -> None:
    if scores.ndim != 3 or steps.shape != scores.shape[1:2]:
        raise invalid("sequence_length is not a vector of a length for each sample")
    if (steps > len(scores)).any():
        longest = int(np.argmax(steps > len(scores)))
        raise failure(code, f"sequence_length({longest}) <= {len(scores)}")


def _labels(row: list[int], classes: int, collapsing: bool) -> list[int]:
    """The labels of a sample, without the blank, and what lies above it, at their end."""
    if not row:
        raise invalid("Labels length is zero in a batch")
    kept = S.without_repeats(row) if collapsing else row
    labels = [label for label in kept if label < classes - 1]
    if labels != kept[: len(labels)]:
        said = "Saw a non-null label (index >= num_classes - 1) following a null label"
        raise invalid(f"{said}: labels {row}")
    if min(labels, default=0) < 0:
        raise invalid(f"All labels must be nonnegative integers, labels: {labels}")
    return labels


@fold("CTCLoss")
def _ctc(
    scores: Array, at: Array, values: Array, steps: Array, *, ctc_merge_repeated: bool,
    preprocess_collapse_repeated: bool, ignore_longer_outputs_than_inputs: bool,
) -> list[Array]:  # fmt: skip
    _demand_lengths(scores, steps, "INVALID_ARGUMENT")
    rows = rows_of(A.sparse(at, values, [0, 0]))
    costs, slopes = np.zeros(len(steps), scores.dtype), np.zeros_like(scores)
    for b, count in enumerate(steps.tolist()):
        row = rows.get((b,), [])
        labels = _labels(row, scores.shape[2], preprocess_collapse_repeated)
        if len(row) > count and ignore_longer_outputs_than_inputs:
            continue
        if len(row) > count:
            need = f"(required: {len(row)}, available: {count})"
            raise invalid(f"Not enough time for target transition sequence {need}")
        if count:
            found = S.ctc_cost(scores[:count, b], labels, ctc_merge_repeated)
            costs[b], slopes[:count, b] = found
    return [costs, slopes]


@fold("CTCGreedyDecoder")
def _greedy(scores: Array, steps: Array, *, merge_repeated: bool) -> list[Array]:
    _demand_lengths(scores, steps)
    best, rows = scores.argmax(2), []
    totals = np.zeros((len(steps), 1), scores.dtype)
    for b, count in enumerate(steps.tolist()):
        path = best[:count, b].tolist()
        totals[b] = -scores[np.arange(count), b, path].sum()
        path = S.without_repeats(path) if merge_repeated else path
        rows.append([label for label in path if label != scores.shape[2] - 1])
    return [*of_batch(rows, np.int64).parts(), totals]


@fold("CTCBeamSearchDecoder")
def _beams(
    scores: Array, steps: Array, *, top_paths: int, beam_width: int, merge_repeated: bool
) -> list[Array]:
    _demand_lengths(scores, steps)
    paths, totals = beam_search(np.swapaxes(scores, 0, 1), steps, beam_width, top_paths)
    found = []
    for path in paths:
        rows = [[label for label in row if label >= 0] for row in path.tolist()]
        if merge_repeated:
            rows = [S.without_repeats(row) for row in rows]
        found.append(of_batch(rows, np.int64).parts())
    columns = [column for columns in zip(*found, strict=True) for column in columns]
    return [*columns, totals.astype(scores.dtype)]


# Sets -------------------------------------------------------------------------------------------

OPERATIONS: dict[bytes, Callable[[set[Any], set[Any]], set[Any]]] = {
    b"a-b": lambda a, b: a - b,
    b"b-a": lambda a, b: b - a,
    b"intersection": lambda a, b: a & b,
    b"union": lambda a, b: a | b,
}


def _dense_rows(x: Any) -> Rows:
    array = np.asarray(x)
    if array.ndim < 2:
        raise invalid(f"Input rank {array.ndim} < 2.")
    flat = array.reshape(-1, array.shape[-1])
    places = np.ndindex(array.shape[:-1])
    return dict(zip(places, flat.tolist(), strict=True))


def _sparse_rows(parts: tuple[Any, ...], validate: bool) -> Rows:
    x = A.sparse(*parts)
    if validate:
        outside = (x.indices < 0) | (x.indices >= x.shape)
        rows = x.indices[A.order_of(x.indices)]
        if outside.any() or (rows != x.indices).any() or not A.begins_of(rows).all():
            raise invalid("indices of a set are out of order, repeated, or out of bounds")
    return rows_of(x)


@fold("DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation")
def _set_operation(
    operation: Operation, *parts: Any, set_operation: bytes, validate_indices: bool
) -> list[Array]:
    """Of two sets in each row; of each come an array, or the three of a sparse tensor."""
    rows, shapes, rest = [], [], parts
    for kind in operation.type.removesuffix("SetOperation").split("To"):
        if kind == "Dense":
            rows.append(_dense_rows(rest[0]))
            shapes.append(np.shape(rest[0])[:-1])
        else:
            rows.append(_sparse_rows(rest[:3], validate_indices))
            shapes.append(tuple(rest[2].tolist())[:-1])
        rest = rest[1 if kind == "Dense" else 3 :]
    if len(set(shapes)) > 1:
        raise invalid(f"Mismatched group shapes {shapes[0]} vs {shapes[1]}.")
    combine, (one, other) = OPERATIONS.get(set_operation.lower()), rows
    if combine is None:
        raise invalid(f"Invalid set_operation {set_operation.lower().decode()}.")
    found = [(at, sorted(combine(set(one.get(at, ())), set(other.get(at, ())))))
             for at in sorted({*one, *other})]  # fmt: skip
    return of_rows(found, shapes[0], in_numpy(result_type(operation, 1))).parts()


@fold("SetSize")
def _set_sizes(*parts: Any, validate_indices: bool) -> Array:
    found = np.zeros(parts[2][:-1], np.int32)
    for at, row in _sparse_rows(parts, validate_indices).items():
        found[at] = len(set(row))
    return found
