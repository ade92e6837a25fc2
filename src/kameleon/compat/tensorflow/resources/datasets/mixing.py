"""Datasets with the elements of several other ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import Dataset, Element, Next
from .sources import Begin

Making = Callable[..., Dataset]


def zipped(sources: Sequence[Dataset]) -> Begin:
    """An element of each, in one."""

    def begin() -> Next:
        following = [source.begin() for source in sources]

        def next_element() -> Element | None:
            found: list[Any] = []
            for each in following:
                element = each()
                if element is None:
                    return None
                found += element
            return tuple(found)

        return next_element

    return begin


def concatenated(one: Dataset, other: Dataset) -> Begin:
    """The elements of one, and then those of the other."""

    def begin() -> Next:
        following, rest = one.begin(), [other]

        def next_element() -> Element | None:
            nonlocal following
            element = following()
            if element is None and rest:
                following = rest.pop().begin()
                element = following()
            return element

        return next_element

    return begin


def flat(source: Dataset, make: Making) -> Begin:
    """The elements of the datasets that a function makes of each element."""

    def begin() -> Next:
        outer = source.begin()
        inner: Next | None = None

        def next_element() -> Element | None:
            nonlocal inner
            while True:
                if inner is None:
                    element = outer()
                    if element is None:
                        return None
                    inner = make(*element).begin()
                found = inner()
                if found is not None:
                    return found
                inner = None

        return next_element

    return begin


class _Turns:
    """Several datasets that are made of elements, by turns."""

    def __init__(self, outer: Next, make: Making, count: int, length: int) -> None:
        self._outer, self._make, self._length = outer, make, length
        self._inner: list[Next | None] = [None] * count
        self._at = self._given = 0
        self._is_over = False

    def __call__(self) -> Element | None:
        while not self._is_over or any(each is not None for each in self._inner):
            inner = self._inner[self._at]
            if inner is not None:
                found = inner()
                if found is None:
                    self._inner[self._at] = None
                    self._turn()
                    continue
                self._given += 1
                if self._given == self._length:
                    self._turn()
                return found
            if self._is_over:
                self._turn()
                continue
            element = self._outer()
            if element is None:
                self._is_over = True
            else:
                self._inner[self._at] = self._make(*element).begin()
        return None

    def _turn(self) -> None:
        self._at, self._given = (self._at + 1) % len(self._inner), 0


def by_turns(source: Dataset, make: Making, count: int, length: int) -> Begin:
    """The elements of datasets that a function makes, so many datasets at once, by turns."""
    return lambda: _Turns(source.begin(), make, count, length)


def chosen(selector: Dataset, sources: Sequence[Dataset]) -> Begin:
    """Elements of the dataset whose number is next."""

    def begin() -> Next:
        numbers = selector.begin()
        following: list[Next | None] = [source.begin() for source in sources]

        def next_element() -> Element | None:
            while any(each is not None for each in following):
                number = numbers()
                if number is None:
                    return None
                at = int(np.asarray(number[0]))
                each = following[at]
                found = None if each is None else each()
                if found is not None:
                    return found
                following[at] = None
            return None

        return next_element

    return begin
