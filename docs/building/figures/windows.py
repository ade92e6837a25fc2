"""Windows along one axis: which cells of the input each place of the output sees.

What is drawn is asked of K: with a kernel of ones, the gradient of a place with respect to the
input is 1 in the cells that it sees. What is missing of a window is beyond the input's ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from docs.building.figures import FIRST, INK, SECOND, THIRD, figure
from kameleon import backend as K

SIZE, WINDOW = 6, 3
COLOURS = (FIRST, SECOND, THIRD)


def strided(name: str) -> Figure:
    """Both kinds of padding with two strides."""
    panels = figure(columns=2, rows=2, height=3.6)
    settings = [(p, s) for p in ("valid", "same") for s in (1, 2)]
    for axes, (padding, strides) in zip(panels, settings, strict=True):
        panel(axes, f"padding='{padding}', strides={strides}", padding, strides, 1)
    return panels[0].get_figure()


def causal(name: str) -> Figure:
    """All kinds of padding, and a dilation."""
    panels = figure(columns=2, rows=2, height=3.6)
    settings = [("valid", 1), ("same", 1), ("causal", 1), ("valid", 2)]
    for axes, (padding, dilation) in zip(panels, settings, strict=True):
        title = f"padding='{padding}'" + (f", dilation_rate={dilation}" if dilation > 1 else "")
        panel(axes, title, padding, 1, dilation)
    return panels[0].get_figure()


def seen(padding: str, strides: int, dilation: int) -> list[list[int]]:
    """By place of the output the cells of its window; before 0 and from SIZE on is padding."""
    x = K.placeholder((1, SIZE, 1))
    y = K.conv1d(
        x, K.ones((WINDOW, 1, 1)), strides=strides, padding=padding, dilation_rate=dilation
    )
    places = K.int_shape(y)[1]
    slopes = [K.gradients(y[0, i, 0], [x])[0] for i in range(places)]
    values = K.function([x], slopes)([np.zeros((1, SIZE, 1))])
    inside = [[int(c) for c in np.flatnonzero(v)] for v in values]
    return [whole(cells, dilation) for cells in inside]


def whole(cells: list[int], dilation: int) -> list[int]:
    """A window of which some cells are beyond an end of the input, with all its cells."""
    missing = WINDOW - len(cells)
    if cells[0] - dilation < 0:  # what is missing is before the input
        return [cells[0] - dilation * i for i in range(missing, 0, -1)] + cells
    return cells + [cells[-1] + dilation * (i + 1) for i in range(missing)]


def panel(axes: Axes, title: str, padding: str, strides: int, dilation: int) -> None:
    """The input's cells, and above them a row for each place of the output."""
    rows = seen(padding, strides, dilation)
    for place, cells in enumerate(rows):
        for cell in cells:
            square(axes, cell, place + 1.5, COLOURS[place % 3], dashed=not 0 <= cell < SIZE)
    for cell in range(SIZE):
        square(axes, cell, 0, None)
        axes.text(cell + 0.5, 0.5, str(cell), ha="center", va="center")
    finish(axes, title, (-2.2, SIZE + 1.2), SIZE + 1.6)


def transposed(name: str) -> Figure:
    """Where cells go, for both kinds of padding."""
    panels = figure(columns=2, height=1.9)
    for axes, (padding, size) in zip(panels, (("valid", 9), ("same", 8)), strict=True):
        x = K.placeholder((1, 4, 1, 1))
        kernel = K.ones((WINDOW, 1, 1, 1))
        y = K.conv2d_transpose(x, kernel, (1, size, 1, 1), strides=(2, 1), padding=padding)
        rows = K.function([x], [y])
        for cell in range(4):
            given = np.zeros((1, 4, 1, 1))
            given[0, cell] = 1
            for place in np.flatnonzero(rows([given])[0]):
                square(axes, int(place), cell + 1.5, COLOURS[cell % 3])
        for place in range(size):
            square(axes, place, 0, None)
            axes.text(place + 0.5, 0.5, str(place), ha="center", va="center")
        finish(axes, f"padding='{padding}', strides=2", (-0.2, 9.2), 5.6)
    return panels[0].get_figure()


def square(axes: Axes, x: float, y: float, color: Any, dashed: bool = False) -> None:
    style = "--" if dashed else "-"
    fill = "none" if color is None or dashed else color
    edge = INK if color is None else color
    axes.add_patch(
        Rectangle((x + 0.05, y + 0.08), 0.9, 0.84, facecolor=fill, edgecolor=edge, linestyle=style)
    )


def finish(axes: Axes, title: str, across: tuple[float, float], top: float) -> None:
    axes.set_title(title)
    axes.set_xlim(*across)
    axes.set_aspect(0.75)  # cells are of the same size in all panels
    axes.set_ylim(top, -0.1)  # the input on top, the output's places below
    axes.set_axis_off()
