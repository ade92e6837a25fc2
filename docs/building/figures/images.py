"""Grids of cells: resized images, and what dropout leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from docs.building.figures import FIRST, figure
from kameleon import backend as K

# From nothing to blue: cells show the page where they are 0.
CELLS = LinearSegmentedColormap.from_list("cells", [(0.23, 0.53, 0.85, 0), FIRST])


def grid(axes: Axes, values: Any, title: str) -> None:
    """Cells, the larger the darker."""
    axes.pcolormesh(values, cmap=CELLS, edgecolors="#888888", linewidth=0.5, vmin=0)
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def resized(name: str) -> Figure:
    """An image, and both ways to make it larger."""
    image = np.array([[0.0, 0.6, 0.1], [1.0, 0.3, 0.8], [0.2, 0.9, 0.5]])
    panels = figure(columns=3)
    grid(panels[0], image, "x")
    x = K.constant(image[None, :, :, None])
    for axes, way in zip(panels[1:], ("nearest", "bilinear"), strict=True):
        larger = K.resize_images(x, 3, 3, "channels_last", interpolation=way)
        grid(axes, K.eval(larger)[0, :, :, 0], f"interpolation='{way}'")
    return panels[0].get_figure()


def dropped(name: str) -> Figure:
    """Ones after dropout, of each element and of whole rows."""
    ones = K.ones((6, 10))
    left, right = figure(columns=2)
    grid(left, K.eval(K.dropout(ones, 0.5, seed=3)), "level=0.5")
    rows = K.dropout(ones, 0.5, noise_shape=(6, 1), seed=5)
    grid(right, K.eval(rows), "level=0.5, noise_shape=(6, 1)")
    return left.get_figure()
