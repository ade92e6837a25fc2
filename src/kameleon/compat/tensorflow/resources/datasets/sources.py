"""Datasets of arrays, of numbers, of files, of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...failures import failure
from ...formats import parts
from ...formats.records import Reader
from ...formats.tables import DamagedError
from ..philox import Philox
from .base import Element, Next, array, ends, of, row, sparse

Begin = Callable[[], Next]


def whole(values: Sequence[Any]) -> Begin:
    """One element."""
    return of(lambda: [tuple(values)])


def slices(values: Sequence[Any]) -> Begin:
    """Rows of arrays."""
    arrays = [array(value) for value in values]
    return of(lambda: (tuple(row(each, at) for each in arrays) for at in range(len(arrays[0]))))


def sparse_slices(indices: Any, values: Any, shape: Any) -> Begin:
    """Rows of a sparse tensor, as sparse tensors."""
    places, numbers, sizes = (np.asarray(each) for each in (indices, values, shape))

    def elements() -> Iterator[Element]:
        for at in range(int(sizes[0])):
            mine = places[:, 0] == at
            yield (sparse(places[mine, 1:], numbers[mine], sizes[1:]),)

    return of(elements)


def numbers(start: int, stop: int, step: int) -> Begin:
    """Numbers at equal distances."""
    return of(lambda: ((np.asarray(number, np.int64),) for number in range(start, stop, step)))


def random(seed: int, second: int) -> Begin:
    """Random numbers of 32 bits, without end."""

    def elements() -> Iterator[Element]:
        generator = Philox(seed, second)
        while True:
            yield (np.asarray(generator.next(), np.int64),)

    return of(elements)


def generated(
    first: Callable[..., Sequence[Any]],
    following: Callable[..., Sequence[Any]],
    last: Callable[..., Sequence[Any]],
) -> Begin:
    """What a function gives for a state that another one made, until there's nothing more."""

    def begin() -> Next:
        state: list[Any] = []
        is_done = False

        def next_element() -> Element | None:
            nonlocal is_done
            if not state and not is_done:
                state.extend(first())
            if is_done:
                return None
            try:
                return tuple(following(*state))
            except Exception as error:
                if not ends(error):
                    raise
                is_done = True
                last(*state)
                return None

        return next_element

    return begin


# Files ------------------------------------------------------------------------------------------


def _in_files(paths: Sequence[str], read: Callable[[str], Iterator[bytes]]) -> Begin:
    def elements() -> Iterator[Element]:
        for path in paths:
            try:
                for data in read(path):
                    yield (array(data),)
            except DamagedError as error:
                raise failure("DATA_LOSS", str(error)) from error
            except OSError as error:
                code = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "UNKNOWN"
                raise failure(code, f"{path}; {error.strerror}") from error

    return of(elements)


def lines(paths: Sequence[str], packing: str) -> Begin:
    """The lines of files."""
    return _in_files(paths, lambda path: parts.lines(path, packing))


def records(paths: Sequence[str], packing: str) -> Begin:
    """The records of files."""
    return _in_files(paths, lambda path: iter(Reader(path, packing)))


def fixed(paths: Sequence[str], sizes: Sequence[int], packing: str) -> Begin:
    """Records of one length, between a header and a footer."""
    header, size, footer = sizes

    def read(path: str) -> Iterator[bytes]:
        try:
            yield from parts.fixed(path, size, header, footer, 0, packing)
        except DamagedError as error:
            raise failure("INVALID_ARGUMENT", str(error)) from error

    return _in_files(paths, read)
