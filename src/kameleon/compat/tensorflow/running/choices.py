"""Choices as K's `cond`; where the condition is known, as the branch that's taken."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from kameleon.backend._bodies import body_of, cond_over
from kameleon.graph.ir.node import Tensor, new_serial
from kameleon.graph.primitives.filling import zeros

from ..failures import is_failure
from ..graph import Value
from ..inner import Branch, snapshot
from ..lowering import ArrayHandle, Lowering, NotCompiledError, Places, StackHandle
from ..operations.values import are_sizes_open, is_of_sizes, is_text
from ..progress import Kept, Same
from ..tensors import dims, tensor
from ..variables import Reference
from .bodies import COMPOUNDS, STATIC, AbsentError, ApartError, Values, is_same, lower
from .marks import ABSENT
from .needed import Choice


class _NotTakenError(Exception):
    """A branch that can't be the one that's taken."""

    def __init__(self, way: int) -> None:
        super().__init__(way)
        self.way = way


def _choose(lowering: Lowering, choice: Choice, values: Values) -> None:
    condition = lowering.value(values.find(choice.condition))
    if not isinstance(condition, Tensor):
        _take(lowering, choice, int(bool(condition)), values)
        return
    if condition.shape != ():
        raise ApartError(choice.condition, "a condition that isn't a scalar")
    restore = snapshot(lowering)
    try:
        _chosen(lowering, choice, condition, values)
    except _NotTakenError as error:
        restore()
        _take(lowering, choice, 1 - error.way, values)
    except Exception as error:
        if not isinstance(error, NotCompiledError) and not is_failure(error):
            raise
        restore()  # a branch that isn't taken may be one that fails
        raise ApartError(choice.condition, str(error)) from None


def _take(lowering: Lowering, choice: Choice, way: int, values: Values) -> None:
    """Find what a choice gives that goes one way; nobody takes what the other branch gives."""
    lower(lowering, values, choice.branches[way])
    for merge, places in choice.merges:
        values[merge, 0] = values.find(merge.inputs[places[way]])
        values[merge, 1] = np.int32(places[way])
    values.update({value: ABSENT for value in choice.outputs if value not in values})


def _chosen(lowering: Lowering, choice: Choice, condition: Tensor, values: Values) -> None:
    start = new_serial()
    sides = [(Branch(lowering), Values(values)) for _ in range(2)]
    with body_of("tf.cond"):
        for way, (branch, inner) in enumerate(sides):
            _lower_branch(branch, choice, way, inner)
        joins = _Joins()
        for value, pair in _results(choice, [inner for _, inner in sides]):
            if not is_same(*pair):
                pair = [branch.value(x) for (branch, _), x in zip(sides, pair, strict=True)]
            joins.add(value, pair)
        _add_states(joins, sides[0][0], sides[1][0])
    found = cond_over("tf.cond", condition, [joins.sides[1], joins.sides[0]], start)
    for key, result in joins.results(found).items():
        if isinstance(key[0], Reference):
            lowering.assign(key[0], result)
        elif isinstance(key[0], ArrayHandle):
            lowering.replace(key[0], result)
        elif isinstance(key[0], StackHandle):
            lowering.push(key[0], result)
        else:
            values[key] = result


def _lower_branch(branch: Branch, choice: Choice, way: int, values: Values) -> None:
    try:
        lower(branch, values, choice.branches[way])
        for merge, places in choice.merges:
            values.find(merge.inputs[places[way]])
    except AbsentError:
        raise _NotTakenError(way) from None


class _Joins:
    """Pairs of results, one of which comes out.

    Attributes:
        keys: what they are.
        sides: the results, where the condition doesn't hold, and where it does.
        same: what is the same on both sides.
    """

    def __init__(self) -> None:
        self.keys: list[Any] = []
        self.sides: tuple[list[Tensor], list[Tensor]] = ([], [])
        self.same: dict[Any, Any] = {}
        self._kept: dict[Any, Kept] = {}

    def add(self, key: Any, pair: list[Any]) -> None:
        """Join two results."""
        against, wanted = pair
        if is_same(against, wanted):
            self.same[key] = against
            return
        if any(isinstance(each, STATIC) or is_text(each) for each in pair):
            raise NotCompiledError("which of two variables, arrays or texts is known too late")
        nodes = [tensor(each) for each in pair]
        ranks = {len(node.shape) for node in nodes}
        if nodes[0].type != nodes[1].type and (not are_sizes_open() or len(ranks) > 1):
            raise NotCompiledError("the branches give different shapes")
        self.keys.append(key)
        for side, node in zip(self.sides, nodes, strict=True):
            side.append(node)

    def add_rows(self, key: Any, way: int, kept: Kept) -> None:
        """Join what turns of a loop in one branch put on a stack with as many rows of zeros."""
        rows = kept.rows.value if isinstance(kept.rows, Same) else kept.rows
        if isinstance(rows, Tensor):
            self._kept[key] = kept
            self.add(key, _beside(way, rows))
        else:
            self.same[key] = kept

    def results(self, found: list[Tensor]) -> dict[Any, Any]:
        """By key what comes out, given what the choice gives."""
        results = self.same | dict(zip(self.keys, found, strict=True))
        for key, kept in self._kept.items():
            rows = results[key]
            results[key] = replace(kept, rows=Same(rows) if isinstance(kept.rows, Same) else rows)
        return results


def _results(choice: Choice, sides: list[Values]) -> Iterable[tuple[Value, list[Any]]]:
    """What others take from a choice, and what it is on each side."""
    merges = dict(choice.merges)
    for value in choice.outputs:
        source, index = value
        if source in merges:
            places = merges[source]
            inputs = [source.inputs[place] for place in places]
            pair = [inner.find(each) for inner, each in zip(sides, inputs, strict=True)]
            yield value, [np.int32(place) for place in places] if index else pair
        else:  # in one branch only: it isn't used where the other one is taken
            [(way, found)] = [
                (way, inner[value]) for way, inner in enumerate(sides) if value in inner
            ]
            yield value, _beside(way, found)


def _beside(way: int, found: Any) -> list[Any]:
    """A result of one branch, and something of its kind for the other."""
    if not isinstance(found, Tensor) or (found.dtype.is_integer and is_of_sizes(found)):
        return [found, found]  # it does no harm there
    none = zeros(dims(found), found.dtype)
    return [none, found] if way else [found, none]


def _add_states(joins: _Joins, against: Branch, wanted: Branch) -> None:
    """What the branches changed."""
    for reference in {**against.assigned, **wanted.assigned}:
        joins.add((reference, 0), [branch.value(reference) for branch in (against, wanted)])
    for handle in {**against.arrays, **wanted.arrays}:
        if against.knows(handle) and wanted.knows(handle):
            joins.add((handle, 0), [branch.whole(handle) for branch in (against, wanted)])
    for handle in {**against.seen, **wanted.seen}:
        if against.around.knows(handle):
            either = (branch.seen.get(handle, Places()) for branch in (against, wanted))
            against.around.see(handle, Places().union(*either))
    for branch in (against, wanted):
        for handle, held in branch.arrays.items():
            if not branch.around.knows(handle):
                with suppress(NotCompiledError):  # then it isn't known outside
                    branch.around.arrays[handle] = held.past(handle)
    for stack in {**against.pushed, **wanted.pushed}:
        pair = [branch.pushed.get(stack) for branch in (against, wanted)]
        way = int(pair[0] is None)
        rows = pair[way]
        if pair[1 - way] is not None:
            joins.add((stack, 0), pair)
        elif isinstance(rows, Kept):
            joins.add_rows((stack, 0), way, rows)
        else:
            joins.add((stack, 0), _beside(way, rows))


COMPOUNDS[Choice] = _choose
