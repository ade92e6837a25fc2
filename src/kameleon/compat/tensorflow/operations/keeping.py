"""What a session keeps for operations, by their names, and what these do with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..graph import Operation
from ..variables import Store
from .table import host

T = TypeVar("T")
Maker = TypeVar("Maker", bound=Callable[..., Any])

_numbers = itertools.count()


def kept(store: Store, operation: Operation, kind: str, make: Callable[[], T]) -> T:
    """What an operation's handle stands for; it's made when it's asked for first."""
    shared = operation.attribute("shared_name")
    key = (kind, store.place(operation), shared or operation.name.encode())
    with store.waiting.changed:
        if key not in store.resources:
            store.resources[key] = make()
        found: T = store.resources[key]
    return found


def named(operation: Operation) -> str:
    """What messages call that which an operation's handle stands for."""
    shared: str = operation.attribute("shared_name").decode()
    return shared or f"_{next(_numbers)}_{operation.name}"


def keeps(
    kind: str, *names: str, check: Callable[[Any, Operation], None] | None = None
) -> Callable[[Maker], Maker]:
    """Decorates what makes that which handles of some types stand for: `(store, operation)`.

    Args:
        kind: a name for these types; handles of one kind may share what they stand for.
        names: of the types.
        check: refuses an operation that declares something else than what is kept.
    """

    def add(make: Maker) -> Maker:
        @host(*names)
        def run(store: Store, operation: Operation) -> Any:
            found = kept(store, operation, kind, lambda: make(store, operation))
            if check is not None:
                check(found, operation)
            return found

        return make

    return add


def on_handles(acts: Mapping[str, Callable[..., Any]]) -> None:
    """Put types into the table, by what they give for what their inputs hold, or stand for."""
    for names, act in acts.items():
        host(names)(act)
