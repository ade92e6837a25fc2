"""A region of a graph as one compiled function of K.

A region is compiled for the shapes and types of what comes in. Where an operation needs a value
to build its part (a size, an axis), that value is a part of the key, too; if it's computed in the
region itself, the region is cut in two before that operation. Sizes that differ from run to run are
left open at last, where all operations can be built without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kameleon import backend as K
from kameleon.errors import EvaluationError
from kameleon.graph.ir.leaves import INPUT
from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import as_node, size_of

from ..dtypes import HANDLES, REFERENCE
from ..failures import failure, invalid
from ..graph import Operation, Value, made_of
from ..lowering import ArrayHandle, ListHandle, Lowering, NotCompiledError, StackHandle
from ..operations import table
from ..operations.lists import TensorList
from ..operations.values import (
    Known,
    NeedsValueError,
    UnknownSizeError,
    is_text,
    open_sizes,
    origins,
)
from ..resources.base import Resource
from ..tensors import sizes_of
from ..variables import HOLDS, Reference, Store
from . import choices, loops  # noqa: F401
from .ahead import turns_ahead
from .bodies import ABSENT, AheadError, ApartError, Values, lower
from .needed import Compound, Loop
from .plan import DIFFER, Hints, Unit
from .sizes import (
    MOST,
    Key,
    Numbers,
    Pattern,
    Sizes,
    is_open,
    is_shaped,
    kind_of,
    known_part,
    without_values,
)

T = TypeVar("T")
Place = tuple[int, int | None]  # of an input, and of a number in it (~: of an axis)
# So many compiled functions a region keeps, and of so many kinds of keys which sizes differ.
KEPT = 32


@dataclass(frozen=True)
class Compiled:
    """What a region was compiled to.

    Attributes:
        places: the inputs that the function takes: all of it, or as many bools as one of its
            numbers, or of its axes, says.
        function: computes the values of `computed` and `begun`; None if there's nothing to do.
        known: values that are the same in each run.
        handed_on: places of inputs that are outputs.
        computed: the values that the function gives.
        begun: variables that have no value yet, or one of another shape, which get one.
        cells: the variables that it was compiled for: others take their place with other shapes.
        is_open: whether sizes were left open.
        asserts: whether the function gives, last, whether what the program asserts holds.
        lists: those of the computed values that are the rows of lists.
    """

    places: list[Place]
    function: Any
    known: dict[Value, Any]
    handed_on: dict[Value, int]
    computed: list[Value]
    begun: list[Reference]
    cells: dict[Reference, Any]
    is_open: bool
    asserts: bool
    lists: list[Value]

    def is_for(self, store: Store) -> bool:
        """Whether the variables are still those that it was compiled for."""
        find = store.variables.find
        return all(find(reference) is cell for reference, cell in self.cells.items())

    def run(self, store: Store, values: list[Any]) -> dict[Value, Any]:
        """The values that others take from the region, given those of its inputs."""
        results: list[Any] = []
        if self.function is not None:
            results = self.function(
                [values[place] if at is None else _many(values[place], at)
                 for place, at in self.places]
            )  # fmt: skip
        if self.asserts and not results.pop():
            raise AssertedError
        found = dict(self.known)
        found.update((value, values[place]) for value, place in self.handed_on.items())
        found.update(zip(self.computed, results, strict=False))
        for value in self.lists:
            rows = found[value]
            found[value] = TensorList(list(rows), str(rows.dtype), rows.shape[1:])
        for reference, value in zip(self.begun, results[len(self.computed) :], strict=True):
            store.variables.begin(reference, value)
        return found


def run(store: Store, unit: Unit, values: list[Any], openly: bool = True) -> dict[Value, Any]:
    """Run a region, `openly` or for just these sizes; the values that others take from it.

    Raises:
        DivideError: it must be run in smaller units.
        AssertedError: it must be run so that each assertion runs alone, and tells what it found.
    """
    if unit.keeps:
        values = [_rows(x) if isinstance(x, TensorList) else x for x in values]
    if unit.needs_values:
        known = unit.hints.known
        values = [
            store.variables.value(x) if isinstance(x, Reference) and at in known else x
            for at, x in zip(unit.inputs, values, strict=True)
        ]
    compiled = None
    try:
        compiled = _compiled(store, unit, values, openly)
        return compiled.run(store, values)
    except DivideError:
        raise
    except Exception as error:
        told = isinstance(error, EvaluationError)
        if told and compiled and compiled.is_open:  # the sizes may be such as weren't thought of
            return run(store, unit, values, openly=False)
        if unit.assertions:  # what the program asserts may not hold, and was to come first
            raise AssertedError from error
        if told:
            raise invalid(str(error)) from error
        raise


class Rows(np.ndarray):
    """The tensors of a list beside each other, where the list is compiled."""


class AssertedError(Exception):
    """Something that a program asserts doesn't hold; nothing was done."""


class DivideError(Exception):
    """A region must be run in smaller units, by these hints."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(hints)
        self.hints = hints


def _rows(given: TensorList) -> Any:
    rows = given.rows
    return given if rows is None else rows.view(Rows)


def _compiled(store: Store, unit: Unit, values: list[Any], openly: bool) -> Compiled:
    key = tuple(_key(unit, place, value) for place, value in enumerate(values))
    begun = tuple(value in store.variables for value in values if isinstance(value, Reference))
    found = _kept(store, unit, (key, begun))
    if found is None:
        kind = kind_of(key)
        sizes = unit.sizes.get(kind) or _keep(unit.sizes, kind, Sizes(_unknown(unit, key)))
        if openly and sizes.have_changed(key):
            unit.differs = True
            found = _without_sizes(store, unit, values, sizes, key, begun)
    if found is None:
        _demand_few(unit, key)
        found = _keep(unit.cache, (key, begun), _for_sizes(store, unit, values, key))
    return found


def _unknown(unit: Unit, key: Key) -> Iterator[tuple[int, int]]:
    """The sizes that the graph doesn't know, by input and axis, where some are known to differ."""
    for place, (source, index) in enumerate(unit.inputs if unit.hints.differ else ()):
        if is_shaped(key[place]) and not isinstance(key[place][1], Numbers):
            known, sizes = source.shapes[index], key[place][0]
            for axis in range(len(sizes)):  # of a list its graph knows nothing
                if known is None or len(known) != len(sizes) or known[axis] < 0:
                    yield place, axis


def _kept(store: Store, unit: Unit, key: Key) -> Compiled | None:
    """What a region was compiled to, while it holds."""
    found: Compiled | None = unit.cache.get(key)
    return found if found is not None and found.is_for(store) else None


def _keep(table: dict[Key, T], key: Key, value: T) -> T:
    """Put a value in a table, in place of the oldest one where it's full."""
    while len(table) >= KEPT:
        del table[next(iter(table))]
    table[key] = value
    return value


def _without_sizes(
    store: Store, unit: Unit, values: list[Any], sizes: Sizes, key: Key, begun: Key
) -> Compiled | None:
    """A region without the sizes that differ; None where operations need them."""
    opened = sizes.without(key)
    found = _kept(store, unit, (opened, begun))
    if found is None and is_open(opened):
        region = _Region(store, unit, values, opened)
        try:
            with open_sizes() as several:
                made = region.compiled(several)
            found = _keep(unit.cache, (opened, begun), made)
        except AheadError as error:
            raise DivideError(unit.hints | DIFFER | _counted_ahead(error.loop)) from None
        except NeedsValueError as error:
            hints = _known_for(region, error)
            if hints and hints.known.issubset(unit.inputs):  # numbers that are known may be sizes
                raise DivideError(unit.hints | DIFFER | hints) from None
            sizes.be_needed()
        except Exception:  # whatever it is: what is compiled for these sizes does without, or tells
            sizes.be_needed()
    return found


def _known_for(region: _Region, error: NeedsValueError) -> Hints | None:
    """Let the values be known that tell what an operation needs; None where there are none."""
    known = region.nearest(error.value)
    return Hints(known=known, needing=frozenset({error.operation})) if known else None


def _for_sizes(store: Store, unit: Unit, values: list[Any], key: Key) -> Compiled:
    region, hints = _Region(store, unit, values, key), unit.hints
    if unit.cache:  # it was compiled for others
        hints |= DIFFER
    try:
        return region.compiled()
    except NeedsValueError as error:
        known, apart = _known_for(region, error), _around(unit, error.operation)
        if known:
            raise DivideError(hints | known) from None
        if apart is not None:
            raise DivideError(hints | Hints(apart=frozenset({apart}))) from None
        name, kind = error.operation.name, error.operation.type
        message = f"{name} ({kind}) needs a value when it's compiled: {error}"
        raise failure("UNIMPLEMENTED", message) from None
    except ApartError as error:
        raise DivideError(hints | Hints(apart=frozenset({error.condition}))) from None
    except AheadError as error:
        raise DivideError(hints | _counted_ahead(error.loop)) from None
    except NotCompiledError:
        raise DivideError(hints | Hints(on_host=region.kept())) from None


def _counted_ahead(loop: Loop) -> Hints:
    """Let a loop's turns be counted ahead; where that can't be, let it run apart."""
    turns = turns_ahead(loop)
    if turns is None:
        return Hints(apart=frozenset({loop.condition}))
    return Hints(turns=frozenset({(loop.condition, turns)}))


def _demand_few(unit: Unit, key: Key) -> None:
    """A region isn't compiled for ever more values that must be known: what needs them runs alone
    then, and the region is compiled for the shapes of what that gives.

    Raises:
        DivideError: it was compiled for enough of them.
    """
    needing = unit.hints.needing.intersection(unit.elements)
    alone = frozenset(operation for operation in needing if table.is_folded(operation))
    if not alone:
        return
    kinds = [kind_of(without_values(each)) for each, _ in unit.cache]
    if kinds.count(kind_of(without_values(key))) >= MOST:
        raise DivideError(unit.hints.without_values(alone) | Hints(on_host=alone))


def _around(unit: Unit, operation: Operation) -> Value | None:
    """The condition of the loop, or choice, that an operation of a region is in."""
    compounds = (each for each in unit.elements if isinstance(each, Compound))
    return next((each.condition for each in compounds if operation in each.members), None)


def _is_handed_on(unit: Unit, place: int, value: Any) -> bool:
    """Whether an input is no array: operations in the region hand it on at most."""
    source, index = unit.inputs[place]
    is_kept = isinstance(value, Rows)
    return isinstance(value, Resource) or (source.types[index] in HANDLES and not is_kept)


def _key(unit: Unit, place: int, value: Any) -> Any:
    """What of a value decides how its region is compiled."""
    if isinstance(value, Reference) or value is ABSENT:
        return value
    if _is_handed_on(unit, place, value):
        return Resource
    if is_text(value):
        return ("text", tuple(np.ravel(np.asarray(value, object))))
    array = np.asarray(value)
    if _is_known(unit, place, value):
        return known_part(array)
    return (array.shape, (Rows, array.dtype) if isinstance(value, Rows) else array.dtype)


def _is_known(unit: Unit, place: int, value: Any) -> bool:
    if isinstance(value, Known) or unit.inputs[place] in unit.hints.numbers:
        return True
    return unit.needs_values and unit.inputs[place] in unit.hints.known


def _many(value: Any, at: int) -> np.ndarray:
    """As many bools as a number says; or, from the last on, as an axis has elements."""
    return np.zeros(np.ravel(value)[at] if at >= 0 else np.shape(value)[~at], bool)


def _if(condition: Tensor, value: Tensor, otherwise: Tensor) -> Tensor:
    """One of two values, as one bool says."""
    return E.select(M.broadcast_to(condition, sizes_of(value)), value, otherwise)


@dataclass(frozen=True)
class _HandedOn(Resource):
    """What stands for an input that is no array while a region is compiled."""

    place: int


class _Region:
    """A region, while it's compiled for some inputs."""

    def __init__(self, store: Store, unit: Unit, values: list[Any], key: Key) -> None:
        self._unit, self._lowering, self._is_open = unit, Lowering(store), is_open(key)
        self._places: list[Place] = []
        self._holes: list[Any] = []
        self._values = Values()
        for place, (value, given) in enumerate(zip(unit.inputs, values, strict=True)):
            self._values[value] = self._taken(place, given, key[place])

    def _taken(self, place: int, given: Any, told: Any) -> Any:
        if isinstance(given, Reference) or given is ABSENT:
            return given
        if _is_handed_on(self._unit, place, given):
            return _HandedOn(place)
        if is_text(given):
            return np.asarray(given, object)
        array = np.asarray(given)
        if isinstance(given, Rows):
            return self._list(place, self._hole((place, None), told[0], str(array.dtype)))
        if not _is_known(self._unit, place, given):
            return self._hole((place, None), told[0], str(array.dtype))
        return self._opened(place, *told) if None in told[0] else array

    def _list(self, place: int, rows: Any) -> ListHandle:
        """A list that is given: kept on a stack, or in an array, as it's worked on."""
        source, index = self._unit.inputs[place]
        key, root = f"{source.name}:{index}", table.family_of(source)
        kept = [each for each in self._unit.within if table.is_kept(each)]
        kinds = {each.type for each in kept if table.family_of(each) is root}
        if kinds <= {"TensorListPushBack", "TensorListPopBack"}:
            stack = StackHandle(key)
            self._lowering.push(stack, rows)
            return self._lowering.moved(stack)
        array = ArrayHandle(key, str(rows.dtype), None)
        self._lowering.replace(array, rows)
        return self._lowering.moved(array)

    def _hole(self, place: Place, shape: tuple[int | None, ...], dtype: str) -> Any:
        with made_of(self._unit.inputs[place[0]][0]):
            hole = K.placeholder(shape, dtype=dtype)
        self._places.append(place)
        self._holes.append(hole)
        return hole

    def _opened(self, place: int, known: tuple[int | None, ...], told: Numbers | Pattern) -> Any:
        """Numbers, or sizes, of which some are left open: each is that of something given."""
        are_numbers = isinstance(told, Numbers)
        sizes = [
            size_of(self._hole((place, at if are_numbers else ~at), (None,), "bool"), 0)
            if each is None
            else each
            for at, each in enumerate(known)
        ]
        if isinstance(told, Pattern):
            if told.value is None:
                return M.iota(sizes, dtype=str(told.dtype))
            return M.broadcast_to(E.constant(told.value, str(told.dtype)), sizes)
        nodes = [E.cast(as_node(each), str(told.dtype)) for each in sizes]
        return M.reshape(M.stack(nodes, 0), told.shape) if told.shape else nodes[0]

    def nearest(self, tensor: Tensor) -> frozenset[Value]:
        """The values next to a tensor that, once known, tell it: itself, or what it's made of.
        None do where it's another one in each turn of a loop.
        """
        of = {x: value for value, x in self._values.items() if isinstance(x, Tensor)}
        of.update(self._read())
        known = self._unit.hints.known if self._unit.needs_values else frozenset()
        found, seen, rest = set[Any](), {tensor}, [tensor]
        while rest:
            node = rest.pop()
            if node in of:
                if of[node] not in known:
                    found.add(of[node])
                continue
            if node.primitive is INPUT:
                return frozenset()
            new = [each for each in node.operands if each not in seen]
            seen.update(new)
            rest += new
        return frozenset(found)

    def _demand_several(
        self, sizes: Sequence[Tensor], outputs: list[Tensor], updates: list[tuple[Any, Tensor]]
    ) -> None:
        """Let it be an error if one of the sizes is 1, but of those within loops and choices."""
        holes = set(self._holes)
        outer = [
            size
            for size in dict.fromkeys(sizes)
            if all(x in holes or x.primitive is not INPUT for x in origins(size))
        ]
        if not outer:
            return
        together = M.stack(outer, 0)
        hold = E.ne(together, full_like(together, 1))
        if outputs:
            outputs[0] = check(outputs[0], hold, message="a single element")
        elif updates:
            cell, value = updates[0]
            updates[0] = cell, check(value, hold, message="a single element")

    def _read(self) -> dict[Tensor, Value]:
        """By what variables hold, the values that hand it on, whoever takes it."""
        found, read = {}, self._lowering.read
        for (source, index), x in self._values.items():
            is_value = source.types[index] < REFERENCE and source.types[index] not in HANDLES
            if isinstance(x, Reference) and x in read and is_value:
                found[self._lowering.value(x)] = source, index
        return found

    def kept(self) -> frozenset[Operation]:
        """The operations that make what's kept, in the region."""
        within = self._unit.within
        return frozenset(table.family_of(each) for each in within if table.is_kept(each))

    def compiled(self, several: Sequence[Tensor] = ()) -> Compiled:
        """The function of the region; it fails where one of some sizes, taken to be several, is 1,
        which are found meanwhile.
        """
        lower(self._lowering, self._values, self._unit.elements)
        known, computed, outputs, handed_on, lists = {}, [], [], {}, []
        for value in self._unit.outputs:
            found = self._values.get(value)
            if isinstance(found, ArrayHandle | StackHandle):
                raise NotCompiledError("an array that others use")
            if isinstance(found, ListHandle):
                lists.append(value)
                found = self._lowering.items(found)
            if isinstance(found, Tensor):
                computed.append(value)
                outputs.append(found)
            elif isinstance(found, _HandedOn):
                handed_on[value] = found.place
            elif value in self._values:
                known[value] = found.view(Known) if isinstance(found, np.ndarray) else found
        variables, assigned = self._lowering.store.variables, self._lowering.assigned
        holds = assigned.pop(HOLDS, None)
        begun = [
            reference
            for reference, value in assigned.items()
            if reference not in variables
            or tuple(variables.cell(reference).shape) != tuple(value.shape)
        ]
        if self._is_open and any(None in assigned[each].shape for each in begun):
            raise UnknownSizeError("a variable's new shape")
        updates = [
            (cell := variables.cell(reference), value if holds is None else _if(holds, value, cell))
            for reference, value in assigned.items()
            if reference not in begun
        ]
        outputs += [assigned[reference] for reference in begun]
        if holds is not None:
            outputs.append(holds)
        self._demand_several(several, outputs, updates)
        function = K.function(self._holes, outputs, updates) if outputs or updates else None
        used = (*self._lowering.read, *assigned)
        cells = {x: cell for x in used if (cell := variables.find(x)) is not None}
        return Compiled(
            self._places, function, known, handed_on, computed, begun, cells, self._is_open,
            holds is not None, lists,
        )  # fmt: skip
