"""What the engine `auto` tells of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._utils.tables import Part, Shown, Table
from .trial import Candidate


@dataclass(frozen=True)
class Report(Shown):
    """Which engine serves a function, and what is known of the others.

    Attributes:
        engine: the one that serves.
        state: "waiting" for more calls, "being tried" (other engines are), "weighing" what a switch
            would save against what it costs, "being prepared", or "settled".
        reason: why this engine serves.
        calls: how often the function was called.
        seconds: that these calls took, without the first one.
        candidates: the engines that were tried.

    >>> print(Report("numpy", "settled", "no other engine is installed", 3, 0.5, ()))
    numpy serves: no other engine is installed [settled]
    3 calls, 0.5 s
    """

    engine: str
    state: str
    reason: str
    calls: int
    seconds: float
    candidates: tuple[Candidate, ...]

    @property
    def data(self) -> dict[str, Any]:
        """All of it as what JSON has."""
        return {**vars(self), "candidates": [c.data for c in self.candidates]}

    def _parts(self) -> list[Part]:
        parts: list[Part] = [
            f"{self.engine} serves: {self.reason} [{self.state}]",
            f"{self.calls} calls, {self.seconds:.3g} s",
        ]
        if self.candidates:
            head = ("engine", "a call", "to compile", "to load", "difference", "")
            parts.append(Table([head, *map(self._row, self.candidates)]))
        return parts

    def _row(self, c: Candidate) -> tuple[str, ...]:
        if c.failure:
            return c.engine, "", "", "", "", c.failure.partition("\n")[0]
        verdict = "serves" if c.engine == self.engine else "" if c.agrees else "differs"
        return (
            c.engine, f"{1e3 * c.seconds:.4g} ms", f"{c.compiling:.2g} s", f"{c.loading:.2g} s",
            f"{c.difference:.1e}", verdict,
        )  # fmt: skip
