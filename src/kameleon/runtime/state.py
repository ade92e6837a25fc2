"""State outside of graphs: the cells of variables and streams, and the session.

A cell's array is never written in place by anyone: a new value replaces it. So whoever has read
it may go on using it, and a call that fails has changed nothing.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..engines._base import Engine
from ..errors import FeedError
from ..ir.node import Node, Variable, reset_names
from .engines import embedded

# As many small functions, made to evaluate tensors, are kept for reuse.
KEPT_FUNCTIONS = 256

_order = itertools.count()

# Held for the moment in which values of several cells are read or replaced together; told
# when cells whose values were consumed hold new ones.
_snapshot = threading.Condition(threading.Lock())
# Variables whose value was set to an array of another shape than the graph was built with.
_misfits: set[Variable] = set()


class Cell:
    """Where a value lives between calls; `lock` is held by a call that will replace it.

    Attributes:
        value: an array of the engine `home`; while `lent` is set, nobody may read it.
        copies: the same value on other engines that have read it.
    """

    __slots__ = ("copies", "home", "lent", "lock", "order", "value")

    def __init__(self, value: Any):
        self.value = value
        self.home: Engine = embedded()
        self.copies: dict[Engine, Any] = {}
        self.lent = False
        self.order = next(_order)
        self.lock = threading.RLock()

    def on(self, engine: Engine) -> Any:
        """The value as an array of `engine`."""
        if self.home is engine:
            return self.value
        if engine not in self.copies:
            self.copies[engine] = moved(self.value, self.home, engine)
        return self.copies[engine]

    def replace(self, value: Any, home: Engine) -> Any:
        """Put another value in; gives the old one."""
        old, self.value, self.home = self.value, value, home
        if self.copies:
            self.copies = {}
        return old


def moved(array: Any, source: Engine, target: Engine) -> Any:
    """An array of one engine as one of another's: it shares the memory, where it can."""
    found = target.adopt(array)
    return target.from_numpy(source.to_numpy(array)) if found is None else found


def draws(source: Node) -> Cell:
    """The cell that counts the calls that have drawn from a random stream."""
    cell: Cell | None = source.__dict__.get("draws")
    if cell is None:
        cell = source.__dict__.setdefault("draws", Cell(0))
    return cell


def snapshot(variables: Iterable[Variable], engine: Engine) -> list[Any]:
    """The values of variables at one moment, as arrays of `engine`."""
    if _misfits:
        _check_fit(variables)
    with _snapshot:
        cells = _readable(variables)
        return [c.value if c.home is engine else c.on(engine) for c in cells]


def _readable(variables: Iterable[Variable]) -> list[Cell]:
    """The cells of variables, as soon as no call holds their values; `_snapshot` is held."""
    cells: list[Cell] = [v.cell for v in variables]
    while any(c.lent for c in cells):
        _snapshot.wait()
    return cells


def borrow(cells: Sequence[Cell], values: list[Any], places: Sequence[int]) -> bool:
    """Let a call consume the values of cells, if nobody else holds them.

    Args:
        cells: those that the call will replace; it holds their locks.
        values: the call's list of arguments; nothing else of it holds these values.
        places: where in `values` those of the cells are.

    Returns:
        Whether it may. If so, readers wait until the values are replaced and given back.
    """
    with _snapshot:
        for cell, place in zip(cells, places, strict=True):
            if cell.value is not values[place] or cell.copies:
                return False
            if sys.getrefcount(cell.value) > _HOLDERS:
                return False
        for cell in cells:
            cell.lent = True
        return True


# References to a value in a cell and in one list, while it's counted.
_HOLDERS = (lambda cell, values: sys.getrefcount(cell[0]))([x := object()], [x]) - 1
del x


def give_back(cells: Iterable[Cell]) -> None:
    """The call that consumed the values of these cells has failed or ended."""
    with _snapshot:
        for cell in cells:
            cell.lent = False
        _snapshot.notify_all()


def commit(pairs: Iterable[tuple[Cell, Any]], home: Engine) -> list[Any]:
    """Replace values at one moment by arrays of `home`; gives the old ones."""
    with _snapshot:
        return [cell.replace(value, home) for cell, value in pairs]


def numpy_value(variable: Variable, copy: bool = True) -> Any:
    """The value of a variable as a NumPy array."""
    return numpy_values([variable], copy)[0]


def numpy_values(variables: Sequence[Variable], copy: bool = True) -> list[Any]:
    """The values of variables at one moment, as NumPy arrays; without `copy` to be read only."""
    with _snapshot:
        cells = _readable(variables)
        return [c.home.to_numpy(c.value) if copy else c.on(embedded()) for c in cells]


def set_value(variable: Variable, value: Any) -> None:
    """Give a variable a new value, cast to its dtype and copied."""
    array = np.array(value, dtype=variable.dtype)
    fits = variable.type.accepts(array.shape)
    with variable.cell.lock:
        commit([(variable.cell, array)], embedded())
        (_misfits.discard if fits else _misfits.add)(variable)


def _check_fit(variables: Iterable[Variable]) -> None:
    for v in variables:
        if v in _misfits:
            raise FeedError(
                f"variable '{v}' was built with shape {v.shape} and set to a value of shape"
                f" {tuple(v.cell.value.shape)}; graphs that use it need the shape that it was built"
                " with"
            )


class Session:
    """What `clear_session` forgets: names, uids, the learning phase, compiled code."""

    def __init__(self) -> None:
        self.uids: defaultdict[str, int] = defaultdict(int)
        self.learning_phase: Node | int | None = None
        self.compiled: dict[Any, Any] = {}
        self.folding: dict[Any, Any] = {}
        self.functions: dict[Any, Any] = {}

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """The small function kept for `key`; made where there's none, and the oldest given up."""
        functions = self.functions
        if key not in functions:
            while len(functions) >= KEPT_FUNCTIONS:
                functions.pop(next(iter(functions)), None)
            functions[key] = make()
        return functions[key]


session = Session()


def clear() -> None:
    """Forget the session's state; variables and functions that are still held go on working."""
    session.__init__()  # type: ignore[misc]
    reset_names()
    _misfits.clear()
