"""What a function of Python says that it gives, and holding what it gives against that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import EvaluationError
from ...graph.ir.types import BOOL, TensorType

# The number of an operand or a result, and an axis of it.
Place = tuple[int, int]
# A function that gives nothing has this result all the same: it's true once the function has run.
DONE = TensorType((), BOOL)


class ResultError(EvaluationError):
    """A function gave something else than was declared."""


class Results(NamedTuple):
    """The results of a function.

    Attributes:
        types: of each of them.
        several: whether the function gives a list (or tuple) of results, not one result as it is.
        origins: for some (result, axis) of unknown size: the (operand, axis) of the same size.
        traced: whether the library has evaluated the function abstractly: it may be compiled, too.
    """

    types: tuple[TensorType, ...]
    several: bool
    origins: tuple[tuple[Place, Place], ...] = ()
    traced: bool = False

    @property
    def of_node(self) -> tuple[TensorType, ...]:
        """The types of what the node gives."""
        return self.types or (DONE,)

    def listed(self, given: Any) -> Sequence[Any]:
        """What a function has given, as a list of its results.

        Raises:
            ResultError: it gave another number of results.
        """
        if not self.types:
            return ()
        if not self.several:
            return (given,)
        found = given if isinstance(given, (list, tuple)) else (given,)
        if len(found) != len(self.types):
            raise ResultError(
                f"the function gave {len(found)} results, {len(self.types)} were declared"
            )
        return found

    def check(self, number: int, shape: Sequence[int | None], dtype: Any) -> None:
        """Hold the shape and the dtype of a result against its type.

        Raises:
            ResultError: one of them is another one; says which.
        """
        want = self.types[number]
        which = f"result {number} of the function" if self.several else "the function's result"
        if dtype != want.dtype:
            raise ResultError(
                f"{which} is of dtype {dtype}, not {want.dtype} as declared: cast it, or declare"
                " its own dtype"
            )
        if not want.accepts(tuple(shape)):
            raise ResultError(f"{which} has shape {tuple(shape)}, not {want.shape} as declared")

    def check_sizes(self, operands: Sequence[Any], found: Sequence[Any]) -> None:
        """Hold sizes of results (whatever has a shape) against those of the operands.

        Raises:
            ResultError: sizes differ that were declared as equal.
        """
        for (result, axis), (operand, place) in self.origins:
            if found[result].shape[axis] != operands[operand].shape[place]:
                raise ResultError(
                    f"result {result} of the function has shape {tuple(found[result].shape)}, whose"
                    f" axis {axis} isn't as long as axis {place} of operand {operand}, of shape"
                    f" {tuple(operands[operand].shape)}"
                )

    def arrays(self, given: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """A list of arrays and numbers as arrays of the types, which belong to nobody else.

        Raises:
            ResultError: a result isn't of its type.
        """
        if not self.types:
            return (np.array(True),)
        found = []
        for number, value in enumerate(given):
            array = self._array(value, self.types[number])
            self.check(number, array.shape, array.dtype)
            found.append(array)
        return tuple(found)

    @staticmethod
    def _array(value: Any, want: TensorType) -> np.ndarray:
        """A private array; numbers of Python's take the declared dtype, where it holds them."""
        array = np.array(value)
        if isinstance(value, (np.ndarray, np.generic)) or array.dtype.kind not in "biuf":
            return array
        cast = array.astype(np.dtype(want.dtype))
        return cast if cast.dtype.kind == "f" or np.array_equal(cast, array) else array
