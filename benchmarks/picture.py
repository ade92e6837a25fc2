"""A picture of the table: for each workload, a bar for each way by hand and for Kameleon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from harness import Row, mean_ratios
from matplotlib.figure import Figure

# Bars by hand are grey, Kameleon's green, that of the engine which it chose dark.
BY_HAND, KAMELEON, CHOSEN = "#b8bcc4", "#5fb37a", "#176b3a"
BAR, GAP, WIDTH = 0.16, 0.4, 4.6  # inches
COLUMNS = 2

Bar = tuple[str, float, str]


def bars(rows: Sequence[Row]) -> dict[tuple[str, str, str], list[Bar]]:
    """By workload, what it is and its unit: names, figures and colours, the fastest first."""
    found: dict[tuple[str, str, str], list[Bar]] = {}
    for row in rows:
        if row.kameleon is None or row.by_hand is None or not row.way:
            continue
        group = found.setdefault((row.workload, row.what, row.unit), [])
        mine = f"Kameleon, {row.engine}"
        if mine not in {name for name, *_ in group}:
            group.append((mine, row.kameleon, CHOSEN if row.engine == "auto" else KAMELEON))
        if row.way not in {name for name, *_ in group}:
            group.append((row.way, row.by_hand, BY_HAND))
    return {key: sorted(group, key=lambda bar: bar[1]) for key, group in found.items()}


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the picture; the suffix says in which format."""
    groups = list(bars(rows).items())
    columns = min(COLUMNS, len(groups)) or 1
    lines = [groups[i : i + columns] for i in range(0, len(groups), columns)] or [[]]
    heights = [GAP + BAR * max((len(g) for _, g in line), default=0) for line in lines]
    with mpl.rc_context({"svg.hashsalt": "kameleon", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure((WIDTH * columns, sum(heights) + 0.4), layout="constrained")
        axes: Any = figure.subplots(len(lines), columns, squeeze=False, height_ratios=heights)
        for panel in axes.flat[len(groups) :]:
            panel.set_visible(False)
        for (title, group), panel in zip(groups, axes.flat, strict=False):
            _panel(panel, title, group)
        figure.supxlabel(_summary(rows), fontsize=8)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(panel: Any, title: tuple[str, str, str], group: Sequence[Bar]) -> None:
    names, figures, colours = zip(*group, strict=True)
    drawn = panel.barh(names, figures, color=colours, height=0.8)
    panel.bar_label(drawn, [f"{figure:,.3g}" for figure in figures], padding=2)
    panel.set_title("{}: {} ({})".format(*title), loc="left", fontsize=8, fontweight="bold")
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.set_xlim(min(figures) / 2, max(figures) * 1.6)
    panel.xaxis.set_visible(False)
    panel.spines[["top", "right", "bottom"]].set_visible(False)
    panel.tick_params(axis="y", length=0)


def _summary(rows: Sequence[Row]) -> str:
    means = mean_ratios(rows)
    told = [f"{engine} {found['all']:.2f}" for engine, found in means.items() if "all" in found]
    return f"logarithmic; Kameleon over by hand, geometric means: {', '.join(told)}"
