"""Runs a plan: what its units do, in order; what has to wait is put off, and tried again.

As in TensorFlow's executor all runs that can run: turns of a loop begin before earlier ones ended,
where something in these waits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kameleon.errors import EvaluationError

from ..dtypes import HANDLES
from ..failures import invalid
from ..graph import Value
from ..operations import table
from ..resources.waiting import Steps
from ..variables import Reference, Store
from . import regions
from .blocks import layout_of
from .compiled import AssertedError
from .marks import ABSENT, DEAD, MISSING, Mark
from .plan import Plan
from .sizes import unmarked
from .spans import Span, Trace
from .steps import Looping, Step, Todo, Turn
from .units import Hints, Unit


@dataclass(eq=False)
class Suspended:
    """An operation that waits, in a turn."""

    step: Step
    turn: Turn
    steps: Steps


class Run:
    """One run of a plan.

    Args:
        store: what is kept between runs.
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
        self.store, self._plan, self._feeds, self._deadline = store, plan, feeds, deadline
        self._trace = trace
        self._suspended: list[Suspended] = []
        self._results: dict[Value, Any] = {}
        self._done = 0  # how many steps

    def results(self) -> list[Any]:
        """Run all that is needed; the values of the fetches, as arrays."""
        self.run()
        pairs = [(value, self._result(value)) for value in self._plan.fetches]
        return [x if source.types[at] in HANDLES else self.read(x) for (source, at), x in pairs]

    def run(self) -> None:
        """Run all that is needed."""
        root = self._begun()
        for value, place in layout_of(self._plan).fed:
            root.slots[place] = self._feeds.get(value)  # nothing stands for "it has run"
        try:
            while root.steps or self._suspended:
                done = self._done
                self.go_through(root)
                if self._done == done:
                    if not self._suspended:
                        break
                    self._resume()
        finally:
            for each in self._suspended:
                each.steps.close()
        self._keep(root)

    def _begun(self) -> Turn:
        """All that runs, outside of loops, as it begins."""
        layout = layout_of(self._plan)
        if layout.begun is None:
            made = Turn(layout.outermost, [MISSING] * layout.outermost.size)
            for each in layout.constants:
                each.go(self, made)
            layout.begun = made.slots
        return Turn(layout.outermost, layout.begun.copy())

    def go_through(self, turn: Turn) -> None:
        """Do what can be done in a turn; what isn't needed any more goes, unless it may be by what
        was put off.
        """
        steps, slots, trace, late = turn.steps, turn.slots, self._trace, list[Todo]()
        for each in steps:
            step, go, frees = each
            if go(self, turn) if trace is None else self._watched(step, turn, trace):
                late.append(each)
            elif frees and not late:
                for at in frees:
                    slots[at] = None
        turn.steps = late
        self._done += len(steps) - len(late)
        if turn.block.fetched and not turn.steps:
            self._keep(turn)

    def _watched(self, step: Step | Looping, turn: Turn, trace: Trace) -> bool | None:
        """Do a step; when it ran is told, unless its parts told it."""
        count, start = len(trace), time.time_ns()
        is_late = step.go(self, turn)
        if isinstance(step, Step) and step.is_told and not is_late and len(trace) == count:
            trace.append(Span(step.unit.within, start, time.time_ns()))
        return is_late

    # What is fetched ----------------------------------------------------------------------------

    def _keep(self, turn: Turn) -> None:
        """Keep what is fetched of a turn; of a loop's turns what lived last."""
        for value, place in turn.block.fetched:
            found = turn.slots[place]
            if type(found) is not Mark or (found is not MISSING and value not in self._results):
                self._results[value] = found

    def found(self, value: Value) -> Any:
        """The value of a fetch; `ABSENT` where it's on a branch that isn't taken."""
        found = self._results.get(value, DEAD)
        return ABSENT if found is DEAD else found

    def _result(self, value: Value) -> Any:
        if type(found := self.found(value)) is Mark:
            if value not in self._results and (text := self._plan.mixed()):
                raise invalid(text)
            raise self._plan.absent(value)
        return unmarked(found)

    def read(self, value: Any) -> Any:
        """A value, that of a variable for the variable."""
        return self.store.variables.value(value) if isinstance(value, Reference) else value

    # What waits ---------------------------------------------------------------------------------

    def go_on(self, step: Step, turn: Turn, steps: Steps) -> None:
        """Let an operation go on until it has to wait, or is done."""
        try:
            done = steps.advance()
        except Exception as error:
            raise table.located(error, step.unit.operation) from error.__cause__
        if done:
            step.give(turn, steps.results)
        else:
            self._suspended.append(Suspended(step, turn, steps))

    def _resume(self) -> None:
        """Nothing else can run: wait."""
        self.store.waiting.for_one([each.steps.attempt for each in self._suspended], self._deadline)
        for each in [each for each in self._suspended if each.steps.attempt.done]:
            self._suspended.remove(each)
            self.go_on(each.step, each.turn, each.steps)

    # Regions ------------------------------------------------------------------------------------

    def region(self, unit: Unit, values: Sequence[Any]) -> Sequence[Any]:
        """What a region gives; if it can't be compiled as it is, in smaller units."""
        parts, failed = self._plan.parts.get(unit), None
        if parts is None:
            try:
                return regions.run(self.store, unit, values[: len(unit.inputs)])
            except regions.DivideError as error:
                parts = self._plan.divide(unit, error.hints)
            except AssertedError as error:
                apart = unit.hints | Hints(on_host=error.operations)
                parts, failed = self._plan.in_parts(unit, apart), error.__cause__
        given = dict(zip([*unit.inputs, *unit.shown], values, strict=True))
        inner = Run(self.store, parts, given, trace=self._trace)
        inner.run()
        if isinstance(failed, EvaluationError):  # it's told, even if alone nothing fails
            raise invalid(str(failed)) from failed
        self._plan.begin_anew(unit)
        return [*map(inner.found, unit.outputs)]
