"""Classes that are drawn on the host to stand for all others."""

from __future__ import annotations

import numpy as np

from ..arithmetic import candidates as C
from ..failures import invalid
from ..graph import Operation
from ..variables import Store
from .drawing import reserved
from .table import host

Array = np.ndarray
_RESERVED = 2048  # numbers that each class may take, drawn again and again


def _sampler(operation: Operation) -> C.Sampler:
    count = operation.attribute("range_max")
    if operation.type == "LogUniformCandidateSampler":
        return C.log_uniform(count)
    if operation.type == "UniformCandidateSampler":
        return C.uniform(count)
    weights, file = operation.attribute("unigrams"), operation.attribute("vocab_file").decode()
    if file:
        with open(file, encoding="utf-8") as lines:
            weights = [float(line.rpartition(",")[2]) for line in lines if line.strip()]
    free = operation.attribute("num_reserved_ids")
    return C.unigrams(count, weights, operation.attribute("distortion"), free)


def _demand_columns(true: Array, count: int) -> None:
    if true.ndim != 2 or true.shape[1] != count:
        found = true.shape[-1] if true.ndim else 0
        raise invalid(f"true_classes must have num_true columns, expected: {found} was: {count}")


@host("LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler")
def _draw(
    store: Store, operation: Operation, true: Array, *,
    num_true: int, num_sampled: int, unique: bool,
) -> list[Array]:  # fmt: skip
    _demand_columns(true, num_true)
    numbers = reserved(store, operation, _RESERVED * num_sampled)
    return _sampler(operation).drawn(numbers, true, num_sampled, unique)


@host("LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler")
def _draw_learned(
    store: Store, operation: Operation, true: Array, *,
    num_true: int, num_sampled: int, unique: bool, range_max: int,
) -> list[Array]:  # fmt: skip
    """Classes by how often they were among the true ones of earlier runs, and once more."""
    _demand_columns(true, num_true)
    numbers = reserved(store, operation, _RESERVED * num_sampled)
    with store.waiting.changed:
        key = "classes that were met", operation.name
        times: Array = store.resources.setdefault(key, np.ones(range_max, np.int64))
        found = C.counted(times).drawn(numbers, true, num_sampled, unique)
        np.add.at(times, true.ravel(), 1)
    return found


@host("AllCandidateSampler")
def _all(true: Array, *, num_sampled: int) -> list[Array]:
    return [np.arange(num_sampled), np.ones(true.shape, "f"), np.ones(num_sampled, "f")]


@host("ComputeAccidentalHits")
def _hits(true: Array, sampled: Array) -> list[Array]:
    rows, at = C.hits(true, sampled)
    return [rows, at, np.full(len(rows), np.finfo("float32").min, "float32")]
