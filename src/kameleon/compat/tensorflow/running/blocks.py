"""Units in the order in which they run: in blocks, one for each loop, and one around all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from ..graph import Value, is_handle
from ..walks import in_order
from . import steps
from .needed import ENTERS, EXITS, MERGES, SWITCHES, TURNS, Frame
from .plan import Plan
from .units import FED, REGION, Unit

# By kind of unit, what it does; all others run on the host.
STEPS: dict[str, Any] = {
    REGION: steps.Compiled,
    "ControlTrigger": steps.Trigger,
    "LoopCond": steps.Handing,
    "Identity": steps.Handed,
    **dict.fromkeys(SWITCHES, steps.Switch),
    **dict.fromkeys(MERGES, steps.Merge),
    **dict.fromkeys(ENTERS, steps.Enter),
    **dict.fromkeys(EXITS, steps.Exit),
    **dict.fromkeys(TURNS, steps.Next),
}


class Layout:
    """Where the units of a plan run, and where their values are.

    Attributes:
        outermost: the block around all loops.
        fed: what is given, each with its place there.
        constants: the steps that give the same in each run.
        begun: the values with which a run begins, once one did: those of the constants.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._blocks: dict[Frame, steps.Block] = defaultdict(steps.Block)
        self.outermost = self._blocks[()]
        self.constants: list[steps.Step] = []
        self.begun: list[Any] | None = None
        self._places: dict[Value, int] = {}  # in the block in which it's taken
        self._within: dict[Frame, list[Unit]] = defaultdict(list)
        for unit in plan.units:
            self._within[unit.frame].append(unit)
            self._put(unit)
        for value in plan.fetches:
            around = self._around(plan.unit_of(value))
            self._blocks[around].fetched.append((value, self._places[value]))
        kept = self._kept()
        for frame in list(self._within):
            block = self._blocks[frame]
            block.fill([*chain.from_iterable(map(self._steps, self._ordered(frame)))], kept[block])
        fed = [unit for unit in plan.units if unit.kind == FED]
        self.fed = [(x, self._places[x]) for unit in fed for x in (*unit.outputs, *unit.controls)]

    def _around(self, unit: Unit) -> Frame:
        """The loop in which a unit's values are taken."""
        if unit.kind in ENTERS:
            return *unit.frame, unit.operation.attribute("frame_name")
        return unit.frame[:-1] if unit.kind in EXITS else unit.frame

    def _put(self, unit: Unit) -> None:
        """Give the values of a unit places; all that stands for "it has run" is one."""
        block = self._blocks[self._around(unit)]
        for value in unit.outputs:
            self._places[value] = block.place()
        if unit.controls:
            self._places.update(dict.fromkeys(unit.controls, block.place()))

    def _kept(self) -> dict[steps.Block, set[int]]:
        """By block, the places that aren't freed: of what is fetched, of what others hold as long
        as it runs, of single numbers and texts, and of what is nothing but "it has run".
        """
        kept = {each: {at for _, at in each.fetched} for each in self._blocks.values()}
        for unit in self._plan.units:
            is_held = unit.kind == FED or unit.is_constant or unit.enters_all_turns
            values = [*unit.controls, *(x for x in unit.outputs if is_held or _is_single(x))]
            kept[self._blocks[self._around(unit)]].update(map(self._places.__getitem__, values))
        return kept

    # Order --------------------------------------------------------------------------------------

    def _ordered(self, frame: Frame) -> Iterator[Unit | Frame]:
        """The units of a loop, and the loops in it, each behind what it waits for."""
        inner = [each for each in self._within if each[:-1] == frame and each]
        return in_order([*self._within[frame], *inner], partial(self._before, frame))

    def _before(self, frame: Frame, each: Unit | Frame) -> Iterator[Unit | Frame]:
        """What a unit, or a loop, waits for; a loop not for what comes out of it before."""
        if isinstance(each, tuple):
            yield from (
                unit
                for unit in self._within[frame]
                if unit.kind in ENTERS and self._around(unit) == each and each not in unit.left
            )
            return
        for value in each.waits_for:
            unit = self._plan.unit_of(value)
            if self._around(unit) == frame and unit.kind not in ENTERS | TURNS:
                yield unit.frame if unit.kind in EXITS else unit

    # Steps --------------------------------------------------------------------------------------

    def _steps(self, each: Unit | Frame) -> Iterator[steps.Step | steps.Looping]:
        if isinstance(each, tuple):
            exits = [unit for unit in self._within[each] if unit.kind in EXITS]
            places = [self._places[x] for unit in exits for x in (*unit.outputs, *unit.controls)]
            yield steps.Looping(self._blocks[each], places)
        elif each.is_constant:
            self.constants.append(self._step(each))
        elif each.kind != FED and self._can_run(each):
            yield self._step(each)

    def _can_run(self, unit: Unit) -> bool:
        """Whether a unit waits for values of one loop alone: else it never runs."""
        return all(self._around(self._plan.unit_of(x)) == unit.frame for x in unit.waits_for)

    def _step(self, unit: Unit) -> steps.Step:
        takes = [self._places[value] for value in unit.waits_for]
        count = max((index for _, index in unit.outputs), default=-1) + 1
        gives = [self._places[value] for value in unit.outputs]
        if unit.kind != REGION:
            block = self._blocks[self._around(unit)]
            known = {index: self._places[source, index] for source, index in unit.outputs}
            gives = [known[at] if at in known else block.place() for at in range(count)]
        ends = self._places[unit.controls[0]] if unit.controls else None
        make = STEPS.get(unit.kind, steps.OnHost)
        if unit.kind in ENTERS:
            make = partial(make, into=self._blocks[self._around(unit)])
        return make(unit, takes, gives, ends)  # type: ignore[no-any-return]


def _is_single(value: Value) -> bool:
    """Whether a value is known to be a single number, or text."""
    source, index = value
    return source.shapes[index] == () and not is_handle(value)


def layout_of(plan: Plan) -> Layout:
    """The layout of a plan, which is made once."""
    if plan.layout is None:
        plan.layout = Layout(plan)
    found: Layout = plan.layout
    return found
