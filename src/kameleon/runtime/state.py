"""State outside of graphs: the cells of variables and streams, and the session.

A cell's array is never written in place by anyone: a new value replaces it. So whoever has read
it may go on using it, and a call that fails has changed nothing.
"""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import FeedError
from ..ir.node import Node, Variable, reset_names

_order = itertools.count()

# Held for the moment in which values of several cells are read or replaced together.
_snapshot_lock = threading.Lock()
# Variables whose value was set to an array of another shape than the graph was built with.
_misfits: set[Variable] = set()


class Cell:
    """Where a value lives between calls; `lock` is held by a call that will replace it."""

    __slots__ = ("lock", "order", "value")

    def __init__(self, value: Any):
        self.value = value
        self.order = next(_order)
        self.lock = threading.RLock()


def draws(source: Node) -> Cell:
    """The cell that counts the calls that have drawn from a random stream."""
    cell: Cell | None = source.__dict__.get("draws")
    if cell is None:
        cell = source.__dict__.setdefault("draws", Cell(0))
    return cell


def snapshot(variables: Iterable[Variable]) -> list[Any]:
    """The values of variables at one moment."""
    if _misfits:
        _check_fit(variables)
    with _snapshot_lock:
        return [v.cell.value for v in variables]


def commit(pairs: Iterable[tuple[Cell, Any]]) -> list[Any]:
    """Replace values at one moment; gives the old ones."""
    old = []
    with _snapshot_lock:
        for cell, value in pairs:
            old.append(cell.value)
            cell.value = value
    return old


def set_value(variable: Variable, value: Any) -> None:
    """Give a variable a new value, cast to its dtype and copied."""
    array = np.array(value, dtype=variable.dtype)
    fits = variable.type.accepts(array.shape)
    with variable.cell.lock:
        commit([(variable.cell, array)])
        (_misfits.discard if fits else _misfits.add)(variable)


def _check_fit(variables: Iterable[Variable]) -> None:
    for v in variables:
        if v in _misfits:
            raise FeedError(
                f"variable '{v}' was built with shape {v.shape} and set to a value of shape"
                f" {v.cell.value.shape}; graphs that use it need the shape that it was built with"
            )


class Session:
    """What `clear_session` forgets: names, uids, the learning phase, compiled code."""

    def __init__(self) -> None:
        self.uids: defaultdict[str, int] = defaultdict(int)
        self.learning_phase: Node | int | None = None
        self.compiled: dict[Any, Any] = {}
        self.folding: dict[Any, Any] = {}
        self.functions: dict[Any, Any] = {}


session = Session()


def clear() -> None:
    """Forget the session's state; variables and functions that are still held go on working."""
    session.__init__()  # type: ignore[misc]
    reset_names()
    _misfits.clear()
