"""Straight-line code that tells what each of its lines takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

from ...graph.ir.node import Node
from .code import Code


class Timed:
    """Code with a clock behind each line, also in the bodies and blocks that it calls.

    Args:
        code: it isn't changed.
        clock: gives seconds; it waits, where the library works behind the caller's back.
    """

    def __init__(self, code: Code, clock: Callable[[], float] = perf_counter):
        self._code, self._seconds = code, [0.0] * len(code.lines)
        self._inner = {slot: Timed(inner, clock) for slot, inner in code.called()}
        names = {f"c{slot}": value for slot, value in code.constants.items()}
        names |= {f"c{slot}": inner.run for slot, inner in self._inner.items()}
        names |= {"now": clock, "seconds": self._seconds}
        text = code.source(
            "t = now()", lambda number: f"n = now(); seconds[{number}] += n - t; t = n"
        )
        space = code.language.program(text, f"{code.filename}, timed", names)
        self.run: Callable[..., Any] = space["program"]

    def found(self) -> Iterator[tuple[Node, float]]:
        """What the lines took in all runs so far, without what they call."""
        for number, line in enumerate(self._code.lines):
            inner = [self._inner[a] for a in line.used if a in self._inner]
            seconds = self._seconds[number] - sum(sum(each._seconds) for each in inner)
            yield line.node, max(seconds, 0.0)
            for each in inner:
                yield from each.found()


def timed(
    code: Code, arguments: Sequence[Any], clock: Callable[[], float] = perf_counter
) -> list[tuple[Node, float]]:
    """What the lines of code take on the parameters' values: the nodes, and seconds."""
    Timed(code, clock).run(*arguments)  # the first run of code takes longer
    second = Timed(code, clock)
    second.run(*arguments)
    return list(second.found())
