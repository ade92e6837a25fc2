"""Loops as K's: `scan` where the turns are counted, else `while`; few turns may be written out."""

from __future__ import annotations

from typing import Any

from kameleon.backend._bodies import body_of, scan_over, while_over
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Tensor, new_serial
from kameleon.graph.ir.rewrite import substitute
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.movement import iota, reshape
from kameleon.graph.primitives.sizes import sizes_product

from ..failures import is_failure
from ..inner import AgainError, Turn, snapshot
from ..lowering import ArrayHandle, ListHandle, Lowering, NotCompiledError
from ..operations import table
from ..operations.values import NeedsValueError, are_sizes_open, is_text
from ..progress import Kept, Progress, Turns
from ..tensors import dims, tensor
from ..variables import Reference
from .bodies import COMPOUNDS, STATIC, AheadError, ApartError, Values, is_same, lower
from .counting import counted, counted_openly
from .needed import DIRECTING, SWITCHES, Carried, Loop

FEW = 32  # turns, where what runs on the host is written out turn by turn


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
                raise ApartError(loop.condition, "an array of several shapes") from None
            whole[again.handle] = again.element
        except Exception as error:
            if not isinstance(error, NotCompiledError) and not is_failure(error):
                raise
            restore()  # a turn that there isn't may be one that fails
            if needs_count and steps is None and turns is None and lowering.lowered is None:
                raise AheadError(loop, str(error)) from None
            raise ApartError(loop.condition, str(error)) from None


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
            test = self._turn.value(self._inner.find(self._loop.condition))
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
        for param in self._turn.given:  # a body outlives what it was made for
            param.given = None
        last = self._looped(test, states, carry, made, start)
        self._end(last, list(cells))

    # What the turns begin with ------------------------------------------------------------------

    def _begin(self) -> None:
        for at, (carried, first) in enumerate(zip(self._loop.carried, self._firsts, strict=True)):
            if self._steps is not None and at in self._steps.values:
                found = self._turn.counted(self._steps.values[at], self._steps.last[at])
            elif (isinstance(first, STATIC) or is_text(first)) and not _is_read(carried, first):
                found = first
            else:
                first = self._firsts[at] = self._lowering.value(first)
                found = self._params[at] = input_node(tensor(first).type)
                if self._steps is not None:
                    self._turn.stands_for(found, tensor(first), 0)
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
        rows += [tensor(x.value) for x in turn.pushed.values() if turn.rows_pushed(x) is None]
        read = {
            param: self._lowering.value(reference)
            for reference, param in turn.cells.items()
            if reference not in turn.assigned
        }
        if self._steps is None:
            if tensor(test).shape != ():
                raise ApartError(self._loop.condition, "a condition that isn't a scalar")
            made = substitute([E.cast(tensor(test), "bool"), *made], read)
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

    def _hand_out(self, stacks: list[Tensor]) -> None:
        """What all turns wrote into arrays, and put on stacks."""
        turn, rest = self._turn, iter(stacks)
        for handle, (param, _, adds) in turn.stacked.items():
            at = turn.known[param]
            if turn.backwards:
                at = at.backwards if isinstance(at, Progress) else at[::-1]
            self._lowering.put(handle, at, next(rest), adds)
        for stack, pushed in turn.pushed.items():
            rows = turn.rows_pushed(pushed)
            if rows is None:
                rows = next(rest)
                if turn.backwards:
                    rows = rows[::-1]
                if not pushed.is_single:
                    sizes = dims(rows)
                    rows = reshape(rows, [sizes_product(sizes[:2]), *sizes[2:]])
            if pushed.within is not None or isinstance(turn.turns, Turns):
                rows = Kept(turn.turns or 0, rows, pushed.within)
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
        elif is_same(first, following):
            return first
        raise NotCompiledError("which variable, array or text a loop ends with")

    def _note_number(self, values: Any, last: Any) -> None:
        """Remember what says how many turns there are: loops of gradients count by it."""
        turns = self._turn.turns
        if isinstance(turns, Turns) and values.ends_with_count:
            self._lowering.numbers[last] = turns


COMPOUNDS[Loop] = _repeat
