"""Datasets with the elements of several other ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...failures import invalid
from .base import (
    AUTOTUNE,
    ENDLESS,
    UNKNOWN,
    Chain,
    Dataset,
    Element,
    Function,
    Placed,
    dataset,
    number_of,
    placed,
)  # fmt: skip


@dataset("ZipDataset")
def _zipped(sources: list[Dataset]) -> Dataset:
    """An element of each, in one."""

    def join(found: tuple[Element, ...]) -> Element:
        return tuple(chain(*found))

    sizes = [source.size for source in sources if source.size != ENDLESS]
    size = UNKNOWN if UNKNOWN in sizes else min(sizes, default=ENDLESS)
    return Dataset(lambda: map(join, zip(*placed(sources), strict=False)), size)


@dataset("ConcatenateDataset")
def _concatenated(*sources: Dataset) -> Dataset:
    """The elements of one, and then those of the other."""
    sizes = [source.size for source in sources]
    size = ENDLESS if ENDLESS in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return Dataset(lambda: Chain(placed(sources)), size)


@dataset("FlatMapDataset", functions="f")
def _flat(source: Dataset, make: Function) -> Dataset:
    """The elements of the datasets that a function makes of each element."""

    def made(element: Element) -> Dataset:
        found: Dataset = make(*element)[0]
        return found

    return Dataset(lambda: Chain(placed(map(made, source))))


class _Turns:
    """Several datasets that are made of elements, by turns."""

    def __init__(self, source: Dataset, make: Function, count: int, length: int) -> None:
        self._outer, self._make, self._length = iter(source), make, length
        self._inner: list[Iterator[Element] | None] = [None] * count
        self._at = self._given = 0

    def step(self) -> Element | None:
        """The next element; None at the end."""
        while True:
            inner = self._inner[self._at]
            if inner is not None:
                found = next(inner, None)
                if found is not None:
                    self._given += 1
                    if self._given == self._length:
                        self._turn()
                    return found
                self._inner[self._at] = None
                self._turn()
            elif (element := next(self._outer, None)) is not None:
                self._inner[self._at] = Placed(self._make(*element)[0], self._at)
            elif all(each is None for each in self._inner):
                return None
            else:
                self._turn()

    def _turn(self) -> None:
        self._at, self._given = (self._at + 1) % len(self._inner), 0


@dataset(
    "InterleaveDataset ParallelInterleaveDataset ExperimentalParallelInterleaveDataset",
    functions="f",
)
def _by_turns(source: Dataset, make: Function, count: int, length: int, *how: Any) -> Dataset:
    """The elements of datasets that a function makes, so many datasets at once, by turns; by
    default as many as there are processors.
    """
    if count == AUTOTUNE:
        can_tell = hasattr(os, "sched_getaffinity")  # which processors the process may use
        count = len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1
    return Dataset(lambda: iter(_Turns(source, make, count, length).step, None))


@dataset("ParallelInterleaveDatasetV2", functions="f")
def _by_parallel_turns(
    source: Dataset, make: Function, count: int, length: int, calls: int
) -> Dataset:
    if AUTOTUNE < count < calls:
        raise invalid("num_parallel_calls must less than or equal to cycle_length.")
    return _by_turns(source, make, count, length)


@dataset("DirectedInterleaveDataset ExperimentalDirectedInterleaveDataset")
def _chosen(selector: Dataset, sources: list[Dataset]) -> Dataset:
    """Elements of the dataset whose number is next, until all are at their end."""

    def begin() -> Iterator[Element]:
        numbers = iter(selector)
        following: list[Iterator[Element] | None] = [*placed(sources)]

        def step() -> Element | None:
            while any(each is not None for each in following):
                at = number_of(next(numbers))
                if not 0 <= at < len(following):
                    raise invalid(f"Selector index out of range: {at} >= {len(following)}")
                each = following[at]
                found = None if each is None else next(each, None)
                if found is not None:
                    return found
                following[at] = None
            return None

        return iter(step, None)

    return Dataset(begin)


dataset("ChooseFastestDataset ExperimentalChooseFastestDataset")(lambda sources: sources[0])
