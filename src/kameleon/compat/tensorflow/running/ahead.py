"""Loops whose turns only their own values tell, counted before they run.

What a loop keeps of each turn, for its gradients or in arrays, is compiled where the turns are
counted. So what decides whether there's another turn is copied to a loop of its own, with a counter
in it, which runs first.
"""

from __future__ import annotations

import numpy as np

from ..dtypes import NUMBERS
from ..graph import Operation, Value
from ..operations import table
from ..walks import reached
from .needed import DIRECTING, ENTERS, Loop

READS = frozenset(
    "ReadVariableOp ResourceGather ResourceGatherNd VariableShape RefIdentity".split()
)


def turns_ahead(loop: Loop) -> Value | None:
    """What counts the turns of a loop, in a copy of what decides about them; None where a copy
    would draw, or change something, twice.
    """
    return _Copy(loop).turns()


class _Copy:
    """What decides about the turns of a loop, once more."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        conditions = (each for each in loop.members if each.type == "LoopCond")
        [self._condition] = [each for each in conditions if each.inputs[0] == loop.condition]
        around = next(each for each, _ in loop.carried[0].merge.inputs if each.type in ENTERS)
        self._frame: bytes = around.attribute("frame_name")
        self._control: list[Operation] = []

    def turns(self) -> Value | None:
        """What counts the turns; None where that can't be."""
        deciding = self._deciding()
        if any(operation.type in READS for operation in deciding):
            self._control = self._loop.control  # what it reads must have been written
        changes = any(map(_changes, self._loop.members))
        if not all(self._can_be_copied(operation, changes) for operation in deciding):
            return None
        copies = {each: self._copied(each) for each in deciding}
        for operation, made in copies.items():
            if operation.inputs:
                made.inputs = [(copies.get(x, x), index) for x, index in operation.inputs]
        return self._counter(copies[self._condition])

    def _deciding(self) -> set[Operation]:
        """The operations that the condition is computed by, in this turn or in those before."""
        return reached(
            [self._condition],
            lambda operation: [
                source for source, _ in operation.inputs if operation.type not in ENTERS
            ],
        )

    def _can_be_copied(self, operation: Operation, changes: bool) -> bool:
        if operation.type in ENTERS:  # but into a loop in the loop
            return bool(operation.attribute("frame_name") == self._frame)
        if operation.type in DIRECTING or operation.type in table.PURE:
            return True
        return operation.type in READS and not changes

    def _copied(self, operation: Operation) -> Operation:
        made = operation.like(operation.graph, operation.name)
        if operation.type in ENTERS:
            return self._entering(made, bool(operation.attribute("is_constant")))
        if operation.inputs:
            return made
        enter = self._made("Enter", (made, 0))
        enter.types, enter.shapes = made.types, made.shapes
        return self._entering(enter, True)

    def _entering(self, enter: Operation, is_constant: bool) -> Operation:
        enter.known = {"frame_name": self._frame + b"/turns", "is_constant": is_constant}
        enter.control = list(self._control)
        return enter

    def _counter(self, condition: Operation) -> Value:
        """What counts the turns, beside what decides about them."""
        start = self._made("Const")
        start.value = np.int32(0)
        enter = self._entering(self._made("Enter", (start, 0)), False)
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
