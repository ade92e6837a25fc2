"""What NumPy computes: as a call inside of a region where K has the type, else on the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from kameleon.backend.calling import call

from ..graph import Operation
from ..shapes.rules import RULES
from .parameters import adapted
from .table import fold, listed, located, pure
from .values import result_type, sizes_of, tensor

F = TypeVar("F", bound=Callable[..., Any])


def kernel(*names: str) -> Callable[[F], F]:
    """Decorates what some types compute of arrays.

    The shapes of what they give follow from the shapes of what they take.
    """

    def add(function: F) -> F:
        compute = adapted(function, ("operation",), {})

        def run(operation: Operation, *arrays: Any) -> list[Any]:
            try:
                results = listed(compute(operation, *map(_single, arrays)))
            except Exception as error:
                raise located(error, operation) from error.__cause__
            return [
                np.asarray(x, kind) for x, kind in zip(results, _dtypes(operation), strict=True)
            ]

        def called(operation: Operation, *values: Any) -> Any:
            found = RULES[operation.type](operation, [sizes_of(value) for value in values])
            shapes, dtypes = listed(found), _dtypes(operation)
            given, computing = [tensor(value) for value in values], partial(run, operation)
            return call(
                computing, given, "numpy", shapes=shapes, dtypes=dtypes, name=operation.name
            )

        pure(*names)(called)
        fold(*names)(run)
        return function

    return add


def _single(x: Any) -> np.ndarray:
    """An array; of half precision, which NumPy's functions of matrices don't know, in single."""
    found = np.asarray(x)
    return found.astype(np.float32) if found.dtype == np.float16 else found


def _dtypes(operation: Operation) -> list[str]:
    return [result_type(operation, at) for at in range(len(operation.types))]
