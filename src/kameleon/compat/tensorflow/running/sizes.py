"""Sizes that differ from run to run: from the fourth shape on, regions are compiled without them.

A region's key says what it's compiled for: for each input its shape and type, and what else
decides. Keys that are alike in all but sizes have one `Sizes`, which knows the sizes that differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Key = tuple[Any, ...]
Part = tuple[Any, ...]
# So many regions are compiled that differ in sizes alone, or in values that must be known.
MOST = 3
# Numbers that must be known may be sizes, if they are no more than these and no larger.
FEW, LARGEST = 8, 10_000_000


@dataclass(frozen=True)
class Numbers:
    """What a key says of whole numbers, beside them.

    Attributes:
        dtype: their type.
        shape: theirs.
    """

    dtype: np.dtype
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Pattern:
    """What a key says of an array, beside its shape, that tells all its elements.

    Attributes:
        dtype: their type.
        value: each of them; None of a vector that counts from 0 on.
    """

    dtype: np.dtype
    value: Any


class Known(np.ndarray):
    """A value that follows from shapes and constants: the same in each run with these shapes."""

    @cached_property
    def part(self) -> Part:
        """The part of a key for it."""
        return known_part(np.asarray(self))


def unmarked(value: Any) -> Any:
    """A value as others have it: what they make of a known one needn't be known."""
    return np.asarray(value) if type(value) is Known else value


def known_part(array: np.ndarray) -> Part:
    """The part of a key for a known value.

    >>> known_part(np.array([7, 2]))
    ((7, 2), Numbers(dtype=dtype('int64'), shape=(2,)))
    >>> known_part(np.arange(20))
    ((20,), Pattern(dtype=dtype('int64'), value=None))
    >>> known_part(np.ones((20, 1)))
    ((20, 1), Pattern(dtype=dtype('float64'), value=1.0))
    """
    if array.dtype.kind in "OSU":
        return "text", tuple(array.ravel().tolist())
    is_whole, is_vector = array.dtype.kind == "i", array.ndim == 1 and array.size > 1
    if is_whole and is_vector and array[0] == 0 and (np.diff(array) == 1).all():
        return array.shape, Pattern(array.dtype, None)
    if is_whole and 0 < array.size <= FEW and np.abs(array).max() <= LARGEST:
        return tuple(array.ravel().tolist()), Numbers(array.dtype, array.shape)
    if array.size > 1 and array.dtype.kind in "biuf":
        first = array.flat[0]
        if (array == first).all() and (first != 0 or not np.signbit(array).any()):
            return array.shape, Pattern(array.dtype, first.item())
    return array.shape, array.dtype, array.tobytes()


def without_values(key: Key) -> Key:
    """The key without known values."""
    return tuple(_without_value(part) if isinstance(part, tuple) else part for part in key)


def _without_value(part: Part) -> Part:
    if isinstance(part[1], Pattern):
        return part[0], part[1].dtype
    return part[1:] if isinstance(part[1], Numbers) else part[:2]


def is_shaped(part: Any) -> bool:
    """Whether a part of a key is a shape and a type, or numbers that may be sizes."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], tuple)


def kind_of(key: Key) -> Key:
    """The key with numbers of axes for shapes."""
    return tuple((len(part[0]), part[1]) if is_shaped(part) else part for part in key)


def is_open(key: Key) -> bool:
    """Whether a key leaves sizes open."""
    return any(is_shaped(part) and None in part[0] for part in key)


class Sizes:
    """Which sizes differ.

    Args:
        unknown: those that are taken to differ, by input and axis, so that no others are waited
            for; none where it isn't known yet whether any do.

    Attributes:
        are_needed: it was tried to compile without them, in vain.
    """

    def __init__(self, unknown: Iterable[tuple[int, int]] = ()) -> None:
        self._differ = set(unknown)
        self._at_once, self.are_needed = bool(self._differ), False
        self._seen: list[Key] = []

    def be_needed(self) -> None:
        """Those that are left open are needed: of all that were taken to differ, the others may
        not be.
        """
        if not self._at_once:
            self.are_needed = True
        self._at_once = False
        self._differ.clear()

    def have_changed(self, key: Key) -> bool:
        """Take another key of the kind; whether it's time to compile without the sizes."""
        is_enough = self._at_once or len(self._seen) == MOST
        if len(self._seen) < MOST:
            self._seen.append(key)
        for place, (part, first) in enumerate(zip(key, self._seen[0], strict=True)):
            if is_shaped(part):
                pairs = enumerate(zip(part[0], first[0], strict=True))
                self._differ.update((place, axis) for axis, (mine, its) in pairs if mine != its)
        return is_enough and not self.are_needed

    def without(self, key: Key) -> Key:
        """The key with None for sizes that differ.

        No elements and a single one stay: these are what operations stretch and skip.

        >>> sizes = Sizes()
        >>> [sizes.have_changed((((size, 2), "float32"),)) for size in (5, 6, 7, 8)]
        [False, False, False, True]
        >>> sizes.without((((8, 2), "float32"),))
        (((None, 2), 'float32'),)
        >>> sizes.without((((1, 2), "float32"),))
        (((1, 2), 'float32'),)
        """
        return tuple(
            (self._opened(place, part[0]), part[1]) if is_shaped(part) else part
            for place, part in enumerate(key)
        )

    def _opened(self, place: int, shape: tuple[int, ...]) -> tuple[int | None, ...]:
        pairs = enumerate(shape)
        return tuple(
            None if size > 1 and (place, axis) in self._differ else size for axis, size in pairs
        )
