"""What is fetched, ready to be run again and again; and calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..failures import told_of
from ..graph import Graph, Operation, Value
from ..library import body_of
from ..variables import Store
from ..walks import reached
from .executor import Run
from .expansion import PLACEHOLDERS, Expansion, is_call
from .plan import Plan
from .races import are_raced, as_begun
from .spans import Trace


class Prepared:
    """A plan for what is fetched and fed, in which functions are expanded."""

    def __init__(
        self,
        feeds: Collection[Value],
        fetches: Sequence[Value],
        targets: Sequence[Operation],
        repeats: bool = False,
    ) -> None:
        fed = dict.fromkeys(feeds)
        needed = _needed(fed, fetches, targets)
        replaced = [value for value in fed if value[0].type not in PLACEHOLDERS]
        self._fed = {value: value for value in fed if value[0] in needed}
        order = sorted(needed, key=lambda each: each.serial)
        if is_raced := are_raced(order):
            order = as_begun(order)
        if replaced or is_raced or any(map(is_call, needed)):
            made = Expansion(order, fed, replaced)
            self._fed = {value: made.value(value) for value in (*self._fed, *replaced)}
            fetches = [made.value(value) for value in fetches]
            targets = [*map(made.end, targets), *made.targets]
        self._plan = Plan(self._fed.values(), fetches, targets, repeats=repeats)

    def run(
        self,
        store: Store,
        feeds: Mapping[Value, Any],
        deadline: float | None = None,
        trace: Trace | None = None,
    ) -> list[Any]:
        """The values of the fetches."""
        given = {mine: feeds[value] for value, mine in self._fed.items()}
        return Run(store, self._plan, given, deadline, trace).results()


def _needed(
    fed: Collection[Value], fetches: Sequence[Value], targets: Sequence[Operation]
) -> set[Operation]:
    """The operations that run, and placeholders that are fed."""

    def before(operation: Operation) -> list[Operation]:
        if operation.type in PLACEHOLDERS and (operation, 0) in fed:
            return []
        return [*_sources(fed, operation.inputs), *operation.control]

    return reached([*targets, *_sources(fed, fetches)], before)


def _sources(fed: Collection[Value], values: Sequence[Value]) -> Iterator[Operation]:
    """What gives values; for those that are fed it's their placeholders alone."""
    for value in values:
        if value not in fed or value[0].type in PLACEHOLDERS:
            yield value[0]


def function(
    store: Store, graph: Graph, name: str, attributes: Mapping[str, Any]
) -> Callable[[Sequence[Any]], list[Any]]:
    """What calls a function of a graph's library."""
    body = body_of(graph, name, attributes)
    arguments = [(argument, 0) for argument in body.arguments]
    if body.prepared is None:
        body.prepared = Prepared(arguments, body.results, body.effects, repeats=True)
    run = body.prepared.run

    def call(values: Sequence[Any]) -> list[Any]:
        try:
            found: list[Any] = run(store, dict(zip(arguments, values, strict=True)))
        except Exception as error:
            raise told_of(error, name) from error.__cause__
        return found

    return call
