"""What NumPy computes: as a call inside of a region where K has the type, else on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kameleon.backend.calling import call

from ..shapes.rules import RULES
from .table import fold, pure
from .values import result_type, sizes_of, tensor

if TYPE_CHECKING:
    from ..graph import Operation

F = TypeVar("F", bound=Callable[..., Any])


def kernel(*names: str) -> Callable[[F], F]:
    """Decorates what some types compute of arrays: `(operation, *arrays)`.

    The shapes of what they give follow from the shapes of what they take.
    """

    def add(function: F) -> F:
        def called(operation: Operation, *values: Any) -> Any:
            found = RULES[operation.type](operation, [sizes_of(value) for value in values])
            shapes = found if isinstance(found, list) else [found]
            dtypes = [result_type(operation, at) for at in range(len(operation.types))]

            def run(*arrays: Any) -> list[Any]:
                results = _listed(function(operation, *map(np.asarray, arrays)))
                return [np.asarray(x, kind) for x, kind in zip(results, dtypes, strict=True)]

            given = [tensor(value) for value in values]
            return call(run, given, "numpy", shapes=shapes, dtypes=dtypes, name=operation.name)

        pure(*names)(called)
        fold(*names)(function)
        return function

    return add


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]
