"""The training step of the page, as an ONNX model; and what Python makes of the same steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kameleon import backend as K
from kameleon.cli.demo.digits import Reader, Tensor

BATCH = 64
RATE, KEPT = 0.01, 0.9  # of a slope, and of the last move


class Course(NamedTuple):
    """What a training gave: the loss of each step, and at last the accuracy on held-out digits."""

    losses: list[float]
    accuracy: float


def reader_of(seed: int) -> Reader:
    """The network of the page. It's smooth: where relu has an edge, or two numbers are a maximum,
    the last bit of a number decides what is learnt, and two libraries soon go other ways.
    """
    return Reader(seed, activation=K.elu, pool_mode="avg")


def momentum(loss: Tensor, weights: list[Tensor]) -> list[Tensor]:
    """Return the updates of one step with momentum: it's smooth, too, as Adam's isn't.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.
    """
    updates = []
    for weight, slope in zip(weights, K.gradients(loss, weights), strict=True):
        moved = K.zeros(K.int_shape(weight))
        move = KEPT * moved - RATE * slope
        updates += [K.update(moved, move), K.update_add(weight, move)]
    return updates


def step_of(reader: Reader) -> Any:
    """The function of the page: it takes images, labels and the learning phase, gives loss,
    accuracy and probabilities, and learns. Whoever wants these alone leaves its updates out.
    """
    state = reader.state
    learnt = momentum(reader.outputs["loss"], list(state.weights.values()))
    return K.function(reader.inputs, reader.outputs, state.updates + learnt, name="train")


def export(step: Any, reader: Reader, path: Path) -> None:
    """Write the step in its present state as an ONNX model for ONNX Runtime Web."""
    images, labels = reader.train_set
    batch, some = [images[:BATCH], labels[:BATCH]], [images[:3], labels[:3]]
    step.export(path, defaults=False, verify=[[*batch, 1], [*some, 0]])


def steps_of_a_pass(reader: Reader) -> int:
    """How many batches it takes to see every digit."""
    return -(-len(reader.train_set.labels) // BATCH)


def batches(count: int, steps: int) -> Iterator[NDArray[np.intp]]:
    """Which digits each step sees: one after the other, and again from the first one on.

    >>> [int(batch[-1]) for batch in batches(100, 2)]
    [63, 27]
    """
    for number in range(steps):
        yield np.arange(number * BATCH, (number + 1) * BATCH) % count


Show = Callable[[int, int, float], None]  # steps that are taken, of how many, and the last loss
SILENT: Show = lambda done, total, loss: None  # noqa: E731


def course(step: Any, reader: Reader, passes: int, show: Show = SILENT) -> Course:
    """Train, by the steps that the page takes.

    Args:
        step: what `step_of` gave of the reader.
        reader: what to train.
        passes: how often the page sees every digit.
        show: called after each step.
    """
    images, labels = reader.train_set
    losses: list[float] = []
    total = passes * steps_of_a_pass(reader)
    for batch in batches(len(labels), total):
        losses.append(float(step([images[batch], labels[batch], 1])["loss"]))
        show(len(losses), total, losses[-1])
    # Not before the end: random streams move on with every call, whatever its phase.
    return Course(losses, reader.evaluate()[1])
