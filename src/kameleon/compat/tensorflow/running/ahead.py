"""Loops whose turns only their own values tell, counted before they run.

What a loop keeps of each turn, for its gradients or in arrays, is compiled where the turns are
counted. So what decides whether there's another turn is copied to a loop of its own, with a counter
in it, which runs first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..dtypes import NUMBERS
from ..graph import Operation, Value
from ..operations import table
from ..walks import reached
from .needed import DIRECTING, ENTERS, EXITS, TURNS, Compound, Loop

READS = frozenset(
    "ReadVariableOp ResourceGather ResourceGatherNd VariableShape RefIdentity".split()
)


def turns_ahead(loop: Loop, choices: Sequence[tuple[Compound, int]]) -> Value | None:
    """What counts the turns of a loop, in a copy of what decides about them; None where a copy
    would draw, or change something, twice.

    Args:
        choices: those that the loop is in, outermost first, with the way that leads to it. Where
            it isn't taken, there's no turn.
    """
    return _Copy(loop, choices).turns()


class _Copy:
    """What decides about the turns of a loop, once more: in the loop, and in the choices around."""

    def __init__(self, loop: Loop, choices: Sequence[tuple[Compound, int]]) -> None:
        self._loop, self._choices = loop, choices
        self._around = choices[0][0].members - loop.members if choices else set[Operation]()
        conditions = (each for each in loop.members if each.type == "LoopCond")
        [self._condition] = [each for each in conditions if each.inputs[0] == loop.condition]
        around = next(each for each, _ in loop.carried[0].merge.inputs if each.type in ENTERS)
        self._frame: bytes = around.attribute("frame_name")
        self._control: list[Operation] = []

    def turns(self) -> Value | None:
        """What counts the turns; None where that can't be."""
        # What computes the condition, in this turn or in those before, and takes what's around.
        deciding = reached([self._condition], self._sources)
        if any(operation.type in READS for operation in deciding):
            self._control = self._loop.control  # what it reads must have been written
            if not self._around.isdisjoint(self._control):
                return None
        changes = any(map(_changes, self._loop.members | self._around))
        if not all(self._can_be_copied(operation, changes) for operation in deciding):
            return None
        copies = {each: self._copied(each) for each in deciding}
        for operation, made in copies.items():
            if operation.inputs:
                made.inputs = [(copies.get(x, x), index) for x, index in operation.inputs]
            if operation in self._around:
                control = (copies.get(each, each) for each in operation.control)
                made.control = [each for each in control if each not in self._around]
        turns = self._counter(copies[self._condition])
        for choice, way in reversed(self._choices):
            turns = self._chosen(turns, choice.condition, way)
        return turns

    def _sources(self, operation: Operation) -> Iterable[Operation]:
        sources = [source for source, _ in operation.inputs]
        if operation in self._around:  # of what it waits for, what says that it's in a branch
            sources += [each for each in operation.control if each.type == "Identity"]
        elif operation.type not in ENTERS:
            return sources
        return [each for each in sources if each in self._around]

    def _can_be_copied(self, operation: Operation, changes: bool) -> bool:
        if operation.type in ENTERS:  # but into a loop in the loop
            return bool(operation.attribute("frame_name") == self._frame)
        if operation in self._around and operation.type in EXITS | TURNS:
            return False
        if operation.type in DIRECTING or operation.type in table.PURE:
            return True
        return operation.type in READS and not changes

    def _copied(self, operation: Operation) -> Operation:
        made = operation.like(operation.graph, operation.name)
        if operation.type in ENTERS:
            return self._entering(made, bool(operation.attribute("is_constant")))
        if operation.inputs or operation in self._around:
            return made
        enter = self._made("Enter", (made, 0))
        enter.types, enter.shapes = made.types, made.shapes
        return self._entering(enter, True)

    def _entering(self, enter: Operation, is_constant: bool) -> Operation:
        enter.known = {"frame_name": self._frame + b"/turns", "is_constant": is_constant}
        enter.control = list(self._control)
        return enter

    def _chosen(self, turns: Value, condition: Value, way: int) -> Value:
        """The turns where a condition comes out one way; else none."""
        none = self._made("Switch", self._none(), condition)
        return self._made("Merge", turns, (none, 1 - way)), 0

    def _none(self) -> Value:
        none = self._made("Const")
        none.value = np.int32(0)
        return none, 0

    def _counter(self, condition: Operation) -> Value:
        """What counts the turns, beside what decides about them."""
        enter = self._entering(self._made("Enter", self._none()), False)
        head = self._made("Merge", (enter, 0), (enter, 0))
        goes_on = self._made("Switch", (head, 0), (condition, 0))
        number = self._made("NextNumber", (goes_on, 1))
        head.inputs[1] = self._made("NextIteration", (number, 0)), 0
        return self._made("Exit", (goes_on, 0)), 0

    def _made(self, kind: str, *inputs: Value) -> Operation:
        """An operation on the number of a turn."""
        graph = self._condition.graph
        made = self._condition.like(graph, f"{self._loop.name}/turns")
        made.type, made.inputs, made.known = kind, list(inputs), {}
        made.definition = graph.definitions().get(kind)
        made.types = [NUMBERS["int32"]] * (2 if kind in ("Switch", "Merge") else 1)
        made.shapes = [()] * len(made.types)
        return made


def _changes(operation: Operation) -> bool:
    """Whether an operation may change what others read."""
    return operation.type in table.EFFECTS and operation.type not in table.KEPT | READS
