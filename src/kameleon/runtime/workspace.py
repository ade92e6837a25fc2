"""The workspace of a session: what `K.clear_session` forgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from .._utils.locks import rlock
from ..graph.ir.context import reset_names
from ..graph.ir.node import Node, Variable

# At most this many small functions, made to evaluate tensors, are kept for reuse.
KEPT_FUNCTIONS = 256

# Held while uids are counted. Reentrant: a signal handler may count, too.
_counting = rlock()


class Workspace:
    """The uids, the learning phase, the compiled code and the small functions of a session."""

    def __init__(self) -> None:
        self.uids: defaultdict[str, int] = defaultdict(int)
        self.learning_phase: Node | int | None = None
        self.compiled: dict[Any, Any] = {}
        self.functions: dict[Any, Any] = {}
        self.variables: WeakSet[Variable] = WeakSet()
        self.watched: dict[str, list[Any]] = {}  # by name, the statistics of each step
        self.graph: Any = None  # what programs of TensorFlow 1 know of the graph

    def uid(self, prefix: str) -> int:
        """The next number of a series."""
        with _counting:
            self.uids[prefix] += 1
            return self.uids[prefix]

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """The small function kept for `key`; made where there's none, and the oldest given up."""
        found = self.functions.get(key)
        if found is None:
            found = make()
            keep(self.functions, key, found, KEPT_FUNCTIONS)
        return found


def keep(table: dict[Any, Any], key: Any, value: Any, size: int) -> None:
    """Put a value into a table that holds at most `size` values; the oldest are given up.

    Other threads may do so at the same time.
    """
    for old in list(table)[: len(table) - size + 1] if len(table) >= size else ():
        table.pop(old, None)
    table[key] = value


workspace = Workspace()


def clear() -> None:
    """Forget the workspace; variables and functions that are still held go on working."""
    workspace.__dict__ = Workspace().__dict__  # at one moment
    reset_names()
