"""Engines tried on a saved function, each in a process of its own: what the engine `auto` starts.

    python -m kameleon.testing.comparison.trials FOLDER SECONDS ENGINE …

The folder holds `function`, as `save` writes it, and `inputs.npz`, a value for each input in order.
For each engine a line of JSON is added to `results` there: how far it's from the embedded engine,
with times. That an engine took longer, or ended its process, is such a line, too.

Ends, and removes the folder, when standard input is closed: whoever started it is gone.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

from ...runtime import engines, saving
from ...runtime.auto.trial import FUNCTION, INPUTS, RESULTS, Candidate, candidate_of
from ...runtime.function import Function
from . import differences, run_on
from .conditioning import is_rounding
from .problem import problem_of

# Where the embedded engine is as quick (seconds), most of a call lies around the engine's code.
QUICK = 2e-4


def tried(folder: Path, engine: str) -> Candidate:
    """What an engine does with the function of a folder, in this process."""
    with np.load(folder / INPUTS) as file:
        given = [file[name] for name in file.files]
    function = saving.load(folder / FUNCTION)
    began = time.perf_counter()
    engines.load(engine)
    loading = time.perf_counter() - began
    problem = problem_of(function, given, ())
    reference = engines.embedded().name
    run, base = (run_on(name, name, problem) for name in (engine, reference))
    if run.error is not None or base.values is None or run.values is None:
        return Candidate(engine, failure=str(run.error or base.error))
    run.differences = differences(problem, run.values, base.values)
    seconds, embedded = run.warm_call, base.warm_call
    if embedded < QUICK:
        seconds, embedded = (_whole_call(function, given, x) for x in (engine, reference))
    return Candidate(
        engine=engine,
        seconds=seconds,
        embedded=embedded,
        compiling=max(0.0, run.first_call - run.warm_call),
        loading=loading,
        agrees=run.agrees() or is_rounding(problem, base.values, run.differences),
        difference=math.inf if run.worst is None else run.worst.relative,
    )


def _whole_call(function: Function, given: list[Any], engine: str) -> float:
    """The seconds of a call with all that belongs to it, on this process's copy of the state."""
    with engines.using(engine):
        timer = Timer(partial(function, given))
        number, seconds = timer.autorange()
        return min(seconds, *timer.repeat(2, number)) / number


def alone(folder: Path, engine: str, seconds: float) -> Candidate:
    """What an engine does, tried in a process of its own; how that ended, where it didn't say."""
    line = [sys.executable, "-m", __spec__.name, str(folder), "0", engine]
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Candidate(engine, failure=f"it took longer than {seconds:.0f} seconds")
    try:
        return candidate_of(json.loads(done.stdout.splitlines()[-1]))
    except (ValueError, IndexError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        ended = f"its process ended with status {done.returncode}"
        return Candidate(engine, failure=": ".join([ended, *last]))


def _end_with_the_starter(folder: Path) -> None:
    """Wait until standard input is closed; then end all that was started here."""
    sys.stdin.read()
    shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, 9)
    os._exit(1)


def main(arguments: Sequence[str]) -> None:
    """See the module."""
    folder, seconds, names = Path(arguments[0]), float(arguments[1]), arguments[2:]
    if not seconds:  # one engine, in this process
        print(json.dumps(tried(folder, names[0]).data))
        return
    threading.Thread(target=_end_with_the_starter, args=(folder,), daemon=True).start()
    with open(folder / RESULTS, "a", encoding="utf-8") as file:
        for name in names:
            file.write(json.dumps(alone(folder, name, seconds).data) + "\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
