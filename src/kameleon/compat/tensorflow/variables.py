"""What a session keeps between runs: the values of variables, and other resources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K

from .failures import failure
from .resources.waiting import Waiting


class Reference(NamedTuple):
    """A variable's handle, or a reference to it: whose value is read where it's used."""

    key: str  # of the variable in its session
    name: str  # of the operation, for messages


# What stands for all that a program asserts, where it's compiled.
HOLDS = Reference("", "assertions")


class Variables:
    """The variables of a session, by key; those that hold nothing yet aren't there."""

    def __init__(self) -> None:
        self._cells: dict[str, Any] = {}

    def __contains__(self, reference: Reference) -> bool:
        return reference.key in self._cells

    def find(self, reference: Reference) -> Any:
        """K's variable, or None."""
        return self._cells.get(reference.key)

    def cell(self, reference: Reference) -> Any:
        """K's variable.

        Raises:
            FailedPreconditionError: (TensorFlow's) it has no value yet.
        """
        found = self.find(reference)
        if found is None:
            message = f"Attempting to use uninitialized value {reference.name}"
            raise failure("FAILED_PRECONDITION", message)
        return found

    def value(self, reference: Reference) -> np.ndarray:
        """The value."""
        found = self.cell(reference)
        return found if isinstance(found, np.ndarray) else np.asarray(K.get_value(found))

    def begin(self, reference: Reference, value: Any) -> None:
        """Give a variable a value, whatever it had: another shape, too."""
        found = self._cells.get(reference.key)
        if value.dtype.kind in "OSUc":
            self._cells[reference.key] = value  # which K doesn't compute with
        elif found is not None and tuple(found.shape) == np.shape(value):
            K.set_value(found, value)
        else:
            self._cells[reference.key] = K.variable(
                value, dtype=str(value.dtype), name=reference.name
            )

    def clear(self) -> None:
        """Take all values away."""
        self._cells.clear()

    def remove(self, reference: Reference) -> None:
        """Take a variable's value away."""
        self._cells.pop(reference.key, None)


class Store:
    """What a session keeps between runs.

    Args:
        call: calls a function of a graph's library: (store, graph, name, values).
        beside: another session's, that keeps the same.

    Attributes:
        variables: what its variables hold.
        resources: other things that operations keep, by key.
        waiting: where runs wait for each other.
        call: as given.
    """

    def __init__(self, call: Callable[..., list[Any]], beside: Store | None = None) -> None:
        self.call = call
        self.waiting: Waiting = Waiting(None if beside is None else beside.waiting)
        self.variables: Variables = Variables() if beside is None else beside.variables
        self.resources: dict[Any, Any] = {} if beside is None else beside.resources

    def clear(self) -> None:
        """Let go of all that is kept."""
        self.variables.clear()
        self.resources.clear()
