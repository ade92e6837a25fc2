"""The part of a graph that is needed, cut into units: regions, and operations that run alone.

A region is made of elements that run together whenever one of them runs: they are in the same
loops, behind the same branches, and on the same side of what runs on the host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ..failures import failure
from ..graph import Operation, Value
from ..operations import table
from ..walks import in_order
from .levels import Levels, kept_in
from .needed import CONTROL, DIRECTING, Compound, Needed, operations_of
from .structure import structure
from .units import DIFFER, FED, NONE, REGION, Hints, Unit
from .waits import waits_before


class Plan:
    """What must run for some fetches, given some feeds.

    Attributes:
        units: what runs at once.
        fetches: the values to return.
        parts: by unit that can't be compiled as it is, a plan that does the same in smaller ones.
        layout: where the units run, and where their values are; once it was run.
    """

    def __init__(
        self,
        feeds: Iterable[Value],
        fetches: Sequence[Value],
        targets: Sequence[Operation],
        hints: Hints = NONE,
        within: set[Operation] | None = None,
        repeats: bool = False,
    ) -> None:
        self.fetches, self._hints, self._repeats = list(fetches), hints, repeats
        roots = [operation for operation, _ in fetches] + list(targets)
        feeds = list(feeds)
        self._least: dict[Operation, int] = {}
        while True:
            self._needed = self._structured(feeds, roots, within)
            self.units = self._cut()
            parted = self._parted()
            if not parted:
                break
            if parted.keys() <= self._least.keys():
                self._hints |= Hints(on_host=frozenset(parted))
            self._least |= parted
        self._connect()
        self.parts: dict[Unit, Plan] = {}
        self._former: dict[Unit, Plan] = {}  # those that were tried again without sizes
        self.layout: Any = None

    def divide(self, unit: Unit, hints: Hints) -> Plan:
        """Let smaller units do the same as one, as the hints say, from now on."""
        self.parts[unit] = self.in_parts(unit, hints)
        return self.parts[unit]

    @staticmethod
    def in_parts(unit: Unit, hints: Hints) -> Plan:
        """What does the same as a unit in smaller ones."""
        targets = sorted(unit.within, key=lambda operation: operation.serial)
        feeds = [*unit.inputs, *unit.shown]
        return Plan(feeds, unit.outputs, targets, hints, unit.within, unit.repeats)

    def begin_anew(self, unit: Unit) -> None:
        """Where sizes differ, let what was divided for some sizes be compiled as a whole without
        them; what is needed then is found out once more. Where turns run one by one even so, it
        doesn't pay: it's taken back.
        """
        if unit not in self.parts:
            return
        units = [*self.parts[unit].all_units()]
        if unit in self._former:
            if any(each.hints.apart for each in units):
                self.parts[unit] = self._former.pop(unit)
        elif any(each.differs for each in units) and not unit.hints.differ:
            self._former[unit] = self.parts.pop(unit)
            unit.hints, unit.sizes = unit.hints | DIFFER, {}

    def all_units(self) -> Iterator[Unit]:
        """The units, and those that they were divided into."""
        for unit in self.units:
            yield unit
            if unit in self.parts:
                yield from self.parts[unit].all_units()

    def mixed(self) -> str | None:
        """What tells of an operation that waits for values in several loops: it never runs."""
        needed = self._needed
        for element in needed.elements:
            around = {needed.place(value)[0]: value[0] for value in needed.sources(element)}
            if len(around) > 1 and not isinstance(element, Compound):
                names = (frame[-1].decode() if frame else "" for frame in around)
                inputs = "".join(
                    f" The input {{{{node {source.name}}}}} is in frame '{name}'."
                    for source, name in zip(around.values(), names, strict=True)
                )
                return f"{{{{node {element.name}}}}} has inputs from different frames.{inputs}"
        return None

    def absent(self, value: Value) -> Exception:
        """The error that a fetch has no value: of a function, whose results are in order; of a
        session, whose fetches are in the order of their names.
        """
        names = [f"{operation.name}:{index}" for operation, index in self.fetches]
        code = "INTERNAL" if self._repeats else "INVALID_ARGUMENT"
        ordered, name = names if self._repeats else sorted({*names}), f"{value[0].name}:{value[1]}"
        return failure(code, f"Retval[{ordered.index(name)}] does not have value: {name}")

    def _parted(self) -> dict[Operation, int]:
        """What is kept in more regions than one, with the level of the last of them."""
        places: dict[Operation, dict[Unit, int]] = defaultdict(dict)
        for unit in self.units:
            for element in unit.elements if unit.kind == REGION else ():
                for root in kept_in(element):
                    places[root][unit] = self._levels[element]
        return {root: max(found.values()) for root, found in places.items() if len(found) > 1}

    # Loops and choices --------------------------------------------------------------------------

    def _structured(
        self, feeds: list[Value], roots: list[Operation], within: set[Operation] | None
    ) -> Needed:
        """The elements; what can't be a part of a region yet takes its whole family to the host."""
        while True:
            needed = Needed(feeds, roots, within, self._is_compiled)
            needed.order()
            apart, turns = self._hints.apart, dict(self._hints.turns)
            structure(needed, self.fetches, self._is_compiled, apart, turns)
            strays = [
                element
                for element in needed.elements
                if not isinstance(element, Compound)
                and table.is_kept(element)
                and table.family_of(element) not in self._hints.on_host
                and (needed.frames[element] or needed.guards[element])
            ]
            if not strays:
                return needed
            families = {table.family_of(element) for element in strays}
            self._hints |= Hints(on_host=frozenset(families))

    def _is_compiled(self, operation: Operation) -> bool:
        """Whether an operation can be a part of a region."""
        on_host = self._hints.on_host
        if operation in on_host or not table.is_compiled(operation):
            return False
        return not table.is_kept(operation) or table.family_of(operation) not in on_host

    # Units --------------------------------------------------------------------------------------

    def _is_alone(self, element: Operation | Compound) -> bool:
        """Whether an element is a unit of its own."""
        if isinstance(element, Compound):
            return False
        return (
            self._needed.is_fed(element)
            or element.type in DIRECTING
            or not self._is_compiled(element)
        )

    def _cut(self) -> list[Unit]:
        needed, units = self._needed, list[Unit]()
        regions: dict[Any, Unit] = {}
        left, waits = needed.left(), waits_before(needed)
        alone = {element for element in needed.elements if self._is_alone(element)}
        self._levels = Levels(needed, alone, self._hints, self._least, left).found()
        for element in needed.elements:
            level, frame = self._levels[element], needed.frames[element]
            if element in alone and not isinstance(element, Compound):
                kind = FED if needed.is_fed(element) else element.type
                units.append(
                    Unit([element], kind, self._hints, False, frame, frozenset(left[element]))
                )
                continue
            key = (frame, needed.guards[element], level, waits.get(element))
            if key not in regions:
                repeats = self._repeats or bool(frame)
                regions[key] = Unit([], REGION, self._hints, repeats, frame)
                units.append(regions[key])
            regions[key].elements.append(element)
        return units

    def _connect(self) -> None:
        needed = self._needed
        self._of = {
            operation: unit
            for unit in self.units
            for element in unit.elements
            for operation in operations_of(element)
        }
        constants = self._constants()
        for unit in self.units:
            seen: set[Value] = set()
            if unit.kind == REGION:
                unit.elements = self._with_constants(unit.elements, constants)
                seen.update((each, 0) for each in constants.intersection(unit.elements))
            for values, found in ((unit.inputs, needed.inputs), (unit.shown, needed.shown)):
                for value in chain.from_iterable(map(found, unit.elements)):
                    self._take(unit, value, values, seen)
            controls = dict.fromkeys(chain.from_iterable(map(needed.controls, unit.elements)))
            unit.awaited = [(each, CONTROL) for each in controls if self._of[each] is not unit]
        used = {self.unit_of(x) for x in chain(self.fetches, *(x.waits_for for x in self.units))}
        self.units = [x for x in self.units if x in used or not constants >= x.within]
        for value in sorted(
            {*self.fetches, *chain(*(x.waits_for for x in self.units))}, key=_number
        ):
            unit = self.unit_of(value)
            (unit.controls if value[1] == CONTROL else unit.outputs).append(value)
        within = (unit.inputs for unit in self.units if unit.kind in DIRECTING | {REGION})
        for value in chain(self.fetches, *within):
            self.unit_of(value).marked.add(value)

    def unit_of(self, value: Value) -> Unit:
        """The unit that gives a value."""
        return self._of[value[0]]

    def _constants(self) -> set[Operation]:
        """Elements that are the same in each run, in all regions that take them."""
        needed, found = self._needed, set[Operation]()
        for element in needed.elements:
            if isinstance(element, Compound) or element.type not in table.SAME:
                continue
            takes = {needed.of(source) for source, _ in needed.inputs(element)}
            if takes <= found and not needed.is_fed(element) and self._is_compiled(element):
                found.add(element)
        return found

    def _with_constants(
        self, elements: list[Operation | Compound], constants: set[Operation]
    ) -> list[Operation | Compound]:
        """The elements of a region behind the constants that they take, which live where they do:
        in the same loops, behind no other branches.
        """
        needed = self._needed
        frame, guard = needed.frames[elements[0]], needed.guards[elements[0]]

        def taken(element: Operation | Compound) -> Iterator[Operation | Compound]:
            for source, _ in needed.inputs(element):
                is_near = source in constants and needed.frames[source] == frame
                if is_near and needed.guards[source] <= guard:
                    yield source

        before = in_order(chain.from_iterable(map(taken, elements)), taken)
        return list(dict.fromkeys([*before, *elements]))

    def _take(self, unit: Unit, value: Value, values: list[Value], seen: set[Value]) -> None:
        source = self.unit_of(value)
        if value in self._needed.feeds and source.kind != FED:
            name = f"{value[0].name}:{value[1]}"
            message = (
                f"{name} is fed, and other outputs of {value[0].name} aren't: feed all of them"
            )
            raise failure("UNIMPLEMENTED", message)
        if unit.kind == REGION and (source is unit or value in seen):
            return
        seen.add(value)
        values.append(value)


def _number(value: Value) -> tuple[int, int]:
    """What orders values as they were made."""
    return value[0].serial, value[1]
