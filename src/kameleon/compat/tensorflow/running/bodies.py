"""Choices and loops as K's: `cond`, `scan` where the turns are counted, else `while`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kameleon.backend._bodies import body_of, cond_over, scan_over, while_over
from kameleon.errors import KameleonError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Tensor, new_serial
from kameleon.graph.ir.rewrite import substitute
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.filling import zeros
from kameleon.graph.primitives.movement import iota, reshape

from ..failures import failure, is_failure
from ..graph import made_of
from ..inner import AgainError, Branch, Turn, snapshot
from ..lowering import (
    ArrayHandle,
    ListHandle,
    Lowering,
    NotCompiledError,
    Single,
    StackHandle,
)
from ..operations import table
from ..operations.values import NeedsValueError, are_sizes_open, is_text
from ..progress import Kept, Progress, Turns
from ..resources.base import Resource
from ..tensors import sizes_of, tensor
from ..variables import Reference
from .counting import counted, counted_openly
from .needed import DIRECTING, ENTERS, SWITCHES, Carried, Choice, Compound, Loop

if TYPE_CHECKING:
    from ..graph import Operation, Value


class Absent:
    """What stands for a value of a branch that isn't taken."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class AbsentError(Exception):
    """Something is lowered that takes a value of a branch that isn't taken: so it isn't, either."""


STATIC = (Reference, Resource, ArrayHandle, StackHandle, ListHandle, Single, Absent)


class _NotTakenError(Exception):
    """A branch that can't be the one that's taken."""

    def __init__(self, way: int) -> None:
        super().__init__(way)
        self.way = way


class ApartError(Exception):
    """A loop or a choice that can't be compiled."""

    def __init__(self, condition: Value, why: str) -> None:
        super().__init__(why)
        self.condition = condition


class AheadError(Exception):
    """A loop whose turns must be counted before it's compiled."""

    def __init__(self, loop: Loop, why: str) -> None:
        super().__init__(why)
        self.loop = loop


class Values(dict[Any, Any]):
    """What values of a graph are, in a region or a part of it."""

    def __init__(self, around: Values | None = None) -> None:
        super().__init__()
        self._around = around

    def find(self, value: Value) -> Any:
        """What a value is, here or around; or what it was before it was handed on."""
        while True:
            place: Values | None = self
            while place is not None:
                if value in place:
                    if place[value] is ABSENT:
                        raise AbsentError
                    return place[value]
                place = place._around
            source = value[0]
            if source.type not in SWITCHES and source.type not in ENTERS:
                raise KeyError(value)
            value = source.inputs[0]


def lower(lowering: Lowering, values: Values, elements: Iterable[Operation | Compound]) -> None:
    """Find what elements give."""
    for element in elements:
        if isinstance(element, Choice):
            _choose(lowering, element, values)
        elif isinstance(element, Loop):
            _repeat(lowering, element, values)
        elif not isinstance(element, Compound):
            given = [values.find(value) for value in table.compiled_inputs(element)]
            for index, found in enumerate(_lowered(lowering, element, given)):
                values[element, index] = found


def _lowered(lowering: Lowering, operation: Operation, given: list[Any]) -> list[Any]:
    find = lowering.lowered or table.lowered
    try:
        with made_of(operation):
            return find(lowering, operation, given)
    except NeedsValueError as error:
        raise NeedsValueError(str(error), error.value, error.operation or operation) from None
    except (KameleonError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if is_failure(error):
            raise
        message = f"{error}\n\t [[{{{{node {operation.name}}}}}]]"
        raise failure("INVALID_ARGUMENT", message) from error


# Choices ----------------------------------------------------------------------------------------


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
    except NotCompiledError as error:
        restore()
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
            if not _is_same(*pair):
                pair = [branch.value(x) for (branch, _), x in zip(sides, pair, strict=True)]
            joins.add(value, pair)
        _add_states(joins, sides[0][0], sides[1][0])
    found = cond_over("tf.cond", condition, [joins.sides[1], joins.sides[0]], start)
    results = {key: joins.same[key] for key in joins.same}
    results.update(zip(joins.keys, found, strict=True))
    for key, result in results.items():
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

    def add(self, key: Any, pair: list[Any]) -> None:
        """Join two results."""
        against, wanted = pair
        if _is_same(against, wanted):
            self.same[key] = against
            return
        if any(isinstance(each, STATIC) or is_text(each) for each in pair):
            raise NotCompiledError("which of two variables, arrays or texts is known too late")
        nodes = [tensor(each) for each in pair]
        if nodes[0].type != nodes[1].type:
            raise NotCompiledError("the branches give different shapes")
        self.keys.append(key)
        for side, node in zip(self.sides, nodes, strict=True):
            side.append(node)


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor) or isinstance(a, STATIC):
        return a is b or (isinstance(a, STATIC) and isinstance(b, STATIC) and a == b)
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))


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
    if not isinstance(found, Tensor):
        return [found, found]
    none = zeros(sizes_of(found), found.dtype)
    return [none, found] if way else [found, none]


def _add_states(joins: _Joins, against: Branch, wanted: Branch) -> None:
    """What the branches changed."""
    for reference in {**against.assigned, **wanted.assigned}:
        joins.add((reference, 0), [branch.value(reference) for branch in (against, wanted)])
    for handle in {**against.arrays, **wanted.arrays}:
        if against.knows(handle) and wanted.knows(handle):
            joins.add((handle, 0), [branch.whole(handle) for branch in (against, wanted)])
    for stack in {**against.pushed, **wanted.pushed}:
        pair = [branch.pushed.get(stack) for branch in (against, wanted)]
        way = int(pair[0] is None)
        if pair[1 - way] is None:
            pair = _beside(way, tensor(pair[way]))
        joins.add((stack, 0), pair)


# Loops ------------------------------------------------------------------------------------------


def _repeat(lowering: Lowering, loop: Loop, values: Values) -> None:
    firsts = [values.find(each.first) for each in loop.carried]
    needs_count = any(table.is_kept(operation) for operation in loop.members)
    turns = _turns(loop, values)
    steps = counted_openly(
        loop, firsts, values.find, lowering, turns if isinstance(turns, Turns) else None
    )
    try:
        if steps is None and not isinstance(turns, Turns):
            steps = counted(loop, firsts, values.find, lowering, needs_count, turns)
    except NeedsValueError as error:
        if are_sizes_open() and lowering.lowered is None:
            raise AheadError(loop, str(error)) from None
        if lowering.lowered is None:
            raise
        steps = None  # it won't be known, however the graph is cut
    if steps is not None and steps.turns == 0:
        _leave(lowering, loop, values, firsts)
        return
    few = steps.turns if steps is not None and isinstance(steps.turns, int) else FEW + 1
    if few <= FEW and lowering.lowered and not _is_compiled(loop):
        _unroll(lowering, loop, values, firsts, few)
        return
    whole: dict[ArrayHandle, tuple[int, ...] | None] = {}
    restore = snapshot(lowering)
    while True:
        try:
            _Repetition(lowering, loop, values, firsts, steps, whole).run()
            return
        except AgainError as again:
            restore()
            if again.handle in whole:
                raise ApartError(loop.test, "an array of several shapes") from None
            whole[again.handle] = again.element
        except NotCompiledError as error:
            restore()
            if needs_count and steps is None and turns is None and lowering.lowered is None:
                raise AheadError(loop, str(error)) from None
            raise ApartError(loop.test, str(error)) from None


def _turns(loop: Loop, values: Values) -> int | Turns | None:
    """How many turns a loop has, if that's counted ahead."""
    if loop.turns is None:
        return None
    found = values.find(loop.turns)
    if not isinstance(found, Tensor):
        return int(found)
    if found.primitive.name == "size":  # the number was left open
        return Turns(iota([found]))
    raise NeedsValueError("how many turns a loop has", found, loop.carried[0].merge)


FEW = 32  # turns, where what runs on the host is written out turn by turn


def _is_compiled(loop: Loop) -> bool:
    """Whether nothing in a loop runs on the host."""
    return all(each.type in DIRECTING or table.is_compiled(each) for each in loop.members)


def _unroll(lowering: Lowering, loop: Loop, values: Values, firsts: list[Any], turns: int) -> None:
    """Write a loop out: engines that compile it as a whole don't leave it for the host."""
    now = firsts
    for _ in range(turns):
        inner = Values(values)
        for carried, value in zip(loop.carried, now, strict=True):
            inner[carried.merge, 0] = value
            inner.update({(switch, 1): value for switch in carried.switches})
        lower(lowering, inner, [*loop.testing, *loop.body])
        now = [inner.find(carried.following) for carried in loop.carried]
    _leave(lowering, loop, values, now)


def _leave(lowering: Lowering, loop: Loop, values: Values, last: list[Any]) -> None:
    """Find what comes out of a loop, given what its turns end with."""
    inner = Values(values)
    for carried, value in zip(loop.carried, last, strict=True):
        inner.update({(switch, 0): value for switch in carried.switches})
    lower(lowering, inner, loop.leaving)
    values.update({(each, 0): inner.find(each.inputs[0]) for each in loop.exits})


def _is_read(carried: Carried, first: Any) -> bool:
    """Whether the turns go on from the value of a variable, not with the variable."""
    value = carried.following
    while value[0].type in table.HANDING or value[0].type in SWITCHES:
        value = value[0].inputs[0]
    return isinstance(first, Reference) and value[0] is not carried.merge


class _Repetition:
    """A loop, while it's compiled."""

    def __init__(
        self,
        lowering: Lowering,
        loop: Loop,
        values: Values,
        firsts: list[Any],
        steps: Any,
        whole: dict[ArrayHandle, tuple[int, ...] | None],
    ) -> None:
        self._lowering, self._loop, self._values, self._steps = lowering, loop, values, steps
        self._firsts = firsts
        self._before = {handle: self._whole(handle, shape) for handle, shape in whole.items()}
        self._turn = Turn(lowering, steps and steps.turns, self._before)
        self._params: dict[int, Tensor] = {}  # by number of what's carried
        self._inner = Values(values)

    def _whole(self, handle: ArrayHandle, shape: tuple[int, ...] | None) -> Tensor:
        """What an array holds before the loop."""
        if handle.of is not None and not self._lowering.knows(handle):
            self._lowering.begin_beside(handle, handle.of)
        held = self._lowering.elements(handle)
        return held.whole(handle, shape)

    def run(self) -> None:
        """Compile the loop."""
        start = new_serial()
        with body_of("tf.while_loop"):
            self._begin()
            lower(self._turn, self._inner, self._loop.testing)
            if self._steps is None and (self._turn.assigned or self._turn.stacked):
                raise NotCompiledError("a loop's condition changes something")
            test = self._turn.value(self._inner.find(self._loop.test))
            lower(self._turn, self._inner, self._loop.body)
            following = [self._next(at) for at in self._params]
            cells, after = self._cells()
        carry = [tensor(self._lowering.value(self._firsts[at])) for at in self._params]
        carry += [self._lowering.value(reference) for reference in cells]
        carry += self._before.values()
        arrays = [self._turn.whole(handle) for handle in self._before]
        states = [*self._params.values(), *cells.values(), *self._turn.carried.values()]
        made = [*following, *after, *arrays]
        for state, new in zip(states, made, strict=True):
            if state.type != new.type:
                raise NotCompiledError(f"a value changes from {state.type} to {new.type}")
        last = self._looped(test, states, carry, made, start)
        self._end(last, list(cells))

    # What the turns begin with ------------------------------------------------------------------

    def _begin(self) -> None:
        for at, (carried, first) in enumerate(zip(self._loop.carried, self._firsts, strict=True)):
            if self._steps is not None and at in self._steps.values:
                found = self._turn.counted(self._steps.values[at])
            elif (isinstance(first, STATIC) or is_text(first)) and not _is_read(carried, first):
                found = first
            else:
                first = self._firsts[at] = self._lowering.value(first)
                found = self._params[at] = input_node(tensor(first).type)
            self._inner[carried.merge, 0] = found
            for switch in carried.switches:
                self._inner[switch, 1] = found

    def _next(self, at: int) -> Tensor:
        return tensor(self._turn.value(self._inner.find(self._loop.carried[at].following)))

    def _cells(self) -> tuple[dict[Reference, Tensor], list[Tensor]]:
        """Parameters for the variables that the turns change, and their new values."""
        turn = self._turn
        for reference in turn.assigned:
            turn.outer_value(reference)
        cells = {ref: param for ref, param in turn.cells.items() if ref in turn.assigned}
        return cells, [turn.assigned[reference] for reference in cells]

    # The loop itself ----------------------------------------------------------------------------

    def _looped(
        self,
        test: Any,
        states: list[Tensor],
        carry: list[Tensor],
        made: list[Tensor],
        start: int,
    ) -> list[Tensor]:
        turn = self._turn
        rows = [value for _, value, _ in turn.stacked.values()]
        rows += [tensor(v) for v, single in turn.pushed.values() if self._rows(v, single) is None]
        read = {
            param: self._lowering.value(reference)
            for reference, param in turn.cells.items()
            if reference not in turn.assigned
        }
        if self._steps is None:
            made = substitute([E.cast(reshape(tensor(test), ()), "bool"), *made], read)
            return while_over("tf.while_loop", states, made, carry, start)
        made = substitute([*made, *rows], read)
        slices = list(turn.sequences)
        sequences = [tensor(build(turn.backwards)) for build in turn.sequences.values()]
        if not sequences:
            turns = self._steps.turns
            count = turns.numbers if isinstance(turns, Turns) else iota([turns])
            slices, sequences = [input_node(reshape(count[:1], ()).type)], [count]
        last, stacks = scan_over(
            "tf.while_loop", (states, slices, made), carry, sequences, start, turn.backwards
        )
        self._hand_out(stacks)
        return last

    def _rows(self, value: Any, single: bool) -> Any:
        return self._turn.rows_pushed(value, single)

    def _hand_out(self, stacks: list[Tensor]) -> None:
        """What all turns wrote into arrays, and put on stacks."""
        turn, rest = self._turn, iter(stacks)
        for handle, (param, _, adds) in turn.stacked.items():
            at = turn.known[param]
            if turn.backwards:
                at = at.backwards if isinstance(at, Progress) else at[::-1]
            self._lowering.put(handle, at, next(rest), adds)
        for stack, (value, single) in turn.pushed.items():
            rows = self._rows(value, single)
            if rows is None:
                found = next(rest)
                if turn.backwards:
                    found = found[::-1]
                rows = found if single else reshape(found, [-1, *sizes_of(found, 2)])
            if isinstance(turn.turns, Turns):
                rows = Kept(turn.turns, rows)
            self._lowering.push(stack, rows)

    # What comes out -----------------------------------------------------------------------------

    def _end(self, last: list[Tensor], cells: list[Reference]) -> None:
        found = dict(zip(self._params, last, strict=False))
        rest = iter(last[len(found) :])
        for reference in cells:
            self._lowering.assign(reference, next(rest))
        for handle, whole in zip(self._before, rest, strict=True):
            self._lowering.replace(handle, whole)
        ends = []
        for at, carried in enumerate(self._loop.carried):
            result = found.get(at, self._firsts[at])
            if self._steps is not None and at in self._steps.values:
                result = self._steps.last[at]
                self._note_number(self._steps.values[at], result)
            elif at not in found:
                result = self._unchanged(result, self._inner.find(carried.following))
            ends.append(result)
        _leave(self._lowering, self._loop, self._values, ends)

    def _unchanged(self, first: Any, following: Any) -> Any:
        """What isn't computed with, which a loop ends with as it begins; of a list, a version."""
        if isinstance(first, ListHandle) and isinstance(following, ListHandle):
            if first.of == following.of:
                return self._lowering.moved(*following)
        elif _is_same(first, following):
            return first
        raise NotCompiledError("which variable, array or text a loop ends with")

    def _note_number(self, values: Any, last: Any) -> None:
        """Remember what says how many turns there are: loops of gradients count by it."""
        turns = self._turn.turns
        if isinstance(turns, Turns) and values.ends_with_count:
            self._lowering.numbers[last] = turns
