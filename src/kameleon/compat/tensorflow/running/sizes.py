"""Sizes that differ from run to run: from the fourth shape on, regions are compiled without them.

A region's key says what it's compiled for: for each input its shape and type, and what else
decides. Keys that are alike in all but sizes have one `Sizes`, which knows the sizes that differ.
"""

from __future__ import annotations

from typing import Any

Key = tuple[Any, ...]
# So many regions are compiled that differ in sizes alone, or in values that must be known.
MOST = 3


def _is_shaped(part: Any) -> bool:
    """Whether a part of a key is a shape and a type."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], tuple)


def kind_of(key: Key) -> Key:
    """The key with numbers of axes for shapes."""
    return tuple((len(part[0]), part[1]) if _is_shaped(part) else part for part in key)


def is_open(key: Key) -> bool:
    """Whether a key leaves sizes open."""
    return any(_is_shaped(part) and None in part[0] for part in key)


class Sizes:
    """Which sizes differ.

    Attributes:
        are_needed: it was tried to compile without them, in vain.
    """

    def __init__(self) -> None:
        self.are_needed = False
        self._seen: list[Key] = []
        self._differ: set[tuple[int, int]] = set()

    def have_changed(self, key: Key) -> bool:
        """Take another key of the kind; whether it's time to compile without the sizes."""
        is_enough = len(self._seen) == MOST
        if not is_enough:
            self._seen.append(key)
        for place, (part, first) in enumerate(zip(key, self._seen[0], strict=True)):
            if _is_shaped(part):
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
            (self._opened(place, part[0]), part[1]) if _is_shaped(part) else part
            for place, part in enumerate(key)
        )

    def _opened(self, place: int, shape: tuple[int, ...]) -> tuple[int | None, ...]:
        pairs = enumerate(shape)
        return tuple(
            None if size > 1 and (place, axis) in self._differ else size for axis, size in pairs
        )
