"""The state in branches and in turns of loops, where changes are kept apart from what is around."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from kameleon.graph.ir.leaves import INPUT, input_node
from kameleon.graph.ir.node import Tensor, new_serial
from kameleon.graph.ir.program import has_effects
from kameleon.graph.ir.types import Shape, TensorType, as_dtype
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.sizes import Size, dims_of, size_of, split

from .lowering import (
    OTHER_TURNS,
    ArrayHandle,
    Elements,
    ListHandle,
    Lowering,
    NotCompiledError,
    PastArray,
    Places,
    StackHandle,
    in_front,
    only,
)
from .progress import Kept, Progress, Same, Turns
from .variables import Reference
from .walks import reached


class Inner(Lowering):
    """The state in a branch or in a turn of a loop.

    Attributes:
        around: the state outside of it.
    """

    def __init__(self, around: Lowering) -> None:
        super().__init__(around.store)
        self.around, self.lowered = around, around.lowered
        self.numbers = around.numbers

    def outer_value(self, reference: Reference) -> Tensor:
        """The value that a variable has before what is done here."""
        if not self.around.has(reference):
            raise NotCompiledError(f"{reference.name} has no value yet")
        found: Tensor = self.around.value(reference)
        return found

    def has(self, reference: Reference) -> bool:
        """Whether a variable has a value."""
        return reference in self.assigned or self.around.has(reference)

    def begin_beside(self, handle: ArrayHandle, other: ArrayHandle) -> None:
        """A new array of the size of another one, where that one was made."""
        if other in self.arrays:
            super().begin_beside(handle, other)
        else:
            self.around.begin_beside(handle, other)

    def knows(self, handle: ArrayHandle) -> bool:
        """Whether an array was made, here or around."""
        return handle in self.arrays or self.around.knows(handle)

    def version(self, of: ArrayHandle | StackHandle) -> int:
        """Which version of a list is the newest."""
        return self.versions[of] if of in self.versions else self.around.version(of)


# Branches ---------------------------------------------------------------------------------------


class Branch(Inner):
    """The state in a branch.

    Attributes:
        pushed: by stack, what goes there.
    """

    def __init__(self, around: Lowering) -> None:
        super().__init__(around)
        self.pushed: dict[StackHandle, Any] = {}

    def elements(self, handle: ArrayHandle) -> Elements:
        """What an array holds."""
        found = self.arrays.get(handle)
        return self.around.elements(handle) if found is None else found

    def push(self, handle: StackHandle, rows: Any) -> None:
        """Put values on a stack; where the other branch is taken, zeros."""
        if handle in self.pushed:
            raise NotCompiledError("a branch puts several values on a stack")
        self.pushed[handle] = rows

    def pop(self, handle: StackHandle, count: int) -> Any:
        """Take values off a stack, whichever branch is taken: both sides of the loop agree."""
        return self.around.pop(handle, count)

    def pop_one(self, handle: StackHandle) -> Any:
        """Take a value off a stack."""
        return self.around.pop_one(handle)

    def pop_all(self, handle: StackHandle, turns: Turns | int) -> Kept:
        """Take off a stack what the turns of a loop put there."""
        return self.around.pop_all(handle, turns)


# Turns of loops ---------------------------------------------------------------------------------


class AgainError(Exception):
    """A loop must carry a whole array from turn to turn."""

    def __init__(self, handle: ArrayHandle, element: tuple[int, ...] | None) -> None:
        super().__init__(handle)
        self.handle, self.element = handle, element


def _static(shape: Shape) -> tuple[int, ...] | None:
    """The sizes, where all are known."""
    return None if None in shape else tuple(shape)  # type: ignore[arg-type]


Ordered = Callable[[bool], Any]  # rows for the turns of a loop; backwards, if so asked


class Pushed(NamedTuple):
    """What a turn puts on a stack.

    Attributes:
        value: one value, or several rows.
        is_single: which of both.
        within: what it put there, given the value, where that's not just it.
    """

    value: Any
    is_single: bool
    within: Callable[[Any], Any] | None = None


class Turn(Inner):
    """The state in a turn of a loop.

    Attributes:
        turns: how many there are; None if they aren't counted.
        sequences: by parameter, its rows.
        known: by parameter, its value in each turn.
        cells: by variable, the parameter for its value before the turn.
        stacked: by array, the parameter that says which element is written, the value, and whether
            that's added.
        pushed: by stack, what goes there.
        backwards: whether the turns take off what others put on a stack.
    """

    def __init__(
        self, around: Lowering, turns: int | Turns | None, whole: Mapping[ArrayHandle, Any]
    ) -> None:
        super().__init__(around)
        self.turns, self.start = turns, new_serial()
        self.sequences: dict[Tensor, Ordered] = {}
        self.known: dict[Tensor, Any] = {}
        self.cells: dict[Reference, Tensor] = {}
        self.stacked: dict[ArrayHandle, tuple[Tensor, Tensor, bool]] = {}
        self.pushed: dict[StackHandle, Pushed] = {}
        self.backwards = False
        self.carried: dict[ArrayHandle, Tensor] = {}
        self.given: list[Tensor] = []  # parameters that stand for what's around
        self._slices: dict[tuple[ArrayHandle, Tensor], Tensor] = {}
        self._taken: defaultdict[ArrayHandle, set[Any]] = defaultdict(set)  # which elements
        for handle, before in whole.items():
            self.carried[handle] = input_node(before.type)
            size = size_of(self.carried[handle], 0)
            self.arrays[handle] = Elements(size, self.carried[handle], {})

    def stands_for(self, param: Tensor, around: Tensor, more: int) -> None:
        """Let the sizes of a parameter be those of what's around, which has so many `more` axes in
        front; until the loop is made.
        """
        param.given = around, more
        self.given.append(param)

    def outer_value(self, reference: Reference) -> Tensor:
        """A parameter for the value that a variable has before the turn."""
        if reference not in self.cells:
            self.cells[reference] = input_node(super().outer_value(reference).type)
        return self.cells[reference]

    def counted(self, values: Any, behind: Any = None) -> Any:
        """What has these values, one in each turn, and another one behind the last: a parameter, if
        they differ.
        """
        if isinstance(values, Progress):
            return self._progressing(values)
        rows = values if behind is None else np.concatenate([values, np.asarray(behind)[None]])
        if len(rows) and (rows == rows[:1]).all():
            return rows[0]
        param = input_node(TensorType(values.shape[1:], as_dtype(str(values.dtype))))
        self.known[param] = values
        self.sequences[param] = lambda back: constant(
            np.ascontiguousarray(values[::-1] if back else values)
        )
        return param

    def _progressing(self, progress: Progress) -> Any:
        if not progress.grows and not progress.share:
            return progress.first
        param = input_node(TensorType((), as_dtype(str(progress.first.dtype))))
        self.known[param] = progress
        self.sequences[param] = lambda back: self._over(progress, back)
        return param

    def _over(self, values: Any, back: bool) -> Any:
        """The values in all turns."""
        if isinstance(values, Progress):
            assert isinstance(self.turns, Turns)
            return (values.backwards if back else values).over(self.turns)
        return values[::-1] if back else values

    # Arrays -------------------------------------------------------------------------------------

    def elements(self, handle: ArrayHandle) -> Elements:
        """What an array holds: one from outside isn't changed here."""
        if handle in self.arrays:
            return self.arrays[handle]
        if handle in self.stacked:
            raise AgainError(handle, None)
        self._taken[handle].add(None)
        return self.around.elements(handle)

    def size(self, handle: ArrayHandle) -> Size:
        """How many elements an array has."""
        return self.arrays[handle].size if handle in self.arrays else self.around.size(handle)

    def see(self, handle: ArrayHandle, places: Places) -> None:
        """Elements are read: of an array from outside, others in each turn."""
        if handle in self.arrays and handle not in self.carried:
            super().see(handle, places)
            return
        for at in places:
            values = self.known.get(at) if isinstance(at, Tensor) else None
            if values is not None and _differ(values):
                is_counted = isinstance(values, Progress)
                numbers = [values] if is_counted else [int(value) for value in values]
                self.around.see(handle, Places(numbers))
            elif handle.clears and (values is not None or not self._changes(at)):
                raise NotCompiledError("an element that each turn of a loop reads")

    def _changes(self, at: Any) -> bool:
        """Whether a number may be another one in each turn."""
        return isinstance(at, Tensor) and self._is_own(at)

    def element(self, handle: ArrayHandle, at: Any) -> Tensor:
        """An element of an array: a slice of it, where the turn says which."""
        if handle in self.arrays or not self._is_known(at):
            return super().element(handle, at)
        if handle in self.stacked:
            raise AgainError(handle, None)
        return self._sliced(handle, at)

    def item(self, given: ListHandle, at: Any) -> Tensor:
        """An element of a list; as it was before the turn, where only the same one was set."""
        of: Any = given.of
        is_before = of not in self.arrays and given.version == self.around.version(of)
        written = self.stacked[of][0] if of in self.stacked else at
        if is_before and self._is_known(at) and written is at:
            return self._sliced(of, at)
        if of in self.stacked:
            raise AgainError(of, None)
        return super().item(given, at)

    def _is_known(self, at: Any) -> bool:
        """Whether a number is one that's known for each turn."""
        return isinstance(at, Tensor) and at in self.known

    def _sliced(self, handle: ArrayHandle, at: Any) -> Tensor:
        self._taken[handle].add(at)
        key = (handle, at)
        if key not in self._slices:
            values, around = self.known[at], self.around
            shape, _ = split(around.elements(handle).shape(handle))
            param = input_node(TensorType(shape, as_dtype(handle.dtype)))
            if (base := around.elements(handle).base) is not None:
                self.stands_for(param, base, 1)
            self._slices[key] = param
            self.sequences[param] = lambda back: around.rows(handle, self._over(values, back))
        return self._slices[key]

    def write(self, handle: ArrayHandle, at: Any, value: Tensor, adds: bool = False) -> None:
        """Set an element of an array: one row of it, where the turn says which."""
        if handle in self.arrays:
            super().write(handle, at, value, adds)
            return
        values = self.known[at] if self._is_known(at) else None
        once = values is not None and _differ(values)
        if not once or self._taken[handle] - {at} or handle in self.stacked:
            raise AgainError(handle, _static(value.shape))
        self.stacked[handle] = at, value, adds

    def put(self, handle: ArrayHandle, at: Any, rows: Tensor, adds: bool = False) -> None:
        """Set some elements."""
        if handle not in self.arrays:
            raise AgainError(handle, _static(rows.shape[1:]))
        super().put(handle, at, rows, adds)

    def replace(self, handle: ArrayHandle, whole: Tensor) -> None:
        """Set all elements of an array."""
        if handle not in self.arrays:
            raise AgainError(handle, _static(whole.shape[1:]))
        super().replace(handle, whole)

    # Stacks -------------------------------------------------------------------------------------

    def push(self, handle: StackHandle, rows: Any) -> None:
        """Put values on a stack."""
        self._check_stack(handle)
        if isinstance(rows, Kept):
            self.pushed[handle] = self._within(rows)
        elif rows.shape[0] == 1:
            self.pushed[handle] = Pushed(only(rows), True)
        elif not isinstance(self.turns, Turns):
            self.pushed[handle] = Pushed(self._as_rows(rows), False)
        else:
            self.pushed[handle] = Pushed(rows, True, lambda row: row)

    def _as_rows(self, rows: Any) -> Any:
        """Rows, as a tensor where they're all one that is made of this turn."""
        first = rows[0] if isinstance(rows, np.ndarray) and len(rows) else None
        if not isinstance(first, Tensor) or not self._is_own(first):
            return rows
        return M.broadcast_to(first, [len(rows), *dims_of(first)])

    def _within(self, kept: Kept) -> Pushed:
        """What the turns of a loop put on a stack that runs in this turn."""
        turns, rows = kept.turns, kept.rows
        if isinstance(turns, Turns) and self._is_own(turns.numbers):
            raise NotCompiledError("a loop of as many turns as the turn around it says")
        value = rows.value if isinstance(rows, Same) else None
        if kept.within is not None or isinstance(value, ArrayHandle | PastArray):
            raise NotCompiledError("what a loop in a loop in a loop puts on a stack")
        if isinstance(rows, Tensor):
            return Pushed(rows, True, lambda row: Kept(turns, row))
        if isinstance(value, Tensor):
            return Pushed(value, True, lambda row: Kept(turns, Same(row)))
        return Pushed(kept, True)

    def push_one(self, handle: StackHandle, value: Any) -> None:
        """Put a value on a stack."""
        self._check_stack(handle)
        self.pushed[handle] = Pushed(value, True)

    def pop(self, handle: StackHandle, count: int) -> Any:
        """Take values off a stack that was filled outside of the loop."""
        if isinstance(self.turns, Turns):
            rows = self._row_off(handle)
            if isinstance(rows, Kept) or rows.shape[0] != count:
                raise NotCompiledError(OTHER_TURNS)
            return rows
        rows = self._rows_off(handle, count)
        shape = [self.turns or 0, count, *rows.shape[1:]]
        is_array = isinstance(rows, np.ndarray)
        return self._slice(rows.reshape(shape) if is_array else M.reshape(rows, shape))

    def pop_one(self, handle: StackHandle) -> Any:
        """Take a value off a stack."""
        return self._slice(self._rows_off(handle, 1))

    def pop_all(self, handle: StackHandle, turns: Turns | int) -> Kept:
        """Take off a stack what the turns of a loop put there, in a turn like this one."""
        found = self._row_off(handle)
        if not isinstance(found, Kept) or found.turns != turns:
            raise NotCompiledError(OTHER_TURNS)
        return found

    def _check_stack(self, handle: StackHandle) -> None:
        if self.turns is None or handle in self.pushed:
            raise NotCompiledError("how much a loop puts on a stack isn't known")

    def _row_off(self, handle: StackHandle) -> Any:
        """What a turn like this one put on a stack."""
        self._check_stack(handle)
        self.backwards = True
        kept = self.around.pop_all(handle, self.turns or 0)
        row = self._slice(kept.rows)
        if kept.within is not None:
            return kept.within(row)
        return row if isinstance(row, Kept) else in_front(row)

    def _rows_off(self, handle: StackHandle, count: int) -> Any:
        self._check_stack(handle)
        self.backwards = True
        if not isinstance(self.turns, Turns):
            return self.around.pop(handle, (self.turns or 0) * count)
        kept = self.around.pop_all(handle, self.turns)
        if kept.within is not None:
            raise NotCompiledError(OTHER_TURNS)
        return kept.rows

    def _slice(self, rows: Any) -> Any:
        """The row of a turn: the first one takes the last row."""
        found = self._row(rows)
        if not isinstance(found, PastArray):
            return found
        self.arrays[found.handle] = found.held
        return found.handle

    def _row(self, rows: Any) -> Any:
        if isinstance(rows, Progress):
            return self.counted(rows.backwards)
        if isinstance(rows, np.ndarray):
            return rows[0] if rows.dtype == object else self.counted(rows[::-1])
        if isinstance(rows, Same):
            return rows.value
        param = input_node(TensorType(tuple(rows.shape[1:]), rows.dtype))
        self.stands_for(param, rows, 1)
        self.sequences[param] = lambda back: rows if back else M.reverse(rows, axes=(0,))
        return param

    def rows_pushed(self, pushed: Pushed) -> Any:
        """What a stack gets from all turns, where that's known."""
        value, turns = pushed.value, self.turns or 0
        if isinstance(value, Tensor) and (value in self.known or self._is_own(value)):
            found = self.known.get(value)
        elif isinstance(value, ArrayHandle) and value in self.arrays:
            found = Same(self._past(value))
        else:
            found = Same(value)
        if not isinstance(found, Same) or isinstance(turns, Turns):
            return found
        if pushed.is_single:
            return found.times(turns)
        if isinstance(value, Tensor):
            return None
        count, *sizes = np.shape(value)
        return found.times(turns).reshape(turns * count, *sizes)

    def _past(self, handle: ArrayHandle) -> PastArray:
        """An array of the turn, for other loops."""
        held = self.arrays[handle].past(handle)
        sizes = held.size, *held.shape(handle)
        if any(isinstance(size, Tensor) and self._is_own(size) for size in sizes):
            raise NotCompiledError("an array of another size in each turn")
        return PastArray(handle, held)

    def _is_own(self, value: Tensor) -> bool:
        """Whether a value is made of a parameter of the turn."""
        is_new: Callable[[Tensor], bool] = lambda node: node.serial > self.start  # noqa: E731
        behind = reached([value], lambda node: node.operands if is_new(node) else ())
        return any(node.primitive is INPUT or has_effects(node) for node in filter(is_new, behind))


def _differ(values: Any) -> bool:
    """Whether no two values are the same."""
    if isinstance(values, Progress):
        return values.grows
    return len(np.unique(values)) == len(values)


def snapshot(lowering: Lowering) -> Callable[[], None]:
    """What takes a state, and those around it, back to where they are now."""
    states = [lowering]
    while isinstance(states[-1], Inner):
        states.append(states[-1].around)
    kept = [(state, name, copy(value)) for state in states for name, value in vars(state).items()
            if isinstance(value, dict | set | bool)]  # fmt: skip

    def restore() -> None:
        for state, name, value in kept:
            setattr(state, name, copy(value))

    return restore
