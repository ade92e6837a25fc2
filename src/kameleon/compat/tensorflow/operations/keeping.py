"""What a session keeps for operations, by their names, and what these do with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..graph import Operation
from ..variables import Store
from .table import host

T = TypeVar("T")
Maker = TypeVar("Maker", bound=Callable[..., Any])


def kept(store: Store, operation: Operation, kind: str, make: Callable[[], T]) -> T:
    """What an operation's handle stands for; it's made when it's asked for first."""
    shared = operation.attribute("shared_name")
    key = (kind, store.place(operation), shared or operation.name.encode())
    with store.waiting.changed:
        if key not in store.resources:
            store.resources[key] = make()
        found: T = store.resources[key]
    return found


def keeps(kind: str, *names: str) -> Callable[[Maker], Maker]:
    """Decorates what makes that which handles of some types stand for: `(store, operation)`."""

    def add(make: Maker) -> Maker:
        @host(*names)
        def run(store: Store, operation: Operation) -> Any:
            return kept(store, operation, kind, lambda: make(store, operation))

        return make

    return add


def on_handles(acts: Mapping[str, Callable[..., Any]]) -> None:
    """Put types into the table, by what they give for what their inputs hold, or stand for."""
    for names, act in acts.items():
        host(names)(act)
