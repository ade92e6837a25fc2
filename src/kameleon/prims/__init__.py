"""The tables of primitives; importing this package declares them all."""

from . import (
    call,
    control,
    conv,
    ctc,
    elementwise,
    indexing,
    linalg,
    movement,
    pool,
    quantile,
    random,
    reduce,
    sizes,
    sparse,
    special,
    windows,
)

__all__ = [
    "call",
    "control",
    "conv",
    "ctc",
    "elementwise",
    "indexing",
    "linalg",
    "movement",
    "pool",
    "quantile",
    "random",
    "reduce",
    "sizes",
    "sparse",
    "special",
    "windows",
]
