"""How well profiles tell: the sum of what a step's parts take, against the step.

    python benchmarks/profiles.py                              # each engine that is installed
    python benchmarks/profiles.py --engine numpy torch

Both are the shortest of several. Clocks make the sum larger, and so do threads side by side; what
an engine does around its code makes it smaller. (What users see is scaled to the step.)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import conv
import lstm
import mlp
import numpy as np


def steps() -> dict[str, tuple[Callable[[], Any], list[Any]]]:
    """By workload, what makes its step, and what the step is given."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 100).astype("int32")
    sequences = rng.normal(size=(lstm.BATCH, lstm.STEPS, lstm.INPUTS))
    return {
        "mlp": (
            lambda: mlp.kameleon(mlp.initial_weights())[0],
            [rng.normal(size=(100, mlp.SIZES[0])), labels],
        ),
        "conv": (
            lambda: conv.kameleon(conv.initial_weights())[0],
            [rng.normal(size=(100, 28, 28, 1)), labels],
        ),
        "lstm": (lambda: lstm.kameleon(lstm.initial_weights(), at_once=True), [sequences]),
    }


def main() -> None:
    """Print a row for each engine and workload."""
    from kameleon import backend as K
    from kameleon.runtime import engines

    there = [name for name in engines.names() if engines.runs_here(name) and name != "auto"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", nargs="+", default=there, choices=there)
    print(f"{'engine':<14}{'workload':<10}{'step, ms':>10}{'parts, ms':>11}{'ratio':>7}")
    for name in parser.parse_args().engine:
        for workload, (make, given) in steps().items():
            with K.using_engine(name):
                found = make().profile(given)
            figures = f"{1e3 * found.seconds:>10.3f}{1e3 * found.clocked:>11.3f}"
            print(f"{name:<14}{workload:<10}{figures}{found.clocked / found.seconds:>7.2f}")


if __name__ == "__main__":
    main()
