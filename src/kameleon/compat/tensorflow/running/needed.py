"""What some fetches need of a graph, in an order that fits, and where each part of it runs.

The parts are elements: operations, and compounds (loops and choices that run as one), which stand
for all operations in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph import Operation, Value
from ..operations import table
from ..walks import in_order, reached

# Operations that direct values.
SWITCHES = frozenset({"Switch", "RefSwitch"})
MERGES = frozenset({"Merge", "RefMerge"})
ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
TURNS = frozenset({"NextIteration", "RefNextIteration"})
DIRECTING = SWITCHES | MERGES | ENTERS | EXITS | TURNS | {"LoopCond", "ControlTrigger"}
PASSING = SWITCHES | {"Identity"}  # what a condition is handed on by

CONTROL = -1  # the number of the output that stands for "it has run"

Frame = tuple[bytes, ...]  # the loops that something is in, by name
Guard = frozenset[tuple["Value", int]]  # conditions, and how they must have come out


@dataclass(eq=False)
class Compound:
    """A loop, or a choice, that runs as one.

    Attributes:
        name: of an operation in it.
        members: all operations in it, those of compounds inside, too.
        inputs: the values that come from outside.
        shown: those that only assertions in it show.
        control: operations outside that must have run.
        condition: a bool: which way is taken, or whether there is another turn.
        outputs: what's taken from it.
    """

    name: str
    members: set[Operation]
    inputs: list[Value]
    shown: list[Value]
    control: list[Operation]
    condition: Value
    outputs: list[Value] = field(default_factory=list, init=False)
    serial: int = field(init=False)

    def __post_init__(self) -> None:
        self.serial = max(operation.serial for operation in self.members)

    @property
    def parts(self) -> Sequence[list[Operation | Compound]]:
        """What is in it: the branches of a choice; what a loop tests, does, and does at last."""
        raise NotImplementedError


@dataclass(eq=False)
class Choice(Compound):
    """What runs if a condition holds (1), and what if it doesn't (0).

    Attributes:
        branches: for each way, its elements in order.
        merges: what joins, each with the number of its input for each way.
    """

    branches: tuple[list[Operation | Compound], list[Operation | Compound]]
    merges: list[tuple[Operation, tuple[int, int]]]

    @property
    def parts(self) -> Sequence[list[Operation | Compound]]:
        """The branches."""
        return self.branches


@dataclass(frozen=True)
class Carried:
    """What a loop hands from turn to turn: the Merge at its head, what it begins with, what the
    next turn gets, and where it goes to the next turn or out of the loop."""

    merge: Operation
    first: Value
    following: Value
    switches: list[Operation]


@dataclass(eq=False)
class Loop(Compound):
    """What runs as long as a condition holds.

    Attributes:
        carried: the values that change.
        testing: elements that the condition needs, in order.
        body: those of another turn.
        leaving: those that run once, when there's no other turn.
        exits: what comes out.
        turns: how many there are, where that's counted ahead; one of the inputs.
    """

    carried: list[Carried]
    testing: list[Operation | Compound]
    body: list[Operation | Compound]
    leaving: list[Operation | Compound]
    exits: list[Operation]
    turns: Value | None = field(default=None, init=False)

    @property
    def parts(self) -> Sequence[list[Operation | Compound]]:
        """What it tests, does, and does at last."""
        return self.testing, self.body, self.leaving


def around(
    wanted: Compound, elements: Iterable[Operation | Compound]
) -> list[tuple[Compound, int]] | None:
    """The compounds that one is in, outermost first, each with the number of the part that it's in;
    None if it isn't among the elements, or in them.
    """
    for element in elements:
        if element is wanted:
            return []
        if isinstance(element, Compound) and wanted.members <= element.members:
            for number, part in enumerate(element.parts):
                inner = around(wanted, part)
                if inner is not None:
                    return [(element, number), *inner]
    return None


def operations_of(element: Operation | Compound) -> Iterable[Operation]:
    """The operations that an element stands for."""
    return element.members if isinstance(element, Compound) else (element,)


def outputs_of(element: Operation | Compound) -> Iterable[Value]:
    """What others may take from an element."""
    if isinstance(element, Compound):
        return element.outputs
    return ((element, index) for index in range(len(element.types)))


def waited_for(control: Iterable[Operation]) -> Iterable[Operation]:
    """Operations that must have run; in place of a switch, what it waits for itself."""
    for operation in control:
        if operation.type in SWITCHES:
            yield from waited_for([source for source, _ in operation.inputs])
            yield from waited_for(operation.control)
        else:
            yield operation


class Needed:
    """The elements that are needed.

    Attributes:
        feeds: values that are given.
        elements: in an order that fits, once `order` was called.
        frames: by element, the loops that it's in.
        guards: by element, the branches that it's behind.
    """

    def __init__(
        self,
        feeds: Iterable[Value],
        roots: Sequence[Operation],
        within: set[Operation] | None,
        is_compiled: Callable[[Operation], bool],
    ) -> None:
        self.feeds, self._roots, self._within = set(feeds), roots, within
        self._is_compiled = is_compiled
        self._fed = {operation for operation, _ in self.feeds}
        self.owners: dict[Operation, Compound] = {}
        self.elements: list[Operation | Compound] = []
        self.frames: dict[Operation | Compound, Frame] = {}
        self.guards: dict[Operation | Compound, Guard] = {}
        self._outside: dict[Operation, Guard] = {}  # of exits, the guards around their loops

    def of(self, operation: Operation) -> Operation | Compound:
        """The element that an operation is a part of."""
        return self.owners.get(operation, operation)

    def is_fed(self, element: Operation | Compound) -> bool:
        """Whether the values of an element are given: all that are taken, within a part of a
        graph; else all."""
        if element not in self._fed or isinstance(element, Compound):
            return False
        if self._within is not None:
            return True
        return all((element, index) in self.feeds for index in range(len(element.types)))

    def inputs(self, element: Operation | Compound) -> list[Value]:
        """The values that an element takes."""
        if self.is_fed(element):
            return []
        if isinstance(element, Compound):
            return element.inputs
        few = table.compiled_inputs(element)
        return few if few is element.inputs or self._is_compiled(element) else element.inputs

    def shown(self, element: Operation | Compound) -> list[Value]:
        """The values that assertions which are compiled show where they don't hold, but those that
        are there anyway.
        """
        if isinstance(element, Compound):
            return element.shown
        few = table.shown_inputs(element)
        if not few or self.is_fed(element) or not self._is_compiled(element):
            return []
        return [(x, at) for x, at in few if x.type != "Const" or self.is_fed(x)]

    def controls(self, element: Operation | Compound) -> list[Operation]:
        """The operations that an element waits for."""
        if self.is_fed(element):
            return []
        control = element.control
        if any(operation.type in SWITCHES for operation in control):
            control = list(waited_for(control))
        if self._within is None:
            return control
        return [operation for operation in control if operation in self._within]

    def sources(self, element: Operation | Compound) -> Iterator[Value]:
        """What an element waits for, each as a value."""
        yield from self.inputs(element)
        yield from self.shown(element)
        for before in self.controls(element):
            yield before, CONTROL

    def order(self) -> None:
        """Find the elements that are needed, put each behind those that it waits for (but for what
        closes a loop), and find where each runs.

        A variable is read before something computed is written to it, if nothing else says which
        comes first, though the reading may have been made later: as in TensorFlow, where it's done
        long before. (Keras, whose phase is set to 0, uses averages that it updates.)"""
        found = reached(map(self.of, self._roots), self._waits_for)
        roots = sorted(found, key=lambda element: (not self._is_early(element), element.serial))
        self.elements = list(in_order(roots, self._before))
        self.frames, self.guards = {}, {}
        for element in self.elements:
            self._place(element)

    def _waits_for(self, element: Operation | Compound) -> Iterator[Operation | Compound]:
        return (self.of(source) for source, _ in self.sources(element))

    def _is_early(self, element: Operation | Compound) -> bool:
        """Whether an element is on a variable, and waits for nothing that waits itself."""
        if isinstance(element, Compound) or not element.type.endswith("VariableOp"):
            return False
        return not any(any(self.sources(each)) for each in self._waits_for(element))

    def _before(self, element: Operation | Compound) -> Iterator[Operation | Compound]:
        for source, _ in self.sources(element):
            if source.type not in TURNS or source in self.owners:
                yield self.of(source)

    # Where each runs ----------------------------------------------------------------------------

    def _place(self, element: Operation | Compound) -> None:
        frame: Frame = ()
        guards: list[Guard] = []
        for value in self.sources(element):
            if self.of(value[0]) in self.frames:
                around, guard = self.place(value)
                frame = max(frame, around, key=len)
                guards.append(guard)
        joins = not isinstance(element, Compound) and element.type in MERGES and guards
        found = frozenset.intersection(*guards) if joins else frozenset[Any]().union(*guards)
        if isinstance(element, Compound):
            self.frames[element], self.guards[element] = frame, found
            return
        if element.type == "ControlTrigger":  # runs whichever branch is taken before
            found = frozenset(each for each in found if each[0][0].type == "LoopCond")
        self.frames[element], self.guards[element] = frame, found
        if element.type in EXITS:
            self._outside[element] = frozenset(
                (value, way) for value, way in found if not self._is_turn(value[0], frame)
            )

    def place(self, value: Value) -> tuple[Frame, Guard]:
        """Where a value is: in which loops, and behind which branches."""
        source, index = value
        element = self.of(source)
        frame, guard = self.frames[element], self.guards[element]
        if element is not source or self.is_fed(source):
            return frame, guard
        if source.type in ENTERS:
            frame = (*frame, source.attribute("frame_name"))
        elif source.type in EXITS:
            frame, guard = frame[:-1], self._outside[source]
        elif source.type in SWITCHES and index != CONTROL:
            condition = self.deciding(source) or self.condition(source.inputs[1])
            if (condition, index) not in guard:  # else it is asked again
                guard = guard | {(condition, index)}
        return frame, guard

    def condition(self, value: Value, passing: frozenset[str] = PASSING) -> Value:
        """What decides: where it's handed on, or into branches, what it was before."""
        while value[0].type in passing and not self.is_fed(value[0]):
            value = value[0].inputs[0]
        return value

    def deciding(self, switch: Operation) -> Value | None:
        """The condition of a switch, if it's behind that already: a loop's gradient asks again what
        the loop itself is behind, and takes so what a loop in a branch has kept."""
        condition = self.condition(switch.inputs[1], PASSING | ENTERS)
        return condition if any(condition == each for each, _ in self.guards[switch]) else None

    def left(self) -> dict[Operation | Compound, Mapping[Frame, int]]:
        """By element, the loops something of which came out before it, and how often: a loop itself
        may go on with what comes so late, as what counts its turns for a gradient that was made
        after it.
        """
        found: dict[Operation | Compound, Mapping[Frame, int]] = {}
        for element in self.elements:
            times: dict[Frame, int] = {}
            for source, _ in self.sources(element):
                before = self.of(source)
                come_out = found.get(before, {})
                if not isinstance(before, Compound) and before.type in EXITS:
                    frame = self.frames[before]
                    come_out = {**come_out, frame: come_out.get(frame, 0) + 1}
                for frame, count in come_out.items():
                    times[frame] = max(count, times.get(frame, 0))
            found[element] = times
        return found

    def _is_turn(self, condition: Operation, frame: Frame) -> bool:
        return condition.type == "LoopCond" and self.frames.get(self.of(condition)) == frame
