"""Datasets of elements that go together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ...failures import invalid
from .base import Chain, Dataset, Element, Function, dataset, number_of
from .batches import joined


def _held(elements: Sequence[Element], types: Sequence[int]) -> Dataset:
    """A dataset of these elements."""
    return Dataset(lambda: elements, len(elements), types)


# Windows ----------------------------------------------------------------------------------------


def _windows(
    source: Dataset, size: int, shift: int, stride: int, drop: bool,
    join: Callable[[list[Element]], Element],
) -> Dataset:  # fmt: skip
    """Elements in a row, joined."""
    wanted = (size - 1) * stride + 1

    def begin() -> Iterator[Element]:
        following, buffer = iter(source), deque[Element]()

        def step() -> Element | None:
            buffer.extend(islice(following, wanted - len(buffer)))
            if not buffer or (drop and len(buffer) < wanted):
                return None
            found = list(buffer)[::stride]
            gone = len(buffer)
            for _ in range(min(shift, gone)):
                buffer.popleft()
            for _ in islice(following, max(shift - gone, 0)):
                pass
            return join(found)

        return iter(step, None)

    total = source.size
    if total >= 0 and drop:
        total = max((total - wanted) // shift + 1, 0)
    elif total >= 0:
        total = -(-total // shift)
    return Dataset(begin, total)


@dataset("WindowDataset")
def _columns(source: Dataset, size: int, shift: int, stride: int, drop: bool) -> Dataset:
    """Of elements in a row, for each part a dataset of it."""

    def join(found: list[Element]) -> Element:
        return tuple(
            _held([(element[place],) for element in found], [kind])
            for place, kind in enumerate(source.types)
        )

    return _windows(source, size, shift, stride, drop, join)


@dataset("SlidingWindowDataset ExperimentalSlidingWindowDataset")
def _sliding(source: Dataset, size: int, shift: int, stride: int) -> Dataset:
    """Batches of elements in a row; of whole ones alone."""
    return _windows(source, size, shift, stride, True, lambda found: joined(source, found))


# By keys ----------------------------------------------------------------------------------------


@dataset(
    "GroupByWindowDataset ExperimentalGroupByWindowDataset",
    functions="key_func reduce_func window_size_func",
)
def _by_key(source: Dataset, key_of: Function, reduce: Function, size_of: Function) -> Dataset:
    """What is made of the elements with one key, whenever there are enough of them."""

    def begin() -> Chain:
        following, groups, sizes = iter(source), dict[int, list[Element]](), dict[int, int]()

        def size(key: int) -> int:
            if key not in sizes:
                sizes[key] = number_of(size_of(np.asarray(key, np.int64)))
                if sizes[key] <= 0:
                    raise invalid(f"Window size must be greater than zero, but got {sizes[key]}.")
            return sizes[key]

        def full() -> int | None:
            """A key whose elements are enough; at the end the lowest one."""
            for element in following:
                key = number_of(key_of(*element))
                wanted, group = size(key), groups.setdefault(key, [])
                group.append(element)
                if len(group) == wanted:
                    return key
            return min(groups, default=None)

        def reduced(key: int) -> Dataset:
            held = _held(groups.pop(key), source.types)
            found: Dataset = reduce(np.asarray(key, np.int64), held)[0]
            return found

        return Chain(map(reduced, iter(full, None)))

    return Dataset(begin)


@dataset(
    "GroupByReducerDataset ExperimentalGroupByReducerDataset",
    functions="key_func init_func reduce_func finalize_func",
)
def _reduced_by_key(
    source: Dataset, key_of: Function, first: Function, reduce: Function, last: Function
) -> Dataset:
    """For each key, what functions make of all elements with it."""

    def elements() -> Iterator[Element]:
        states: dict[int, Sequence[Any]] = {}
        for element in source:
            key = number_of(key_of(*element))
            if key not in states:
                states[key] = first(np.asarray(key, np.int64))
            states[key] = reduce(*states[key], *element)
        for key in sorted(states):
            yield tuple(last(*states[key]))

    return Dataset(elements)
