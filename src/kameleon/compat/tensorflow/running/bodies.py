"""What the elements of a region give: of operations by the table, of choices and loops as K's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kameleon.errors import KameleonError
from kameleon.graph.ir.node import Tensor

from ..failures import invalid, is_failure
from ..graph import Operation, Value, made_of
from ..lowering import ArrayHandle, ListHandle, Lowering, Single, StackHandle
from ..operations import table
from ..operations.values import NeedsValueError
from ..resources.base import Resource
from ..variables import Reference
from .marks import ABSENT, Mark
from .needed import ENTERS, SWITCHES, Compound, Loop


class AbsentError(Exception):
    """Something is lowered that takes a value of a branch that isn't taken: so it isn't, either."""


STATIC = (Reference, Resource, ArrayHandle, StackHandle, ListHandle, Single, Mark)


class ApartError(Exception):
    """A loop or a choice that can't be compiled."""

    def __init__(self, condition: Value, why: str) -> None:
        super().__init__(why)
        self.condition = condition


class AheadError(Exception):
    """A loop whose turns must be counted before it's compiled."""

    def __init__(self, loop: Loop, why: str) -> None:
        super().__init__(why)
        self.loop = loop


class Values(dict[Any, Any]):
    """What values of a graph are, in a region or a part of it."""

    def __init__(self, around: Values | None = None) -> None:
        super().__init__()
        self._around = around

    def find(self, value: Value) -> Any:
        """What a value is, here or around; or what it was before it was handed on."""
        while True:
            place: Values | None = self
            while place is not None:
                if value in place:
                    if place[value] is ABSENT:
                        raise AbsentError
                    return place[value]
                place = place._around
            source = value[0]
            if source.type not in SWITCHES and source.type not in ENTERS:
                raise KeyError(value)
            value = source.inputs[0]


# By class of compound, what finds what it gives: `choices` and `loops` say so.
COMPOUNDS: dict[type[Compound], Callable[[Lowering, Any, Values], None]] = {}


def lower(lowering: Lowering, values: Values, elements: Iterable[Operation | Compound]) -> None:
    """Find what elements give."""
    for element in elements:
        if isinstance(element, Compound):
            COMPOUNDS[type(element)](lowering, element, values)
        else:
            given = [values.find(value) for value in table.compiled_inputs(element)]
            for index, found in enumerate(_lowered(lowering, element, given)):
                values[element, index] = found


def _lowered(lowering: Lowering, operation: Operation, given: list[Any]) -> list[Any]:
    find = lowering.lowered or table.lowered
    try:
        with made_of(operation):
            return find(lowering, operation, given)
    except NeedsValueError as error:
        raise NeedsValueError(str(error), error.value, error.operation or operation) from None
    except (KameleonError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if is_failure(error):
            raise
        raise invalid(f"{error}\n\t [[{{{{node {operation.name}}}}}]]") from error


def is_same(a: Any, b: Any) -> bool:
    """Whether two results are the same, whatever they hold."""
    if isinstance(a, Tensor) or isinstance(b, Tensor) or isinstance(a, STATIC):
        return a is b or (isinstance(a, STATIC) and isinstance(b, STATIC) and a == b)
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))
