"""The picture at the top of the README: a program of K, and what it gives on every engine.

What is drawn is what the program computes: the text on the left is run, once on each engine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from kameleon import backend as K
from kameleon.cli.demo.digits import load
from kameleon.config import ENGINES
from kameleon.runtime.engines import runs_here

PROGRAM = """\
from kameleon import backend as K

images = K.placeholder((None, 8, 8, 1))
labels = K.placeholder((None, 10))
filters = K.random_normal_variable((3, 3, 1, 8), 0, 0.3, seed=1)
weights = K.random_normal_variable((128, 10), 0, 0.1, seed=2)

x = K.relu(K.conv2d(images, filters, padding='same'))
x = K.pool2d(x, (2, 2), strides=(2, 2))
x = K.softmax(K.dot(K.batch_flatten(x), weights))
loss = K.mean(K.categorical_crossentropy(labels, x))

slopes = K.gradients(loss, [filters, weights])
train = K.function([images, labels], [loss], updates=[
    K.update_sub(filters, 0.1 * slopes[0]),
    K.update_sub(weights, 0.1 * slopes[1]),
])
"""
STEPS, BATCH = 200, 128
INK, PALE, CARD, CODE = "#1b2430", "#8693a5", "#ffffff", "#f3f5f8"
COLORS = ("#3a86d8", "#d9730d", "#2f9e62", "#b5408f", "#7a5ad6", "#c9a500", "#c0392b")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (2, (4, 4)), (0, (2, 3)), (1, (1, 3)))
WIDEST, NARROWEST = 11.0, 2.0
PARAMETERS = {  # the same text on every machine that has the same matplotlib
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": PALE,
    "ytick.color": PALE,
    "axes.edgecolor": "#c9d1db",
    "font.size": 11,
}


def trained(engine: str) -> list[float]:
    """The loss of each step of the program on an engine, from one start, over the demo's digits."""
    made: dict[str, Any] = {}
    exec(PROGRAM, made)
    data, _ = load(np.random.default_rng(0))
    losses = []
    with K.using_engine(engine):
        for step in range(STEPS):
            places = np.arange(step * BATCH, (step + 1) * BATCH) % len(data.labels)
            targets = np.eye(10)[data.labels[places]]
            losses.append(float(made["train"]([data.images[places], targets])[0]))
    return losses


def draw() -> Figure:
    """The picture."""
    made = Figure(figsize=(12.8, 5.0), facecolor="none")
    everything = made.add_axes((0, 0, 1, 1))
    everything.set_axis_off()
    everything.set(xlim=(0, 12.8), ylim=(0, 5.0))
    card(everything, (0.06, 0.06), (12.68, 4.88), CARD)
    card(everything, (0.36, 0.36), (6.24, 3.92), CODE)
    title(everything, 0.4, "Write it once …")
    everything.text(
        0.56, 4.1, PROGRAM, family="DejaVu Sans Mono", fontsize=10.3, linespacing=1.45, va="top"
    )
    title(everything, 7.35, "… train it on any engine")
    everything.annotate(
        "",
        (7.2, 2.3),
        (6.72, 2.3),
        arrowprops={"arrowstyle": "-|>", "color": PALE, "linewidth": 2.5, "mutation_scale": 22},
    )
    curves(made.add_axes((7.75 / 12.8, 0.78 / 5, 4.6 / 12.8, 3.46 / 5), facecolor="none"))
    return made


def card(axes: Axes, corner: tuple[float, float], size: tuple[float, float], color: str) -> None:
    """A box with round corners."""
    style = "round,pad=0,rounding_size=0.14"
    box = FancyBboxPatch(corner, *size, boxstyle=style, facecolor=color, edgecolor="#d5dce5")
    axes.add_patch(box)


def title(axes: Axes, left: float, text: str) -> None:
    axes.text(left, 4.5, text, fontsize=16, fontweight="bold")


def curves(axes: Axes) -> None:
    """The loss on every engine that is here: wide lines lie below narrow ones."""
    names = [name for name in ENGINES if runs_here(name)]
    for number, name in enumerate(names):
        losses = trained(name)
        width = WIDEST * (NARROWEST / WIDEST) ** (number / max(1, len(names) - 1))
        axes.plot(
            np.arange(1, STEPS + 1),
            losses,
            color=COLORS[number % len(COLORS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=width,
            label=f"{ENGINES[name].title:<13}{losses[-1]:.6f}",
        )
    axes.set(xlabel="step", ylabel="loss", ylim=(0, None))
    axes.spines[["right", "top"]].set_visible(False)
    axes.grid(alpha=0.3)
    legend = axes.legend(
        title=f"loss after {STEPS} steps",
        prop={"family": "DejaVu Sans Mono", "size": 11},
        alignment="left",
        frameon=False,
        handlelength=3,
        borderaxespad=0,
        loc="upper right",
    )
    legend.get_title().set_fontsize(11)


def write(path: Path) -> None:
    """Draw the picture into a file."""
    with matplotlib.rc_context(PARAMETERS):
        draw().savefig(path, dpi=140, format="png", metadata={"Software": None})
