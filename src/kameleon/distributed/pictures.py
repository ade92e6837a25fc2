"""Pictures of meshes: the grid of devices, and which of them hold which parts of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.reports import Layout, Report

COLOURS = ("#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")
WHOLE = "#e0e0e0"
SHOWN = 40  # arrays; the largest ones
ROW, WIDTH = 0.55, 10.0  # inches


def parts(layout: Layout, mesh: dict[str, int]) -> dict[tuple[int, ...], list[int]]:
    """By the place of each part of an array, the devices that hold it.

    >>> parts(Layout("w", (8, 4), (None, "model"), 0), {"data": 2, "model": 2})
    {(0, 0): [0, 2], (0, 1): [1, 3]}
    """
    found: dict[tuple[int, ...], list[int]] = {}
    names = list(mesh)
    for device, place in enumerate(np.ndindex(*mesh.values())):
        part = tuple(0 if a is None else place[names.index(a)] for a in layout.axes)
        found.setdefault(part, []).append(device)
    return found


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, runs of them shortened.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2 5 7-8'
    """
    runs = itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in run] for _, run in runs]
    return " ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in ends)


def drawn(report: Report, figure: Any) -> Any:
    """A figure of Matplotlib.

    Args:
        report: whose mesh and layouts are drawn.
        figure: `matplotlib.figure`.
    """
    layouts = sorted(report.layouts, key=lambda x: -x.bytes)[:SHOWN]
    sizes = (*report.mesh.values(), 1)
    rows, columns = sizes[0], int(np.prod(sizes[1:]))
    if columns == 1:
        rows, columns = 1, rows
    height = ROW * (rows + len(layouts) + 3)
    made = figure.Figure(figsize=(WIDTH, height))
    axes = made.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH / ROW)
    axes.set_ylim(height / ROW, 0)
    axes.axis("off")
    named = " x ".join(f"{name} {size}" for name, size in report.mesh.items())
    axes.text(0.5, 0.8, f"mesh: {named}", weight="bold")
    side = min(1.0, (WIDTH / ROW - 1) / columns)
    for device in range(rows * columns):
        row, column = divmod(device, columns)
        box = (0.5 + column * side, 1.2 + row, side, 0.9)
        _box(axes, box, _colour([device], rows * columns), str(device))
    for i, layout in enumerate(layouts):
        _array(axes, rows + 2 + i, layout, report.mesh)
    return made


def _array(axes: Any, top: float, layout: Layout, mesh: dict[str, int]) -> None:
    """A row: the array's name and size, then its parts, side by side and below each other."""
    size = "x".join(map(str, layout.shape)) or "scalar"
    axes.text(0.5, top + 0.6, f"{layout.name}  {size}  {layout.cut}", fontsize=8)
    found = parts(layout, mesh)
    grid = [max(places) + 1 for places in zip(*found, strict=True)]
    cut = [axis for axis, count in enumerate(grid) if count > 1]
    down, across = ([None] * 2 + cut)[-2:]
    left, width = 9.0, WIDTH / ROW - 9.5
    for place, devices in found.items():
        y, rows = (place[down], grid[down]) if down is not None else (0, 1)
        x, columns = (place[across], grid[across]) if across is not None else (0, 1)
        box = (left + x * width / columns, top + 0.1 + y * 0.8 / rows, width / columns, 0.8 / rows)
        total = int(np.prod(list(mesh.values())))
        text = "all devices" if len(devices) == total else ranges(devices)
        _box(axes, box, _colour(devices, total), text)


def _colour(devices: Sequence[int], total: int) -> str:
    return WHOLE if len(devices) == total > 1 else COLOURS[devices[0] % len(COLOURS)]


def _box(axes: Any, box: tuple[float, float, float, float], colour: str, text: str) -> None:
    x, y, width, height = box
    axes.fill([x, x + width, x + width, x], [y, y, y + height, y + height], colour, ec="#606060")
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=7)
