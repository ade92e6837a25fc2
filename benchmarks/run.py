"""Run the benchmarks: see README.md beside this file."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import harness

from kameleon.cli.parsing import Parser, new_file, number, one_of, seconds

# Workloads that are compared on every engine; the module has the same name.
COMPARED = ("mlp", "conv", "lstm", "attention", "chain", "tiny", "small")
# Those whose hand-written sides don't have their name.
SIDES = {"tiny": ("add", "count"), "small": ()}
# What nobody writes by hand: by name, the module, and the engines on which it's measured. It's what
# Kameleon itself costs; and K's own gradients of native objects, beside those of the libraries.
ITSELF = {
    "import": ("imports", ("numpy",)),
    "graph": ("graph", ("numpy",)),
    "memory": ("memory", ("numpy",)),
    "bridges": ("bridges", ("tensorflow", "jax", "torch")),
}


class Way(NamedTuple):
    """A way to write workloads by hand.

    Attributes:
        module: in `by_hand`.
        engine: Kameleon's, which is timed beside it.
        needs: a package that must be installed beside the engine's; empty, if none.
    """

    module: str
    engine: str
    needs: str = ""


# The first way of an engine is the one that its mean tells of.
WAYS = {
    "numpy": Way("numpy", "numpy"),
    "numpy, autograd": Way("autograd", "numpy", "autograd"),
    "tensorflow": Way("tensorflow", "tensorflow"),
    "tensorflow, XLA": Way("tensorflow_xla", "tensorflow"),
    "jax": Way("jax", "jax"),
    "torch": Way("torch", "torch"),
    "torch.compile": Way("torch_compile", "torch"),
    "theano": Way("theano", "theano"),
    "onnxruntime": Way("onnxruntime", "onnxruntime"),
    "cntk": Way("cntk", "cntk"),
    **{f"keras 3, {x}": Way("keras3", x, "keras") for x in ("tensorflow", "jax", "torch")},
}
AUTO = "auto"
PICTURES = (".svg", ".png", ".pdf")
ENGINES = (*dict.fromkeys(way.engine for way in WAYS.values()), AUTO)


def environment(engine: str, way: str, threads: int) -> dict[str, str]:
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
        "KAMELEON_ENGINE": engine,
        "KERAS_BACKEND": WAYS[way].engine,  # Keras 3, which TensorFlow loads, knows no `auto`
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


# In the process of one way ---------------------------------------------------------------------


def measure(way: str, name: str) -> list[Any]:
    """The rows of one workload, on the engine that this process is for; none, where it isn't
    written in this way. Those of Kameleon itself go with NumPy's.
    """
    if name in ITSELF:
        module, engines = ITSELF[name]
        return importlib.import_module(module).run() if way in engines else []
    hand = importlib.import_module(f"by_hand.{WAYS[way].module}")
    if any(side not in hand.SIDES for side in SIDES.get(name, (name,))):
        return []
    rows = importlib.import_module(name).run(hand.SIDES)
    for row in rows:
        row.note = row.note or getattr(hand, "NOTES", {}).get(name, "")
    return rows


def here(engine: str, way: str, arguments: argparse.Namespace) -> list[Any]:
    """The rows of one way, measured in this process."""
    harness.SECONDS, harness.CLOCK = float(arguments.seconds), arguments.clock
    importlib.import_module(f"by_hand.{WAYS[way].module}").pin(arguments.threads)
    rows = []
    for name in arguments.only:
        print(f"running {name} on {engine}, by hand in {way} …", file=sys.stderr, flush=True)
        try:
            found = measure(way, name)
        except (Exception, SystemExit) as error:  # others are measured all the same
            traceback.print_exc()
            found = [harness.Row(name, "", note=f"FAILED: {error}".splitlines()[0][:100])]
        for row in found:
            row.engine, row.way = engine, "" if name in ITSELF else way
            row.counts = row.counts and (engine == AUTO or way == engine)
        rows += found
    return rows


# Which processes there are ---------------------------------------------------------------------


def elsewhere(
    engine: str, way: str, names: Iterable[str], arguments: argparse.Namespace
) -> list[Any]:
    """The rows of one way, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, __file__, "--way", way, "--engine", engine, "--json", str(file)]
        command += ["--threads", str(arguments.threads), "--seconds", str(arguments.seconds)]
        command += ["--clock", arguments.clock]
        subprocess.run(
            [*command, "--only", *names],
            env=environment(engine, way, arguments.threads),
            check=False,
            stdout=subprocess.DEVNULL,
        )
        if file.exists():
            return harness.load(file)
    return [harness.Row("", "", note="FAILED: the process ended early", engine=engine, way=way)]


def measured(arguments: argparse.Namespace) -> Iterator[list[Any]]:
    """Rows of each way of the engines that are asked for; then of the engine `auto`, each beside
    the way that was the fastest by hand.
    """
    from kameleon.config import installed

    rows: list[Any] = []
    for way, (_, engine, needs) in WAYS.items():
        if engine in arguments.engine and installed(engine) and (not needs or find_spec(needs)):
            found = elsewhere(engine, way, arguments.only, arguments)
            rows += found
            yield found
    if AUTO not in arguments.engine:
        return
    best: dict[tuple[str, str], Any] = {}
    for row in rows:
        key = row.workload, row.what
        if row.way and row.by_hand and (key not in best or row.by_hand < best[key].by_hand):
            best[key] = row
    for way in dict.fromkeys(row.way for row in best.values()):
        mine = {key for key, row in best.items() if row.way == way}
        found = elsewhere(AUTO, way, dict.fromkeys(name for name, _ in mine), arguments)
        yield [row for row in found if (row.workload, row.what) in mine or not row.what]


# The command line ------------------------------------------------------------------------------


ABOUT = """\
Time Kameleon against the same work written by hand: on each engine that is installed, and then on
the engine that it chooses, beside what was fastest by hand. Both run in turns in one process, each
way in a process of its own."""


def parsed() -> argparse.Namespace:
    """The command line."""
    every = (*COMPARED, *ITSELF)
    parser = Parser("bench", ABOUT)
    parser.add_argument(
        "--engine", nargs="+", type=one_of(ENGINES), default=list(ENGINES), metavar="NAME",
        help=f"of {', '.join(ENGINES)} (all that are installed)",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", type=one_of(every), default=list(every), metavar="WORKLOAD",
        help=f"of {', '.join(every)} (all)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=number(1), default=1, metavar="COUNT", help="of both sides (1)"
    )
    parser.add_argument(
        "--seconds", type=seconds, default=6.0, help="for each comparison, about (6)"
    )
    parser.add_argument(
        "--clock", type=one_of(harness.CLOCKS), default=harness.CLOCK, metavar="CLOCK",
        help=f"{', '.join(harness.CLOCKS)}: the latter for a busy machine ({harness.CLOCK})",
    )  # fmt: skip
    parser.add_argument("--json", type=new_file(), metavar="FILE", help="save the figures, too")
    parser.add_argument(
        "--picture", type=new_file(*PICTURES), metavar="FILE",
        help=f"draw them: {', '.join(PICTURES)}",
    )  # fmt: skip
    parser.add_argument("--way", type=one_of(WAYS), help=argparse.SUPPRESS)
    found = parser.understood(sys.argv[1:])
    if found.engine == [AUTO] and not found.way:
        parser.error("auto is timed beside what is fastest by hand: name other engines, too")
    if found.picture and not find_spec("matplotlib"):
        parser.error("--picture needs matplotlib, which isn't installed: pip install matplotlib")
    return found


def main() -> None:
    """Measure each way in its own process; print and save the figures."""
    arguments = parsed()
    if arguments.way:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C: the first process says so
        parts: Iterable[list[Any]] = [here(*arguments.engine, arguments.way, arguments)]
    else:
        parts = measured(arguments)
    rows: list[Any] = []
    for part in parts:
        rows += part
        if arguments.json:  # whoever stops it keeps what is measured
            harness.save(arguments.json, rows, threads=arguments.threads, clock=arguments.clock)
    harness.show(rows)
    if arguments.picture:
        import picture

        picture.draw(rows, arguments.picture)
    if any(row.note.startswith("FAILED") for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
