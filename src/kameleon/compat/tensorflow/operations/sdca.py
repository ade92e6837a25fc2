"""Stochastic dual coordinate ascent, by its operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..arithmetic import hashes as H
from ..arithmetic.sdca import LOSSES, Ascent, Example, order_of, shrunk
from ..failures import invalid
from ..graph import Operation
from ..variables import Reference, Store
from .table import fold, host
from .values import texts

Array = np.ndarray


@fold("SdcaFprint")
def _fingerprints(names: Any) -> Array:
    """Two numbers for each name. The first ones are never 0 or 1, which tables set apart."""
    given = texts(names)
    if given.ndim != 1:
        raise invalid(f"Input must be a vector, got shape {list(given.shape)}")
    pairs = [H.fingerprint_pair(each) for each in given]
    kept = [(low if low >= 2 else low + H.WORD - 1, high) for low, high in pairs]
    return np.array(kept, np.uint64).reshape(-1, 2).view(np.int64)


@host("SdcaOptimizer SdcaOptimizerV2")
def _optimize(operation: Operation, *given: Any) -> list[Array]:
    attribute = operation.attribute
    sparse, dense = attribute("num_sparse_features"), attribute("num_dense_features")
    valued = attribute("num_sparse_features_with_values")
    if sparse + dense == 0:
        raise invalid("Requires at least one feature to train.")
    rest = iter([np.asarray(each) for each in given])

    def take(count: int) -> list[Array]:
        return list(islice(rest, count))

    owners, features, values = take(sparse), take(sparse), take(valued)
    rows, (weights, labels) = take(dense), take(2)
    known, of_sparse, of_dense, [state] = take(sparse), take(sparse), take(dense), take(1)
    if labels.size != weights.size:
        raise invalid(f"Expected {weights.size} example labels but got {labels.size}")
    if state.shape != (weights.size, 4):
        wanted = f"[{weights.size},4] for example_state_data"
        raise invalid(f"Expected shape {wanted}, got {list(state.shape)}")
    groups = [*of_sparse, *of_dense]
    starts = np.cumsum([0, *(each.size for each in groups)])
    columns = [
        *_sparse_columns(owners, features, values, known, starts),
        *_dense_columns(rows, of_dense, starts[sparse:]),
    ]
    examples = list(_examples(columns, weights.ravel(), labels.ravel()))
    ascent = Ascent(
        LOSSES[attribute("loss_type").decode()],
        np.concatenate([np.ravel(each) for each in groups]),
        attribute("l1"),
        attribute("l2"),
        attribute("num_loss_partitions"),
    )
    adaptive = attribute("adaptative") or attribute("adaptive")
    found = _ascended(ascent, examples, state, adaptive)
    pairs = zip(starts, groups, strict=False)
    return [found, *(ascent.changes[at : at + each.size].reshape(each.shape) for at, each in pairs)]


def _ascended(
    ascent: Ascent, examples: Sequence[Example], state: Array, adaptive: bool | None
) -> Array:
    """The examples' state after a step with each, in an order that is drawn."""
    random, found = np.random.default_rng(), np.array(state)
    pairs = zip(examples, found[:, 0].tolist(), strict=True)
    chances = np.array([ascent.chance(*pair) if adaptive else 1.0 for pair in pairs])
    for at in order_of(chances, random).tolist():
        found[at] = ascent.step(examples[at], float(found[at, 0]))
    return found


# Features of all examples: whose each is, the place of its weight, and its value.
Column = tuple[Array, Array, Array]


def _sparse_columns(
    owners: list[Array], features: list[Array], values: list[Array], known: list[Array],
    starts: Array,
) -> Iterator[Column]:  # fmt: skip
    for at, (whose, which, listed) in enumerate(zip(owners, features, known, strict=True)):
        if whose.size != which.size:
            raise invalid(f"Found mismatched example_indices and feature_indices {whose} {which}")
        places = {int(number): place for place, number in enumerate(listed)}
        lacking = [number for number in which.tolist() if number not in places]
        if lacking:
            raise invalid(f"Found sparse feature indices out of valid range: {lacking[0]}")
        if len(np.unique(np.stack([whose, which]), axis=1).T) < whose.size:
            raise invalid("Duplicate index in sparse vector.")
        weights = values[at] if at < len(values) else np.ones(whose.size)
        own = np.array([places[number] for number in which.tolist()], np.int64)
        yield whose, starts[at] + own, weights.astype(np.float64)


def _dense_columns(rows: list[Array], weights: list[Array], starts: Array) -> Iterator[Column]:
    for at, (matrix, own) in enumerate(zip(rows, weights, strict=True)):
        if matrix.ndim != 2:
            raise invalid(f"Dense features at index {at} must be rank 2 but is rank {matrix.ndim}")
        count, width = matrix.shape
        if width > own.size:
            raise invalid(f"More dense features than we have parameters for: {width}")
        whose = np.repeat(np.arange(count), width)
        places = np.tile(starts[at] + np.arange(width), count)
        yield whose, places, matrix.ravel().astype(np.float64)


def _examples(columns: Sequence[Column], weights: Array, labels: Array) -> Iterator[Example]:
    whose, places, values = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.argsort(whose, kind="stable")
    ends = np.searchsorted(whose[order], np.arange(len(weights) + 1))
    for at, (weight, label) in enumerate(zip(weights.tolist(), labels.tolist(), strict=True)):
        mine = order[ends[at] : ends[at + 1]]
        yield Example(places[mine], values[mine], weight, label)


@host("SdcaShrinkL1", references=True)
def _shrink(store: Store, operation: Operation, *references: Reference) -> list[Any]:
    l1, l2 = operation.attribute("l1"), operation.attribute("l2")
    for each in references:
        weights = store.variables.value(each)
        store.variables.begin(each, shrunk(weights, l1, l2).astype(weights.dtype))
    return []
