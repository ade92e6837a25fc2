"""A compiled function of one addition: what calling a function costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Sides, require_close, timed_row


def kameleon() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`x + y`, and an update of a scalar."""
    from kameleon import backend as K

    x, y = K.placeholder((None,)), K.placeholder((None,))
    counter = K.variable(0.0)
    return K.function([x, y], [x + y]), K.function([], [], [K.update_add(counter, 1.0)])


def run(sides: Sides) -> list[Row]:
    """Time `x + y` on three numbers, fed as arrays, and the update."""
    add, count = kameleon()
    add_by_hand, count_by_hand = sides["add"](), sides["count"]()
    a, b = np.arange(3, dtype="float32"), np.ones(3, "float32")
    require_close("tiny: sum", add([a, b]), [add_by_hand(a, b)])
    rows = []
    for what, ours, inputs, theirs in (
        ("x + y", add, [a, b], add_by_hand),
        ("counter += 1", count, [], count_by_hand),
    ):
        row = timed_row("tiny", what, ours, inputs, theirs, unit="µs")
        row.note = row.note or f"{row.kameleon - row.by_hand:+.1f} µs"
        rows.append(row)
    rows[1].counts = False  # one call in the mean is enough
    return rows
