"""How arrays lie over the devices of a mesh: what a distribution says, without any library."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

from .._utils.tracebacks import boundary
from ..errors import ArgumentError, ShapeError

# For each axis of an array, the mesh's axis that it's cut along; None where it's whole. Axes at the
# end may be left out.
Axes = tuple[str | None, ...]
Strategy = Literal["replicated", "sharded"]
Table = Mapping[str, "Strategy | Sequence[str | None]"]

# The axis of a mesh that batches are spread over.
DATA = "data"
REPLICATED, SHARDED = "replicated", "sharded"
STRATEGIES = (REPLICATED, SHARDED)


class Distribution:
    """Where the parts of a program's arrays lie; never what they mean.

    Devices form a mesh: a grid whose axes have names and sizes. By default it has one axis, `data`,
    along which the rows of each batch are spread, while every device holds all variables. Results
    are those of one device, up to the order in which floats are added.

    Distributions that say the same are equal.

    Args:
        devices: how many devices, of those that JAX has, in its order. None: as many as `mesh` has
            places; all, if that isn't given either.
        mesh: names of axes, with their sizes, such as `{'data': 4, 'model': 2}`.
        variables: how variables lie. `'replicated'`: each device has all. `'sharded'`: cut along
            the largest axis that the size of `data` divides, as fully sharded data parallelism
            does. Or a table, whose first pattern (`fnmatch`'s, such as `'*kernel*'`) that a
            variable's name fits says it: a strategy, or for each axis the mesh's axis that it's cut
            along, or None. What no pattern fits is replicated.
        inputs: such a table for what a call is given, by the names of placeholders. What no pattern
            fits is cut along `data` where its first size is the batch's, the first size of the
            first input; else it's replicated.

    Attributes:
        mesh: names of axes, with their sizes; None until devices are known.

    Raises:
        ArgumentError: numbers, names or strategies don't go together.

    >>> import kameleon
    >>> kameleon.Distribution(mesh={'data': 2, 'model': 2}, variables={'*kernel*': (None, 'model')})
    Distribution(mesh={'data': 2, 'model': 2}, variables={'*kernel*': (None, 'model')})
    """

    __slots__ = ("_key", "devices", "inputs", "mesh", "variables")

    @boundary
    def __init__(
        self,
        devices: int | None = None,
        mesh: Mapping[str, int] | None = None,
        variables: Strategy | Table = "replicated",
        inputs: Table | None = None,
    ):
        self.mesh = _mesh(devices, mesh)
        self.devices = None if self.mesh is None else math.prod(self.mesh.values())
        given: Any = {"*": variables} if isinstance(variables, str) else variables
        self.variables = {p: self._rule("variables", p, rule) for p, rule in given.items()}
        self.inputs = {p: self._rule("inputs", p, rule) for p, rule in (inputs or {}).items()}
        parts = self.mesh or {}, self.variables, self.inputs
        self._key: Hashable = tuple(tuple(part.items()) for part in parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distribution) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        shown: list[tuple[str, Any]] = [("mesh", self.mesh), ("variables", self.variables)]
        if self.variables.keys() == {"*"}:
            shown[1] = ("variables", self.variables["*"])
        shown += [("inputs", self.inputs)] if self.inputs else []
        arguments = (f"{k}={v!r}" for k, v in shown if v is not None and v != REPLICATED)
        return f"Distribution({', '.join(arguments)})"

    @boundary
    def over(self, available: int) -> Distribution:
        """The same over all devices, where none were counted; the same object otherwise."""
        if self.mesh is not None:
            return self
        return Distribution(available, None, self.variables, self.inputs)

    @property
    def variables_are_whole(self) -> bool:
        """Whether every device has all of every variable."""
        return all(rule == REPLICATED or not any(rule) for rule in self.variables.values())

    @boundary
    def of_variable(self, name: str, shape: Sequence[int]) -> Axes:
        """How a variable lies.

        Raises:
            ArgumentError, ShapeError: what the table says of it doesn't fit its shape.
        """
        rule = _first(self.variables, name)
        if isinstance(rule, str):
            return self._largest(shape) if rule == SHARDED else ()
        axes = self._fitting(f"variable '{name}'", rule or (), shape)
        for size, axis in zip(shape, axes, strict=False):
            if axis is not None and size % self._size(axis):
                raise ShapeError(
                    f"variable '{name}' of shape {tuple(shape)} is cut along '{axis}', which has"
                    f" {self._size(axis)} devices: {size} isn't a multiple of that"
                )
        return axes

    @boundary
    def of_input(self, name: str, shape: Sequence[int], batch: int | None) -> Axes:
        """How what's given for an input lies; its sizes needn't be multiples of the mesh's.

        Args:
            name: of the placeholder.
            shape: of the array.
            batch: the size of the batch; None, if there's no batch.

        Raises:
            ArgumentError: what the table says of it doesn't fit its shape.
        """
        rule = _first(self.inputs, name)
        if rule is None:
            is_batch = bool(shape) and shape[0] == batch and DATA in (self.mesh or ())
            return (DATA,) if is_batch else ()
        if isinstance(rule, str):
            return self._largest(shape) if rule == SHARDED else ()
        return self._fitting(f"input '{name}'", rule, shape)

    def _size(self, axis: str) -> int:
        assert self.mesh is not None
        return self.mesh[axis]

    def _largest(self, shape: Sequence[int]) -> Axes:
        """Cut along the largest axis whose size is a multiple of the devices along `data`."""
        count = (self.mesh or {}).get(DATA, 1)
        fitting = [size for size in shape if size and size % count == 0]
        if count == 1 or not fitting:
            return ()
        return (*[None] * list(shape).index(max(fitting)), DATA)

    def _fitting(self, what: str, rule: Axes, shape: Sequence[int]) -> Axes:
        if len(rule) > len(shape):
            raise ArgumentError(
                f"distribution: {what} has {len(shape)} axes, its layout {rule} names {len(rule)}"
            )
        return rule

    def _rule(self, which: str, pattern: str, rule: Any) -> Any:
        """What a table says of a pattern, checked."""
        if isinstance(rule, str):
            if rule in STRATEGIES:
                return rule
            raise ArgumentError(
                f"distribution: {which} are 'replicated', 'sharded', or a table of layouts, not"
                f" {rule!r}"
            )
        axes = tuple(rule)
        named = [a for a in axes if a is not None]
        for axis in named:
            if self.mesh is None or axis not in self.mesh:
                names = ", ".join(self.mesh or ()) or "no axes yet: give mesh="
                raise ArgumentError(
                    f"distribution: '{pattern}' is cut along {axis!r}; the mesh has {names}"
                )
            if named.count(axis) > 1:
                raise ArgumentError(
                    f"distribution: '{pattern}' is cut along {axis!r} twice; once is possible"
                )
        return axes


def _mesh(devices: Any, mesh: Any) -> dict[str, int] | None:
    """The axes of the mesh, for that many devices."""
    if mesh is None:
        if devices is not None and (not _is_count(devices)):
            raise ArgumentError(f"distribution: devices is a number of 1 or more, not {devices!r}")
        return None if devices is None else {DATA: devices}
    found = dict(mesh) if isinstance(mesh, Mapping) else {}
    if not found or not all(isinstance(k, str) and _is_count(v) for k, v in found.items()):
        raise ArgumentError(f"distribution: mesh names axes with sizes of 1 or more, not {mesh!r}")
    count = math.prod(found.values())
    if devices is not None and devices != count:
        raise ArgumentError(f"distribution: a mesh of {found} has {count} places, not {devices}")
    return found


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _first(table: Mapping[str, Any], name: str) -> Any:
    """What the first pattern that a name fits says; None, if there is none."""
    return next((rule for pattern, rule in table.items() if fnmatchcase(name, pattern)), None)
