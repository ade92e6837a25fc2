"""State outside of graphs: the cells of variables and streams, and the calls that replace state.

Why state is always wholly that before a call or wholly that after it:

1.  A cell's array is never written in place by anyone: a new value replaces it. So whoever has
    read the array may go on using it, and a call that fails has changed nothing. No buffer is
    donated to an engine: arrays that were replaced are given back after the commit (`discard`).
2.  All that a cell holds is one record, whose value and engine never change. What a call reads, it
    reads at one moment (`records`), by a loop in C, which no signal handler and no other thread
    can interrupt.
3.  A call that changes something holds the locks of all that it will change from before it reads
    until it has committed (`holding`). Locks are taken in one order, so that no two calls wait for
    each other, and no exception can leave a lock taken.
4.  New values are of their variables' dtypes and shapes before anything is replaced
    (`SizeGuard`), and all are replaced at one moment (`commit`): a handler may raise between any
    two bytecodes, but not within that loop in C.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from .._utils.locks import rlock
from .._utils.threads import FREE_THREADED, counter
from ..engines._base import Engine
from ..graph.ir.leaves import SOURCE, VARIABLE
from ..graph.ir.node import NO_ATTRS, Node, Variable
from ..graph.ir.program import Program
from ..graph.ir.types import TensorType, as_dtype
from ..graph.primitives.random import KEY
from .engines import embedded
from .updates import SizeGuard

# A value, the engine whose array it is, and the same value on other engines that have read it.
Record = tuple[Any, Engine, dict[Engine, Any]]

_next_order = counter()
# Held for the moment of a commit, where other threads may run during a loop in C (free-threaded
# Python). Reentrant: a signal handler may read variables while this thread holds the lock.
_moment = rlock()


class Cell:
    """Where a value lives between calls; `lock` is held by a call that will replace it.

    Attributes:
        record: what the cell holds; it's replaced as a whole.
        order: the cell's place in the order in which locks are taken.
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


def on(record: Record, engine: Engine, variable: Variable) -> Any:
    """The value of a variable's record as an array of `engine`."""
    value, home, copies = record
    if home is engine:
        return value
    copy = copies.get(engine)
    return copies.setdefault(engine, moved(value, home, engine, variable)) if copy is None else copy


def moved(array: Any, source: Engine, target: Engine, variable: Variable) -> Any:
    """An array of one engine as an array of another, which shares its memory where it can."""
    if target.has_layout:
        return target.arranged(source.to_numpy(array), variable)
    found = target.adopt(array)
    return target.from_numpy(source.to_numpy(array)) if found is None else found


def variable_of(value: np.ndarray, name: str, type: TensorType | None = None) -> Variable:
    """A new variable that holds an array, which is its own from now on.

    Args:
        value: the array.
        name: of the variable; nobody else has it.
        type: the array's own, if None.
    """
    own = type or TensorType(value.shape, as_dtype(value.dtype))
    made = Variable(VARIABLE, (), NO_ATTRS, own, name)
    made.effects, made.cell = (), Cell(value)
    return made


def stream_of(seed: int, drawn: int) -> Node:
    """A new random stream, from which so many calls have drawn."""
    source = Node(SOURCE, (), {"seed": seed}, KEY)
    source.__dict__["draws"] = Cell(drawn)
    return source


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
    `setattr` is one call in C. The old records are held meanwhile, for objects that die with
    them might run Python code.
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

    The locks are C's own, so no exception can leave a lock taken: from the call of `__enter__` to
    the block of `with`, and from the end of the block to the call of `__exit__`, the interpreter
    runs no signal handlers (CPython 3.11 to 3.13).
    """
    for first in reversed(range(0, len(locks), _AT_ONCE)):
        some = locks[first : first + _AT_ONCE]
        # The locks are reentrant: the last one may be taken again.
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


# Calls of programs -------------------------------------------------------------------------

# Given the values of the graph's last inputs, the engine, and what `State.call` hands on.
Compute = Callable[[list[Any], Engine, Any], Sequence[Any]]


class State:
    """What the calls of a program read and replace: its variables' values, its streams' counts.

    Attributes:
        is_none: whether the program reads and replaces nothing.
        sizes: compares the sizes of new values.
    """

    def __init__(self, program: Program):
        self._first = len(program.outputs)
        self.sizes = SizeGuard(program)
        self._read = program.variables
        self._written = [v for v, _ in program.updates]
        self._variables = [v.cell for v in self._read]
        self._updated = [v.cell for v in self._written]
        self._streams = [draws(s) for s in program.sources]
        self._seeds = [s.attrs["seed"] for s in program.sources]
        self._replaced = [*self._updated, *self._streams]
        cells = sorted(set(self._replaced), key=lambda cell: cell.order)
        self._locked = holding([cell.lock for cell in cells], State._replacing)
        self.is_none = not (self._variables or self._replaced)

    def call(self, compute: Compute, engine: Engine, given: Any) -> Sequence[Any]:
        """What `compute` gives for the state of one moment; then new values and counts are kept.

        Args:
            compute: gives the values of a pure graph's outputs (see `pure_graph`). Where it
                raises, nothing has changed.
            engine: the engine whose arrays `compute` takes and gives.
            given: handed on to `compute`.

        Raises:
            ShapeError: a new value has another shape than its variable; nothing has changed.
        """
        if self._replaced:
            return self._locked(self, compute, engine, given)  # type: ignore[no-any-return]
        return compute(self._arrays(records(self._variables), engine), engine, given)

    def values(self, engine: Engine) -> list[Any]:
        """The variables' values and the streams' keys at this moment, as the engine's arrays."""
        return self._arrays(records([*self._variables, *self._streams]), engine)

    def _replacing(self, compute: Compute, engine: Engine, given: Any) -> Sequence[Any]:
        """See `call`. Other calls that change the same cells wait; none sees half of the change."""
        held = records([*self._variables, *self._streams])
        results = compute(self._arrays(held, engine), engine, given)
        new: list[Record] = [
            (count + 1, embedded(), {}) for count, _, _ in held[len(self._variables) :]
        ]
        del held  # nobody but the cells shall hold the old values
        values = results[self._first : self._first + len(self._updated)]
        if self.sizes.variables or engine not in self.sizes.tried:
            self.sizes.check(values, engine)
        if engine.has_layout:
            values = list(map(engine.arranged, values, self._written))
        new[:0] = [(value, engine, {}) for value in values]
        engine.discard(commit(self._replaced, new)[: len(self._updated)])
        return results

    def _arrays(self, held: list[Record], engine: Engine) -> list[Any]:
        """Values of variables and keys of streams, as the graph's last inputs take them."""
        if not self._streams:
            return [on(record, engine, v) for record, v in zip(held, self._read, strict=True)]
        variables = len(self._variables)
        counts = [count for count, _, _ in held[variables:]]
        keys = [np.array(key, np.uint32) for key in zip(self._seeds, counts, strict=True)]
        read = zip(held[:variables], self._read, strict=True)
        return [*(on(record, engine, v) for record, v in read), *keys]


# Values of variables -----------------------------------------------------------------------


def numpy_value(variable: Variable) -> Any:
    """The value of a variable as a NumPy array."""
    return numpy_values([variable])[0]


def numpy_values(variables: Sequence[Variable], copy: bool = True) -> list[Any]:
    """The values of variables at one moment, as NumPy arrays; only copies may be written to."""
    found = records([v.cell for v in variables])
    if copy:
        return [home.to_numpy(value) for value, home, _ in found]
    return [on(r, embedded(), v) for r, v in zip(found, variables, strict=True)]


def set_values(pairs: Iterable[tuple[Variable, Any]]) -> None:
    """Give variables new values at one moment: private arrays of their types."""
    set_cells((v.cell, array) for v, array in pairs)


def set_cells(pairs: Iterable[tuple[Cell, Any]]) -> None:
    """The same for the cells of variables and streams."""
    new = dict(pairs)
    cells = sorted(new, key=lambda cell: cell.order)
    exchanged = holding([cell.lock for cell in cells], commit)
    exchanged(cells, [(new[cell], embedded(), {}) for cell in cells])
