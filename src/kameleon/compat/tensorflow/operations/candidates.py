"""Classes that are drawn on the host to stand for all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import candidates as C
from ..failures import invalid
from ..graph import Operation
from ..variables import Store
from .table import host

Array = np.ndarray


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
    reserved = operation.attribute("num_reserved_ids")
    return C.unigrams(count, weights, operation.attribute("distortion"), reserved)


def generator_of(store: Store, operation: Operation) -> Any:
    """An operation's own source of random numbers, if it has a seed."""
    seeds = operation.attribute("seed"), operation.attribute("seed2")
    if not any(seeds):
        return np.random
    made = np.random.RandomState([seed % 2**32 for seed in seeds])
    return store.resources.setdefault(("generator", operation.name), made)


@host("LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler")
def _draw(store: Store, operation: Operation, true: Any) -> list[Array]:
    number, unique = operation.attribute("num_sampled"), operation.attribute("unique")
    try:
        sampler = _sampler(operation)
        return sampler.drawn(generator_of(store, operation), np.asarray(true), number, unique)
    except ValueError as error:
        raise invalid(str(error)) from None


@host("AllCandidateSampler")
def _all(store: Store, operation: Operation, true: Any) -> list[Array]:
    number = operation.attribute("num_sampled")
    return [np.arange(number), np.ones(np.shape(true), "f"), np.ones(number, "f")]


@host("ComputeAccidentalHits")
def _hits(store: Store, operation: Operation, true: Any, sampled: Any) -> list[Array]:
    rows, at = C.hits(np.asarray(true), np.asarray(sampled))
    return [rows, at, np.full(len(rows), np.finfo("float32").min, "float32")]
