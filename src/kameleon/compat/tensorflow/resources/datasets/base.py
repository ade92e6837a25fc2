"""What datasets have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...dtypes import name_of
from ...failures import is_failure
from ..base import Resource

Element = tuple[Any, ...]
Next = Callable[[], "Element | None"]  # the next element; None at the end
ENDLESS, UNKNOWN = -1, -2


class Dataset(Resource):
    """How to give elements.

    Args:
        types: the numbers of the types of an element's parts.
        begin: begins an iteration.
        size: how many elements there are; `ENDLESS`, or `UNKNOWN`.

    Attributes:
        types, begin, size: as above.
        shuffled: of a dataset that is shuffled anew in each iteration, how to repeat it.
    """

    def __init__(self, types: Sequence[int], begin: Callable[[], Next], size: int = UNKNOWN):
        self.types, self.begin, self.size = list(types), begin, size
        self.shuffled: Callable[[int], Callable[[], Next]] | None = None

    @property
    def dtypes(self) -> list[str]:
        """The names of the types."""
        return [name_of(number) for number in self.types]


def iterated(elements: Iterable[Element]) -> Next:
    """An iteration over elements."""
    rest = iter(elements)
    return lambda: next(rest, None)


def of(elements: Callable[[], Iterable[Element]]) -> Callable[[], Next]:
    """Begins iterations over what a function gives."""
    return lambda: iterated(elements())


def array(value: Any) -> np.ndarray:
    """A part of an element as an array; text as an array of objects."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bytes | Resource):
        found = np.empty((), object)
        found[()] = value
        return found
    return np.asarray(value)


def row(rows: np.ndarray, at: int) -> Any:
    """One of several rows; what is no array as it is."""
    found = rows[at]
    if isinstance(found, Resource):
        return found
    return array(found)


def sparse(*parts: np.ndarray) -> np.ndarray:
    """A sparse tensor, of its three parts, as one value."""
    found = np.empty(3, object)
    found[:] = parts
    return found


def ends(error: Exception) -> bool:
    """Whether an error says that there's nothing more."""
    return is_failure(error) and type(error).__name__ == "OutOfRangeError"
