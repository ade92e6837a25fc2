"""`K.ctc_batch_cost` against what the original did with random samples: costs, gradients, errors.

`recorded/README.md` says how they were made. All engines get all of them; groups of equally many
classes go together, filled up to one shape: what lies beyond the lengths doesn't count.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import EvaluationError

Array = np.ndarray[Any, Any]
Group = dict[str, Array]

OUTCOMES = ("value", "order", "negative", "time", "empty", "beyond", "below")  # of recorded/ctc.py
RAISES = ("order", "negative", "beyond", "below")  # here, too
MOST_STEPS, MOST_LABELS = 8, 4
CLASSES = (2, 3, 5)


@functools.cache
def samples_of(classes: int) -> Group:
    """All samples with so many classes, with `texts`: how many labels come before a blank."""
    with np.load(Path(__file__).parents[1] / "recorded" / "ctc.npz") as file:
        numbers = sorted({int(name.partition("_")[0]) for name in file})
        names = {name.partition("_")[2] for name in file}
        groups = [{name: file[f"{i}_{name}"] for name in names} for i in numbers]
    groups = [filled(group) for group in groups if group["pred"].shape[2] == classes]
    joined = {name: np.concatenate([group[name] for group in groups]) for name in names}
    used = np.arange(MOST_LABELS) < joined["counts"][:, None]
    joined["texts"] = (used & (joined["labels"] < classes - 1)).sum(axis=1)
    return joined


def filled(group: Group) -> Group:
    """The group with the largest numbers of steps and labels, and lengths that mean the same."""
    time, longest = group["pred"].shape[1], group["labels"].shape[1]
    more = ((0, 0), (0, MOST_STEPS - time), (0, 0))
    steps = np.where(group["steps"] > time, MOST_STEPS + 1, group["steps"])
    return group | {
        "steps": steps,
        "pred": np.pad(group["pred"], more, constant_values=7),
        "slope": np.pad(group["slope"], more),
        "labels": np.pad(group["labels"], ((0, 0), (0, MOST_LABELS - longest))),
    }


def chosen(samples: Group, outcome: str) -> Group:
    which = samples["outcome"] == OUTCOMES.index(outcome)
    return {name: x[which] for name, x in samples.items()}


@functools.cache
def cost_and_slope(classes: int) -> Any:
    """A function of labels, predictions and two lengths; only the number of classes is known."""
    y = K.placeholder((None, None, classes))
    labels = K.placeholder((None, None), dtype="int32")
    lengths = [K.placeholder((None, 1), dtype="int32") for _ in range(2)]
    cost = K.ctc_batch_cost(labels, y, *lengths)
    return K.function([labels, y, *lengths], [cost, *K.gradients(cost, [y])])


def computed(samples: Group) -> tuple[Array, Array]:
    pred = samples["pred"].astype("float32") / np.float32(255)
    lengths = (samples[name].reshape(-1, 1).astype("int32") for name in ("steps", "counts"))
    f = cost_and_slope(pred.shape[2])
    cost, slope = f([samples["labels"].astype("int32"), pred, *lengths])
    return cost[:, 0], slope


def fits(samples: Group) -> Array:
    """Whether an alignment fits: a step for each label, and one more between equal ones."""
    labels, texts = samples["labels"], samples["texts"]
    pairs = np.arange(1, MOST_LABELS) < texts[:, None]
    repeats = (pairs & (labels[:, 1:] == labels[:, :-1])).sum(axis=1)
    fit: Array = texts + repeats <= samples["steps"]
    return fit


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("classes", CLASSES)
def test_costs_and_gradients_are_the_recorded_ones(classes: int) -> None:
    samples = chosen(samples_of(classes), "value")
    cost, slope = computed(samples)
    possible, text = fits(samples), samples["texts"] > 0
    np.testing.assert_array_equal(np.isinf(cost), ~possible)
    np.testing.assert_array_equal(np.isinf(samples["cost"]), ~possible)
    same = possible & text
    assert same.sum() > 300
    np.testing.assert_allclose(cost[same], samples["cost"][same], rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(slope[same], samples["slope"][same], rtol=1e-3, atol=2e-4)
    assert not slope[~possible].any()  # the original gives what doesn't lower an infinite cost


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("classes", CLASSES)
def test_an_empty_text_costs_the_blanks_alone(classes: int) -> None:
    """The original counts the last step's blank as 1 + p, where p is its probability.

    It writes past the end of a table that has one state only. Its costs become negative by that.
    """
    samples = chosen(samples_of(classes), "value")
    samples = {name: x[samples["texts"] == 0] for name, x in samples.items()}
    assert len(samples["cost"]) > 30
    cost, slope = computed(samples)
    p = samples["pred"].astype("float64") / 255 + K.epsilon()
    blank = p[:, :, -1] / p.sum(axis=2)
    running = np.arange(MOST_STEPS) < samples["steps"][:, None]
    np.testing.assert_allclose(cost, -(np.log(blank) * running).sum(axis=1), rtol=1e-5, atol=1e-6)
    last = np.take_along_axis(blank, samples["steps"][:, None] - 1, axis=1)[:, 0]
    theirs = cost + np.log(last) - np.log1p(last)
    np.testing.assert_allclose(samples["cost"], theirs, rtol=1e-5, atol=1e-5)
    before = np.arange(MOST_STEPS) < samples["steps"][:, None] - 1
    np.testing.assert_allclose(slope[before], samples["slope"][before], rtol=1e-3, atol=2e-4)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("classes", CLASSES)
def test_what_the_original_refuses_and_has_a_cost(classes: int) -> None:
    """No labels at all, and too few steps, which may be enough where blanks were counted."""
    samples = samples_of(classes)
    refused = (samples["outcome"] == OUTCOMES.index("time")) | (
        (samples["outcome"] == OUTCOMES.index("empty")) & (samples["counts"] == 0)
    )
    samples = {name: x[refused] for name, x in samples.items()}
    cost, _ = computed(samples)
    np.testing.assert_array_equal(np.isfinite(cost), fits(samples))
    assert (cost >= -1e-6).all()


@pytest.mark.parametrize("outcome", RAISES)
def test_what_the_original_refuses_is_refused(engine: Any, outcome: str) -> None:
    """One bad sample among good ones; all on the embedded engine, the first two elsewhere."""
    few = slice(1, 4) if engine.name == "numpy" else slice(1, None)  # where shapes are compiled for
    raised = 0
    for classes in CLASSES:
        good = chosen(samples_of(classes), "value")
        bad = chosen(samples_of(classes), outcome)
        for i in range(len(bad["cost"]))[: None if engine.name == "numpy" else 2]:
            mixed = {
                name: np.concatenate([x[i : i + 1], good[name][few]]) for name, x in bad.items()
            }
            with pytest.raises(EvaluationError, match="ctc_batch_cost: "):
                computed(mixed)
            raised += 1
    assert raised > 2
