"""What an engine says of itself, asked in another process: `python -m kameleon.cli.probe torch`.

Loading an engine loads its library, which takes seconds and may even end the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

ANSWER = "kameleon-probe:"  # begins the line with the answer; libraries print lines, too
PATIENCE = 180  # seconds for a library to load


class Answer(NamedTuple):
    """The engine's devices and its library's version, or why the engine can't be loaded."""

    devices: tuple[str, ...] = ()
    version: str = ""
    error: str = ""


def ask(name: str, patience: float = PATIENCE) -> Answer:
    """Load the engine `name` in another process; return what it says of itself.

    Args:
        name: an engine whose library is installed.
        patience: how many seconds loading may take.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", __name__, name]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(error=f"not loaded after {patience:g} seconds")
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(ANSWER):
            devices, version, error = json.loads(line.removeprefix(ANSWER))
            return Answer(tuple(devices), version, error)
    return Answer(error=f"the process that loaded it ended with status {done.returncode}")


def first_line(error: BaseException) -> str:
    """Return the class of an error and the first line of its message.

    >>> first_line(ImportError("libnothing.so: not found\\nlong advice"))
    'ImportError: libnothing.so: not found'
    """
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def _answer(name: str) -> Answer:
    from kameleon.runtime import engines  # late: `ask` doesn't need it

    try:
        engine = engines.load(name)
        return Answer(tuple(engine.devices()), engine.version())
    except Exception as error:  # a library may fail in any way
        return Answer(error=first_line(error))


if __name__ == "__main__":
    print(f"\n{ANSWER}{json.dumps(_answer(sys.argv[1]))}", flush=True)
