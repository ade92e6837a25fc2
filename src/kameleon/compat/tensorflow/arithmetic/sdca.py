"""Stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013), with the safe step of CoCoA+
(Ma et al. 2015) where a loss has several partitions.

Each example has a dual variable. A step sets one to where it is best while the others stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

NEWTON_STEPS = 10
SMOOTHING = 1.0  # of the smooth hinge loss


class At(NamedTuple):
    """Where a loss is asked.

    Attributes:
        label: of the example, as the loss has it.
        weight: of the example.
        wx: what the weights give for it.
        norm: its squared norm over the regularization, times the number of partitions.
        dual: its dual variable.
    """

    label: float
    weight: float
    wx: float
    norm: float
    dual: float


class Loss(NamedTuple):
    """A loss for this ascent, by its functions.

    Attributes:
        label: a label as the loss has it.
        best: where the dual variable is best.
        primal: the loss itself.
        dual: its conjugate.
        slope: by `wx`.
        smoothness: a constant of the slope's.
    """

    label: Callable[[float], float]
    best: Callable[[At], float]
    primal: Callable[[At], float]
    dual: Callable[[At], float]
    slope: Callable[[At], float]
    smoothness: float


def _signed(label: float) -> float:
    if label not in (0.0, 1.0):
        about = f"Found example with label: {label:g}"
        raise ValueError(f"Only labels of 0.0 or 1.0 are supported right now. {about}")
    return 2 * label - 1


def _positive(label: float) -> float:
    if label < 0:
        about = f"Found example with label: {label:g}"
        raise ValueError(f"Only non-negative labels can be used with the Poisson log loss. {about}")
    return label


def _newton(step: Callable[[float], float], x: float) -> float:
    for _ in range(NEWTON_STEPS):
        x -= step(x)
    return x


def _bounded(at: At, best: float) -> float:
    """A dual variable between 0 and the label."""
    return 0.0 if at.label * best < 0 else at.label if at.label * best > 1 else best


# By Newton's method, where `tanh(x) = 2 dual label - 1`.
def _logistic(at: At) -> float:
    norm, label = at.norm * at.weight, at.label

    def step(x: float) -> float:
        y = math.tanh(x)
        value = -2 * label * x - at.wx - norm * (0.5 * (1 + y) / label - at.dual)
        return value / (-2 * label - norm * (1 - y * y) * 0.5 / label)

    return 0.5 * (1 + math.tanh(_newton(step, 0.0))) / label


# By Newton's method, where `exp(x) = label - dual`.
def _poisson(at: At) -> float:
    norm, gap = at.norm * at.weight, at.label - at.dual

    def step(x: float) -> float:
        y = math.exp(x)
        return (x - at.wx - norm * (gap - y)) / (1 + norm * y)

    return at.label - math.exp(_newton(step, math.log(gap) if gap > 0 else 0.0))


def _entropy(x: float) -> float:
    return x * math.log(x) if x > 0 else 0.0


def _of_margin(at: At, otherwise: Callable[[float], float]) -> float:
    """The conjugate of a loss of a margin, which is infinite outside of 0 to 1."""
    y = at.dual * at.label
    return otherwise(y) * at.weight if 0 <= y <= 1 else float(np.finfo(np.float64).max)


def _smooth_hinge(at: At) -> float:
    gap = 1 - at.label * at.wx
    if gap <= 0:
        return 0.0
    if gap >= SMOOTHING:
        return (gap - SMOOTHING / 2) * at.weight
    return gap * gap * at.weight * 0.5 / SMOOTHING


def _smooth_hinge_slope(at: At) -> float:
    gap = 1 - at.label * at.wx
    if gap <= 0:
        return 0.0
    return -at.label if gap >= SMOOTHING else (at.wx - at.label) / SMOOTHING


def _poisson_dual(at: At) -> float:
    gap = at.label - at.dual
    if gap < 0:
        return float(np.finfo(np.float64).max)
    return gap * (math.log(gap) - 1) * at.weight if gap else 0.0


LOSSES: dict[str, Loss] = {
    "logistic_loss": Loss(
        _signed,
        _logistic,
        lambda at: float(np.logaddexp(0, -at.label * at.wx)) * at.weight,
        lambda at: (_entropy(at.dual * at.label) + _entropy(1 - at.dual * at.label)) * at.weight,
        lambda at: -at.label * at.weight * math.exp(-float(np.logaddexp(0, at.label * at.wx))),
        4.0,
    ),
    "squared_loss": Loss(
        lambda label: label,
        lambda at: at.dual + (at.label - at.dual - at.wx) / (1 + at.norm * at.weight),
        lambda at: 0.5 * (at.wx - at.label) ** 2 * at.weight,
        lambda at: at.dual * (0.5 * at.dual - at.label) * at.weight,
        lambda at: (at.wx - at.label) * at.weight,
        1.0,
    ),
    "hinge_loss": Loss(
        _signed,
        lambda at: _bounded(at, at.dual + (at.label - at.wx) / (at.norm * at.weight)),
        lambda at: max(0.0, 1 - at.label * at.wx) * at.weight,
        lambda at: _of_margin(at, lambda y: -y),
        lambda at: -at.label * at.weight if at.label * at.wx < 1 else 0.0,
        0.0,
    ),
    "smooth_hinge_loss": Loss(
        _signed,
        lambda at: _bounded(
            at,
            at.dual + (at.label - at.wx - SMOOTHING * at.dual) / (at.norm * at.weight + SMOOTHING),
        ),
        _smooth_hinge,
        lambda at: _of_margin(at, lambda y: 0.5 * SMOOTHING * at.dual**2 - y),
        _smooth_hinge_slope,
        SMOOTHING,
    ),
    "poisson_loss": Loss(
        _positive,
        _poisson,
        lambda at: (math.exp(at.wx) - at.wx * at.label) * at.weight,
        _poisson_dual,
        lambda at: (math.exp(at.wx) - at.label) * at.weight,
        1.0,
    ),
}


class Example(NamedTuple):
    """An example: its features' places among all weights, their values, its weight, its label."""

    places: Array
    values: Array
    weight: float
    label: float


def shrunk(weights: Array, l1: float, l2: float) -> Array:
    """Weights nearer to 0, by the regularization."""
    return np.asarray(np.sign(weights) * np.maximum(np.abs(weights) - l1 / l2, 0))


@dataclass
class Ascent:
    """Weights, and how they change while examples come.

    Attributes:
        loss: the loss.
        weights: before the first step.
        l1: the regularization by absolute values.
        l2: that by squares.
        partitions: how many such ascents the loss is divided among.
    """

    loss: Loss
    weights: Array
    l1: float
    l2: float
    partitions: int

    def __post_init__(self) -> None:
        self.changes = np.zeros_like(self.weights)

    def _at(self, example: Example, dual: float) -> tuple[At, At]:
        """Where the loss is asked now, and before the first step."""
        before = self.weights[example.places].astype(np.float64)
        now = before + self.changes[example.places] * float(self.partitions)
        norm = float(example.values @ example.values) / self.l2 * self.partitions
        wx, first = (
            float(example.values @ shrunk(each, self.l1, self.l2)) for each in (now, before)
        )
        at = At(self.loss.label(example.label), example.weight, wx, norm, dual)
        return at, at._replace(wx=first)

    def step(self, example: Example, dual: float) -> tuple[float, float, float, float]:
        """Set an example's dual variable: the state that is kept of the example."""
        at, before = self._at(example, dual)
        best = self.loss.best(at)
        change = (best - dual) * example.weight / self.l2
        self.changes[example.places] += (change * example.values).astype(self.changes.dtype)
        return best, self.loss.primal(before), self.loss.dual(at), example.weight

    def chance(self, example: Example, dual: float) -> float:
        """How much is to be won by a step (Csiba, Qu and Richtarik 2015), up to a factor."""
        at, _ = self._at(example, dual)
        norm = float(example.values @ example.values)
        gap = dual + self.loss.slope(at._replace(weight=1.0))
        return example.weight * math.sqrt(norm + self.l2 * self.loss.smoothness) * abs(gap)


def order_of(chances: Array, random: np.random.Generator) -> Array:
    """All places in an order that is drawn: those with higher chances are likely to come earlier
    (Efraimidis and Spirakis 2006).
    """
    with np.errstate(all="ignore"):
        return np.argsort(random.exponential(size=len(chances)) / chances, kind="stable")
