"""State outside of graphs: the cells of variables and streams.

A cell's array is never written in place by anyone: a new value replaces it. So whoever has read
it may go on using it, and a call that fails has changed nothing.

A signal handler may raise between any two bytecodes. So all that a cell holds is one record,
which is never changed, and the records of one commit are replaced by a loop in C, which no
handler and no other thread can come into.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from .._locks import rlock
from .._threads import FREE_THREADED, counter
from ..engines._base import Engine
from ..ir.node import Node, Variable
from .engines import embedded

# A value, the engine whose array it is, and the same value on other engines that have read it.
Record = tuple[Any, Engine, dict[Engine, Any]]

_next_order = counter()
# Held for the moment of a commit, where other threads may come into a loop in C. Reentrant: a
# signal handler may read variables while this thread holds it.
_moment = rlock()


class Cell:
    """Where a value lives between calls; `lock` is held by a call that will replace it.

    Attributes:
        record: what it holds; it's replaced as a whole.
        order: in which locks are taken.
    """

    __slots__ = ("lock", "order", "record")

    def __init__(self, value: Any):
        self.record: Record = (value, embedded(), {})
        self.order = _next_order()
        self.lock = rlock()

    @property
    def value(self) -> Any:
        """The value, as an array of some engine."""
        return self.record[0]

    def on(self, engine: Engine) -> Any:
        """The value as an array of `engine`."""
        return on(self.record, engine)


def on(record: Record, engine: Engine) -> Any:
    """The value of a record as an array of `engine`."""
    value, home, copies = record
    if home is engine:
        return value
    copy = copies.get(engine)
    return copies.setdefault(engine, moved(value, home, engine)) if copy is None else copy


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


# Reading and replacing ---------------------------------------------------------------------

_record_of: Callable[[Cell], Record] = attrgetter("record")


def records(cells: Iterable[Cell]) -> list[Record]:
    """What cells hold at one moment."""
    if FREE_THREADED:
        with _moment:
            return list(map(_record_of, cells))
    return list(map(_record_of, cells))


def commit(cells: Sequence[Cell], new: Sequence[Record]) -> list[Any]:
    """Replace what cells hold at one moment; gives the old values.

    The caller holds the cells' locks. An exception from a signal handler comes before all
    cells are replaced or after it: handlers run between bytecodes, and the loop over
    `setattr` is one call in C. The old records are held meanwhile, for what dies with them
    might run Python code.
    """
    if FREE_THREADED:
        with _moment:
            return _exchange(cells, new)
    return _exchange(cells, new)


def _exchange(cells: Sequence[Cell], new: Sequence[Record]) -> list[Any]:
    old = list(map(_record_of, cells))
    any(map(setattr, cells, itertools.repeat("record"), new))  # each gives None
    return [value for value, _, _ in old]


def holding(locks: Sequence[Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` as a function during which all locks are held; they're taken in the order given.

    The locks are C's own, so no exception can leave one taken: from the call of `__enter__` to
    the block behind `with`, and from its end to the call of `__exit__`, the interpreter looks
    for no signals (CPython 3.11 to 3.13).
    """
    for first in reversed(range(0, len(locks), _AT_ONCE)):
        some = locks[first : first + _AT_ONCE]
        # They're reentrant: the last one may be taken again.
        more = [some[-1]] * (_AT_ONCE - len(some)) if len(some) > 1 else []
        call = partial(_hold_one if len(some) == 1 else _hold_several, call, *some, *more)
    return call


_AT_ONCE = 8


def _hold_one(call: Callable[..., Any], a: Any, *given: Any) -> Any:
    with a:
        return call(*given)


def _hold_several(
    call: Callable[..., Any],
    a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any,
    *given: Any,
) -> Any:  # fmt: skip
    with a, b, c, d, e, f, g, h:
        return call(*given)


# Values of variables -----------------------------------------------------------------------


def numpy_value(variable: Variable, copy: bool = True) -> Any:
    """The value of a variable as a NumPy array."""
    return numpy_values([variable], copy)[0]


def numpy_values(variables: Sequence[Variable], copy: bool = True) -> list[Any]:
    """The values of variables at one moment, as NumPy arrays; without `copy` to be read only."""
    found = records([v.cell for v in variables])
    if copy:
        return [home.to_numpy(value) for value, home, _ in found]
    return [on(record, embedded()) for record in found]


def set_values(pairs: Iterable[tuple[Variable, Any]]) -> None:
    """Give variables new values at one moment: private arrays of their types."""
    new = {v.cell: array for v, array in pairs}
    cells = sorted(new, key=lambda cell: cell.order)
    exchanged = holding([cell.lock for cell in cells], commit)
    exchanged(cells, [(new[cell], embedded(), {}) for cell in cells])
