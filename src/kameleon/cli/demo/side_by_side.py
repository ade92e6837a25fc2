"""Training the digits on several engines in one process: one graph, the same start for each."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from kameleon import backend as K
from kameleon.cli.demo.digits import Epoch, Reader
from kameleon.runtime.engines import load
from kameleon.runtime.state import draws

REFERENCE = "numpy"  # the engine that the others are compared with, where it takes part
# A step that takes more than this many times the median counts as compiling: engines compile for
# each size of a batch, or when a function has been called often enough.
LONG = 10


@dataclass
class Trained:
    """What training on one engine gave.

    Attributes:
        engine: the engine's name.
        version: of the library that ran the graph.
        epochs: what each pass over the training set gave.
        losses: one for each step.
        seconds: how long each step took.
        error: why training ended early; None if it didn't.
    """

    engine: str
    version: str = ""
    epochs: list[Epoch] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    error: Exception | None = None

    @property
    def compiling(self) -> float:
        """Seconds of the steps that count as compiling: the first one, and very long ones.

        >>> run = Trained("some engine", seconds=[2.0, 0.5, 0.25, 0.25, 8.0, 0.25])
        >>> run.compiling, run.training
        (10.0, 1.25)
        """
        longest = LONG * median(self.seconds or [0.0])
        return sum(s for i, s in enumerate(self.seconds) if i == 0 or s > longest)

    @property
    def training(self) -> float:
        """Seconds of all other steps."""
        return sum(self.seconds) - self.compiling


class Start:
    """The state of a reader at one moment, to begin from once more.

    The state is the values of all variables, how often each random stream was drawn from, and the
    generator of the digits' order.
    """

    def __init__(self, reader: Reader) -> None:
        program = reader.step.compiled.program
        self._reader = reader
        self._variables = program.variables
        self._values = K.batch_get_value(self._variables)
        self._streams = [(cell, cell.record) for cell in map(draws, program.sources)]
        self._order = copy.deepcopy(reader.rng.bit_generator.state)

    def restore(self) -> None:
        """Put the reader back into this state."""
        K.batch_set_value(list(zip(self._variables, self._values, strict=True)))
        for cell, drawn in self._streams:
            cell.record = drawn
        self._reader.rng.bit_generator.state = copy.deepcopy(self._order)


def _watched(step: Any, run: Trained, values: Sequence[Any]) -> Any:
    """A training step that is timed, and whose loss is kept."""
    begun = time.perf_counter()
    results = step(values)
    run.seconds.append(time.perf_counter() - begun)
    run.losses.append(float(results[0]))
    return results


def train(
    engine: str, reader: Reader, epochs: int, show: Callable[[Epoch], None] = lambda epoch: None
) -> Trained:
    """Train a reader on an engine; an error ends the training and is part of the result.

    Args:
        engine: the engine's name.
        reader: what to train, from its present state.
        epochs: passes over the training set.
        show: called after each pass.
    """
    from threadpoolctl import threadpool_limits  # late: the package works without it

    run, step = Trained(engine), reader.step
    reader.step = partial(_watched, step, run)
    try:
        run.version = load(engine).version()
        # Work of this size is slower on several threads, and its results differ in their last bits.
        # The limit (for BLAS and OpenMP) holds for libraries that are loaded by now, until the
        # block ends.
        with K.using_engine(engine), threadpool_limits(1):
            for epoch in reader.learn(epochs):
                run.epochs.append(epoch)
                show(epoch)
    except Exception as error:  # a library may fail in any way; other engines go on all the same
        run.error = error
    finally:
        reader.step = step
    return run


def reference_of(runs: Sequence[Trained]) -> Trained | None:
    """Return the run that the others are compared with: NumPy's, or else the first that ended."""
    ended = [run for run in runs if run.error is None]
    return next((run for run in ended if run.engine == REFERENCE), ended[0] if ended else None)


def difference(run: Trained, reference: Trained) -> float:
    """Return the largest difference of the loss from the reference's, relative to the latter.

    >>> difference(Trained("a", losses=[2.0, 1.1]), Trained("b", losses=[2.0, 1.0])) < 0.11
    True
    """
    pairs = zip(run.losses, reference.losses, strict=False)
    return max((abs(a - b) / abs(b) for a, b in pairs), default=0.0)
