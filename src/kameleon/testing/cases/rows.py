"""Cases of softmax, its logarithm, its crossentropies, and of CTC decoding."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY
from .case import Array, Case, along, lined, normal, uses, whole

# Rows --------------------------------------------------------------------------------------


def _top(row: list[float]) -> float:
    """The largest number; NaN, which makes all results NaN, if that is infinite or one is NaN."""
    top = max(row)
    return top if math.isfinite(top) and not any(map(math.isnan, row)) else math.nan


def softmax(row: list[float]) -> list[float]:
    top = _top(row)
    parts = [math.exp(x - top) for x in row]
    return [p / math.fsum(parts) for p in parts]


def log_softmax(row: list[float]) -> list[float]:
    top = _top(row)
    total = math.log(math.fsum(math.exp(x - top) for x in row))
    return [x - top - total for x in row]


def extreme_rows(dtype: str) -> Array:
    """Rows with infinities and NaN, at both ends and alone."""
    numbers = (-math.inf, math.inf, math.nan)
    rows = [[x if i == at else i - 1.5 for i in range(5)] for x in numbers for at in (0, 2, 4)]
    return np.array([*rows, [-math.inf] * 5, [0.5, -1.0, 2.0, 0.0, 1.5]], dtype)


def crossentropy(x: Any, t: Any, axis: int) -> Any:
    return REGISTRY["softmax_crossentropy"](x, REGISTRY["softmax"](x, axis=axis), t, axis=axis)


def sparse_crossentropy(x: Any, labels: Any, axis: int) -> Any:
    p = REGISTRY["softmax"](x, axis=axis)
    return REGISTRY["sparse_softmax_crossentropy"](x, p, labels, axis=axis)


def entropy(x: Array, t: Array, axis: int) -> Array:
    return -(t * lined(log_softmax)(x, axis)).sum(axis=axis)  # type: ignore[no-any-return]


def labelled(labels: Array, axis: int) -> Iterator[tuple[Any, Any]]:
    """(index into the labels, index into the values), for each label."""
    for at in np.ndindex(*labels.shape):
        yield at, (*at[:axis], labels[at], *at[axis:])


def sparse_entropy(x: Array, labels: Array, axis: int) -> Array:
    log_p = lined(log_softmax)(x, axis)
    out = np.zeros(labels.shape, x.dtype)
    for at, there in labelled(labels, axis):
        out[at] = -log_p[there]
    return out


def minus_one(p: Array, labels: Array, axis: int) -> Array:
    out = p.copy()
    for _, there in labelled(labels, axis):
        out[there] -= 1
    return out


FAR = np.array([[1000.0, -1000.0, 0.0], [-2000.0, -2000.0, -2000.0]])
LABELS = np.array([0, 2, 1, 1])
ROWS: list[Case] = [
    *(
        case
        for name, f in (("softmax", softmax), ("log_softmax", log_softmax))
        for case in uses(
            name,
            along(name),
            lined(f),
            ("last", normal(4, 3), 1),
            ("first", normal(4, 3), 0),
            ("middle", normal(2, 3, 4), 1),
            ("far", FAR.astype("float32"), 1),
            ("one", normal(3, 1), 1),
            ("no-rows", normal(0, 3), 1),
            ("extreme", extreme_rows("float32"), 1),
            ("extreme-first", extreme_rows("float16").T, 0),
            wrt=(0,),
            units=16,
        )
    ),
    *uses(
        "softmax_crossentropy",
        crossentropy,
        entropy,
        ("last", (normal(4, 3), lined(softmax)(normal(4, 3, seed=1), 1)), 1),
        ("first", (normal(4, 3), lined(softmax)(normal(4, 3, seed=1), 0)), 0),
        ("far", (FAR.astype("float32"), np.eye(3, dtype="float32")[:2]), 1),
        wrt=(0, 1),
        units=64,
    ),
    *uses(
        "sparse_softmax_crossentropy",
        sparse_crossentropy,
        sparse_entropy,
        ("last", (normal(4, 3), LABELS), 1),
        ("middle", (normal(2, 3, 4), whole(2, 4, below=3)), 1),
        ("far", (FAR.astype("float32"), np.array([1, 0])), 1),
        wrt=(0,),
        units=64,
    ),
    *uses(
        "minus_one_hot",
        along("minus_one_hot"),
        minus_one,
        ("last", (normal(4, 3), LABELS), 1),
        ("first", (normal(3, 4), whole(4, below=3, dtype="uint8")), 0),
        ("middle", (normal(2, 3, 4), whole(2, 4, below=3)), 1),
        wrt=(0,),
    ),
]

# Decoding ----------------------------------------------------------------------------------


def spelled(alignment: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """Repeats merged, blanks dropped."""
    return tuple(k for k, _ in itertools.groupby(alignment) if k != blank)


def filled(rows: list[tuple[int, ...]]) -> Array:
    """Sequences as a matrix, filled up with -1."""
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], "int64").reshape(
        len(rows), width
    )


def greedy(scores: Array, lengths: Array) -> tuple[Array, Array]:
    rows, costs = [], []
    for frame, length in zip(scores.tolist(), lengths.tolist(), strict=True):
        steps = frame[:length]
        rows.append(spelled(tuple(step.index(max(step)) for step in steps), scores.shape[2] - 1))
        costs.append([-math.fsum(map(max, steps))])
    return filled(rows), np.array(costs, scores.dtype)


def best_of_all(top: int) -> Callable[[Array, Array], tuple[Array, ...]]:
    """The most probable sequences, each summed over all its alignments."""

    def oracle(scores: Array, lengths: Array) -> tuple[Array, ...]:
        classes = scores.shape[2]
        ranked = []
        for frame, length in zip(scores.tolist(), lengths.tolist(), strict=True):
            log_p = [log_softmax(step) for step in frame[:length]]
            total: defaultdict[tuple[int, ...], float] = defaultdict(float)
            for path in itertools.product(range(classes), repeat=length):
                total[spelled(path, classes - 1)] += math.exp(
                    sum(p[k] for p, k in zip(log_p, path, strict=True))
                )
            ranked.append(sorted(total.items(), key=lambda item: -item[1])[:top])
        paths = [filled([row[k][0] for row in ranked]) for k in range(top)]
        return (*paths, np.array([[math.log(p) for _, p in row] for row in ranked], scores.dtype))

    return oracle


SCORES, LENGTHS = normal(3, 5, 3), np.array([5, 3, 4])
DECODING: list[Case] = [
    *uses(
        "ctc_greedy",
        lambda x, lengths: REGISTRY["ctc_greedy"](x, lengths).results,
        greedy,
        ("lengths", (SCORES, LENGTHS)),
        data_dependent=True,
    ),
    *uses(
        "ctc_beam_search",
        lambda x, lengths: (
            REGISTRY["ctc_beam_search"](x, lengths, beam_width=100, top_paths=3).results
        ),
        best_of_all(3),
        ("wide", (SCORES, LENGTHS)),
        units=64,
        data_dependent=True,
    ),
]

CASES: list[Case] = [*ROWS, *DECODING]
