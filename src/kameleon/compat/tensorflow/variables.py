"""What a session keeps between runs: the values of variables, and other resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K

from .failures import failure
from .graph import Operation
from .resources.philox import Philox
from .resources.waiting import Waiting


@dataclass(frozen=True)
class Place:
    """Where a session keeps what an operation makes."""

    container: str
    device: str  # of a task of a cluster; none where a session is by itself


class Reference(NamedTuple):
    """A variable's handle, or a reference to it: whose value is read where it's used."""

    key: str  # of the variable in its place
    name: str  # of the operation, for messages
    place: Place = Place("", "")
    by_handle: bool = False  # else by reference, as of old

    @property
    def at(self) -> tuple[Place, str]:
        """Where the variable is, and its key there."""
        return self.place, self.key


# What stands for all that a program asserts, where it's compiled.
HOLDS = Reference("", "assertions")


def absent(reference: Reference, kind: str = "ReadVariableOp") -> Exception:
    """The error of a type of operations that takes a variable without a value, to be raised."""
    if not reference.by_handle:
        answer = "FAILED_PRECONDITION", f"Attempting to use uninitialized value {reference.name}"
    elif "Apply" in kind:
        answer = "INTERNAL", "Invalid variable reference."
    else:
        key, container = reference.key, reference.place.container or "localhost"
        answer = "NOT_FOUND", f"Resource {container}/{key}/N10tensorflow3VarE does not exist."
        if kind == "ReadVariableOp":
            about = f"Error while reading resource variable {key} from Container: {container}."
            why = "This could mean that the variable was uninitialized."
            answer = "FAILED_PRECONDITION", f"{about} {why} Not found: {answer[1]}"
    error: Any = failure(*answer)
    error.absent = reference  # for who knows what takes it
    return error  # type: ignore[no-any-return]


class Variables:
    """The variables of a session, by key; those that hold nothing yet aren't there.

    Attributes:
        state: another object when variables came, or went.
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[Place, str], Any] = {}
        self.state = object()

    def __contains__(self, reference: Reference) -> bool:
        return reference.at in self._cells

    def find(self, reference: Reference) -> Any:
        """K's variable, or None."""
        return self._cells.get(reference.at)

    def cell(self, reference: Reference) -> Any:
        """K's variable.

        Raises:
            FailedPreconditionError: (TensorFlow's) it has no value yet.
        """
        found = self.find(reference)
        if found is None:
            raise absent(reference)
        return found

    def value(self, reference: Reference) -> np.ndarray:
        """The value."""
        found = self.cell(reference)
        return found if isinstance(found, np.ndarray) else np.asarray(K.get_value(found))

    def begin(self, reference: Reference, value: Any) -> None:
        """Give a variable a value, whatever it had: another shape, too."""
        found = self._cells.get(reference.at)
        if value.dtype.kind in "OSUc":
            self._put(reference, value)  # which K doesn't compute with
        elif found is not None and tuple(found.shape) == np.shape(value):
            K.set_value(found, value)
        else:
            self._put(reference, K.variable(value, str(value.dtype), reference.name))

    def _put(self, reference: Reference, cell: Any) -> None:
        self._cells[reference.at] = cell
        self.state = object()

    def clear(self, containers: Collection[str]) -> None:
        """Take away the values in some containers."""
        _clear(self._cells, containers)
        self.state = object()

    def remove(self, reference: Reference) -> None:
        """Take a variable's value away."""
        self._cells.pop(reference.at, None)
        self.state = object()


class Store:
    """What a session keeps between runs.

    Args:
        of: gives what calls a function of a graph's library, by its name and attributes.
        beside: another session's, that keeps the same.
        devices: of the tasks of a cluster, each of which keeps what is its own.

    Attributes:
        variables: what its variables hold.
        resources: other things that operations keep, by key.
        streams: where operations draw from, by the function they're in and their names.
        waiting: where runs wait for each other.
    """

    def __init__(
        self,
        of: Callable[[Store, Any, str, Mapping[str, Any]], Callable[[Sequence[Any]], list[Any]]],
        beside: Store | None = None,
        devices: Sequence[str] = (),
    ) -> None:
        self._of = of
        self._devices: Sequence[str] = devices if beside is None else beside._devices
        self.waiting: Waiting = Waiting(None if beside is None else beside.waiting)
        self.variables: Variables = Variables() if beside is None else beside.variables
        self.resources: dict[Any, Any] = {} if beside is None else beside.resources
        self.streams: dict[tuple[str, str], Philox] = {} if beside is None else beside.streams

    def function(
        self, graph: Any, name: str, attributes: Mapping[str, Any]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """What calls a function of a graph's library."""
        return self._of(self, graph, name, attributes)

    def place(self, operation: Operation) -> Place:
        """Where what an operation makes is kept: on the first device that is as it says."""
        parts = _parts(operation.device) if self._devices else set()
        device = next((each for each in self._devices if parts <= _parts(each)), "")
        return Place((operation.attribute("container") or b"").decode(), device)

    def clear(self, containers: Collection[str]) -> None:
        """Let go of what is kept in some containers."""
        self.variables.clear(containers)
        _clear(self.resources, containers)


def _parts(device: str) -> set[tuple[str, str]]:
    """What a device's name says of its task."""
    return {*re.findall("/(job|replica|task):([^/]+)", device)}


def _clear(kept: MutableMapping[Any, Any], containers: Collection[str]) -> None:
    """Take away what is in some containers; what tells none is in that without a name."""
    for key in list(kept):
        place = next((part for part in key if isinstance(part, Place)), Place("", ""))
        if place.container in containers:
            del kept[key]
