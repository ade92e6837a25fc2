"""Datasets of elements that go together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...failures import failure
from .base import Dataset, Element, Next, iterated, of
from .sources import Begin

Function = Callable[..., Sequence[Any]]


def _held(source: Dataset, elements: Sequence[Element]) -> Dataset:
    """A dataset of these elements."""
    return Dataset(source.types, partial(iterated, list(elements)), len(elements))


def _columns(source: Dataset, elements: Sequence[Element]) -> Element:
    """For each part, a dataset of it."""
    columns = [[(element[place],) for element in elements] for place in range(len(source.types))]
    return tuple(
        Dataset([kind], partial(iterated, column), len(column))
        for kind, column in zip(source.types, columns, strict=True)
    )


def windows(source: Dataset, size: int, shift: int, stride: int, drop: bool) -> Begin:
    """Datasets of elements in a row."""
    if min(size, shift, stride) <= 0:
        raise failure("INVALID_ARGUMENT", "Window size, shift and stride must be positive.")
    wanted = (size - 1) * stride + 1

    def begin() -> Next:
        following, buffer = source.begin(), deque[Element]()
        is_over = False

        def read() -> Element | None:
            nonlocal is_over
            element = None if is_over else following()
            is_over = element is None
            return element

        def next_element() -> Element | None:
            while len(buffer) < wanted and (element := read()) is not None:
                buffer.append(element)
            if not buffer or (drop and len(buffer) < wanted):
                return None
            found = list(buffer)[::stride]
            gone = len(buffer)
            for _ in range(min(shift, gone)):
                buffer.popleft()
            for _ in range(shift - gone):
                read()
            return _columns(source, found)

        return next_element

    return begin


def sliding_batches(source: Dataset, size: int, shift: int, stride: int) -> Begin:
    """Batches of elements in a row; of whole ones alone."""
    from .elements import joined

    inner = windows(source, size, shift, stride, drop=True)

    def begin() -> Next:
        following = inner()

        def next_element() -> Element | None:
            found = following()
            if found is None:
                return None
            columns = [column.begin() for column in found]
            rows = [tuple(part for each in columns for part in each() or ()) for _ in range(size)]
            return joined(source, rows)

        return next_element

    return begin


def by_key(
    source: Dataset,
    key_of: Function,
    reduce: Callable[..., Dataset],
    size_of: Function,
) -> Begin:
    """What is made of the elements with one key, whenever there are enough of them."""

    def begin() -> Next:
        following = source.begin()
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        inner: Next | None = None
        is_over = False

        def flush(key: int) -> Next:
            held = _held(source, groups.pop(key))
            return reduce(np.asarray(key, np.int64), held).begin()

        def full() -> int | None:
            """A key whose elements are enough."""
            nonlocal is_over
            while (element := following()) is not None:
                key = int(np.asarray(key_of(*element)[0]))
                if key not in sizes:
                    sizes[key] = int(np.asarray(size_of(np.asarray(key, np.int64))[0]))
                    if sizes[key] <= 0:
                        message = f"Window size must be greater than zero, but got {sizes[key]}."
                        raise failure("INVALID_ARGUMENT", message)
                groups.setdefault(key, []).append(element)
                if len(groups[key]) == sizes[key]:
                    return key
            is_over = True
            return None

        def next_element() -> Element | None:
            nonlocal inner
            while True:
                found = None if inner is None else inner()
                if found is not None:
                    return found
                key = None if is_over else full()
                if key is None:
                    if not groups:
                        return None
                    key = min(groups)
                inner = flush(key)

        return next_element

    return begin


def reduced_by_key(
    source: Dataset, key_of: Function, first: Function, reduce: Function, last: Function
) -> Begin:
    """For each key, what functions make of all elements with it."""

    def elements() -> list[Element]:
        following, states = source.begin(), dict[int, Sequence[Any]]()
        while (element := following()) is not None:
            key = int(np.asarray(key_of(*element)[0]))
            if key not in states:
                states[key] = first(np.asarray(key, np.int64))
            states[key] = reduce(*states[key], *element)
        return [tuple(last(*states[key])) for key in sorted(states)]

    return of(elements)
