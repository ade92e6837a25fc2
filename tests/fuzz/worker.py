"""One process that tries programs, and says what it finds; another one watches it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from .checks import Found, check
from .draft import WrongError
from .effort import make
from .generate import drafted
from .program import TENSOR, Program
from .shrink import needed, shrunk

# Shrinking a program for more seconds isn't worth the wait.
PATIENCE = 60.0


def tried(seed: int, engines: Sequence[str]) -> list[tuple[Found, Program]]:
    """What is found of the program of a seed, each with the program that shows it."""
    try:
        draft = drafted(seed)
    except WrongError as error:
        # The tensors that the text names are those that show what was found.
        names = ", ".join(dict.fromkeys(TENSOR.findall(str(error))))
        lines = (*error.__notes__[-1].splitlines(), f"give({names})")
        return [(Found(error.kind, "numpy", str(error)), needed(Program(lines)))]
    program = draft.program()
    single = [draft.value(draft.built.names[name]) for name in program.outputs]
    found = {f.key: f for f in check(program, engines, single)}
    return [(f, _least(program, f)) for f in found.values()]


def _least(program: Program, found: Found) -> Program:
    def shows(candidate: Program) -> bool:
        try:
            return any(f.key == found.key for f in check(candidate, [found.engine]))
        except Exception:  # a program that can't be built shows nothing
            return False

    start = needed(program)
    return shrunk(start if shows(start) else program, shows, PATIENCE)


def work(channel: Connection, engines: Sequence[str], effort: str) -> None:
    """Try the seeds that come, send what is found of each; until None comes."""
    turns = {name: int(every or 1) for name, _, every in (e.partition("/") for e in engines)}
    make(effort, list(turns))
    quietly(lambda: serve(channel, turns))


def quietly(run: Callable[[], Any]) -> Any:
    """Run something whose programs have NaN and infinities on purpose."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run()


def serve(channel: Connection, turns: Mapping[str, int]) -> None:
    while (seed := channel.recv()) is not None:
        engines = [name for name, every in turns.items() if seed % every == 0]
        try:
            rows = [(*found, str(program)) for found, program in tried(seed, engines)]
        except Exception as error:  # the fuzzer's own fault: it mustn't hide
            rows = [("fuzzer", "", f"{type(error).__name__}: {error}", "")]
        channel.send(rows)
