"""Runs in parts: some of what is fed comes later, when some of what is fetched is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dtypes import HANDLES, REFERENCE
from ..failures import invalid
from ..graph import Operation, Value
from ..walks import reached
from .needed import DIRECTING
from .session import Session


class PartialRun:
    """A run in parts. What is fetched is computed once; so is what draws, reads or changes
    something, but in loops and branches.

    Args:
        session: where it runs.
        feeds: what will be fed.
        fetches: what may be fetched, each once.
        targets: what runs with the first part that has fed all that it needs.
    """

    def __init__(
        self,
        session: Session,
        feeds: Sequence[Value],
        fetches: Sequence[Value],
        targets: Sequence[Operation],
    ) -> None:
        self._session, self._unfed, self._unfetched = session, {*feeds}, {*fetches}
        self._feeds, self._fetches, self._targets = {*feeds}, {*fetches}, [*targets]
        self._given: dict[Value, Any] = {}

    @property
    def is_done(self) -> bool:
        """Whether all was fed and fetched."""
        return not self._unfed and not self._unfetched

    def run(self, feeds: Mapping[Value, Any], fetches: Sequence[Value]) -> list[Any]:
        """The values of some fetches, given some more feeds."""
        _demand("feed", "fed", feeds, self._feeds, self._unfed)
        _demand("fetch", "fetched", fetches, self._fetches, self._unfetched)
        self._unfed.difference_update(feeds)
        self._unfetched.difference_update(fetches)
        self._given.update(feeds)
        needed = self._needed(source for source, _ in fetches)
        for value in self._unfed:
            if value[0] in needed:
                what = "can't be computed from the feeds that have been fed so far."
                raise invalid(f"Fetch {_name(value)} {what}")
        waiting = {source for source, _ in self._unfed}
        now = [each for each in self._targets if waiting.isdisjoint(self._needed([each]))]
        self._targets = [each for each in self._targets if each not in now]
        kept = [
            (each, at)
            for each in needed | self._needed(now)
            if each.definition.is_stateful and not self._is_directed(each)
            for at, kind in enumerate(each.types)
            if kind not in HANDLES and kind < REFERENCE and (each, at) not in self._given
        ]
        wanted = [*fetches, *kept]
        found = self._session.run(self._given, wanted, now)
        self._given.update(zip(wanted, found, strict=True))  # so that it isn't computed again
        return found[: len(fetches)]

    def _needed(self, roots: Iterable[Operation]) -> set[Operation]:
        """What some operations need that no earlier part gave."""
        done = {source for source, _ in self._given}
        return reached(roots, lambda each: () if each in done else each.before)

    def _is_directed(self, operation: Operation) -> bool:
        """Whether an operation lies in a loop, or on a branch: it may run never, or often."""
        return any(each.type in DIRECTING for each in self._needed([operation]))


def _demand(
    what: str, done: str, values: Iterable[Value], declared: set[Value], rest: set[Value]
) -> None:
    for value in values:
        if value not in rest:
            why = (
                f"has already been {done}."
                if value in declared
                else "was not specified in partial_run_setup."
            )
            raise invalid(f"The {what} {_name(value)} {why}")


def _name(value: Value) -> str:
    return f"{value[0].name}:{value[1]}"
