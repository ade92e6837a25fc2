"""Run the benchmarks: see README.md beside this file."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Workloads that are compared on every engine; the module has the same name.
COMPARED = ("mlp", "conv", "lstm", "attention", "chain", "tiny", "small")
# What Kameleon itself costs, measured on NumPy: by name, the module.
ITSELF = {"import": "imports", "graph": "graph", "memory": "memory"}
ENGINES = ("numpy", "tensorflow", "jax", "torch", "theano", "onnxruntime", "cntk")


def environment(engine: str, threads: int) -> dict[str, str]:
    """What libraries read when they are loaded, each in its own way."""
    names = ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB", "NUMBA")
    pinned = {f"{name}_NUM_THREADS": str(threads) for name in names}
    flags = [os.environ.get("XLA_FLAGS", "")]
    if threads == 1:
        flags.append("--xla_cpu_multi_thread_eigen=false")
    return {
        **os.environ,
        **pinned,
        "NPROC": str(threads),  # XLA's pool
        "XLA_FLAGS": " ".join(filter(None, flags)),
        "KERAS_BACKEND": engine,
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def measure(engine: str, name: str) -> list[Any]:
    """The rows of one workload on the engine that this process is for."""

    if name in ITSELF:
        return importlib.import_module(ITSELF[name]).run()
    hand = importlib.import_module(f"by_hand.{engine}")
    rows = importlib.import_module(name).run(hand.SIDES)
    for row in rows:
        row.note = row.note or getattr(hand, "NOTES", {}).get(name, "")
    return rows


def here(engine: str, arguments: argparse.Namespace) -> list[Any]:
    """The rows of one engine, measured in this process."""
    import harness

    harness.SECONDS, harness.CLOCK = arguments.seconds, arguments.clock
    importlib.import_module(f"by_hand.{engine}").pin(arguments.threads)
    rows = []
    for name in arguments.only:
        if name in ITSELF and engine != "numpy":
            continue
        print(f"running {name} on {engine} …", file=sys.stderr, flush=True)
        try:
            found = measure(engine, name)
        except (Exception, SystemExit) as error:  # others are measured all the same
            traceback.print_exc()
            found = [harness.Row(name, "", note=f"FAILED: {error}".splitlines()[0][:100])]
        for row in found:
            row.engine = engine
        rows += found
    return rows


def elsewhere(engine: str, arguments: argparse.Namespace) -> list[Any]:
    """The rows of one engine, measured in a process of its own."""
    import harness

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, __file__, "--here", "--engine", engine, "--json", str(file)]
        command += ["--threads", str(arguments.threads), "--seconds", str(arguments.seconds)]
        command += ["--clock", arguments.clock]
        subprocess.run(
            [*command, "--only", *arguments.only],
            env=environment(engine, arguments.threads),
            check=False,
            stdout=subprocess.DEVNULL,
        )
        if file.exists():
            return harness.load(file)
    return [harness.Row("", "", note="FAILED: the process ended early", engine=engine)]


def parsed() -> argparse.Namespace:
    """The command line."""
    every: Mapping[str, str] = {**dict.fromkeys(COMPARED, ""), **ITSELF}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=["numpy"])
    parser.add_argument("--only", nargs="+", choices=every, default=list(every))
    parser.add_argument("--threads", type=int, default=1, help="of both sides (default 1)")
    parser.add_argument(
        "--seconds", type=float, default=6.0, help="for each comparison, about (default 6)"
    )
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a busy machine"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also save the figures here")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure each engine in its own process; print and save the figures."""
    arguments = parsed()
    import harness

    way = here if arguments.here else elsewhere
    rows = [row for engine in arguments.engine for row in way(engine, arguments)]
    harness.show(rows)
    if arguments.json:
        harness.save(arguments.json, rows, threads=arguments.threads, clock=arguments.clock)
    if any(row.note.startswith("FAILED") for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
