"""Values that may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..failures import invalid
from ..resources.base import Resource
from .keeping import on_handles
from .table import host


class Optional(Resource):
    """A value, or none.

    Attributes:
        values: the tensors; None, if there is no value.
    """

    def __init__(self, values: tuple[Any, ...] | None) -> None:
        self.values = values


@host("OptionalGetValue")
def _value(given: Optional) -> list[Any]:
    if given.values is None:
        raise invalid("The given optional does not have a value.")
    return list(given.values)


on_handles({
    "OptionalFromValue": lambda *values: Optional(values),
    "OptionalNone": lambda: Optional(None),
    "OptionalHasValue": lambda given: np.bool_(given.values is not None),
})  # fmt: skip
