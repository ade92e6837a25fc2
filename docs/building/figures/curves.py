"""Functions of one number: activations and losses, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from docs.building.figures import FIRST, SECOND, figure
from kameleon import backend as K


def activation(name: str) -> Figure:
    """An activation and its gradient."""
    x = np.linspace(-4, 4, 401)
    y, slope = with_slope(getattr(K, name), x)
    [axes] = figure()
    axes.plot(x, y, color=FIRST)
    # A jump of the gradient isn't a steep line.
    jumps = np.abs(np.diff(slope, append=slope[-1:])) > 0.15
    axes.plot(x, np.where(jumps, np.nan, slope), "--", color=SECOND)
    cross(axes)
    axes.set_xlabel("x")
    return axes.get_figure()


def with_slope(function: Any, points: Any) -> tuple[Any, Any]:
    """Values of a function and of its gradient."""
    x = K.placeholder((None,), dtype="float64")
    y = function(x)
    values, slope = K.function([x], [y, K.gradients(y, [x])[0]])([points])
    return values, slope


def cross(axes: Axes) -> None:
    """Lines through zero, behind what is drawn."""
    axes.axhline(0, color="#888888", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#888888", linewidth=0.8, zorder=0)


def softmax(name: str) -> Figure:
    """Numbers, and their softmax."""
    x = [1.0, 2.0, -1.0]
    left, right = figure(columns=2)
    for axes, values, title in (
        (left, x, "x"),
        (right, K.eval(K.softmax(K.constant([x])))[0], "softmax(x)"),
    ):
        bars = axes.bar(range(3), values, color=FIRST, width=0.6)
        axes.bar_label(bars, [f"{v:.2f}" for v in values], padding=2)
        axes.margins(y=0.15)
        axes.set_title(title)
        axes.set_xticks([])
        axes.axhline(0, color="#888888", linewidth=0.8)
    return left.get_figure()


def binary_loss(name: str) -> Figure:
    """The binary crossentropy for both targets."""
    p = np.linspace(0.005, 0.995, 300)
    [axes] = figure()
    for target, style, color in ((1.0, "-", FIRST), (0.0, "--", SECOND)):
        loss = K.eval(K.binary_crossentropy(K.constant(np.full(300, target)), K.constant(p)))
        axes.plot(p, loss, style, color=color, label=f"target = {target:.0f}")
    return labelled(axes)


def categorical_loss(name: str) -> Figure:
    """The crossentropy of two classes, by the probability of the right one."""
    p = np.linspace(0.005, 0.995, 300)
    [axes] = figure()
    output = K.constant(np.stack([p, 1 - p], 1))
    target = K.constant(np.tile([1.0, 0.0], (300, 1)))
    axes.plot(p, K.eval(K.categorical_crossentropy(target, output)), color=FIRST, label="-log(p)")
    return labelled(axes)


def labelled(axes: Axes) -> Figure:
    axes.set_xlabel("p")
    axes.set_ylim(0, 5)
    axes.set_xlim(0, 1)
    axes.grid()
    axes.legend(loc="upper center")
    return axes.get_figure()
