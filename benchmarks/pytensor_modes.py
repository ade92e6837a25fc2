"""PyTensor's modes and Kameleon's: seconds to compile, cold and warm, and milliseconds of a call.

    python benchmarks/pytensor_modes.py                   # all of them
    python benchmarks/pytensor_modes.py --only lstm --modes NUMBA python

Each is compiled in a process of its own, twice: first with empty folders of compiled code, then
with what the first one left there. Times are of the processor, for one thread, compilers included.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORKLOADS = ("mlp", "conv", "lstm")
# PyTensor's modes on the graph that `to_pytensor` gives; and the engine's own code, which is run by
# Python at first and compiled to C later. FAST_RUN is NUMBA where that's installed, else CVM.
MODES = ("CVM", "NUMBA", "JAX", "python", "c")
ENGINES_OWN = {"python": None, "c": 0.0}
SECONDS = 3.0

Call = Callable[[], Any]


def spent() -> float:
    """Seconds of the processor, by this process and the compilers that it has started."""
    uses = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def workload(name: str) -> tuple[Any, list[Any]]:
    """A function of K, and values for its inputs."""
    import conv
    import lstm
    import mlp

    if name == "lstm":
        return lstm.kameleon(lstm.initial_weights(), at_once=True), [lstm.sequences()]
    module = {"mlp": mlp, "conv": conv}[name]
    return module.kameleon(module.initial_weights())[0], list(module.batch())


def by_pytensor(function: Any, values: list[Any], mode: str) -> Call:
    """The call of a function of K's, compiled by PyTensor."""
    import pytensor

    import kameleon

    updates = function.compiled.program.updates
    tensors = [*function.outputs, *(value for _, value in updates)]
    found, inputs = kameleon.to_pytensor(tensors, function.inputs)
    count = len(function.outputs)
    shared = [kameleon.to_pytensor(variable) for variable, _ in updates]
    compiled = pytensor.function(
        inputs,
        found[:count],
        updates=list(zip(shared, found[count:], strict=True)),
        mode=mode,
        trust_input=True,
    )
    # JAX gives its results before they are computed.
    return lambda: [np.asarray(y) for y in compiled(*values)]


def by_kameleon(function: Any, values: list[Any], mode: str) -> Call:
    """The same by the engine."""
    from kameleon.engines.theano.engine import engine

    engine.compile_after = ENGINES_OWN[mode]
    return lambda: function(values)


def measured(name: str, mode: str) -> dict[str, float]:
    """Seconds to compile and run for the first time, and milliseconds of a later call."""
    function, values = workload(name)
    import pytensor  # noqa: F401 - loading it isn't compiling

    begin = spent()
    call = (by_kameleon if mode in ENGINES_OWN else by_pytensor)(function, values, mode)
    call()
    first = spent() - begin
    times = []
    while len(times) < 3 or (sum(times) < SECONDS and len(times) < 300):
        start = spent()
        call()
        times.append(spent() - start)
    return {"first": first, "call": 1000 * min(times)}


def in_a_process(name: str, mode: str, folder: str) -> dict[str, float]:
    """`measured`, elsewhere, with compiled code kept in a folder."""
    from run import environment

    settings = {
        **environment("theano", 1),
        "PYTENSOR_FLAGS": f"base_compiledir={folder}",
        "NUMBA_CACHE_DIR": str(Path(folder) / "numba"),
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, __file__, "--here", "--only", name, "--modes", mode]
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(name: str, mode: str) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (in_a_process(name, mode, folder) for _ in range(2))
    return f"{name:6}{mode:8}{cold['first']:8.1f}{warm['first']:8.1f}{warm['call']:10.2f}"


def parsed() -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main(names: Sequence[str], modes: Sequence[str]) -> None:
    """Measure and print."""
    print("work  mode      cold, s warm, s  call, ms", flush=True)
    for name in names:
        for mode in modes:
            print(row(name, mode), flush=True)


if __name__ == "__main__":
    arguments = parsed()
    if arguments.here:
        print(json.dumps(measured(arguments.only[0], arguments.modes[0])))
    else:
        main(arguments.only, arguments.modes)
