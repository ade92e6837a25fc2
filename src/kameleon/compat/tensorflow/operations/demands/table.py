"""What operations refuse, in TensorFlow's words: shapes that don't go together, places outside.

A value is an array where it's known, else a tensor of K's, of which the shape is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from kameleon.graph.ir.node import Tensor

from ...failures import invalid
from ...graph import Operation, shape_text

F = TypeVar("F", bound=Callable[..., Any])

DEMANDS: dict[str, Callable[..., None]] = {}  # (operation, *values)
# By type: places of inputs, how many axes they have, and the complaint.
RANKS: dict[str, list[tuple[int, int, str]]] = {}


def demand(operation: Operation, values: list[Any]) -> None:
    """Refuse values that the operation doesn't take; what has open sizes is refused when it's run.

    Raises:
        InvalidArgumentError: (TensorFlow's) in its words.
    """
    function = DEMANDS.get(operation.type)
    for place, rank, complaint in RANKS.get(operation.type, ()):
        if len(shape := values[place].shape) != rank:
            refuse(complaint.format(shape=shape_text(shape), rank=len(shape)))
    is_open = any(isinstance(value, Tensor) and None in value.shape for value in values)
    if function is not None and not is_open:
        function(operation, *values)


def can_refuse(kind: str) -> bool:
    """Whether a type may refuse values."""
    return kind in DEMANDS or kind in RANKS


def on(*names: str) -> Callable[[F], F]:
    """Put a function into the table, for types whose names stand in texts."""

    def add(function: F) -> F:
        for name in " ".join(names).split():
            assert name not in DEMANDS, f"{name} is in the table already"
            DEMANDS[name] = function
        return function

    return add


def refuse(message: str) -> NoReturn:
    """Raise TensorFlow's error for an argument that doesn't fit."""
    raise invalid(message)


def pair(one: Any, other: Any, between: str = " vs. ") -> str:
    """Two shapes, with a text between them."""
    return f"{shape_text(one.shape)}{between}{shape_text(other.shape)}"


def known_array(value: Any) -> np.ndarray | None:
    """A value that is known; None for a tensor."""
    return value if isinstance(value, np.ndarray) else None


def known_numbers(value: Any) -> list[int]:
    """Integers that are known; none where they aren't."""
    return [] if not isinstance(value, np.ndarray) else [int(each) for each in value.ravel()]


def is_axis(number: int, rank: int) -> bool:
    """Whether a number, negative ones counted from the end, is that of an axis."""
    return -rank <= number < rank


def is_size(number: int, rank: int) -> bool:
    """Whether a number can be a size, of whatever rank."""
    return number >= 0


def demand_numbers(
    numbers: list[int], rank: int, complaint: str, holds: Callable[[int, int], bool] = is_axis
) -> None:
    """Refuse numbers for which it doesn't hold, given them and a rank."""
    for at, number in enumerate(numbers):
        if not holds(number, rank):
            refuse(complaint.format(number=number, rank=rank, at=at, last=rank - 1))
