"""Programs in fresh processes, with one thread each; also for the Pythons of those days."""

from __future__ import annotations

import json
import os
import subprocess


def told(command: list[str], **more: str) -> dict[str, float]:
    """What a program prints last, as JSON, run by a command; `more` is in its environment."""
    pinned = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "NPROC": "1"}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}
    environment = {**os.environ, **pinned, **flags, **quiet, **more}
    # Compiled bytecode is kept, as it is where a package is installed.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
