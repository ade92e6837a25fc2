"""Timing in turns, and the table of results."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """One figure: of Kameleon, and where there is one, of the work done by hand.

    noise: the hand-written side against itself, as a share (0.02: two per cent).
    """

    workload: str
    what: str
    kameleon: float
    by_hand: float | None
    unit: str
    noise: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Kameleon over by hand."""
        return None if self.by_hand is None else self.kameleon / self.by_hand


def _seconds(call: Callable[[], Any], inner: int) -> float:
    start = time.perf_counter()
    for _ in range(inner):
        call()
    return (time.perf_counter() - start) / inner


def compare(
    ours: Callable[[], Any], by_hand: Callable[[], Any], rounds: int = 30, inner: int = 1
) -> tuple[float, float, float]:
    """Time two ways of one thing in turns: each always runs behind the other.

    So both find the caches in the state that the other has left. (Where one side runs twice in
    a row, its second run is faster, by several percent.) The noise compares the hand-written
    side with itself, in every other round.

    Returns:
        (seconds of ours, seconds by hand, noise): minima over the rounds, per call.
    """
    mine, hand = [], []
    for call in (ours, by_hand):
        call()  # warm up: caches, lazy set-up
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(2 * rounds):
            mine.append(_seconds(ours, inner))
            hand.append(_seconds(by_hand, inner))
    finally:
        if enabled:
            gc.enable()
    return min(mine), min(hand), abs(min(hand[::2]) / min(hand[1::2]) - 1)


def timed_row(
    workload: str,
    what: str,
    ours: Callable[[], Any],
    by_hand: Callable[[], Any],
    *,
    rounds: int = 30,
    inner: int = 1,
    unit: str = "ms",
    note: str = "",
) -> Row:
    """Compare two callables and return the figures as a row."""
    scale = {"s": 1.0, "ms": 1e3, "µs": 1e6}[unit]
    mine, theirs, noise = compare(ours, by_hand, rounds, inner)
    return Row(workload, what, mine * scale, theirs * scale, unit, noise, note)


def require_close(
    what: str, ours: Iterable[Any], by_hand: Iterable[Any], tolerance: float = 2e-4
) -> None:
    """Stop the benchmark unless both sides computed the same numbers.

    The tolerance is a share of each array's largest magnitude.
    """
    for number, (mine, theirs) in enumerate(zip(ours, by_hand, strict=True)):
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        if mine.shape != theirs.shape:
            raise SystemExit(f"{what}: value {number} has shape {mine.shape}, not {theirs.shape}")
        error = np.max(np.abs(mine - theirs), initial=0.0)
        scale = np.max(np.abs(theirs), initial=1e-30)
        if not error <= tolerance * scale:
            raise SystemExit(f"{what}: value {number} differs by {error / scale:.2e} of its size")


def _cells(row: Row) -> list[str]:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"

    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    noise = "" if row.noise is None else f"{row.noise:.1%}"
    by_hand, mine = number(row.by_hand), number(row.kameleon)
    return [row.workload, row.what, mine, by_hand, row.unit, ratio, noise, row.note]


HEADINGS = ("workload", "what", "Kameleon", "by hand", "unit", "ratio", "noise", "note")
RIGHT = {"Kameleon", "by hand", "ratio", "noise"}


def show(rows: Sequence[Row]) -> None:
    """Print the rows as a table in plain text."""
    lines = [list(HEADINGS), *map(_cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    for line in lines:
        cells = [
            cell.rjust(width) if heading in RIGHT else cell.ljust(width)
            for cell, width, heading in zip(line, widths, HEADINGS, strict=True)
        ]
        print("  ".join(cells).rstrip())


def save(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows as JSON, ratio included."""
    text = json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows], indent=1)
    path.write_text(text + "\n", encoding="utf-8")
