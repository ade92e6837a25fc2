"""The tables of primitives; importing this package declares them all."""

from . import (
    control,
    conv,
    ctc,
    elementwise,
    indexing,
    linalg,
    movement,
    quantile,
    random,
    reduce,
    sparse,
    special,
)

__all__ = [
    "control",
    "conv",
    "ctc",
    "elementwise",
    "indexing",
    "linalg",
    "movement",
    "quantile",
    "random",
    "reduce",
    "sparse",
    "special",
]
