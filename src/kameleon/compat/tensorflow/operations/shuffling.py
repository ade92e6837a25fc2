"""What is shuffled by TensorFlow's own random numbers, in TensorFlow's order."""

from __future__ import annotations

import numpy as np

from ..graph import Operation
from ..variables import Store
from .drawing import reserved
from .table import host

Array = np.ndarray


@host("RandomShuffle")
def _shuffle(store: Store, operation: Operation, rows: Array) -> Array:
    """Rows in another order, another one in each run."""
    count = len(rows) if rows.ndim else 1
    if count < 2:
        return rows
    order = np.arange(count)
    numbers = reserved(store, operation, count - 1)
    for place in range(count - 1):
        other = place + numbers.next() % (count - place)
        order[[place, other]] = order[[other, place]]
    return rows[order]
