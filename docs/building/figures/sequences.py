"""Sequences: masked steps, alignments of labels, and decoding."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from docs.building.figures import FIRST, INK, SECOND, figure
from docs.building.figures.images import grid
from kameleon import backend as K


def masked(name: str) -> Figure:
    """A running sum over sequences with masked steps."""
    x = np.array([[1, 2, 1, 3, 1, 2], [2, 1, 1, 1, 2, 1]], "float32")
    mask = np.array([[1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 1, 1]], "float32")
    _, outputs, _ = K.rnn(
        lambda now, states: (now + states[0], [now + states[0]]),
        K.constant(x[:, :, None]),
        [K.zeros((2, 1))],
        mask=K.constant(mask),
    )
    panels = figure(columns=2, height=1.4)
    for axes, values, title in (
        (panels[0], x, "inputs"),
        (panels[1], K.eval(outputs)[:, :, 0], "outputs"),
    ):
        grid(axes, values * 0, title)
        for (row, step), value in np.ndenumerate(values):
            axes.text(step + 0.5, row + 0.5, f"{value:.0f}", ha="center", va="center")
            if not mask[row, step]:
                axes.plot([step, step + 1], [row + 1, row], color=SECOND, linewidth=1.2)
    return panels[0].get_figure()


def alignments(name: str) -> Figure:
    """The lattice of the labels a and b with blanks around them, over five steps."""
    states, steps = ["–", "a", "–", "b", "–"], 5
    moves = [(s, s + d) for s in range(5) for d in (0, 1, 2) if s + d < 5 and (d < 2 or s % 2)]
    forward = reach({0, 1}, dict_of(moves), steps)
    backward = reach({3, 4}, dict_of([(b, a) for a, b in moves]), steps)[::-1]
    alive = [f & b for f, b in zip(forward, backward, strict=True)]
    [axes] = figure(height=2.6)
    for step in range(steps - 1):
        for a, b in moves:
            if a in alive[step] and b in alive[step + 1]:
                axes.plot([step, step + 1], [a, b], color=FIRST, linewidth=1.4, zorder=1)
    for step, kept in enumerate(alive):
        for state in kept:
            axes.plot(step, state, "o", color=FIRST if state % 2 else "#888888", markersize=11)
    axes.set_yticks(range(5), states)
    axes.set_xticks(range(steps), [f"t = {t}" for t in range(steps)])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes.get_figure()


def dict_of(pairs: list[tuple[int, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
    return found


def reach(start: set[int], moves: dict[int, set[int]], steps: int) -> list[set[int]]:
    """The states that can be reached at each step."""
    found = [start]
    for _ in range(steps - 1):
        found.append({b for a in found[-1] for b in moves[a]})
    return found


def decoded(name: str) -> Figure:
    """Probabilities of classes over steps, and the best class of each."""
    rng = np.random.default_rng(4)
    best = [2, 0, 0, 2, 1, 1, 1, 2]
    scores = rng.uniform(0, 1, (8, 3))
    scores[np.arange(8), best] += 2
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    (labels,), _ = K.ctc_decode(K.constant(p[None]), K.constant([8], dtype="int32"))
    if K.eval(labels)[0].tolist() != [0, 1]:
        raise AssertionError("the caption tells another text")
    [axes] = figure(height=1.9)
    grid(axes, p.T, "")
    axes.plot(np.arange(8) + 0.5, np.array(best) + 0.5, "o", color=SECOND, markersize=7)
    axes.set_yticks([0.5, 1.5, 2.5], ["a", "b", "–"])
    axes.set_xticks(np.arange(8) + 0.5, [f"t = {t}" for t in range(8)])
    axes.tick_params(length=0, colors=INK)
    return axes.get_figure()
