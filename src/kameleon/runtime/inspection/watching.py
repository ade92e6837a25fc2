"""Values that a program shows while it runs: printed, or kept as statistics over steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._utils.locks import rlock
from ..._utils.tables import Part, Shown, Table
from ...engines._kernels.quiet import quiet
from ...graph.ir.node import Print, Watch
from ..workspace import workspace


def show(message: str, value: Any) -> None:
    """Print a value behind a message."""
    gap = "" if message[-1:].isspace() or not message else " "
    print(f"{message}{gap}{value}")


class Statistics(NamedTuple):
    """What is kept of a tensor's elements. The first four are of those that are finite.

    Attributes:
        mean, deviation, smallest, largest: NaN where no element is finite.
        zeros, nan, infinite: which part of all elements these are, from 0 to 1.
    """

    mean: float
    deviation: float
    smallest: float
    largest: float
    zeros: float
    nan: float
    infinite: float


HEADS = ("mean", "deviation", "smallest", "largest", "zeros", "NaN", "Inf")


@quiet
def statistics(value: Any) -> Statistics:
    """The statistics of an array, in float64.

    >>> found = statistics(np.array([0.0, 4.0, np.nan, np.inf]))
    >>> found.mean, found.smallest, found.zeros
    (2.0, 0.0, 0.25)
    """
    numbers = np.asarray(value).astype("float64").reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    count = max(numbers.size, 1)
    found = [np.nan] * 4
    if finite.size:
        found = [finite.mean(), finite.std(), finite.min(), finite.max()]
    parts = (numbers == 0.0, np.isnan(numbers), np.isinf(numbers))
    return Statistics(*map(float, found), *(float(part.sum()) / count for part in parts))


class Watched(Shown):
    """The statistics of all tensors that `K.watch` names, in the order of the calls.

    It prints as a table of what came last, also in a notebook.
    """

    def __init__(self, kept: dict[str, list[Statistics]]):
        self._kept = kept

    @property
    def data(self) -> dict[str, dict[str, np.ndarray]]:
        """By name, an array over the steps for each of the `Statistics`."""
        return {
            name: dict(zip(Statistics._fields, np.array(rows).T, strict=True))
            for name, rows in self._kept.items()
        }

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write all steps to an event file in a folder, for `tensorboard --logdir`.

        Raises:
            MissingLibraryError: TensorBoard isn't installed.
        """
        from ..._utils.events import EventFile

        file = EventFile(folder)
        for name, rows in self._kept.items():
            for step, row in enumerate(rows):
                file.write_scalars({f"{name}/{k}": v for k, v in row._asdict().items()}, step)
        file.close()

    def _parts(self) -> Iterator[Part]:
        if not self._kept:
            yield "no tensor is watched: K.watch(tensor, name) gives the tensor to use in its place"
            return
        yield Table(
            [("tensor", "steps", *HEADS), *(_row(name, rows) for name, rows in self._kept.items())]
        )


def _row(name: str, rows: list[Statistics]) -> tuple[str, ...]:
    last = rows[-1]
    return name, str(len(rows)), *(f"{x:.4g}" for x in last[:4]), *(f"{x:.1%}" for x in last[4:])


_lock = rlock()


def keep(name: str, value: Any) -> None:
    """Keep the statistics of a value under a name, behind those of the steps before."""
    found = statistics(value)
    with _lock:
        workspace.watched.setdefault(name, []).append(found)


# By kind of effect, what is done with the name and the value.
DONE: dict[type[Print], Callable[[str, Any], None]] = {Print: show, Watch: keep}


def watched() -> Watched:
    """All that is kept."""
    with _lock:
        return Watched({name: list(rows) for name, rows in workspace.watched.items()})
