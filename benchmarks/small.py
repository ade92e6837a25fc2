"""Single functions that were once much slower than the same work written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, require_close, timed_row

Pair = tuple[Callable[..., Any], list[Any]]

RNG = np.random.default_rng(0)
CLASSES = 50_000
LABELS = RNG.integers(0, CLASSES, 64).astype("int32")
FACTORS = RNG.uniform(0.9, 1.1, (1000, 100)).astype("float32")
WEIGHTS = RNG.normal(size=(1000, 100)).astype("float32")
DENSE = RNG.normal(size=(5000, 64)).astype("float32")
SLOPES = RNG.normal(size=(2000, 64)).astype("float32")
STEPS = RNG.normal(size=(1000, 16)).astype("float32")


def matrix() -> Any:
    """A sparse matrix, 20 elements in each of 2,000 rows."""
    import scipy.sparse

    columns = RNG.integers(0, len(DENSE), 40_000)
    rows = np.repeat(np.arange(2000), 20)
    values = RNG.normal(size=len(rows)).astype("float32")
    return scipy.sparse.csr_matrix((values, (rows, columns)), (2000, len(DENSE)))


def kameleon() -> dict[str, Pair]:
    """By name, a function and what it's given."""
    from kameleon import backend as K

    labels, x = K.placeholder((None,), dtype="int32"), K.placeholder((None, 100))
    g, rows = K.placeholder((None, 100)), K.placeholder((None, 16))
    sparse, dense = K.placeholder((None, 5000), sparse=True), K.placeholder((5000, 64))
    dotted, slopes = K.dot(sparse, dense), K.placeholder((None, 64))
    of_dense = K.gradients(K.sum(dotted * slopes), [dense])
    product = K.gradients(K.sum(K.prod(x, axis=1)), [x])
    running = K.gradients(K.sum(K.cumprod(x, axis=1) * g), [x])
    mapped = K.map_fn(lambda row: K.tanh(row * 2.0 + K.sum(K.square(row))), rows)
    return {
        "one_hot, 50,000 classes": (
            K.function([labels], [K.one_hot(labels, CLASSES)]),
            [LABELS],
        ),
        "sparse dot": (K.function([sparse, dense], [dotted]), [matrix(), DENSE]),
        "gradient of sparse dot": (K.function([sparse, slopes], of_dense), [matrix(), SLOPES]),
        "gradient of prod": (K.function([x], product), [FACTORS]),
        "gradient of cumprod": (K.function([x, g], running), [FACTORS, WEIGHTS]),
        "map_fn, 1,000 steps": (K.function([rows], [mapped]), [STEPS]),
    }


def run(sides: Sides) -> list[Row]:
    """Time each beside the same by hand, where the engine's module has it."""
    by_hand: dict[str, Callable[..., Any]] = sides["small"]() if "small" in sides else {}
    rows = []
    for what, (function, given) in kameleon().items():
        theirs = by_hand.get(what)
        if theirs is None:
            continue
        require_close(f"small: {what}", function(given), [theirs(*given)])
        rows.append(timed_row("small", what, function, given, theirs, counts=False))
    return rows
