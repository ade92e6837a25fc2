"""Large graphs: seconds to build, differentiate and compile, and whether that grows linearly."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, require_close

SIZES = (1_000, 10_000, 100_000)


def chain(x: Any, size: int) -> Any:
    """One operation after the other."""
    for number in range(size // 2):
        x = x * 0.999 + 0.001 * (number % 3)
    return x


def mesh(x: Any, size: int) -> Any:
    """Each node joins two of those before it: values are used several times."""
    rng = np.random.default_rng(0)
    nodes = [x, x * 0.5]
    back = rng.integers(1, 50, size=(size, 2)).tolist()
    for a, b in back:
        nodes.append((nodes[-min(a, len(nodes))] + nodes[-min(b, len(nodes))]) * 0.5)
    return nodes[-1]


def clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one call."""
    gc.collect()
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def stages(build: Callable[[Any, int], Any], size: int) -> dict[str, float]:
    """Seconds of each stage for a graph of about `size` nodes."""
    from kameleon import backend as K

    x = K.placeholder((4,))
    value = np.linspace(0.1, 0.9, 4, dtype="float32")
    built, y = clocked(lambda: K.sum(build(x, size)))
    differentiated, slopes = clocked(lambda: K.gradients(y, [x]))
    compiled, function = clocked(lambda: K.function([x], [y, *slopes]))
    # The first calls still compile: a program that is called again is joined into one function.
    first, result = clocked(lambda: function([value]))
    second, _ = clocked(lambda: function([value]))
    again, _ = clocked(lambda: function([value]))
    require_close("graph: value", result[:1], [np.sum(build(value, size))], tolerance=1e-3)
    return {
        "build": built,
        "gradient": differentiated,
        "compile": compiled + first + second - 2 * again,
        "run": again,
    }


def run() -> list[Row]:
    """Clock the stages; the note compares seconds per node with the smallest graph's."""
    rows = []
    stages(chain, 100)  # warm up
    for name, build in (("chain", chain), ("mesh", mesh)):
        smallest: dict[str, float] = {}
        for size in SIZES:
            seconds = stages(build, size)
            smallest = smallest or seconds
            for stage, spent in seconds.items():
                growth = (spent / size) / (smallest[stage] / SIZES[0])
                note = f"{spent / size * 1e6:.1f} µs a node, {growth:.2f} x that of {SIZES[0]:,}"
                rows.append(
                    Row("graph", f"{name} {size:,}: {stage}", spent * 1e3, None, "ms", None, note)
                )
    return rows
