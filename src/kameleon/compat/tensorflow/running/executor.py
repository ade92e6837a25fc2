"""Runs a plan: each unit when its inputs are there, with a frame for each loop that is entered.

As TensorFlow's executor does it: what lies on a branch that isn't taken gets the value `DEAD`,
and hands it on, until a Merge finds a value that lives. A turn of a loop has inputs of its own.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..dtypes import HANDLES
from ..failures import invalid
from ..graph import Value, shape_text
from ..operations import table
from ..resources.waiting import Steps
from ..variables import Reference, Store
from . import regions
from .bodies import ABSENT
from .compiled import AssertedError
from .needed import CONTROL, ENTERS, EXITS, SWITCHES, TURNS
from .plan import FED, REGION, Plan, Unit
from .sizes import unmarked
from .spans import Span, Trace


class _Dead:
    """What flows along a branch that isn't taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()


class Waiting:
    """A unit's inputs in one turn of a frame, while they come in."""

    __slots__ = ("dead", "dead_inputs", "pending", "sent", "values")

    def __init__(self, unit: Unit) -> None:
        self.pending = unit.pending
        self.values: list[Any] = [None] * (len(unit.inputs) + len(unit.shown))
        self.dead = False  # something dead came in
        self.dead_inputs = 0
        self.sent = False


class Frame:
    """A loop that was entered; the outermost one is no loop."""

    def __init__(self, parent: Frame | None, turn: int) -> None:
        self.parent, self.turn = parent, turn  # of the parent, in which it was entered
        self.children: dict[tuple[bytes, int], Frame] = {}
        self.constants: list[tuple[Unit, Any]] = []  # what each turn gets anew
        self.last = 0
        self.decided = -1  # the last turn of which it's known whether another one follows
        self.ended: int | None = None  # the turn that none follows
        self.leaving: list[Unit] = []  # what came out dead, before that was known
        self.waiting: dict[int, dict[Unit, Waiting]] = {}

    def inputs(self, unit: Unit, turn: int) -> Waiting:
        """What has come for a unit in a turn."""
        units = self.waiting.setdefault(turn, {})
        if unit not in units:
            units[unit] = Waiting(unit)
        return units[unit]


@dataclass(eq=False)
class Suspended:
    """An operation that waits, in a turn of a frame."""

    unit: Unit
    frame: Frame
    turn: int
    steps: Steps


class Run:
    """One run of a plan.

    Args:
        trace: takes what ran, and when; None: nobody asks.
    """

    def __init__(
        self,
        store: Store,
        plan: Plan,
        feeds: Mapping[Value, Any],
        deadline: float | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._store, self._plan, self._feeds, self._deadline = store, plan, feeds, deadline
        self._trace = trace
        self._suspended: list[Suspended] = []
        self._results: dict[Value, Any] = {}
        self._ready: deque[tuple[Unit, Frame, int, list[Any], bool]] = deque()

    def results(self) -> list[Any]:
        """Run all that is needed; the values of the fetches, as arrays."""
        pairs = zip(self._plan.fetches, self.values(), strict=True)
        return [x if source.types[at] in HANDLES else self._read(x) for (source, at), x in pairs]

    def values(self) -> list[Any]:
        """Run all that is needed; the values of the fetches."""
        self.run()
        return [self._result(value) for value in self._plan.fetches]

    def run(self) -> None:
        """Run all that is needed."""
        root = Frame(None, 0)
        first = [unit for unit in self._plan.units if unit.pending == 0]
        self._ready += [(unit, root, 0, [], False) for unit in first if unit.kind != FED]
        for unit in first:
            if unit.kind == FED:
                given = {value: self._feeds[value] for value in unit.outputs}
                self._send(unit, root, 0, given | dict.fromkeys(unit.controls))
        try:
            while self._ready or self._suspended:
                if self._ready:
                    self._step(*self._ready.popleft())
                else:
                    self._resume()
        finally:
            for each in self._suspended:
                each.steps.close()

    def found(self, value: Value, otherwise: Any) -> Any:
        """The value of a fetch; something else where it's on a branch that isn't taken."""
        found = self._results.get(value, DEAD)
        return otherwise if found is DEAD else found

    def _result(self, value: Value) -> Any:
        operation, index = value
        if (found := self.found(value, DEAD)) is DEAD:
            if value not in self._results and (text := self._plan.mixed()):
                raise invalid(text)
            raise invalid(f"Retval[0] does not have value: {operation.name}:{index}")
        return unmarked(found)

    def _read(self, value: Any) -> Any:
        return self._store.variables.value(value) if isinstance(value, Reference) else value

    # One unit -----------------------------------------------------------------------------------

    def _step(self, unit: Unit, frame: Frame, turn: int, values: list[Any], dead: bool) -> None:
        kind = unit.kind
        if (action := _DIRECTED.get(kind)) is not None:
            action(self, unit, frame, turn, DEAD if dead else values[0])
        elif dead and not unit.joins:
            self._hand(unit, frame, turn, DEAD)
        else:
            found = self._watched(unit, values, dead)
            if isinstance(found, Steps):
                self._go_on(Suspended(unit, frame, turn, found))
                return
            if unit.controls:
                found.update(dict.fromkeys(unit.controls, None))
            if dead:
                found = dict.fromkeys(found, DEAD)
            self._send(unit, frame, turn, found)

    def _watched(self, unit: Unit, values: list[Any], dead: bool) -> Any:
        """What a unit gives; when it ran is told, unless its parts told it."""
        if self._trace is None:
            return self._computed(unit, values, dead)
        count, start = len(self._trace), time.time_ns()
        found = self._computed(unit, values, dead)
        if len(self._trace) == count:
            self._trace.append(Span(unit.within, start, time.time_ns()))
        return found

    def _computed(self, unit: Unit, values: list[Any], dead: bool) -> Any:
        kind = unit.kind
        if kind == REGION:
            return self._region(unit, values)
        operation = unit.operation
        if unit.joins:
            return self._merged(unit, values)
        if kind in SWITCHES:
            condition = self._read(values[1])
            if shape := np.shape(condition):
                about = "The second input must be a scalar, but it has shape"
                raise table.located(invalid(f"{about} {shape_text(shape)}"), operation)
            way = bool(condition)
            return {(operation, way): values[0], (operation, not way): DEAD}
        if kind == "ControlTrigger":
            return {}
        found = table.run_on_host(self._store, operation, [unmarked(each) for each in values])
        if isinstance(found, Steps):
            return found
        return {(operation, at): value for at, value in enumerate(found)}

    # What waits ---------------------------------------------------------------------------------

    def _go_on(self, waits: Suspended) -> None:
        """Let an operation go on until it has to wait, or is done."""
        operation = waits.unit.operation
        try:
            done = waits.steps.advance()
        except Exception as error:
            raise table.located(error, operation) from error.__cause__
        if not done:
            self._suspended.append(waits)
            return
        found = {(operation, at): value for at, value in enumerate(waits.steps.results)}
        found[operation, CONTROL] = None
        self._send(waits.unit, waits.frame, waits.turn, found)

    def _resume(self) -> None:
        """Nothing else can run: wait."""
        self._store.waiting.for_one(
            [each.steps.attempt for each in self._suspended], self._deadline
        )
        for each in [each for each in self._suspended if each.steps.attempt.done]:
            self._suspended.remove(each)
            self._go_on(each)

    def _region(self, unit: Unit, values: list[Any]) -> dict[Value, Any]:
        """What a region gives; if it can't be compiled as it is, in smaller units."""
        parts = unit.divided
        if parts is None:
            try:
                return regions.run(self._store, unit, values[: len(unit.inputs)])
            except regions.DivideError as error:
                parts = unit.divided = unit.in_parts(error.hints)
            except AssertedError:
                parts = unit.with_assertions_alone()
        given = dict(zip([*unit.inputs, *unit.shown], values, strict=True))
        inner = Run(self._store, parts, given, trace=self._trace)
        inner.run()
        unit.begin_anew()
        return {value: inner.found(value, ABSENT) for value in unit.outputs}

    @staticmethod
    def _merged(unit: Unit, values: list[Any]) -> dict[Value, Any]:
        operation = unit.operation
        alive = (at for at, value in enumerate(values) if value is not None and value is not DEAD)
        at = next(alive, 0)
        value = values[at] if values else DEAD
        return {(operation, 0): value, (operation, 1): np.int32(at)}

    # Loops --------------------------------------------------------------------------------------

    def _enter(self, unit: Unit, frame: Frame, turn: int, value: Any) -> None:
        operation = unit.operation
        key = operation.attribute("frame_name"), turn
        child = frame.children.get(key)
        if child is None:
            child = frame.children[key] = Frame(frame, turn)
        turns = range(1)
        if operation.attribute("is_constant"):
            child.constants.append((unit, value))
            turns = range(child.last + 1)
        for each in turns:
            self._hand(unit, child, each, value)

    def _turn(self, unit: Unit, frame: Frame, turn: int, value: Any) -> None:
        """Begin the next turn with a value; a loop ends where it's dead."""
        if value is DEAD:
            return
        following = turn + 1
        if following > frame.last:
            frame.last = following
            for constant, kept in frame.constants:
                self._hand(constant, frame, following, kept)
        self._hand(unit, frame, following, value)

    def _exit(self, unit: Unit, frame: Frame, turn: int, value: Any) -> None:
        """Leave a loop; what's dead where the loop goes on sends nothing."""
        assert frame.parent is not None
        if value is not DEAD or turn == frame.ended:
            self._hand(unit, frame.parent, frame.turn, value)
        elif turn > frame.decided:
            frame.leaving.append(unit)  # it isn't known yet

    def _decide(self, unit: Unit, frame: Frame, turn: int, value: Any) -> None:
        """It's known whether another turn follows, or whether the loop isn't run at all."""
        self._hand(unit, frame, turn, value)
        leaving, frame.leaving = frame.leaving, []
        frame.decided = turn
        # What's no scalar the switches refuse.
        if value is DEAD or not np.any(self._read(value)):
            frame.ended = turn
            for each in leaving:
                self._exit(each, frame, turn, DEAD)

    # Sending ------------------------------------------------------------------------------------

    def _send(self, unit: Unit, frame: Frame, turn: int, found: dict[Value, Any]) -> None:
        """Send to all that wait for them what a unit found, or DEAD."""
        for value in unit.fetched:
            if value in found:
                self._keep(value, found[value])
        for value, target, place in unit.edges:
            self._receive(target, frame, turn, place, found[value])

    def _hand(self, unit: Unit, frame: Frame, turn: int, value: Any) -> None:
        """Send the only value of a unit, or DEAD for all of them."""
        for each in unit.fetched:
            self._keep(each, value)
        for _, target, place in unit.edges:
            self._receive(target, frame, turn, place, value)

    def _keep(self, value: Value, result: Any) -> None:
        if result is not DEAD or value not in self._results:
            self._results[value] = result

    def _receive(self, unit: Unit, frame: Frame, turn: int, place: int | None, value: Any) -> None:
        if value is ABSENT and unit.kind != REGION:
            value = DEAD  # a region can do without, where it chooses
        if unit.joins:
            self._receive_merge(unit, frame, turn, place, value)
            return
        dead = value is DEAD and unit.kind != "ControlTrigger"
        if unit.pending == 1:
            self._ready.append((unit, frame, turn, [] if place is None else [value], dead))
            return
        waiting = frame.inputs(unit, turn)
        waiting.pending -= 1
        waiting.dead |= dead
        if place is not None:
            waiting.values[place] = value
        if waiting.pending == 0:
            del frame.waiting[turn][unit]  # nothing more comes: a loop of many turns keeps little
            self._ready.append((unit, frame, turn, waiting.values, waiting.dead))

    def _receive_merge(
        self, unit: Unit, frame: Frame, turn: int, place: int | None, value: Any
    ) -> None:
        """A Merge runs with the first value that lives, or when none can come any more."""
        waiting = frame.inputs(unit, turn)
        if place is None:
            waiting.pending -= 1
        else:
            waiting.values[place] = value
            waiting.dead_inputs += value is DEAD
        if waiting.sent or waiting.pending > len(unit.inputs):
            return
        lives = any(each is not None and each is not DEAD for each in waiting.values)
        last_hope = 1 if unit.closes_loop else len(unit.inputs)
        if lives or waiting.dead_inputs >= last_hope:
            waiting.sent = True
            self._ready.append((unit, frame, turn, waiting.values, not lives))


# What directs a single value, by type.
_DIRECTED: dict[str, Callable[[Run, Unit, Frame, int, Any], None]] = {
    **dict.fromkeys(ENTERS, Run._enter),
    **dict.fromkeys(EXITS, Run._exit),
    **dict.fromkeys(TURNS, Run._turn),
    "LoopCond": Run._decide,
}
