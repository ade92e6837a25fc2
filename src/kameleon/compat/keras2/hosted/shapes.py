"""Shapes as TensorFlow 1 gives them: `x.get_shape()`, a `TensorShape` of `Dimension`s."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....errors import ArgumentError, ShapeError


class Dimension:
    """A size that may be unknown; what's computed with an unknown size is unknown.

    >>> int(Dimension(3)), Dimension(2) * 4, (Dimension(None) + 1).value
    (3, Dimension(8), None)
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any):
        value = getattr(value, "value", value)
        self._value = None if value is None else operator.index(value)

    @property
    def value(self) -> int | None:
        """The size; None if it's unknown."""
        return self._value

    def __index__(self) -> int:
        if self._value is None:
            raise TypeError("this size is unknown before the graph runs; use tf.shape(x)[axis]")
        return self._value

    __int__ = __index__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.__index__(), dtype)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __eq__(self, other: Any) -> Any:
        value = getattr(other, "value", other)
        return None if None in (value, self._value) else bool(value == self._value)

    def __ne__(self, other: Any) -> Any:
        equal = self == other  # None where a size is unknown, and so is the answer
        return None if equal is None else not equal

    def __bool__(self) -> bool:
        return bool(self._value)

    def merge_with(self, other: Any) -> Dimension:
        """The one that's known; an error where both are, and differ."""
        other = Dimension(other)
        if not self.is_compatible_with(other):
            raise ShapeError(f"Dimensions {self} and {other} are not compatible")
        return other if self._value is None else self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be equal."""
        other = Dimension(other)
        return None in (self._value, other._value) or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise a ValueError where the two can't be equal."""
        self.merge_with(other)


def _combined(function: Callable[[Any, Any], Any], is_swapped: bool) -> Callable[..., Any]:
    def combine(self: Dimension, other: Any) -> Any:
        try:
            pair = self._value, Dimension(other)._value
        except TypeError:
            return NotImplemented
        return Dimension(None if None in pair else function(*pair[:: -1 if is_swapped else 1]))

    return combine


for _name, _function in {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod,
    "floordiv": operator.floordiv, "truediv": operator.floordiv,
}.items():  # fmt: skip
    setattr(Dimension, f"__{_name}__", _combined(_function, is_swapped=False))
    setattr(Dimension, f"__r{_name}__", _combined(_function, is_swapped=True))


def _comparison(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def compare(self: Dimension, other: Any) -> bool | None:
        value = getattr(other, "value", other)
        return None if value is None or self._value is None else function(self._value, value)

    return compare


for _name in ("lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _comparison(getattr(operator, _name)))


class TensorShape:
    """The sizes of the axes of a tensor, or of nothing that's known (`TensorShape(None)`).

    >>> shape = TensorShape([None, 3])
    >>> shape.as_list(), shape.ndims, shape[1].value, shape == (None, 3)
    ([None, 3], 2, 3, True)
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any):
        if isinstance(dims, TensorShape):
            self._dims: list[Dimension] | None = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "__iter__"):
            self._dims = [Dimension(size) for size in dims]
        else:
            self._dims = [Dimension(dims)]

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes; None if even their number is unknown."""
        return self._dims

    @property
    def ndims(self) -> int | None:
        """The number of axes; None if it's unknown."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    def _known(self) -> list[Dimension]:
        if self._dims is None:
            raise ArgumentError("the number of axes is unknown")
        return self._dims

    def as_list(self) -> list[int | None]:
        """The sizes as a list of ints and None."""
        return [size.value for size in self._known()]

    def num_elements(self) -> int | None:
        """The product of the sizes; None where one is unknown."""
        return None if self._dims is None else self.prod().value

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Dimension:
        """What `numpy.prod` gives of a shape in TensorFlow 1: a Dimension, unknown if one is.

        >>> np.prod(TensorShape([2, 3])).value, np.prod(TensorShape([None, 3])).value
        (6, None)
        """
        return functools.reduce(operator.mul, self._known(), Dimension(1))

    def is_fully_defined(self) -> bool:
        """Whether all sizes are known."""
        return self._dims is not None and None not in self.as_list()

    def assert_is_fully_defined(self) -> None:
        """Raise a ValueError where a size is unknown."""
        if not self.is_fully_defined():
            raise ShapeError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the shape of one tensor."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return True
        pairs = zip(self._dims, other._dims, strict=False)
        return len(self) == len(other) and all(a.is_compatible_with(b) for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise a ValueError where the two can't be one tensor's."""
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """What's known of either; an error where they contradict each other."""
        other = TensorShape(other)
        self.assert_is_compatible_with(other)
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        pairs = zip(self._dims, other._dims, strict=True)
        return TensorShape([a.merge_with(b) for a, b in pairs])

    def concatenate(self, other: Any) -> TensorShape:
        """The sizes of one, then those of the other."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def with_rank(self, rank: int) -> TensorShape:
        """The shape, which must have so many axes."""
        return self.merge_with([None] * rank)

    assert_has_rank = with_rank

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The shape, which must have so many axes at least."""
        if self.ndims is not None and self.ndims < rank:
            raise ShapeError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """The shape, which must have so many axes at most."""
        if self.ndims is not None and self.ndims > rank:
            raise ShapeError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_same_rank(self, other: Any) -> None:
        """Raise a ValueError where the numbers of axes differ."""
        other = TensorShape(other)
        if None not in (self.ndims, other.ndims) and self.ndims != other.ndims:
            raise ShapeError(f"Shapes {self} and {other} must have the same rank")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if dtype is None and None in self.as_list():  # sizes that NumPy has no number for
            return np.fromiter(self, object, len(self))
        return np.asarray(self.as_list(), dtype or "int32")

    def __len__(self) -> int:
        return len(self._known())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._known())

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else Dimension(None)
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __eq__(self, other: Any) -> bool:
        try:
            other = TensorShape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            return self._dims is other._dims
        return bool(self.as_list() == other.as_list())

    def __hash__(self) -> int:
        return hash(None if self._dims is None else tuple(self.as_list()))

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return f"({', '.join(map(str, self._dims))}{',' if len(self._dims) == 1 else ''})"

    def __repr__(self) -> str:
        return f"TensorShape({self._dims})"
