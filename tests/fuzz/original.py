"""Programs held against the original Keras 2.3.1, which runs in a process of an older Python.

python -m fuzz.original --python /path/to/python3.7 --programs 200
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kameleon.testing.comparison.result import difference

from .checks import Trial
from .draft import WrongError
from .generate import generated
from .program import Array, Program, value
from .shrink import needed, shrunk
from .worker import PATIENCE, quietly

# How values are asked for in the text of a program.
VALUE = re.compile(r"value\((\([^)]*\)), '([^']*)', (\d+)\)")

# How far numbers may be apart, relative to the largest one of a tensor.
TOLERANCE = 1e-4
# What the older Python may see of this process's environment.
KEPT = ("HOME", "PATH", "LANG", "OMP_NUM_THREADS")


class Original:
    """The process of the older Python."""

    def __init__(self, python: str):
        self.python, self.folder = python, tempfile.TemporaryDirectory()
        self._start()

    def _start(self) -> None:
        server = Path(__file__).parent / "original_server.py"
        self.process = subprocess.Popen(
            [self.python, str(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k in KEPT},
        )  # fmt: skip

    def outputs(self, program: Program) -> list[Array] | str:
        """What the original computes; the text of its error, where it refuses."""
        for shape, kind, seed in VALUE.findall(str(program)):
            sizes = [s for s in re.split(r"[(), ]+", shape) if s]
            name = "-".join([*sizes, kind.replace(" ", "_"), seed])
            np.save(self._path(name), value([*map(int, sizes)], kind, int(seed)))
        request = {"text": str(program), "folder": self.folder.name}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:  # TensorFlow 1 ends the process at some windows over nothing
            self.process.wait()
            self._start()
        answer = json.loads(line or '{"error": "the process ended"}')
        if "error" in answer:
            return str(answer["error"])
        return [np.load(self._path(f"output-{i}")) for i in range(answer["outputs"])]

    def _path(self, name: str) -> Path:
        return Path(self.folder.name) / f"{name}.npy"

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def differs(program: Program, original: Original) -> str:
    """How a program's outputs differ from the original's.

    Empty where they don't differ, where last bits decide, and where the original refuses the
    program: it lacks much of what is here, and its errors come from deep inside TensorFlow.
    """
    trial = Trial(program.build())
    got = trial.want.calls[0][: len(trial.built.outputs)]
    want = original.outputs(program)
    if isinstance(want, str) or not got:
        return ""
    for i, pair in enumerate(zip(got, want, strict=True)):
        found = _apart(*pair)
        if found and i not in trial.delicate:
            return f"output {i}: {found}"
    return ""


def _apart(ours: Array, theirs: Array) -> str:
    """How two outputs differ, as text.

    The original computes parts of float64 programs in float32 (CTC, say), and some of its
    gradients are NaN where the right one is finite.
    """
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, the original's is {theirs.shape}"
    theirs = theirs.astype(ours.dtype)
    if ours.dtype.kind == "f":
        theirs = np.where(np.isnan(theirs) & np.isfinite(ours), ours, theirs)
    found = difference("", ours, theirs)
    return "" if found.within(TOLERANCE) else f"{found}\n{ours}\n{theirs}"


def _one(program: Program, original: Original) -> Iterator[tuple[str, Program]]:
    """What differs, an output at a time, each with the least program that shows it."""
    *lines, give = program.lines
    for name in re.findall(r"t\d+", give):
        single = needed(Program((*lines, f"give({name})")))
        if differs(single, original):

            def shows(candidate: Program) -> bool:
                try:
                    return bool(differs(candidate, original))
                except Exception:
                    return False

            least = shrunk(single, shows, PATIENCE)
            yield differs(least, original), least


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.original", description=__doc__)
    parser.add_argument("--python", required=True, help="one that has the original Keras 2.3.1")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--programs", type=int, default=100, help="how many")
    given = parser.parse_args(arguments)
    original, found = Original(given.python), 0
    try:
        for seed in range(given.seed, given.seed + given.programs):
            for text, program in _of_seed(seed, original):
                found += 1
                print(f"\n-- seed {seed}: {text}\n{program}", flush=True)
    finally:
        original.stop()
    print(f"{given.programs} programs, {found} outputs that differ")
    return 1 if found else 0


def _of_seed(seed: int, original: Original) -> list[tuple[str, Program]]:
    def run() -> Any:
        try:
            return list(_one(generated(seed), original))
        except WrongError:  # `python -m fuzz` reports such errors
            return []

    found: list[tuple[str, Program]] = quietly(run)
    return found


if __name__ == "__main__":
    sys.exit(main())
