"""A compiled function of one addition: what calling a function costs."""

from __future__ import annotations

import numpy as np
from harness import Row, compare, require_close


def run() -> list[Row]:
    """Time `x + y` on three numbers, fed as arrays, and an update of a scalar."""
    from kameleon import backend as K

    x, y = K.placeholder((None,)), K.placeholder((None,))
    add = K.function([x, y], [x + y])
    counter = K.variable(0.0)
    count = K.function([], [], [K.update_add(counter, 1.0)])
    a, b = np.arange(3, dtype="float32"), np.ones(3, "float32")
    by_hand = np.zeros((), "float32")
    require_close("tiny: sum", add([a, b]), [a + b])

    def count_by_hand() -> None:
        np.add(by_hand, 1, out=by_hand)

    rows = []
    for what, ours, theirs in (
        ("x + y", lambda: add([a, b]), lambda: np.add(a, b)),
        ("counter += 1", lambda: count([]), count_by_hand),
    ):
        mine, hand, noise = compare(ours, theirs, rounds=50, inner=2000)
        note = f"{(mine - hand) * 1e6:.1f} µs over NumPy's own"
        rows.append(Row("tiny", what, mine * 1e6, hand * 1e6, "µs", noise, note))
    return rows
