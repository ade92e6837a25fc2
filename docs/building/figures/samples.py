"""Random numbers: histograms."""

from __future__ import annotations

from matplotlib.figure import Figure

from docs.building.figures import FIRST, figure
from kameleon import backend as K

# The calls that are shown, by function.
ARGUMENTS = {
    "random_normal": {"mean": 0.0, "stddev": 1.0},
    "truncated_normal": {"mean": 0.0, "stddev": 1.0},
    "random_uniform": {"minval": 0.0, "maxval": 1.0},
    "random_binomial": {"p": 0.3},
}


def histogram(name: str) -> Figure:
    """A histogram of many numbers."""
    arguments = ARGUMENTS[name]
    values = K.eval(getattr(K, name)((20000,), seed=1, **arguments))
    [axes] = figure(height=2)
    edges = {"random_uniform": (-0.25, 1.25), "random_binomial": (-0.5, 1.5)}.get(name, (-4, 4))
    axes.hist(values, bins=2 if name == "random_binomial" else 60, range=edges, color=FIRST)
    axes.set_title(", ".join(f"{key}={value}" for key, value in arguments.items()))
    axes.set_yticks([])
    if name == "random_binomial":
        axes.set_xticks([0, 1])
    axes.spines["left"].set_visible(False)
    return axes.get_figure()
