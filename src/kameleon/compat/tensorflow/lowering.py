"""What operations change while a region becomes a graph of K's: variables, arrays, stacks.

A read sees what was written. In a branch, and in the body of a loop, changes are kept apart, and
become results of the choice or the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.filling import full_like, zeros
from kameleon.graph.primitives.indexing import gather
from kameleon.graph.primitives.sizes import Size, minus, size_of

from .parts import padded, replaced
from .progress import Kept, Progress, Same, Turns
from .tensors import dims, tensor
from .variables import HOLDS, Reference, Store

Shape = tuple[Size, ...]
# Elements of an array: by number, by a scalar of K's, by what the turns of a loop count; None: all.
Places = frozenset[Any]


OTHER_TURNS = "a stack holds what other turns put there"


class NotCompiledError(Exception):
    """Something can't be compiled in this way: it runs as TensorFlow runs it."""


class ArrayHandle(NamedTuple):
    """An array of tensors."""

    key: str
    dtype: str
    element: tuple[int, ...] | None  # the shape of an element, if the program says so
    of: ArrayHandle | None = None  # the array whose gradients these are
    grows: bool = False  # whether a write behind the last element makes it larger
    clears: bool = True  # whether an element that was read is gone


class StackHandle(NamedTuple):
    """What a loop keeps for its gradient."""

    key: str


class ListHandle(NamedTuple):
    """A list of tensors, which never changes: what adds to it gives the next version."""

    of: ArrayHandle | StackHandle
    version: int


class Single(NamedTuple):
    """A list made in a turn of a loop, in which one tensor is set at most: a gradient."""

    size: Size
    at: Any = None
    value: Tensor | None = None


# Arrays -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Elements:
    """What an array of tensors holds.

    Attributes:
        size: how many; a scalar of K's where that isn't known.
        base: all, one beside the other; None if nothing was written but `rows`.
        rows: by number, what was written since.
        empty: the shape of an element where nothing was written, if that's another array's.
    """

    size: Size
    base: Tensor | None
    rows: Mapping[int, Tensor]
    empty: Shape | None = None

    def shape(self, handle: ArrayHandle, element: Shape | None = None) -> Shape:
        """The shape of an element; `element` where nothing was written."""
        for row in self.rows.values():
            return tuple(dims(row))
        if self.base is not None:
            return tuple(dims(self.base)[1:])
        if element is not None or self.empty is not None:
            return self.empty if element is None else element  # type: ignore[return-value]
        if handle.element is None or -1 in handle.element:
            raise NotCompiledError("the shape of an array's elements isn't known")
        return handle.element

    def past(self, handle: ArrayHandle) -> PastElements:
        """Its sizes alone."""
        return PastElements(self.size, None, {}, self.shape(handle))

    def element(self, handle: ArrayHandle, at: Any) -> Tensor:
        """An element."""
        if isinstance(at, Tensor):
            return gather(self.whole(handle), at, 0)
        if int(at) in self.rows:
            return self.rows[int(at)]
        return M.reshape(M.slice_axis(self.whole(handle), 0, int(at), int(at) + 1),
                         self.shape(handle))  # fmt: skip

    def whole(self, handle: ArrayHandle, element: Shape | None = None) -> Tensor:
        """All elements, one beside the other; zeros where nothing was written."""
        if len(self.rows) == self.size and self.size:
            return M.stack([self.rows[at] for at in range(self.size)], 0)
        base = self.base
        if base is None:
            base = zeros([self.size, *self.shape(handle, element)], handle.dtype)
        elif isinstance(self.size, int) and base.shape[0] is not None:  # it may have grown since
            behind = self.size - base.shape[0]
            base = padded(base, [(0, behind), *[(0, 0)] * (len(base.shape) - 1)])
        if not isinstance(self.size, int):
            for at, row in self.rows.items():
                base = replaced(base, at, M.expand_dims(row, 0))
            return base
        if not self.rows:
            return base
        order = np.arange(self.size)
        order[list(self.rows)] = self.size + np.arange(len(self.rows))
        added = M.stack(list(self.rows.values()), 0)
        return gather(M.concatenate([base, added], 0), constant(order), 0)


@dataclass(frozen=True)
class PastElements(Elements):
    """What an array held in a turn of another loop, or in a branch: nothing but its sizes is known
    any more.
    """

    def whole(self, handle: ArrayHandle, element: Shape | None = None) -> Tensor:
        """Nothing that is known."""
        raise NotCompiledError("what an array held in a turn of another loop, or in a branch")


@dataclass(frozen=True, eq=False)
class PastArray:
    """An array that each turn of a loop makes anew, for the turns of another loop."""

    handle: ArrayHandle
    held: PastElements


def _placed(rows: Tensor, at: np.ndarray, size: int) -> Tensor:
    """Rows at their numbers, zeros between."""
    if np.array_equal(at, np.arange(size)):
        return rows
    if np.array_equal(at[::-1], np.arange(size)):
        return M.reverse(rows, axes=(0,))
    order = np.full(size, len(at))
    order[at] = np.arange(len(at))
    none = full_like(M.slice_axis(rows, 0, 0, 1), 0)
    return gather(M.concatenate([rows, none], 0), constant(order), 0)


def _picked(whole: Tensor, at: np.ndarray) -> Tensor:
    """The rows of these numbers."""
    if np.array_equal(at, np.arange(whole.shape[0] or 0)):
        return whole
    return gather(whole, constant(np.asarray(at, np.int32)), 0)


# Outermost --------------------------------------------------------------------------------------


class Lowering:
    """The state outside of all choices and loops.

    Attributes:
        store: what the session keeps.
        assigned: new values of variables.
        read: variables that must have a value.
        lowered: finds what an operation gives, where the table alone wouldn't know.
    """

    lowered: Callable[[Lowering, Any, list[Any]], list[Any]] | None = None

    def __init__(self, store: Store) -> None:
        self.store = store
        self.assigned: dict[Reference, Tensor] = {}
        self.read: dict[Reference, None] = {}
        self.arrays: dict[ArrayHandle, Elements] = {}
        self.seen: dict[ArrayHandle, Places] = {}  # which elements were read
        self.stacks: dict[StackHandle, tuple[Any, ...]] = {}
        self.numbers: dict[Tensor, Turns] = {}  # by what says how many turns a loop has
        self.versions: dict[ArrayHandle | StackHandle, int] = {}
        self.past: dict[ListHandle, Elements] = {}

    def value(self, given: Any) -> Any:
        """What an operation takes: where it's a variable, its value now."""
        if not isinstance(given, Reference):
            return given
        if given not in self.assigned:
            return self.outer_value(given)
        return self.assigned[given]

    def outer_value(self, reference: Reference) -> Tensor:
        """The value that a variable has before what is done here."""
        if reference is HOLDS:
            return constant(np.array(True))
        self.read[reference] = None
        found: Tensor = self.store.variables.cell(reference)
        return found

    def has(self, reference: Reference) -> bool:
        """Whether a variable has a value."""
        is_there = reference is HOLDS or reference in self.store.variables
        return is_there or reference in self.assigned

    def assign(self, reference: Reference, value: Any) -> None:
        """From now on, the variable has that value."""
        self.assigned[reference] = K.identity(tensor(value))

    # Lists --------------------------------------------------------------------------------------

    def version(self, of: ArrayHandle | StackHandle) -> int:
        """Which version of a list is the newest."""
        return self.versions.get(of, 0)

    def newest(self, given: ListHandle) -> Any:
        """What a list is kept in, if no newer version was made of it."""
        if given.version != self.version(given.of):
            raise NotCompiledError("a list of which there's a newer version")
        return given.of

    def moved(self, of: ArrayHandle | StackHandle, version: int | None = None) -> ListHandle:
        """The next version of a list, or a later one."""
        self.versions[of] = self.version(of) + 1 if version is None else version
        return ListHandle(of, self.versions[of])

    def item(self, given: ListHandle, at: Any) -> Tensor:
        """An element of a list."""
        of: Any = given.of
        if given in self.past:
            return self.past[given].element(of, at)
        return self.element(self.newest(given), at)

    def items(self, given: ListHandle) -> Tensor:
        """All elements of a list, one beside the other."""
        of = self.newest(given)
        if isinstance(of, ArrayHandle):
            return self.whole(of)
        chunks = self.stacks.get(of, ())
        if not chunks or any(isinstance(each, Kept) and each.within for each in chunks):
            raise NotCompiledError("the shape of a list's elements isn't known")
        rows = [each.over() if isinstance(each, Kept) else tensor(each) for each in chunks]
        return M.concatenate(rows, 0)

    def set_item(self, given: ListHandle, at: Any, value: Tensor, adds: bool = False) -> ListHandle:
        """A list with another element, or with something added to it."""
        of = self.newest(given)
        if of in self.arrays:
            self.past[given] = self.arrays[of]
        self.write(of, at, value, adds)
        return self.moved(of)

    def turns_of(self, value: Any) -> Turns | None:
        """The turns that a value is the number of."""
        return self.numbers.get(value) if isinstance(value, Tensor) else None

    def demand(self, condition: Any) -> None:
        """What is done must not be done where this doesn't hold."""
        self.assign(HOLDS, E.logical_and(self.value(HOLDS), tensor(condition)))

    # Arrays -------------------------------------------------------------------------------------

    def begin(self, handle: ArrayHandle, size: Size) -> None:
        """A new array."""
        self.arrays[handle] = Elements(size, None, {})
        self.seen.pop(handle, None)

    def begin_beside(self, handle: ArrayHandle, other: ArrayHandle) -> None:
        """A new array of the sizes of another one, where that one was made."""
        shape = self.elements(other).shape(other)
        self.arrays[handle] = Elements(self.size(other), None, {}, shape)

    def elements(self, handle: ArrayHandle) -> Elements:
        """What an array holds."""
        return self.arrays[handle]

    def knows(self, handle: ArrayHandle) -> bool:
        """Whether an array was made, here or around."""
        return handle in self.arrays

    def size(self, handle: ArrayHandle) -> Size:
        """How many elements an array has."""
        return self.elements(handle).size

    def whole(self, handle: ArrayHandle) -> Tensor:
        """All elements of an array."""
        return self.elements(handle).whole(handle)

    def rows(self, handle: ArrayHandle, at: np.ndarray | Tensor) -> Tensor:
        """Some elements of an array."""
        held = self.elements(handle)
        if isinstance(at, Tensor):
            return gather(held.whole(handle), at, 0)
        if len(at) and all(int(place) in held.rows for place in at):
            return M.stack([held.rows[int(place)] for place in at], 0)
        return _picked(held.whole(handle), at)

    def see(self, handle: ArrayHandle, places: Places) -> None:
        """Elements are read: where that clears them, for the first time."""
        seen = self.seen.get(handle, Places())
        if handle.clears and _may_meet(places, seen):
            raise NotCompiledError("an element that's read twice")
        self.seen[handle] = seen | places

    def element(self, handle: ArrayHandle, at: Any) -> Tensor:
        """An element of an array."""
        return self.elements(handle).element(handle, at)

    def write(self, handle: ArrayHandle, at: Any, value: Tensor, adds: bool = False) -> None:
        """Set an element of an array; of gradients, add to it."""
        held, adds = self.elements(handle), adds or handle.of is not None
        if not isinstance(at, Tensor):
            place, new = int(at), value
            if adds and (place in held.rows or held.base is not None):
                new = E.add(self.element(handle, at), value)
            size = max(held.size, place + 1) if isinstance(held.size, int) else held.size
            self.arrays[handle] = replace(held, size=size, rows={**held.rows, place: new})
            return
        if handle.grows:
            raise NotCompiledError("how far an array grows isn't known")
        whole = held.whole(handle, tuple(dims(value)))
        here = E.eq(M.iota([held.size], dtype=at.dtype), M.broadcast_to(at, [held.size]))
        here = M.reshape(here, [held.size, *[1] * len(value.shape)])
        rows = M.broadcast_to(value, [held.size, *dims(value)])
        if adds:
            rows = E.add(whole, rows)
        here = M.broadcast_to(here, dims(whole))
        self.arrays[handle] = Elements(held.size, E.select(here, rows, whole), {})

    def put_from(self, handle: ArrayHandle, start: Size, rows: Tensor, adds: bool = False) -> None:
        """Set elements from one on, as many as there are rows; of gradients, add to them."""
        held, count = self.elements(handle), size_of(rows, 0)
        if held.size == 0 and handle.grows:
            self.arrays[handle] = Elements(count, rows, {})
            return
        behind = minus(minus(held.size, count), start)
        old = held.whole(handle) if held.base is not None or held.rows else None
        if old is None or adds or handle.of is not None:
            new = padded(rows, [(start, behind), *[(0, 0)] * (len(rows.shape) - 1)])
            new = new if old is None else E.add(old, new)
        else:
            new = replaced(old, start, rows)
        self.arrays[handle] = Elements(held.size, new, {})

    def put(self, handle: ArrayHandle, at: Any, rows: Tensor, adds: bool = False) -> None:
        """Set some elements, each once; of gradients, add to them."""
        if isinstance(at, Progress):
            if at.step == -1:
                at, rows = at.backwards, M.reverse(rows, axes=(0,))
            if at.step != 1:
                raise NotCompiledError("which elements of an array are set")
            self.put_from(handle, at.begun(size_of(rows, 0)), rows, adds)
            return
        held = self.elements(handle)
        if not isinstance(held.size, int) and np.array_equal(at, np.arange(len(at))):
            self.put_from(handle, 0, rows, adds)
            return
        if not isinstance(held.size, int):
            raise NotCompiledError("how many elements an array has isn't known")
        size = max(held.size, int(at.max(initial=-1)) + 1)
        held, new = replace(held, size=size), _placed(rows, at, size)
        if held.base is not None or held.rows:
            old = held.whole(handle)
            if adds or handle.of is not None:
                new = E.add(old, new)
            elif len(at) < size:
                here = np.isin(np.arange(size), at).reshape(size, *[1] * (len(old.shape) - 1))
                new = E.select(M.broadcast_to(constant(here), dims(old)), new, old)
        self.arrays[handle] = Elements(size, new, {})

    def replace(self, handle: ArrayHandle, whole: Tensor) -> None:
        """Set all elements of an array."""
        self.arrays[handle] = Elements(size_of(whole, 0), whole, {})

    # Stacks -------------------------------------------------------------------------------------

    def push(self, handle: StackHandle, rows: Any) -> None:
        """Put values on a stack, the first one first."""
        self.stacks[handle] = (*self.stacks.get(handle, ()), rows)

    def push_one(self, handle: StackHandle, value: Any) -> None:
        """Put a value on a stack."""
        self.push(handle, in_front(value))

    def pop_one(self, handle: StackHandle) -> Any:
        """Take a value off a stack."""
        return only(self.pop(handle, 1))

    def pop_all(self, handle: StackHandle, turns: Turns | int) -> Kept:
        """Take off a stack what the turns of a loop put there."""
        *chunks, last = self.stacks.get(handle, ()) or (None,)
        if not isinstance(last, Kept) or last.turns != turns:
            raise NotCompiledError(OTHER_TURNS)
        self.stacks[handle] = tuple(chunks)
        return last

    def pop(self, handle: StackHandle, count: int) -> Any:
        """Take so many values off a stack; in the order in which they were put there."""
        chunks, found = list(self.stacks.get(handle, ())), list[Any]()
        if any(isinstance(each, Kept) for each in chunks):
            raise NotCompiledError("how many values a stack holds isn't known")
        while count:
            if not chunks:
                raise NotCompiledError("a stack is empty")
            last = chunks.pop()
            size = int(last.shape[0])
            if size > count:
                chunks.append(_cut(last, 0, size - count))
                last, size = _cut(last, size - count, size), count
            found.insert(0, last)
            count -= size
        self.stacks[handle] = tuple(chunks)
        return found[0] if len(found) == 1 else M.concatenate([_rows(x) for x in found], 0)


def _may_meet(one: Places, other: Places) -> bool:
    """Whether an element is known to be among both, or may be if loops have turns enough."""
    if one & other or (None in one and other) or (None in other and one):
        return True
    return any(
        isinstance(progress, Progress) and progress.may_meet(place)
        for some, others in ((one, other), (other, one))
        for progress in some
        for place in others
    )


def _rows(rows: Any) -> Tensor:
    is_same = isinstance(rows, np.ndarray) and rows.dtype == object
    return M.stack([tensor(x) for x in rows], 0) if is_same else tensor(rows)


def _cut(rows: Any, start: int, stop: int) -> Any:
    return M.slice_axis(rows, 0, start, stop) if isinstance(rows, Tensor) else rows[start:stop]


class OnHost(Lowering):
    """Variables while an operation runs on the host: what it assigns they have at once."""

    def value(self, given: Any) -> Any:
        """What an operation takes: where it's a variable, its value now."""
        return self.store.variables.value(given) if isinstance(given, Reference) else given

    def assign(self, reference: Reference, value: Any) -> None:
        """From now on, the variable has that value."""
        self.store.variables.begin(reference, np.asarray(value))


def in_front(value: Any) -> Any:
    """A value as the only row."""
    if isinstance(value, Tensor):
        return M.expand_dims(value, 0)
    return Same(np.asarray(value) if isinstance(value, np.generic) else value).times(1)


def only(rows: Any) -> Any:
    """The only row."""
    return M.reshape(rows, dims(rows)[1:]) if isinstance(rows, Tensor) else rows[0]
