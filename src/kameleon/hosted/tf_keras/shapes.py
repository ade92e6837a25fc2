"""Shapes as layers of `tf.keras` are given them: tuples that have what a `TensorShape` has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ShapeError


class Size(int):
    """A known size: an int that has what a `Dimension` has."""

    @property
    def value(self) -> int:
        """The size."""
        return int(self)


class Shape(tuple[Any, ...]):
    """A shape: a tuple of sizes and None, with the methods of `tf.TensorShape`.

    >>> shape = Shape((None, 3))
    >>> shape.as_list(), shape[-1].value, shape[1:].rank
    ([None, 3], 3, 1)
    """

    def __new__(cls, sizes: Iterable[Any] = ()) -> Shape:
        return super().__new__(cls, (None if n is None else Size(n) for n in sizes))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Shape(found) if isinstance(key, slice) else found

    def as_list(self) -> list[int | None]:
        """The sizes as a list."""
        return [None if n is None else int(n) for n in self]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    ndims = rank

    @property
    def dims(self) -> list[Any]:
        """The sizes."""
        return list(self)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return None not in self

    def num_elements(self) -> int | None:
        """The number of elements; None where a size isn't known."""
        total = 1
        for n in self:
            if n is None:
                return None
            total *= n
        return total

    def with_rank(self, rank: int) -> Shape:
        """The shape, if it has so many axes.

        Raises:
            ShapeError: (a ValueError) it has another number of axes.
        """
        if len(self) != rank:
            raise ShapeError(f"Shape {tuple(self)} must have rank {rank}")
        return self

    def concatenate(self, other: Iterable[Any]) -> Shape:
        """These sizes, then others."""
        return Shape((*self, *plain(other)))


def plain(shape: Any) -> Any:
    """A shape, or a list of shapes, as Keras takes them: tuples of ints and None."""
    if shape is None:
        return None
    as_list = getattr(shape, "as_list", None)
    if as_list is not None:
        return tuple(as_list())
    if isinstance(shape, (list, tuple)) and any(_is_shape(part) for part in shape):
        return [plain(part) for part in shape]
    if isinstance(shape, (list, tuple)):
        return tuple(_size(n) for n in shape)
    return shape


def shown(shape: Any) -> Any:
    """A shape, or a list of shapes, as the program's layers are given them."""
    found = plain(shape)
    if isinstance(found, list):
        return [shown(part) for part in found]
    return Shape(found) if isinstance(found, tuple) else found


def _is_shape(part: Any) -> bool:
    return isinstance(part, (list, tuple)) or hasattr(part, "as_list")


def _size(n: Any) -> Any:
    value = getattr(n, "value", n)  # of a Dimension
    return None if value is None else int(value)
