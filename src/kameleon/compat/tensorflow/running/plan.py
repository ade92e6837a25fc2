"""The part of a graph that is needed, cut into units: regions, and operations that run alone.

A region is made of elements that run together whenever one of them runs: they are in the same
loops, behind the same branches, and on the same side of what runs on the host.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any

from ..dtypes import HANDLES, OF_K, name_of
from ..failures import failure
from ..graph import PASSING, Operation, Value
from ..operations import table
from ..walks import in_order
from .needed import (
    CONTROL,
    DIRECTING,
    ENTERS,
    EXITS,
    MERGES,
    SWITCHES,
    TURNS,
    Compound,
    Frame,
    Needed,
    operations_of,
)
from .sizes import Key, Sizes
from .structure import structure

REGION, FED = "region", "fed"
# What puts something into queues and the like, and what takes it: who waits for the other one.
PUTS = re.compile("QueueEnqueue|(Ordered)?(Map)?Stage$|BarrierInsert|.*AccumulatorApply|Consume")
TAKES = re.compile(".*(Dequeue|Unstage|Peek)|BarrierTake|.*AccumulatorTake|MutexLock")

Befores = Mapping[Operation | Compound, frozenset[Operation]]


@dataclass(frozen=True)
class Hints:
    """What turned out while a part was compiled.

    Attributes:
        on_host: operations that run alone, though they could be compiled.
        known: values that must be known before what takes them is compiled.
        needing: the operations that need those.
        apart: conditions of loops and choices that can't be compiled.
        turns: conditions of loops, each with what counts its turns ahead.
        differ: whether sizes do from run to run.
    """

    on_host: frozenset[Operation] = frozenset()
    known: frozenset[Value] = frozenset()
    needing: frozenset[Operation] = frozenset()
    apart: frozenset[Value] = frozenset()
    turns: frozenset[tuple[Value, Value]] = frozenset()
    differ: bool = False

    @cached_property
    def numbers(self) -> frozenset[Value]:
        """What counts the turns of loops ahead."""
        return frozenset(number for _, number in self.turns)

    def is_before(self, value: Value) -> bool:
        """Whether a value must be there before what takes it is compiled."""
        return value in self.known or value in self.numbers

    def __or__(self, other: Hints) -> Hints:
        names = [each.name for each in fields(self)]
        return Hints(*(getattr(self, name) | getattr(other, name) for name in names))

    def without_values(self, operations: frozenset[Operation]) -> Hints:
        """What operations needed to be compiled needn't be known any more."""
        return replace(self, known=frozenset(), needing=self.needing - operations)


DIFFER = Hints(differ=True)


@dataclass(eq=False)
class Unit:
    """What runs at once.

    Attributes:
        elements: in an order that fits; one, but for a region.
        kind: `region`, `fed`, or the type of the operation.
        hints: of the plan.
        repeats: it may run many times in a run, as a turn of a loop does.
        frame: the loops that it's in.
        left: the loops something of which came out before it.
        inputs: the values that come from other units; each once for a region.
        shown: those, behind them, that only assertions show where they don't hold.
        awaited: what of others stands for "it has run", and must be there.
        outputs: the values that others take, or that are fetched.
        marked: the outputs that aren't just taken on the host: it's said if they're known.
        controls: what stands for "it has run", where others wait for it.
        cache: what the region was compiled to.
        recent: the same by keys that came.
        direct: what it was compiled to last, if that takes and gives values as they are.
        sizes: by kind of its key, the sizes that differ from run to run.
        divided: a plan that does the same in smaller units.
        former: the plan that divided it before that was tried without sizes.
        differs: whether sizes did from run to run.
    """

    elements: list[Operation | Compound]
    kind: str
    hints: Hints
    repeats: bool = False
    frame: Frame = ()
    left: frozenset[Frame] = frozenset()
    inputs: list[Value] = field(default_factory=list)
    shown: list[Value] = field(default_factory=list)
    awaited: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    marked: set[Value] = field(default_factory=set)
    controls: list[Value] = field(default_factory=list)
    cache: dict[Key, Any] = field(default_factory=dict)
    recent: dict[Key, Any] = field(default_factory=dict)
    direct: Any = None
    sizes: dict[Key, Sizes] = field(default_factory=dict)
    divided: Plan | None = None
    former: Plan | None = None
    differs: bool = False

    @property
    def operation(self) -> Operation:
        """The only operation."""
        return self.elements[0]  # type: ignore[return-value]

    @property
    def waits_for(self) -> list[Value]:
        """All that must be there before it runs."""
        return [*self.inputs, *self.shown, *self.awaited]

    @property
    def is_constant(self) -> bool:
        """Whether it gives the same in each run, outside of loops."""
        is_fed = self.kind == FED or self.frame
        return not is_fed and not self.waits_for and all(x.type == "Const" for x in self.within)

    @cached_property
    def enters_all_turns(self) -> bool:
        """Whether it hands a value into each turn of a loop."""
        return self.kind in ENTERS and bool(self.operation.attribute("is_constant"))

    @cached_property
    def closes_loop(self) -> bool:
        """Whether it's a Merge that takes the values of the next turn, too."""
        return self.kind in MERGES and any(each.type in TURNS for each, _ in self.inputs)

    @cached_property
    def carries(self) -> bool:
        """Whether it's a Merge of a value that may be another one in each turn."""
        following = [each for each in self.inputs if each[0].type in TURNS]
        for source, _ in following:
            value = source.inputs[0]
            while value[0].type in SWITCHES | {"Identity"}:
                value = value[0].inputs[0]
            if value[0] is self.operation:
                return False
        return self.closes_loop

    @cached_property
    def needs_values(self) -> bool:
        """Whether an operation here needs a value to be compiled."""
        return not self.hints.needing.isdisjoint(self.within)

    @cached_property
    def is_known(self) -> list[bool]:
        """By input, whether what it is decides what the region is compiled to."""
        known = self.hints.numbers | (self.hints.known if self.needs_values else frozenset())
        return [value in known for value in self.inputs]

    @cached_property
    def is_plain(self) -> list[bool]:
        """By input, whether it holds numbers that needn't be known."""
        kinds = [name_of(source.types[index]) in OF_K for source, index in self.inputs]
        return [one and not other for one, other in zip(kinds, self.is_known, strict=True)]

    @cached_property
    def keeps(self) -> bool:
        """Whether an operation here works on what is kept."""
        return any(table.is_kept(each) for each in self.within)

    @cached_property
    def within(self) -> set[Operation]:
        """All operations here."""
        return {operation for each in self.elements for operation in operations_of(each)}

    def in_parts(self, hints: Hints) -> Plan:
        """What does the same in smaller units, as the hints say."""
        targets = sorted(self.within, key=lambda operation: operation.serial)
        feeds = [*self.inputs, *self.shown]
        return Plan(feeds, self.outputs, targets, hints, self.within, self.repeats)

    def begin_anew(self) -> None:
        """Where sizes differ, let what was divided for some sizes be compiled as a whole without
        them; what is needed then is found out once more. Where turns run one by one even so, it
        doesn't pay: it's taken back.
        """
        divided, former = self.divided, self.former
        if former is not None and divided is not None:
            if divided.runs_turns:
                self.divided, self.former = former, None
        elif divided is not None and divided.differs and not self.hints.differ:
            self.former = divided
            self.hints, self.sizes, self.divided = self.hints | DIFFER, {}, None

    @cached_property
    def assertions(self) -> frozenset[Operation]:
        """What the program asserts here."""
        return frozenset(each for each in self.within if each.type in table.ASSERTIONS)

    def with_alone(self, operations: frozenset[Operation]) -> Plan:
        """What does the same, where each of these operations runs alone."""
        return self.in_parts(self.hints | Hints(on_host=operations))


class Plan:
    """What must run for some fetches, given some feeds.

    Attributes:
        units: what runs at once.
        fetches: the values to return.
        layout: where the units run, and where their values are; once it was run.
    """

    def __init__(
        self,
        feeds: Iterable[Value],
        fetches: Sequence[Value],
        targets: Sequence[Operation],
        hints: Hints = Hints(),
        within: set[Operation] | None = None,
        repeats: bool = False,
    ) -> None:
        self.fetches, self._hints, self._repeats = list(fetches), hints, repeats
        roots = [operation for operation, _ in fetches] + list(targets)
        feeds = list(feeds)
        self._least: dict[Operation, int] = {}
        while True:
            self._needed = self._structured(feeds, roots, within)
            self._levels: dict[Operation | Compound, int] = {}
            self.units = self._cut()
            parted = self._parted()
            if not parted:
                break
            if parted.keys() <= self._least.keys():
                self._hints |= Hints(on_host=frozenset(parted))
            self._least |= parted
        self._connect()
        self.layout: Any = None

    @property
    def runs_turns(self) -> bool:
        """Whether loops run here that couldn't be compiled, turn by turn."""
        return any(unit.hints.apart for unit in self.all_units())

    def all_units(self) -> Iterator[Unit]:
        """The units, and those that they were divided into."""
        for unit in self.units:
            yield unit
            if (inner := unit.divided) is not None:
                yield from inner.all_units()

    @property
    def differs(self) -> bool:
        """Whether sizes did, somewhere, from run to run."""
        return any(unit.differs for unit in self.all_units())

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
                for root in self._kept_in(element):
                    places[root][unit] = self._levels[element]
        return {root: max(found.values()) for root, found in places.items() if len(found) > 1}

    def _kept_in(self, element: Operation | Compound) -> Iterator[Operation]:
        """What an element works on of what's kept."""
        kept = (operation for operation in operations_of(element) if table.is_kept(operation))
        return map(table.family_of, kept)

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

    def _find_levels(self, left: Mapping[Operation | Compound, Mapping[Frame, int]]) -> None:
        """How much of the host lies before each element; what's fed is there from the beginning."""
        needed = self._needed
        alone = {element for element in needed.elements if self._is_alone(element)}
        turning = dict[Operation | Compound, int]()
        while True:
            levels = self._levels = {}
            for element in needed.elements:
                level = self._level(element, alone)
                levels[element] = max(level, turning.get(element, 0))
            found = self._turning(levels, left)
            if found == turning:
                break
            turning = found
        # What's kept waits for those that use it, so that all of it is in one region.
        last: dict[Operation | Compound, int] = {}
        for element in reversed(needed.elements):
            if element in last and element not in alone and _can_wait(element):
                levels[element] = max(levels[element], last[element])
            for value in needed.sources(element):
                source = needed.of(value[0])
                crosses = element in alone or self._hints.is_before(value)
                limit = levels[element] - crosses
                last[source] = min(limit, last.get(source, limit))

    def _turning(
        self,
        levels: Mapping[Operation | Compound, int],
        left: Mapping[Operation | Compound, Mapping[Frame, int]],
    ) -> dict[Operation | Compound, int]:
        """By what comes out of a loop, the level of all that its turns need; but what comes to the
        loop after something came out of it isn't needed for that.
        """
        frames, highest = self._needed.frames, defaultdict[tuple[Frame, int], int](int)
        for element, level in levels.items():
            for depth in range(len(frames[element])):
                frame = frames[element][: depth + 1]
                key = frame, _times_left(left[element], frame)
                highest[key] = max(highest[key], level)
        return {
            each: max(highest[frame, times] for times in range(_times_left(left[each], frame) + 1))
            for each, frame in frames.items()
            if not isinstance(each, Compound) and each.type in EXITS
        }

    def _level(self, element: Operation | Compound, alone: set[Operation | Compound]) -> int:
        needed, level = self._needed, 0
        if self._least:  # what was kept in several regions comes into the last of them
            level = max((self._least.get(root, 0) for root in self._kept_in(element)), default=0)
        for value in needed.sources(element):
            source = needed.of(value[0])
            if source in self._levels:
                crosses = source in alone and not needed.is_fed(source)
                crosses |= element in alone or self._hints.is_before(value)
                level = max(level, self._levels[source] + crosses)
        return level

    def _cut(self) -> list[Unit]:
        needed, units = self._needed, list[Unit]()
        regions: dict[Any, Unit] = {}
        left = needed.left()
        self._find_levels(left)
        waits = self._waits()
        for element in needed.elements:
            level, frame = self._levels[element], needed.frames[element]
            if not isinstance(element, Compound) and self._is_alone(element):
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

    def _waits(self) -> dict[Operation | Compound, Any]:
        """What may wait before an element, in its turn and in all that were, for what the same run
        does. A region has the same before all of it: it must not hold back what is waited for.
        """
        alone = [each for each in self._needed.elements if not isinstance(each, Compound)]
        sides = [[each for each in alone if side.match(each.type)] for side in (PUTS, TAKES)]
        if not all(sides):
            return {}
        in_turn = self._behind({each: frozenset([each]) for each in chain(*sides)})
        ever, further = in_turn, self._behind(in_turn)
        while ever != further:
            ever, further = further, self._behind(further)
        waits = [
            (befores, {  # those that don't come before all that lets them go on
                each
                for side, others in (sides, sides[::-1])
                for each in side
                if any(each not in befores[other] for other in others)
            })
            for befores in (in_turn, ever)
        ]  # fmt: skip
        return {
            element: tuple(befores.get(element, frozenset()) & free for befores, free in waits)
            for element in self._needed.elements
        }

    def _behind(self, known: Befores) -> Befores:
        """What is before elements, as far as it's known, handed on to what takes of them."""
        found = dict(known)
        for element in self._needed.elements:
            sources = (self._needed.of(source) for source, _ in self._needed.sources(element))
            befores = [found[source] for source in sources if source in found]
            if befores:
                found[element] = found.get(element, frozenset()).union(*befores)
        return found

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


def _times_left(left: Mapping[Frame, int], frame: Frame) -> int:
    """How often something came out of a loop, or of those around it."""
    return sum(left.get(frame[:depth], 0) for depth in range(1, len(frame) + 1))


def _can_wait(element: Operation | Compound) -> bool:
    """Whether an element works on what is kept, hands it on, or does nothing."""
    return any(
        table.is_kept(each)
        or each.type == "NoOp"
        or (each.type in PASSING and each.types[0] in HANDLES)
        for each in operations_of(element)
    )
