"""Datasets with the elements of another one in another order, or again."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ...failures import invalid
from ...formats import bundles
from ...resources.philox import Philox
from ..drawing import ITERATION
from ..values import text
from .base import ENDLESS, Chain, Dataset, Element, array, dataset


@dataset("RepeatDataset")
def _repeated(source: Dataset, count: int) -> Dataset:
    if count == 1:
        return source
    if source.shuffled is not None:
        return source.shuffled(count)
    return Dataset(lambda: _again(source, count), _size(source.size, count))


def _again(source: Dataset, count: int, between: Callable[[], None] = lambda: None) -> Chain:
    """All elements so many times; without end, if the number is negative and there are some."""

    def iterations() -> Iterator[Dataset]:
        for done in itertools.count() if count < 0 else range(count):
            before = found.count
            if done:
                between()
            yield source
            if count < 0 and found.count == before:
                return

    found = Chain(iterations())
    return found


def _size(size: int, count: int) -> int:
    """How many elements there are of so many iterations."""
    if not count:
        return 0
    if count < 0:
        return ENDLESS if size else 0
    return size * count if size >= 0 else size


# Shuffling --------------------------------------------------------------------------------------


class _Buffer:
    """Elements of which any is next; those of an iteration before those of the following one."""

    def __init__(self, size: int) -> None:
        self._held: list[Any] = [None] * size
        self._slices: deque[list[int]] = deque([[0, 0]])
        self.count = 0

    def put(self, element: Element) -> None:
        last = self._slices[-1]
        self._held[last[1] % len(self._held)] = element
        last[1] += 1
        self.count += 1

    def next_iteration(self) -> None:
        end = self._slices[-1][1]
        self._slices.append([end, end])

    def take(self, number: int) -> Element:
        while self._slices[0][0] == self._slices[0][1]:
            self._slices.popleft()
        first, size = self._slices[0], len(self._held)
        at = (first[0] + number % (first[1] - first[0])) % size
        found: Element = self._held[at]
        self._held[at] = self._held[first[0] % size]
        first[0] += 1
        self.count -= 1
        return found


def _shuffling(source: Dataset, size: int, numbers: Philox, count: int) -> Iterator[Element]:
    """Elements in a random order, of so many iterations; any number, if it's negative."""
    buffer = _Buffer(size)
    following = _again(source, count, buffer.next_iteration)

    def step() -> Element | None:
        while buffer.count < size and (element := next(following, None)) is not None:
            buffer.put(element)
        return buffer.take(numbers.next()) if buffer.count else None

    return iter(step, None)


@dataset("ShuffleDataset", attributes="reshuffle_each_iteration")
def _shuffled(
    source: Dataset, size: int, seed: int, second: int, reshuffle_each_iteration: bool
) -> Dataset:
    """The elements in a random order: any of so many is next; another one in each iteration of what
    an iterator asks for, from the same one on with each iterator.
    """
    if size <= 0:
        raise invalid("buffer_size must be greater than zero.")
    seeds, anew = Philox(seed, second), reshuffle_each_iteration
    first = (seed, second) if seed or second else (seeds.next(), seeds.next())

    def begin() -> Iterator[Element]:
        drawn, place = ITERATION.drawn, (made, ITERATION.places)
        numbers = seeds if drawn is None else drawn.setdefault(place, Philox(*first))
        pair = (numbers.next(), numbers.next()) if anew else first
        return _shuffling(source, size, Philox(*pair), 1)

    made = Dataset(begin, source.size)
    if anew:
        made.shuffled = partial(_shuffled_and_repeated, source, size, seed, second)
    return made


@dataset("ShuffleAndRepeatDataset")
def _shuffled_and_repeated(
    source: Dataset, size: int, seed: int, second: int, count: int
) -> Dataset:
    """The elements so many times, each time in another random order."""
    return Dataset(
        lambda: _shuffling(source, size, Philox(seed, second), count), _size(source.size, count)
    )


# Keeping ----------------------------------------------------------------------------------------


@dataset("CacheDataset CacheDatasetV2")
def _kept(source: Dataset, path: bytes, cache: Any = None) -> Dataset:
    """The elements, which are remembered once they all were given; in files, if there's a path."""
    if path:
        return _kept_in_files(source, text(path))
    memory: list[list[Element]] = []

    def begin() -> Iterable[Element]:
        return memory[0] if memory else _noting(source, memory.append)

    return Dataset(begin, source.size)


def _noting(source: Dataset, note: Callable[[list[Element]], None]) -> Iterator[Element]:
    """Gives elements; at the end all of them are noted."""
    following, found = iter(source), list[Element]()

    def step() -> Element | None:
        element = next(following, None)
        if element is None:
            note(found)
        else:
            found.append(element)
        return element

    return iter(step, None)


def _kept_in_files(source: Dataset, path: str) -> Dataset:
    count = len(source.types)
    width = len(str(max(count - 1, 0)))

    def names(at: int) -> list[str]:
        return [f"{at:8d}_{place:{width}d}" for place in range(count)]

    def write(found: list[Element]) -> None:
        tensors: dict[str, Any] = {}
        for at, element in enumerate(found):
            tensors.update(zip(names(at), map(array, element), strict=True))
        bundles.write(path, tensors)

    def read() -> Iterator[Element]:
        bundle = bundles.Bundle(path)
        for at in itertools.count():
            if names(at)[0] not in bundle:
                return
            yield tuple(array(bundle.tensor(name)) for name in names(at))

    def begin() -> Iterator[Element]:
        return read() if os.path.exists(f"{path}.index") else _noting(source, write)

    return Dataset(begin, source.size)
