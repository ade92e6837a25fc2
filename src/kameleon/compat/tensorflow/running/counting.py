"""How many turns a loop has, where that follows from what is known when it's compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor

from ..graph import Operation, Value
from ..lowering import Lowering
from ..operations import table
from ..operations.values import NeedsValueError, is_text
from ..progress import SAMPLES, Progress, Turns
from .needed import ENTERS, MERGES, SWITCHES, Compound, Loop

MOST = 100_000  # turns that are counted one by one
LARGEST = 64  # elements of a value that counts

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
    counting = _Counting(loop, firsts, outer, lowering)
    slices = {at: counting.slice(each.following) for at, each in enumerate(loop.carried)}
    known = {at for at, first in enumerate(firsts) if _is_counter(first)}
    while wrong := {at for at in known if not slices[at].carried <= known or slices[at].unknown}:
        known -= wrong
    if turns is not None:
        return counting.run(known, lambda turn, now: turn < turns, slices)
    test = counting.slice(loop.condition)
    if test.unknown or not test.carried <= known:
        if needs_count:
            counting.ask(test, slices)
        return None
    return counting.run(known, lambda turn, now: counting.goes_on(test, now), slices)


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
        turns: what was counted ahead. Else another loop's turns are those of this one, too, if it
            counts them.
    """
    numbers = [lowering.turns_of(first) for first in firsts]
    others = {number for number in numbers if number is not None}
    chosen = turns or (others.pop() if len(others) == 1 else None)
    if chosen is None:
        return None
    samples = {}
    for count in SAMPLES:
        given = [
            first if number is None else np.array(count, str(first.dtype))
            for first, number in zip(firsts, numbers, strict=True)
        ]
        sample = counted(loop, given, outer, lowering, False, count if turns else None)
        if sample is None or sample.turns != count:
            return None
        samples[count] = sample
    values = {}
    for at in samples[SAMPLES[0]].values:
        progress = Progress.of({count: each.values[at] for count, each in samples.items()})
        if progress is None:
            return None
        values[at] = progress
    return Count(chosen, values, {at: each.last(chosen) for at, each in values.items()})


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
        unknown: values whose computation can't be followed, each with the operation that takes it.
    """

    operations: list[Operation]
    carried: set[int]
    unknown: list[tuple[Value, Operation | None]]


class _Counting:
    def __init__(
        self, loop: Loop, firsts: list[Any], outer: Callable[[Value], Any], lowering: Lowering
    ) -> None:
        self._loop, self._firsts, self._outer, self._lowering = loop, firsts, outer, lowering
        self._heads = {each.merge: at for at, each in enumerate(loop.carried)}
        parts = [*loop.testing, *loop.body]
        self._order = {e: at for at, e in enumerate(parts) if not isinstance(e, Compound)}

    def slice(self, value: Value) -> _Slice:
        """What a value is computed from."""
        found = _Slice([], set(), [])
        seen: set[Operation] = set()
        rest: list[tuple[Value, Operation | None]] = [(value, None)]
        while rest:
            current, taker = rest.pop()
            source = current[0]
            if source.type in MERGES and source in self._heads:
                found.carried.add(self._heads[source])
            elif source.type in SWITCHES and source.inputs[0][0] in self._heads:
                found.carried.add(self._heads[source.inputs[0][0]])
            elif source.type in ENTERS:
                if not _is_counter(self._outer(source.inputs[0])):
                    found.unknown.append((source.inputs[0], taker))
            elif source not in self._order or not table.is_folded(source):
                found.unknown.append((current, taker))
            elif source not in seen:
                seen.add(source)
                rest += [(each, source) for each in source.inputs]
        found.operations = sorted(seen, key=self._order.__getitem__)
        return found

    def ask(self, test: _Slice, slices: dict[int, _Slice]) -> None:
        """Ask for a value from outside that would tell the number of turns."""
        parts, rest, seen = [test], list(test.carried), set[int]()
        while rest:
            at = rest.pop()
            if at not in seen:
                seen.add(at)
                parts.append(slices[at])
                rest += slices[at].carried
        unknown = [value for part in parts for value, _ in part.unknown]
        unknown += [
            self._loop.carried[at].first for at in seen if not _is_counter(self._firsts[at])
        ]
        if all(self._could_be_known(value) for value in unknown):
            head = self._loop.carried[0].merge
            raise NeedsValueError("how many turns a loop has", self._outer(unknown[0]), head)

    def _could_be_known(self, value: Value) -> bool:
        if value[0] in self._loop.members:
            return False
        found = self._outer(value)
        return isinstance(found, Tensor) and found.shape == () and found.dtype.is_integer

    def goes_on(self, test: _Slice, now: dict[int, np.ndarray]) -> bool:
        """Whether there's another turn."""
        return bool(self._value(self._loop.condition, test, now))

    def run(self, known: set[int], goes_on: GoesOn, slices: dict[int, _Slice]) -> Count | None:
        """Count."""
        now = {at: np.asarray(self._firsts[at]) for at in sorted(known)}
        rows: dict[int, list[np.ndarray]] = {at: [] for at in known}
        for turn in range(MOST):
            if not goes_on(turn, now):
                stacked = {at: np.asarray(rows[at], now[at].dtype).reshape(turn, *now[at].shape)
                           for at in known}  # fmt: skip
                return Count(turn, stacked, now)
            new = {}
            for at in known:
                rows[at].append(now[at])
                new[at] = np.asarray(self._value(self._loop.carried[at].following, slices[at], now))
            if any(new[at].shape != now[at].shape for at in known):
                return None
            now = new
        return None

    def _value(self, value: Value, part: _Slice, now: dict[int, np.ndarray]) -> Any:
        found: dict[Any, Any] = {}

        def find(wanted: Value) -> Any:
            source = wanted[0]
            if source in self._heads:
                return now[self._heads[source]]
            if source.type in SWITCHES:
                return now[self._heads[source.inputs[0][0]]]
            if source.type in ENTERS:
                return np.asarray(self._outer(source.inputs[0]))
            return found[wanted]

        for operation in part.operations:
            given = [find(each) for each in operation.inputs]
            for index, result in enumerate(table.lowered(self._lowering, operation, given)):
                found[operation, index] = result
        return find(value)
