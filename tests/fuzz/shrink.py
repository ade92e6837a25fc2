"""The least of a program that still shows what was found."""

from __future__ import annotations

import time
from collections.abc import Callable

from .program import TENSOR, Program

Shows = Callable[[Program], bool]


def shrunk(program: Program, shows: Shows, seconds: float = 60) -> Program:
    """A program from which no line can be taken without losing what `shows` tells.

    Args:
        program: one for which `shows` holds.
        shows: whether a program shows what was found.
        seconds: after which the best program so far is given.
    """
    end = time.monotonic() + seconds
    found = _outputs(program, shows)
    size = len(found.lines) // 2
    while size:
        at = len(found.lines) - size
        while at > 0 and time.monotonic() < end:
            candidate = without(found, range(at, at + size))
            if len(candidate.lines) < len(found.lines) and shows(candidate):
                found = candidate
            at = min(at, len(found.lines)) - size
        size //= 2
    return _outputs(found, shows)


def _outputs(program: Program, shows: Shows) -> Program:
    """The program with a single output and what this needs, if that shows what was found."""
    *lines, give = program.lines
    names = TENSOR.findall(give)
    for name in reversed(names) if len(names) > 1 else ():
        candidate = needed(Program((*lines, f"give({name})")))
        if shows(candidate):
            return candidate
    return program


def needed(program: Program) -> Program:
    """The lines that outputs and updates depend on."""
    wanted: set[str] = set()
    kept = []
    for line in reversed(program.lines):
        name = _assigned(line)
        if name is None or name in wanted:
            kept.append(line)
            wanted.update(TENSOR.findall(line))
    return Program(tuple(reversed(kept)))


def without(program: Program, numbers: range) -> Program:
    """The program without some lines, and without the lines that use what these made."""
    gone: set[str] = set()
    kept = []
    for number, line in enumerate(program.lines):
        name, used = _assigned(line), set(TENSOR.findall(line))
        if line.startswith("give("):
            left = [n for n in TENSOR.findall(line) if n not in gone]
            kept.append(f"give({', '.join(left)})")
        elif line.startswith("F = ") or (number not in numbers and not used & gone):
            kept.append(line)
        elif name is not None:
            gone.add(name)
    return Program(tuple(kept))


def _assigned(line: str) -> str | None:
    """The tensor that a line makes."""
    name, _, rest = line.partition(" = ")
    return name if rest and TENSOR.fullmatch(name) else None
