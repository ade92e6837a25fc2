"""Datasets with the elements of another one in another order, or again."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from typing import Any

from ...failures import failure
from ...formats import bundles
from ..philox import Philox
from .base import Dataset, Element, Next, array
from .sources import Begin


def repeated(source: Dataset, count: int) -> Begin:
    """All elements so many times; without end, if the number is negative."""
    if source.shuffled is not None:
        return source.shuffled(count)

    def begin() -> Next:
        following: Next | None = None
        done = 0

        def next_element() -> Element | None:
            nonlocal following, done
            while count < 0 or done < count:
                is_new = following is None
                following = following or source.begin()
                element = following()
                if element is not None:
                    return element
                following, done = None, done + 1
                if is_new and count < 0:
                    break
            done = max(done, count)
            return None

        return next_element

    return begin


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


def _shuffling(source: Dataset, size: int, numbers: Philox, count: int) -> Next:
    """Elements in a random order, of so many iterations; any number, if it's negative."""
    buffer = _Buffer(size)
    following: Next | None = source.begin()
    done, is_empty = 0, True

    def read() -> Element | None:
        """The next element, also of the next iteration."""
        nonlocal following, done, is_empty
        while following is not None:
            element = following()
            if element is not None:
                is_empty = False
                return element
            done += 1
            goes_on = done < count or (count < 0 and not is_empty)
            following = source.begin() if goes_on else None
            buffer.next_iteration()
        return None

    def next_element() -> Element | None:
        while buffer.count < size and (element := read()) is not None:
            buffer.put(element)
        return buffer.take(numbers.next()) if buffer.count else None

    return next_element if count else lambda: None


def shuffled(source: Dataset, size: int, seed: int, second: int, anew: bool = True) -> Dataset:
    """The elements in a random order: any of so many is next; another one in each iteration."""
    if size <= 0:
        raise failure("INVALID_ARGUMENT", "buffer_size must be greater than zero.")
    seeds = Philox(seed, second)
    if not anew and not seed and not second:
        seed, second = seeds.next(), seeds.next()

    def begin() -> Next:
        told = (seeds.next(), seeds.next()) if anew else (seed, second)
        return _shuffling(source, size, Philox(*told), 1)

    made = Dataset(source.types, begin, source.size)
    if anew:
        made.shuffled = lambda count: shuffled_and_repeated(source, size, seed, second, count)
    return made


def shuffled_and_repeated(source: Dataset, size: int, seed: int, second: int, count: int) -> Begin:
    """The elements so many times, each time in another random order."""
    return lambda: _shuffling(source, size, Philox(seed, second), count)


# Keeping ----------------------------------------------------------------------------------------


def kept(source: Dataset, path: str) -> Begin:
    """The elements, which are remembered once they all were given; in files, if there's a path."""
    return _kept_in_files(source, path) if path else _kept(source)


def _kept(source: Dataset) -> Begin:
    memory: list[list[Element]] = []

    def begin() -> Next:
        if memory:
            rest = iter(memory[0])
            return lambda: next(rest, None)
        return _noting(source.begin(), memory.append)

    return begin


def _noting(following: Next, whole: Callable[[list[Element]], Any]) -> Next:
    """Gives elements; at the end all of them are noted."""
    found: list[Element] = []
    is_whole = False

    def next_element() -> Element | None:
        nonlocal is_whole
        element = None if is_whole else following()
        if element is not None:
            found.append(element)
        elif not is_whole:
            is_whole = True
            whole(found)
        return element

    return next_element


def _name(at: int, place: int, width: int) -> str:
    return f"{at:8d}_{place:{width}d}"


def _kept_in_files(source: Dataset, path: str) -> Begin:
    count = len(source.types)
    width = len(str(max(count - 1, 0)))

    def write(found: list[Element]) -> None:
        tensors = {
            _name(at, place, width): array(part)
            for at, element in enumerate(found)
            for place, part in enumerate(element)
        }
        bundles.write(path, tensors)

    def begin() -> Next:
        if not os.path.exists(f"{path}.index"):
            return _noting(source.begin(), write)
        bundle, done = bundles.Bundle(path), 0

        def next_element() -> Element | None:
            nonlocal done
            names = [_name(done, place, width) for place in range(count)]
            if names[0] not in bundle:
                return None
            done += 1
            return tuple(array(bundle.tensor(name)) for name in names)

        return next_element

    return begin
