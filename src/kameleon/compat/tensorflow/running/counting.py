"""How many turns a loop has, where that follows from what is known when it's compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives.movement import iota
from kameleon.graph.primitives.sizes import are_one_size, minus

from ..graph import Operation, Value
from ..lowering import Lowering
from ..operations import table
from ..operations.values import NeedsValueError, are_sizes_open, is_of_sizes, is_text, size_in
from ..progress import SAMPLES, Progress, Turns
from .needed import ENTERS, MERGES, SWITCHES, Compound, Loop

MOST = 100_000  # turns that are counted one by one
LARGEST = 64  # elements of a value that counts
FEW, MANY = (1, 2), 10_000_019  # where another bound than a size would show
APART = range(-2, 3)  # by how much a size is more than the number of turns

GoesOn = Callable[[int, dict[int, np.ndarray]], bool]  # of a turn, and what counts in it


@dataclass(frozen=True)
class Count:
    """The turns of a loop.

    Attributes:
        turns: how many.
        values: by number of what's carried, its value in each turn.
        last: the same behind the last turn.
    """

    turns: int | Turns
    values: dict[int, Any]
    last: dict[int, Any]


def counted(
    loop: Loop,
    firsts: list[Any],
    outer: Callable[[Value], Any],
    lowering: Lowering,
    needs_count: bool,
    turns: int | None,
) -> Count | None:
    """The turns; None where they aren't known.

    Args:
        turns: how many there are, where that was counted ahead.

    Raises:
        NeedsValueError: a value from outside decides, which could be known; if `needs_count`.
    """
    return _Counting(loop, firsts, outer, lowering).count(needs_count, turns)


def counted_openly(
    loop: Loop,
    firsts: list[Any],
    outer: Callable[[Value], Any],
    lowering: Lowering,
    turns: Turns | None,
) -> Count | None:
    """The turns where it isn't known how many there are; None where it isn't known, either, how
    what they count goes on.

    Args:
        turns: what was counted ahead. Else what decides says it: a size, or the number of turns of
            another loop.
    """
    counting = _Counting(loop, firsts, outer, lowering)
    known = turns or counting.open_turns()
    if known is None:
        return None
    samples, rows = dict[int, int](), dict[int, dict[int, Any]]()
    for count in SAMPLES if turns else (*SAMPLES, *FEW):
        sample = counting.given(known, count).count(False, count if turns else None)
        if sample is None or not isinstance(sample.turns, int):
            return None
        samples[count], rows[sample.turns] = sample.turns, sample.values
    less = SAMPLES[0] - samples[SAMPLES[0]]
    if less not in APART or any(max(count - less, 0) != n for count, n in samples.items()):
        return None
    chosen = Turns(iota([minus(known.count, less)])) if less else known
    found = {
        at: Progress.of({count: each[at] for count, each in rows.items()})
        for at in rows[samples[SAMPLES[0]]]
    }
    values = {at: progress for at, progress in found.items() if progress is not None}
    if turns is None and not counting.given(known, MANY).ends_at(MANY - less, values):
        return None
    return Count(chosen, values, {at: each.last(chosen) for at, each in values.items()})


def turns_of(value: Any, lowering: Lowering) -> Turns | None:
    """The turns that a value is the number of: another loop's, or as many as an open size."""
    found = lowering.turns_of(value)
    if found is not None or not are_sizes_open() or not _may_be_size(value):
        return found
    size = size_in(value)
    if isinstance(size, Tensor) and is_of_sizes(size):
        numbers = lowering.numbers
        same = (turns for known, turns in numbers.items() if are_one_size(known, size))
        found = numbers[value] = numbers[size] = next(same, None) or Turns(iota([size]))
    return found


def _may_be_size(value: Any) -> bool:
    return isinstance(value, Tensor) and value.shape == () and value.dtype.is_integer


def _is_counter(first: Any) -> bool:
    return (
        not isinstance(first, Tensor)
        and isinstance(first, np.ndarray | np.generic)
        and not is_text(first)
        and np.size(first) <= LARGEST
    )


@dataclass
class _Slice:
    """What a value is computed from, within a turn.

    Attributes:
        operations: in order.
        carried: numbers of what's carried.
        unknown: what it takes that isn't known; None for what can't be followed.
    """

    operations: list[Operation]
    carried: set[int]
    unknown: list[Any]


@dataclass
class _Counting:
    """What counts in a loop.

    Attributes:
        loop: it.
        firsts: what is carried begins with.
        outer: finds what a value from outside is.
        lowering: the state around the loop.
        stand_in: what is counted with in the place of a value from outside.
        same: what operations give that give the same in each turn; None for the others.
    """

    loop: Loop
    firsts: list[Any]
    outer: Callable[[Value], Any]
    lowering: Lowering
    stand_in: Callable[[Any], Any] = lambda value: value
    same: dict[Operation, list[Any] | None] = field(default_factory=dict)

    def count(self, needs_count: bool, turns: int | None) -> Count | None:
        """The turns; None where they aren't known."""
        slices, known = self._slices, {at for at, x in enumerate(self._begun) if _is_counter(x)}
        while wrong := {
            at for at in known if not slices[at].carried <= known or slices[at].unknown
        }:
            known -= wrong
        if turns is not None:
            return self._run(known, lambda turn, now: turn < turns)
        test = self._test
        if test.unknown or not test.carried <= known:
            if needs_count:
                self._ask()
            return None
        return self._run(known, lambda turn, now: self._goes_on(now))

    def open_turns(self) -> Turns | None:
        """The turns that all that decides says, where it isn't known."""
        found = [turns_of(value, self.lowering) for value in self._undecided()]
        return found[0] if found and all(each is found[0] for each in found) else None

    def given(self, turns: Turns, count: int) -> _Counting:
        """The same where these turns are so many."""

        def stand_in(value: Any) -> Any:
            is_count = turns_of(value, self.lowering) is turns
            return np.array(count, str(value.dtype)) if is_count else value

        return replace(self, stand_in=stand_in)

    def ends_at(self, turns: int, values: Mapping[int, Progress]) -> bool:
        """Whether the last turn is this one, if values go on like that."""
        if not self._test.carried <= values.keys():
            return False
        before, after = (
            {at: each.at(turn, turns) for at, each in values.items()} for turn in (turns - 1, turns)
        )
        return self._goes_on(before) and not self._goes_on(after)

    @cached_property
    def _begun(self) -> list[Any]:
        return [*map(self.stand_in, self.firsts)]

    @cached_property
    def _heads(self) -> dict[Operation, int]:
        """The numbers of what is carried, by the Merge at its head."""
        return {each.merge: at for at, each in enumerate(self.loop.carried)}

    @cached_property
    def _order(self) -> dict[Operation, int]:
        parts = [*self.loop.testing, *self.loop.body]
        return {e: at for at, e in enumerate(parts) if not isinstance(e, Compound)}

    @cached_property
    def _test(self) -> _Slice:
        return self._slice(self.loop.condition)

    @cached_property
    def _slices(self) -> list[_Slice]:
        return [self._slice(each.following) for each in self.loop.carried]

    def _slice(self, value: Value) -> _Slice:
        """What a value is computed from."""
        found = _Slice([], set(), [])
        seen: set[Operation] = set()
        rest = [value]
        while rest:
            current = rest.pop()
            source, settled = current[0], self._settled(current)
            if settled is not None:
                found.unknown += [] if _is_counter(settled) else [settled]
            elif source.type in MERGES and source in self._heads:
                found.carried.add(self._heads[source])
            elif source.type in SWITCHES and source.inputs[0][0] in self._heads:
                found.carried.add(self._heads[source.inputs[0][0]])
            elif source not in self._order or not table.is_folded(source):
                found.unknown.append(None)
            elif source not in seen:
                seen.add(source)
                rest += source.inputs
        found.operations = sorted(seen, key=self._order.__getitem__)
        return found

    def _settled(self, value: Value) -> Any:
        """What a value is that's the same in each turn; None where it may not be."""
        return self.stand_in(self._outside(value))

    def _outside(self, value: Value) -> Any:
        source, index = value
        if source.type in ENTERS:
            return self.outer(source.inputs[0])
        if source not in self.same:
            self.same[source] = self._once(source)
        found = self.same[source]
        return None if found is None else found[index]

    def _once(self, operation: Operation) -> list[Any] | None:
        """What an operation gives whose inputs are the same in each turn."""
        if operation not in self._order or operation.type not in table.PURE:
            return None
        given = [self._outside(each) for each in operation.inputs]
        if any(each is None for each in given):
            return None
        try:
            return table.lowered(self.lowering, operation, given)
        except Exception:  # then it can't be told here
            return None

    def _undecided(self) -> list[Any]:
        """What decides about the number of turns, and isn't known; None for what's not settled."""
        parts, rest, seen = [self._test], list(self._test.carried), set[int]()
        while rest:
            at = rest.pop()
            if at not in seen:
                seen.add(at)
                parts.append(self._slices[at])
                rest += self._slices[at].carried
        firsts = (self._begun[at] for at in sorted(seen))
        unknown = [value for part in parts for value in part.unknown]
        return unknown + [first for first in firsts if not _is_counter(first)]

    def _ask(self) -> None:
        """Ask for a value from outside that would tell the number of turns."""
        unknown = self._undecided()
        if all(map(_may_be_size, unknown)):
            head = self.loop.carried[0].merge
            raise NeedsValueError("how many turns a loop has", unknown[0], head)

    def _goes_on(self, now: Mapping[int, np.ndarray]) -> bool:
        """Whether there's another turn."""
        return bool(self._value(self.loop.condition, self._test, now))

    def _run(self, known: set[int], goes_on: GoesOn) -> Count | None:
        """Count."""
        now = {at: np.asarray(self._begun[at]) for at in sorted(known)}
        rows: dict[int, list[np.ndarray]] = {at: [] for at in known}
        for turn in range(MOST):
            if not goes_on(turn, now):
                stacked = {at: np.asarray(rows[at], now[at].dtype).reshape(turn, *now[at].shape)
                           for at in known}  # fmt: skip
                return Count(turn, stacked, now)
            new = {}
            for at in known:
                rows[at].append(now[at])
                following = self.loop.carried[at].following
                new[at] = np.asarray(self._value(following, self._slices[at], now))
            if any(new[at].shape != now[at].shape for at in known):
                return None
            now = new
        return None

    def _value(self, value: Value, part: _Slice, now: Mapping[int, np.ndarray]) -> Any:
        found: dict[Any, Any] = {}

        def find(wanted: Value) -> Any:
            source, settled = wanted[0], self._settled(wanted)
            if settled is not None:
                return np.asarray(settled)
            if source in self._heads:
                return now[self._heads[source]]
            if source.type in SWITCHES:
                return now[self._heads[source.inputs[0][0]]]
            return found[wanted]

        for operation in part.operations:
            given = [find(each) for each in operation.inputs]
            for index, result in enumerate(table.lowered(self.lowering, operation, given)):
                found[operation, index] = result
        return find(value)
