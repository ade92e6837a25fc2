"""Values that may be missing, and lists of tensors, which branches and loops keep for gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..failures import failure
from ..resources.base import Resource
from .table import host

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store


class Optional(Resource):
    """A value, or none.

    Attributes:
        values: the tensors; None, if there is no value.
    """

    def __init__(self, values: tuple[Any, ...] | None) -> None:
        self.values = values


@host("OptionalFromValue")
def _some(store: Store, operation: Operation, *values: Any) -> Optional:
    return Optional(values)


@host("OptionalNone")
def _none(store: Store, operation: Operation) -> Optional:
    return Optional(None)


@host("OptionalHasValue")
def _has_value(store: Store, operation: Operation, given: Optional) -> np.bool_:
    return np.bool_(given.values is not None)


@host("OptionalGetValue")
def _value(store: Store, operation: Operation, given: Optional) -> list[Any]:
    if given.values is None:
        message = "The given optional does not have a value."
        raise failure("INVALID_ARGUMENT", f"{message}\n\t [[{{{{node {operation.name}}}}}]]")
    return list(given.values)
