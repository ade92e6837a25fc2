"""Datasets whose elements are others, or fewer, than those of another one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from ...failures import invalid, is_failure
from .base import ENDLESS, UNKNOWN, Dataset, Element, Function, array, dataset, ends, is_true


def mapped(source: Dataset, function: Function, preserve_cardinality: bool = False) -> Dataset:
    """What a function gives for each element; it may end the dataset, unless it keeps its size."""

    def apply(element: Element) -> Element | None:
        try:
            return tuple(function(*element))
        except Exception as error:
            if not ends(error):
                raise
            if preserve_cardinality:
                raise invalid(f"Function invocation produced OutOfRangeError: {error}") from error
            return None

    def begin() -> Iterator[Element]:
        following = iter(source)
        return iter(lambda: apply(next(following)), None)

    return Dataset(begin, source.size)


@dataset(
    "MapDataset ExperimentalMapDataset ParallelMapDataset",
    functions="f",
    attributes="preserve_cardinality",
)
def computed(
    source: Dataset, function: Function, calls: int = 1, preserve_cardinality: bool = False
) -> Dataset:
    """What a program's function gives for each element."""
    made = mapped(source, function, preserve_cardinality)
    made.is_mapped = True
    return made


@dataset("ScanDataset ExperimentalScanDataset", functions="f")
def _scanned(source: Dataset, state: Sequence[Any], function: Function) -> Dataset:
    """What a function gives for a state, which it changes, and each element."""

    def begin() -> Iterator[Element]:
        now = list(state)

        def apply(*element: Any) -> Sequence[Any]:
            found = function(*now, *element)
            now[:] = found[: len(now)]
            return found[len(now) :]

        return iter(mapped(source, apply))

    return Dataset(begin, source.size)


# Fewer ------------------------------------------------------------------------------------------


@dataset("FilterDataset", functions="predicate")
def _filtered(source: Dataset, holds: Function) -> Dataset:
    """The elements for which a function gives true."""
    return Dataset(lambda: filter(lambda element: is_true(holds(*element)), source))


@dataset("FilterByLastComponentDataset")
def _without_last(source: Dataset) -> Dataset:
    """The elements whose last part is true, without it."""
    chosen = _filtered(source, lambda *parts: parts[-1:])
    return mapped(chosen, lambda *parts: parts[:-1])


@dataset("TakeWhileDataset ExperimentalTakeWhileDataset", functions="predicate")
def _while_holds(source: Dataset, holds: Function) -> Dataset:
    """The elements before the first one for which a function gives false."""
    return Dataset(lambda: itertools.takewhile(lambda element: is_true(holds(*element)), source))


ALL = -1


@dataset("TakeDataset")
def _taken(source: Dataset, count: int) -> Dataset:
    """The first elements; all, if their number is negative."""
    size = source.size
    if size != UNKNOWN:
        size = count if size == ENDLESS else min(count, size)
    if count == ALL:
        return source.sized(size)

    def begin() -> Iterator[Element]:
        numbers = range(count) if count >= 0 else itertools.count()
        return map(itemgetter(1), zip(numbers, source, strict=False))

    return Dataset(begin, size)


@dataset("SkipDataset")
def _skipped(source: Dataset, count: int) -> Dataset:
    """The elements behind the first ones; none, if their number is negative."""
    if not count:
        return source
    size = source.size if source.size < 0 else max(source.size - count, 0)

    def begin() -> Iterator[Element]:
        numbers = itertools.count()
        return itertools.dropwhile(lambda _: next(numbers) < count, source)

    return Dataset(list, 0) if count < 0 else Dataset(begin, size)


@dataset("ShardDataset")
def _shard(source: Dataset, count: int, at: int) -> Dataset:
    """Each so-manieth element."""
    if not 0 <= at < count:
        raise invalid(f"Index must be between 0 and {count - 1} (currently index = {at}).")

    def begin() -> Iterator[Element]:
        turns = itertools.cycle(range(count))
        return filter(lambda _: next(turns) == at, source)

    return Dataset(begin, len(range(at, source.size, count)) if source.size >= 0 else source.size)


@dataset("IgnoreErrorsDataset ExperimentalIgnoreErrorsDataset")
def _without_errors(source: Dataset) -> Dataset:
    """The elements that are no errors."""

    def elements() -> Iterator[Element]:
        following = iter(source)
        while True:
            try:
                yield from following
                return
            except Exception as error:
                if not is_failure(error):
                    raise

    return Dataset(elements, source.size)


@dataset("UniqueDataset ExperimentalUniqueDataset")
def _distinct(source: Dataset) -> Dataset:
    """Each element once."""

    def key(element: Element) -> Any:
        arrays = [array(part) for part in element]
        return tuple(tuple(a.ravel()) if a.dtype == object else a.tobytes() for a in arrays)

    def begin() -> Iterator[Element]:
        seen = set[Any]()

        def is_new(element: Element) -> bool:
            count = len(seen)
            seen.add(key(element))
            return len(seen) > count

        return filter(is_new, source)

    return Dataset(begin)
