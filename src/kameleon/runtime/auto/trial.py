"""Other engines tried on a function, in a process beside this one."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import saving

if TYPE_CHECKING:
    from ..function import Function

# What is started; it's above this package, which knows it by its name alone.
PROGRAM = "kameleon.testing.comparison.trials"
# An engine that takes longer to load, compile and run a function isn't tried further.
SECONDS = 120.0
# What lies in the folder of a trial: what is tried, on what, and what was found.
FUNCTION, INPUTS, RESULTS = "function", "inputs.npz", "results"


class Candidate(NamedTuple):
    """What trying an engine on a function gave.

    Attributes:
        engine: its name.
        seconds: that a call takes; infinite, where it failed.
        embedded: that a call takes on the embedded engine, in the same process.
        compiling, loading: seconds that it takes to compile the function, and to load the engine.
        agrees: whether it gives what the embedded engine gives, within `compare`'s tolerances, or
            what that gives of values whose last bits differ.
        difference: the largest relative difference.
        failure: what went wrong; empty, if nothing did.
    """

    engine: str
    seconds: float = math.inf
    embedded: float = math.inf
    compiling: float = 0.0
    loading: float = 0.0
    agrees: bool = False
    difference: float = math.inf
    failure: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """All of it as what JSON has: what is infinite is None."""
        return {k: None if v == math.inf else v for k, v in self._asdict().items()}

    @property
    def is_sound(self) -> bool:
        """Whether the engine may be trusted with the function."""
        return self.agrees and not self.failure


def candidate_of(data: Any) -> Candidate:
    """The candidate whose `data` a trial wrote, or was kept.

    Raises:
        TypeError, ValueError: it's no such thing.
    """
    numbers = {
        name: float(data[name])
        for name in ("seconds", "embedded", "compiling", "loading", "difference")
        if data.get(name) is not None
    }
    return Candidate(
        engine=str(data["engine"]),
        agrees=bool(data.get("agrees")),
        failure=str(data.get("failure") or ""),
        **numbers,
    )


class Trial:
    """The engines of these names, being tried on a function with these values.

    Raises:
        GraphError: the function can't be written to a file.
        OSError: no process can be started.
    """

    def __init__(self, function: Function, values: Sequence[np.ndarray], names: Sequence[str]):
        data = saving.to_bytes(function)  # first: it may not be possible
        self._folder = tempfile.mkdtemp(prefix="kameleon-auto-")
        try:
            with open(os.path.join(self._folder, FUNCTION), "wb") as file:
                file.write(data)
            arrays = {f"{i:06d}": np.asarray(x) for i, x in enumerate(values)}
            np.savez(os.path.join(self._folder, INPUTS), **arrays)  # type: ignore[arg-type]
            self._process = subprocess.Popen(
                [sys.executable, "-m", PROGRAM, self._folder, str(SECONDS), *names],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=_environment(), start_new_session=True,  # an interrupt isn't its business
            )  # fmt: skip
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        # Called when nobody asks any more, too, and when the interpreter ends.
        self.end = weakref.finalize(self, _end, self._process, self._folder, os.getpid())

    def found(self) -> list[Candidate] | None:
        """What was found; None, as long as engines are being tried."""
        if self._process.poll() is None:
            return None
        try:
            with open(os.path.join(self._folder, RESULTS), encoding="utf-8") as file:
                return [candidate_of(json.loads(line)) for line in file]
        except (OSError, ValueError, TypeError, KeyError):
            return []
        finally:
            self.end()


def _end(process: subprocess.Popen[bytes], folder: str, owner: int) -> None:
    """End a process that may still run, and remove its files."""
    if owner != os.getpid():  # of a fork: the process is its parent's
        process.returncode = 0
        return
    if process.stdin is not None:
        process.stdin.close()  # it ends by that, with all that it has started
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _environment() -> dict[str, str]:
    """The environment of a process that finds what this one finds, and chooses no engine."""
    chosen = ("KERAS_BACKEND", "KAMELEON_ENGINE", "KAMELEON_AS")
    kept = {name: value for name, value in os.environ.items() if name not in chosen}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "KERAS_BACKEND": "numpy"}
