"""What `call` needs of a library whose functions it calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...graph.ir.types import TensorType
from .results import Results

Function = Callable[..., Any]
Values = Sequence[Any]


class Library(ABC):
    """How a library's functions get arrays, and what it tells of types and gradients.

    Attributes:
        name: the name of the engine that runs such functions as part of compiled code.
        title: how its name is written.
        differentiates: whether there's `pull`.
        takes_unknown: whether `evaluate` takes types with unknown sizes.
    """

    name: str
    title: str
    differentiates = True
    takes_unknown = False

    @abstractmethod
    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """Call a function on NumPy arrays, which are left as they are; check what it gives."""
        ...

    def evaluate(self, function: Function, given: Sequence[TensorType]) -> Any:
        """What a function would give for arrays of these types, in objects that `type_of` knows."""
        raise UnsupportedError(f"{self.title} evaluates nothing abstractly")

    def type_of(self, value: Any) -> TensorType | None:
        """The type of an array of the library, or of what stands for one; None for other things."""
        return None

    def own(self, value: Any, type: TensorType) -> Any:
        """What a function has given, as an array of the library, for compiled code."""
        return value

    def pull(self, function: Function, xs: Values, gs: Values, held: Values) -> Values:
        """The cotangents of a function's arguments, by the library's differentiation.

        Args:
            function: of the library's arrays; it gives a list of results.
            xs: its arguments, which are of floats.
            gs: the results' cotangents.
            held: what else the function computes with.
        """
        raise UnsupportedError(f"{self.title} differentiates nothing")


def listed(given: Any) -> Sequence[Any]:
    """The results of a function, which gives one or a list."""
    return given if isinstance(given, (list, tuple)) else (given,)
