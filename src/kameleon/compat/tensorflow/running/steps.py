"""What units do in a turn: they find what they take, and put what they give, in places of it.

What lies on a branch that isn't taken gives `DEAD`, which is handed on until a Merge finds a value
that lives. What takes something that is still `MISSING` is put off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from ..failures import invalid
from ..graph import Value, shape_text
from ..operations import table
from ..resources.waiting import Steps
from ..variables import Reference, Store
from .marks import DEAD, MISSING, Mark
from .sizes import Known, unmarked
from .units import Unit

AT_ONCE = 1000  # so many turns of a loop; it may wait for what others do meanwhile


class Run(Protocol):
    """What steps need of the run that they're a part of.

    Attributes:
        store: what is kept between runs.
    """

    store: Store

    def read(self, value: Any) -> Any:
        """A value, that of a variable for the variable."""

    def region(self, unit: Unit, values: Sequence[Any]) -> Sequence[Any]:
        """What a region gives."""

    def go_on(self, step: Step, turn: Turn, steps: Steps) -> None:
        """Let an operation go on until it has to wait, or is done."""

    def go_through(self, turn: Turn) -> None:
        """Do what can be done in a turn."""


# A step, its method, and the places that are free behind it.
Todo = tuple[Any, Callable[..., bool | None], tuple[int, ...]]


class Block:
    """What runs in each turn of a loop; or, around all loops, once.

    Attributes:
        steps: what is done, in order, each with its method and the places that it frees.
        size: how many places it has for values.
        fetched: what is fetched of them.
    """

    def __init__(self) -> None:
        self.steps: list[Todo] = []
        self.size = 0
        self.fetched: list[tuple[Value, int]] = []

    def place(self) -> int:
        """A place for one more value."""
        self.size += 1
        return self.size - 1

    def fill(self, steps: Sequence[Any], kept: set[int]) -> None:
        """Let it do steps; each frees what no later one uses, but for what is kept."""
        for step in reversed(steps):
            self.steps.append((step, step.go, tuple({*step.places} - kept)))
            kept |= {*step.places}
        self.steps.reverse()


class Turn:
    """A turn of a loop that was entered; or all that runs, outside of loops.

    Attributes:
        slots: the values, by place.
        steps: what is still to be done.
        loop: that it's a turn of; None outside.
        loops: that were entered in this turn, until they end.
        following: the next turn, once it began.
    """

    __slots__ = ("block", "following", "loop", "loops", "slots", "steps")

    def __init__(self, block: Block, slots: list[Any], loop: Entered | None = None) -> None:
        self.block, self.slots, self.loop = block, slots, loop
        self.steps = block.steps
        self.loops: dict[Block, Entered] = {}
        self.following: Turn | None = None

    def entered(self, block: Block) -> Entered:
        """A loop, which may begin now."""
        if block not in self.loops:
            self.loops[block] = Entered(block, self)
        return self.loops[block]


class Entered:
    """A loop that was entered.

    Attributes:
        around: the turn in which it was.
        constants: what each of its turns begins with.
        turns: those in which something is still to be done, in order.
        first: the first of all.
    """

    def __init__(self, block: Block, around: Turn) -> None:
        self._block, self.around = block, around
        self.constants: list[Any] = [MISSING] * block.size
        self.turns: list[Turn] = []
        self.first = self.begin()

    def begin(self) -> Turn:
        """One more turn."""
        made = Turn(self._block, self.constants.copy(), self)
        self.turns.append(made)
        return made


class Step:
    """What a unit does.

    Args:
        unit: the unit.
        takes: the places of its inputs, and then of what else it waits for.
        gives: the places of its outputs, by number.
        ends: the place of what stands for "it has run", if anything waits for it.

    Attributes:
        is_told: whether traces say when it ran.
        special: the types of what it takes that it doesn't take as they are.
    """

    is_told = True
    special = frozenset[type]({Mark})

    def __init__(
        self, unit: Unit, takes: Sequence[int], gives: Sequence[int], ends: int | None
    ) -> None:
        self.unit, self.gives, self.ends = unit, gives, ends
        self.take = _taking(takes)
        self._all = [*gives] if ends is None else [*gives, ends]
        self._count = len(unit.inputs) + len(unit.shown)
        self._takes = takes

    @property
    def places(self) -> Sequence[int]:
        """The places in the turn that it uses."""
        return [*self._takes, *self._all]

    def go(self, run: Run, turn: Turn) -> bool | None:
        """Do it; whether it has to be put off."""
        values = self.take(turn.slots)
        if not self.special.isdisjoint(map(type, values)):
            if MISSING in (marks := [each for each in values if type(each) is Mark]):
                return True
            if marks and self.dies_of(marks):
                self.die(turn)
                return None
            values = self.plain(run, values)
        self.act(run, turn, values)
        return None

    def plain(self, run: Run, values: Sequence[Any]) -> Sequence[Any]:
        """What it takes, where some of it is special."""
        return values

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        """Do it, given what it takes."""
        raise NotImplementedError

    def dies_of(self, marks: list[Mark]) -> bool:
        """Whether it isn't done where these are among what it takes."""
        return True

    def die(self, turn: Turn) -> None:
        """Don't do it: it's on a branch that isn't taken."""
        for at in self._all:
            turn.slots[at] = DEAD

    def give(self, turn: Turn, found: Sequence[Any]) -> None:
        """Put what it found."""
        slots = turn.slots
        for at, value in zip(self.gives, found):  # noqa: B905  # others aren't taken
            slots[at] = value
        if self.ends is not None:
            slots[self.ends] = None


def _taking(places: Sequence[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """What takes the values at some places."""
    if len(places) == 1:
        [at] = places
        return lambda slots: (slots[at],)
    return itemgetter(*places) if places else lambda slots: ()


# What computes ----------------------------------------------------------------------------------


class OnHost(Step):
    """An operation that runs on the host, alone."""

    special = frozenset({Mark, Known, Reference})

    @cached_property
    def _function(self) -> table.HostFunction:
        return table.on_host(self.unit.operation)

    def plain(self, run: Run, values: Sequence[Any]) -> Sequence[Any]:
        return table.read(run.store, self.unit.operation, [*map(unmarked, values)])

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        found = self._function(run.store, values[: self._count])
        if isinstance(found, Steps):
            run.go_on(self, turn, found)
        else:
            self.give(turn, found)


class Handed(OnHost):
    """An operation on the host that hands a value on."""

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        self.give(turn, values)


class Compiled(Step):
    """A region."""

    def dies_of(self, marks: list[Mark]) -> bool:
        return DEAD in marks  # it can do without what is absent, where it chooses

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        self.give(turn, run.region(self.unit, values[: self._count]))


class Trigger(Step):
    """What waits for others, dead or not."""

    def dies_of(self, marks: list[Mark]) -> bool:
        return False

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        self.give(turn, ())


# What directs -----------------------------------------------------------------------------------


class Handing(Step):
    """What hands a value on."""

    is_told = False

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        self.give(turn, values)


class Switch(Step):
    """What hands a value on one of two ways."""

    special = frozenset({Mark, Reference})

    def plain(self, run: Run, values: Sequence[Any]) -> Sequence[Any]:
        return [values[0], run.read(values[1])]

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        value, condition = values[:2]
        if shape := getattr(condition, "shape", ()):
            about = "The second input must be a scalar, but it has shape"
            raise table.located(invalid(f"{about} {shape_text(shape)}"), self.unit.operation)
        self.give(turn, (DEAD, value) if condition else (value, DEAD))


class Merge(Step):
    """What hands on the first value that lives; it's dead, when none can come any more. At the head
    of a loop one value comes in each turn; what changes with them isn't known.
    """

    def __init__(self, unit: Unit, takes: Sequence[int], *given: Any) -> None:
        super().__init__(unit, takes, *given)
        self._numbered = [(np.int32(at), place) for at, place in enumerate(takes[: self._count])]
        self._awaited = takes[self._count :]
        self._last_hope = 1 if unit.closes_loop else self._count

    def go(self, run: Run, turn: Turn) -> bool | None:
        slots = turn.slots
        if self._awaited and MISSING in [slots[at] for at in self._awaited]:
            return True
        for number, at in self._numbered:
            value = slots[at]
            if type(value) is not Mark:
                self.give(turn, (unmarked(value) if self.unit.carries else value, number))
                return None
        missing = [slots[at] for _, at in self._numbered].count(MISSING)
        if len(self._numbered) - missing < self._last_hope:
            return True
        self.die(turn)
        return None


class Leaving(Step):
    """What hands a value out of the turn."""

    is_told = False

    @property
    def places(self) -> Sequence[int]:
        """The places in the turn that it uses."""
        return self._takes


class Enter(Leaving):
    """What hands a value into a loop."""

    def __init__(self, *given: Any, into: Block) -> None:
        super().__init__(*given)
        self._into = into

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        self._enter(turn, values[0])

    def die(self, turn: Turn) -> None:
        self._enter(turn, DEAD)

    def _enter(self, turn: Turn, value: Any) -> None:
        loop = turn.entered(self._into)
        begun = [loop.constants, *(x.slots for x in loop.turns)]
        for slots in begun if self.unit.enters_all_turns else [loop.first.slots]:
            for at in self._all:
                slots[at] = value


class Exit(Leaving):
    """What hands a value out of a loop; what is dead before the loop ends isn't."""

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        assert turn.loop is not None
        self.give(turn.loop.around, values)

    def die(self, turn: Turn) -> None:
        pass


class Next(Leaving):
    """What hands a value to the next turn; the loop ends where it's dead."""

    def act(self, run: Run, turn: Turn, values: Sequence[Any]) -> None:
        if turn.following is None:
            assert turn.loop is not None
            turn.following = turn.loop.begin()
        self.give(turn.following, values)

    def die(self, turn: Turn) -> None:
        pass


class Looping:
    """A loop, as a step of what is around it.

    Args:
        block: of the loop.
        places: of what comes out, around it.
    """

    is_told = False

    def __init__(self, block: Block, places: Sequence[int]) -> None:
        self._block, self.places = block, places

    def go(self, run: Run, turn: Turn) -> bool | None:
        """Do all turns; whether some has to be put off."""
        loop = turn.loops.get(self._block)
        if loop is None:
            return True
        left: list[Turn] = []
        for _ in range(AT_ONCE):
            now, loop.turns = loop.turns, []
            for each in now:
                run.go_through(each)
                if each.steps:
                    left.append(each)
                else:
                    each.following = None  # so that nothing keeps the turns that ended
            if not loop.turns:
                break
        loop.turns = [*left, *loop.turns]
        if loop.turns:
            return True
        del turn.loops[self._block]
        for at in self.places:
            if turn.slots[at] is MISSING:
                turn.slots[at] = DEAD
        return None
