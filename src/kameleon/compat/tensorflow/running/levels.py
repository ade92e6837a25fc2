"""How much of what runs on the host lies before each element of a plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from ..dtypes import HANDLES
from ..graph import PASSING, Operation
from ..operations import table
from .needed import EXITS, Compound, Frame, Needed, operations_of
from .units import Hints

Element = Operation | Compound


class Levels:
    """By element, a number: elements with the same one can be in one region.

    Args:
        needed: the elements; what's fed is there from the beginning.
        alone: those that run alone.
        hints: of the plan.
        least: by what is kept, the level that all that works on it has at least.
        left: by element, how often something came out of loops before it.
    """

    def __init__(
        self,
        needed: Needed,
        alone: Collection[Element],
        hints: Hints,
        least: Mapping[Operation, int],
        left: Mapping[Element, Mapping[Frame, int]],
    ) -> None:
        self._needed, self._alone, self._hints, self._least = needed, alone, hints, least
        # By element, the loops around it, and how often something came out of each before it.
        self._around = {
            element: [
                (frame[:depth], _times_left(left[element], frame[:depth]))
                for depth in range(1, len(frame) + 1)
            ]
            for element, frame in needed.frames.items()
        }
        self._exits = {
            element: (frame, _times_left(left[element], frame))
            for element, frame in needed.frames.items()
            if not isinstance(element, Compound) and element.type in EXITS
        }

    def found(self) -> dict[Element, int]:
        """The least ones that fit; but what's kept waits for those that use it, so that all of it
        is in one region.
        """
        needed, alone, found = self._needed, self._alone, self._least_ones()
        last: dict[Element, int] = {}
        for element in reversed(needed.elements):
            if element in last and element not in alone and _can_wait(element):
                found[element] = max(found[element], last[element])
            for value in needed.sources(element):
                source = needed.of(value[0])
                crosses = element in alone or self._hints.is_before(value)
                limit = found[element] - crosses
                last[source] = min(limit, last.get(source, limit))
        return found

    def _least_ones(self) -> dict[Element, int]:
        turning: dict[Element, int] = {}
        while True:
            levels: dict[Element, int] = {}
            for element in self._needed.elements:
                level = self._level(element, levels)
                levels[element] = max(level, turning.get(element, 0))
            found = self._turning(levels)
            if found == turning:
                return levels
            turning = found

    def _turning(self, levels: Mapping[Element, int]) -> dict[Element, int]:
        """By what comes out of a loop, the level of all that its turns need; but what comes to the
        loop after something came out of it isn't needed for that.
        """
        highest = defaultdict[tuple[Frame, int], int](int)
        for element, level in levels.items():
            for key in self._around[element]:
                highest[key] = max(highest[key], level)
        return {
            each: max(highest[frame, before] for before in range(times + 1))
            for each, (frame, times) in self._exits.items()
        }

    def _level(self, element: Element, levels: Mapping[Element, int]) -> int:
        needed, level = self._needed, 0
        if self._least:  # what was kept in several regions comes into the last of them
            level = max((self._least.get(root, 0) for root in kept_in(element)), default=0)
        for value in needed.sources(element):
            source = needed.of(value[0])
            if source in levels:
                crosses = source in self._alone and not needed.is_fed(source)
                crosses |= element in self._alone or self._hints.is_before(value)
                level = max(level, levels[source] + crosses)
        return level


def kept_in(element: Element) -> Iterator[Operation]:
    """What an element works on of what's kept."""
    return map(table.family_of, filter(table.is_kept, operations_of(element)))


def _times_left(left: Mapping[Frame, int], frame: Frame) -> int:
    """How often something came out of a loop, or of those around it."""
    return sum(left.get(frame[:depth], 0) for depth in range(1, len(frame) + 1))


def _can_wait(element: Element) -> bool:
    """Whether an element works on what is kept, hands it on, or does nothing."""
    return any(
        table.is_kept(each)
        or each.type == "NoOp"
        or (each.type in PASSING and each.types[0] in HANDLES)
        for each in operations_of(element)
    )
