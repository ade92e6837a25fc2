"""Timing in turns, checking that both sides agree, and the table of results."""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

# By name of a workload, what makes its hand-written side (see by_hand/__init__.py).
Sides = Mapping[str, Callable[..., Any]]
Call = Callable[[], Any]

SECONDS = 6.0  # that a comparison may take, about
LEAST_ROUNDS, MOST_ROUNDS = 8, 100
PATIENCE = 60.0  # seconds in which the engine is to be chosen
TURN = 2e-3  # seconds: what is quicker is called several times in each turn
# Processor time leaves out when others had the processor: for one thread on a busy machine.
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
CLOCK = "wall"
SCALES = {"s": 1.0, "ms": 1e3, "µs": 1e6}


@dataclass
class Row:
    """One figure: of Kameleon, and where there is one, of the work done by hand.

    noise: the hand-written side against itself, as a share (0.02: two per cent).
    reached: how near Kameleon is to what the engine can do here: see `limit` of a profile.
    counts: whether the ratio goes into the engine's mean.
    engine, way: Kameleon's engine; and by hand, the library and how it's used.
    """

    workload: str
    what: str
    kameleon: float | None = None
    by_hand: float | None = None
    unit: str = ""
    noise: float | None = None
    note: str = ""
    reached: float | None = None
    counts: bool = False
    engine: str = "numpy"
    way: str = ""

    @property
    def ratio(self) -> float | None:
        """Kameleon over by hand."""
        if self.kameleon is None or self.by_hand is None:
            return None
        return self.kameleon / self.by_hand


# Timing -------------------------------------------------------------------------------------


def _seconds(call: Call, inner: int = 1) -> float:
    clock = CLOCKS[CLOCK]
    start = clock()
    for _ in range(inner):
        call()
    return (clock() - start) / inner


def _warm(call: Call) -> float:
    """Run what only the first calls do (compiling, caches, set-up); seconds of a later one."""
    for _ in range(3):
        call()
    return min(_seconds(call) for _ in range(3))


def compare(ours: Call, by_hand: Call) -> tuple[float, float, float]:
    """Time two ways of one thing in turns: each always runs behind the other.

    So both find the caches in the state that the other has left. (Where one side runs twice in
    a row, its second run is faster, by several percent.) The noise compares the hand-written
    side with itself, in every other round.

    Returns:
        (seconds of ours, seconds by hand, noise): minima over the rounds, per call.
    """
    once = [_warm(ours), _warm(by_hand)]
    inner = max(1, round(TURN / min(once)))
    rounds = round(SECONDS / (2 * inner * sum(once)))
    rounds = min(max(rounds, LEAST_ROUNDS), MOST_ROUNDS)
    mine, hand = [], []
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
    function: Any,
    inputs: Sequence[Any],
    by_hand: Callable[..., Any],
    unit: str = "ms",
    counts: bool = True,
) -> Row:
    """Compare a function of K's with the same by hand, and return the figures as a row."""
    inputs = list(inputs)
    note = settled(function, inputs)
    mine, theirs, noise = compare(lambda: function(inputs), lambda: by_hand(*inputs))
    scale, reached = SCALES[unit], function.profile(inputs).limit / mine if unit == "ms" else None
    figures = mine * scale, theirs * scale, unit, noise, note
    return Row(workload, what, *figures, reached=reached, counts=counts)


def settled(function: Any, inputs: list[Any]) -> str:
    """Call a function until its engine is chosen, where the engine is `auto`; which one that is."""
    from kameleon import backend as K

    if K.backend() != "auto":
        return ""
    end = time.perf_counter() + PATIENCE
    while (report := function.report()).state != "settled" and time.perf_counter() < end:
        function(inputs)
    return f"{report.engine}, {report.state}"


def training_row(
    workload: str,
    what: str,
    kameleon: tuple[Any, list[Any]],
    by_hand: Any,
    data: Sequence[Any],
    *,
    steps: int,
    tolerance: float,
) -> Row:
    """Check that `steps` of training give equal losses and weights; then time a step."""
    from kameleon import backend as K

    step, variables = kameleon
    for _ in range(steps):
        require_close(f"{workload}: loss", step(list(data)), [by_hand(*data)])
    require_close(
        f"{workload}: weights", K.batch_get_value(variables), by_hand.weights, tolerance=tolerance
    )
    return timed_row(workload, what, step, data, by_hand)


# Checking -----------------------------------------------------------------------------------


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


# Showing ------------------------------------------------------------------------------------


def _cells(row: Row) -> list[str]:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"

    def share(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    ratio, noise = share(row.ratio, ".2f"), share(row.noise, ".1%")
    reached = share(row.reached, ".0%")
    mine, by_hand = number(row.kameleon), number(row.by_hand)
    if ratio and not row.counts:
        ratio = f"({ratio})"
    names = [row.engine, row.workload, row.what, row.way]
    return [*names, mine, by_hand, row.unit, ratio, noise, reached, row.note]


HEADINGS = (
    "engine",
    "workload",
    "what",
    "by hand in",
    "Kameleon",
    "by hand",
    "unit",
    "ratio",
    "noise",
    "of peak",
    "note",
)
RIGHT = {"Kameleon", "by hand", "ratio", "noise", "of peak"}


def mean_ratios(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By engine, the geometric mean of the ratios that count: of all, and without tiny calls."""
    means: dict[str, dict[str, float]] = {}
    for engine in dict.fromkeys(row.engine for row in rows):
        counted = [r for r in rows if r.engine == engine and r.counts and r.ratio is not None]
        groups = {"all": counted, "without tiny": [r for r in counted if r.workload != "tiny"]}
        means[engine] = {
            name: math.exp(sum(math.log(r.ratio or 1) for r in group) / len(group))
            for name, group in groups.items()
            if group
        }
    return means


def show(rows: Sequence[Row]) -> None:
    """Print the rows as a table in plain text, and the means below."""
    lines = [list(HEADINGS), *map(_cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    for line in lines:
        cells = [
            cell.rjust(width) if heading in RIGHT else cell.ljust(width)
            for cell, width, heading in zip(line, widths, HEADINGS, strict=True)
        ]
        print("  ".join(cells).rstrip())
    for engine, means in mean_ratios(rows).items():
        if means:
            figures = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
            print(f"{engine}: geometric mean of ratios: {figures}")


def save(path: Path, rows: Sequence[Row], **more: Any) -> None:
    """Write the rows as JSON, ratios and means included, and what else is to be known."""
    figures = {
        **more,
        "means": mean_ratios(rows),
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
    }
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> list[Row]:
    """The rows that `save` has written."""
    names = {field.name for field in fields(Row)}
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [Row(**{k: v for k, v in row.items() if k in names}) for row in rows]
