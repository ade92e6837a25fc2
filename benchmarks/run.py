"""Run the benchmarks: see README.md beside this file."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

# One thread, decided before NumPy loads its BLAS: ratios then say what the code costs.
for _library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ.setdefault("KERAS_BACKEND", "numpy")

WORKLOADS = {
    "mlp": "mlp",
    "conv": "conv",
    "lstm": "lstm",
    "tiny": "tiny",
    "import": "imports",
    "graph": "graph",
    "memory": "memory",
}


def main() -> None:
    """Parse the command line, run the workloads, print and save the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also save the figures here")
    arguments = parser.parse_args()
    import harness

    rows = []
    for name in arguments.only:
        print(f"running {name} …", file=sys.stderr, flush=True)
        rows += importlib.import_module(WORKLOADS[name]).run()
    harness.show(rows)
    if arguments.json:
        harness.save(arguments.json, rows)


if __name__ == "__main__":
    main()
