"""What a session keeps for operations, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store

T = TypeVar("T")


def kept(store: Store, operation: Operation, kind: str, make: Callable[[], T]) -> T:
    """What an operation's handle stands for; it's made when it's asked for first."""
    shared = operation.attribute("shared_name")
    key = (kind, operation.attribute("container"), shared or operation.name)
    with store.waiting.changed:
        if key not in store.resources:
            store.resources[key] = make()
        found: T = store.resources[key]
    return found
