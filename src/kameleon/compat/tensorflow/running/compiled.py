"""What a region is compiled to: its elements as one function of K, for some inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.leaves import INPUT, SOURCE, VARIABLE
from kameleon.graph.ir.node import Tensor, walk
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import as_node, size_of

from ..dtypes import OF_K, REFERENCE
from ..graph import Operation, Value, is_handle, made_of
from ..lowering import ArrayHandle, ListHandle, Lowering, NotCompiledError, StackHandle
from ..operations import table
from ..operations.lists import TensorList
from ..operations.values import MANY, UnknownSizeError, is_of_sizes, is_text, origins
from ..resources.base import Resource
from ..tensors import sizes_of
from ..variables import HOLDS, Reference, Store
from ..walks import reached
from . import choices, loops  # noqa: F401
from .bodies import AbsentError, Values, lower
from .marks import ABSENT
from .needed import Compound, operations_of, outputs_of
from .sizes import Key, Known, Numbers, Pattern, is_open
from .units import Unit

# Of these shape and type decide alone, where they needn't be known.
ARRAYS = {np.ndarray, *(np.dtype(name).type for name in OF_K - {"bfloat16"})}
SLIGHT = 4096  # so few elements other engines don't compute sooner than they begin
Place = tuple[int, int | None]  # of an input, and of a number in it (~: of an axis)


@dataclass
class Compiled:
    """What a region was compiled to.

    Attributes:
        places: the inputs that the function takes: all of it, or as many bools as one of its
            numbers, or of its axes, says.
        function: computes what `gives` and `begun` take; None if there's nothing to do.
        known: values that are the same in each run.
        gives: where the values are that others take: among what the function gives, the inputs,
            and what is known.
        begun: variables that have no value yet, or one of another shape, which get one.
        cells: the variables that it was compiled for, None where one had no value yet: others take
            their place with other shapes.
        is_open: whether sizes were left open.
        asserts: whether the function gives, last, whether what the program asserts holds.
        lists: those of the values, by number, that are the rows of lists.
        sizes: those that are computed of sizes alone: they're known where others take them.
    """

    places: list[Place]
    function: Any
    known: list[Any]
    gives: list[int]
    begun: list[Reference]
    cells: dict[Reference, Any]
    is_open: bool
    asserts: bool
    lists: list[int]
    sizes: list[int]

    def __post_init__(self) -> None:
        self._seen: Any = None  # the state of variables for which it surely is

    def is_for(self, store: Store) -> bool:
        """Whether the variables are still those that it was compiled for."""
        find, state = store.variables.find, store.variables.state
        if self._seen is not state:
            if any(find(reference) is not cell for reference, cell in self.cells.items()):
                return False
            self._seen = state
        return True

    @cached_property
    def is_direct(self) -> bool:
        """Whether the function takes inputs as they are, and nothing else happens; and if some
        sizes fit, no others do.
        """
        if any((self.begun, self.cells, self.lists, self.sizes, self.asserts, self.is_open)):
            return False
        return self.function is not None and all(part is None for _, part in self.places)

    def at_once(self, values: Sequence[Any]) -> list[Any] | None:
        """The same as `run`, of a function that is direct, the short way; None where that can't be,
        or failed: pure as it is, it's called once more by who tells why.
        """
        short = self.function.fast_path
        if short is None or not ARRAYS.issuperset(map(type, values)):
            return None
        try:
            found = short([x if type(x) is np.ndarray else np.asarray(x) for x in values])
        except Exception:
            return None
        return None if found is None else self._chosen(found, values)

    def run(self, store: Store, values: Sequence[Any]) -> list[Any]:
        """The values that others take from the region, given those of its inputs."""
        results: list[Any] = []
        if self.function is not None:
            results = self.function(
                [np.asarray(values[place]) if at is None else _many(values[place], at)
                 for place, at in self.places]
            )  # fmt: skip
        if self.asserts and not results.pop():
            raise AssertedError
        for reference in reversed(self.begun):
            store.variables.begin(reference, results.pop())
        found = self._chosen(results, values)
        for at in self.lists:
            rows = found[at]
            found[at] = TensorList(list(rows), str(rows.dtype), rows.shape[1:])
        for at in self.sizes:
            found[at] = np.asarray(found[at]).view(Known)
        return found

    def _chosen(self, results: list[Any], values: Sequence[Any]) -> list[Any]:
        """What others take, of what the function gives, of the inputs, and of what is known."""
        everything = (*results, *values, *self.known)
        return [everything[at] for at in self.gives]


class AssertedError(Exception):
    """Something that a program asserts doesn't hold, or that operations demand; nothing was done.

    Attributes:
        operations: those that must run alone, to tell what they found.
    """

    def __init__(self, operations: frozenset[Operation] = frozenset()) -> None:
        super().__init__(operations)
        self.operations = operations


class Rows(np.ndarray):
    """The tensors of a list beside each other, where the list is compiled."""


def is_handed_on(unit: Unit, place: int, value: Any) -> bool:
    """Whether an input is no array: operations in the region hand it on at most."""
    is_kept = isinstance(value, Rows)
    return isinstance(value, Resource) or (is_handle(unit.inputs[place]) and not is_kept)


def is_known(unit: Unit, place: int, value: Any) -> bool:
    """Whether what an input is decides what the region is compiled to."""
    return isinstance(value, Known) or unit.is_known[place]


@dataclass(frozen=True)
class HandedOn(Resource):
    """What stands for an input that is no array while a region is compiled."""

    place: int


class Region:
    """A region, while it's compiled for some inputs."""

    def __init__(self, store: Store, unit: Unit, values: Sequence[Any], key: Key) -> None:
        self._unit, self._lowering, self._is_open = unit, Lowering(store), is_open(key)
        self._places: list[Place] = []
        self._holes: list[Any] = []
        self._values = Values()
        for place, (value, given) in enumerate(zip(unit.inputs, values, strict=True)):
            self._values[value] = self._taken(place, given, key[place])

    def _taken(self, place: int, given: Any, known: Any) -> Any:
        if isinstance(given, Reference) or given is ABSENT:
            return given
        if is_handed_on(self._unit, place, given):
            return HandedOn(place)
        if is_text(given):
            return np.asarray(given, object)
        array = np.asarray(given)
        if isinstance(given, Rows):
            return self._list(place, self._hole((place, None), known[0], str(array.dtype)))
        if not is_known(self._unit, place, given):
            return self._hole((place, None), known[0], str(array.dtype))
        return self._opened(place, *known) if None in known[0] else array

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

    def _opened(self, place: int, known: tuple[int | None, ...], numbers: Numbers | Pattern) -> Any:
        """Numbers, or sizes, of which some are left open: each is that of something given."""
        are_numbers = isinstance(numbers, Numbers)
        sizes = [
            size_of(self._hole((place, at if are_numbers else ~at), (None,), "bool"), 0)
            if each is None
            else each
            for at, each in enumerate(known)
        ]
        if isinstance(numbers, Pattern):
            if numbers.value is None:
                return M.iota(sizes, dtype=str(numbers.dtype))
            return M.broadcast_to(E.constant(numbers.value, str(numbers.dtype)), sizes)
        nodes = [E.cast(as_node(each), str(numbers.dtype)) for each in sizes]
        return M.reshape(M.stack(nodes, 0), numbers.shape) if numbers.shape else nodes[0]

    def compound_of(self, operation: Operation) -> Compound | None:
        """The outermost loop or choice that an operation is in."""
        compounds = (each for each in self._unit.elements if isinstance(each, Compound))
        return next((each for each in compounds if operation in each.members), None)

    def nearest(
        self, tensor: Tensor, operation: Operation, outside: Compound | None = None
    ) -> frozenset[Value]:
        """The values before an operation that, once known, tell it a tensor: itself, or what it's
        made of. None do where it's another one in each turn of a loop; or where `outside` of a
        compound not just single numbers tell it.
        """
        of = self._values_before(operation)
        known = self._unit.hints.known if self._unit.needs_values else frozenset()
        found, seen, rest = set[Any](), {tensor}, [tensor]
        while rest:
            node = rest.pop()
            if node in of and (outside is None or of[node][0] not in outside.members):
                if of[node] not in known:
                    found.add(of[node])
                if outside is not None and node.shape != ():
                    return frozenset()
                continue
            if node.primitive is INPUT:
                return frozenset()
            new = [each for each in node.operands if each not in seen]
            seen.update(new)
            rest += new
        return frozenset(found)

    def _values_before(self, operation: Operation) -> dict[Tensor, Value]:
        """By tensor, the last value that it is of those that an operation depends on."""
        within = self._unit.within
        before = reached([operation], lambda each: each.before if each in within else ())
        given = ((x, value) for value, x in self._values.items() if isinstance(x, Tensor))
        return {x: value for x, value in chain(given, self._read()) if value[0] in before}

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

    def _read(self) -> Iterator[tuple[Tensor, Value]]:
        """What variables hold, and the values that hand it on, whoever takes it."""
        read = self._lowering.read
        for value, x in self._values.items():
            is_value = value[0].types[value[1]] < REFERENCE and not is_handle(value)
            if isinstance(x, Reference) and x in read and is_value:
                yield self._lowering.value(x), value

    def kept(self) -> frozenset[Operation]:
        """The operations that make what's kept, in the region."""
        within = self._unit.within
        return frozenset(table.family_of(each) for each in within if table.is_kept(each))

    def _lower(self) -> None:
        """Find what the elements give: nothing, where one takes, or waits for, what's absent."""
        absent: set[Operation] = set()
        for element in self._unit.elements:
            try:
                if not absent.isdisjoint(element.control):
                    raise AbsentError
                lower(self._lowering, self._values, [element])
            except AbsentError:
                absent.update(operations_of(element))
                self._values.update(dict.fromkeys(outputs_of(element), ABSENT))

    def _function(self, outputs: list[Tensor], updates: list[tuple[Any, Tensor]]) -> Any:
        """What computes all that; None where there's nothing to do."""
        if not outputs and not updates:
            return None
        engine = "numpy" if self._unit.repeats and _is_slight(outputs, updates) else None
        return K.function(self._holes, outputs, updates, engine=engine).compiled

    def compiled(self, several: Sequence[Tensor] = ()) -> Compiled:
        """The function of the region; it fails where one of some sizes, taken to be several, is 1,
        which are found meanwhile.
        """
        self._lower()
        given = [self._given(value) for value in self._unit.outputs]
        computed = [each for each in given if isinstance(each, Tensor)]
        assigned = dict(self._lowering.assigned)
        holds = assigned.pop(HOLDS, None)
        begun = self._begun(assigned)
        updates = [
            (cell := self._cell(reference), value if holds is None else _if(holds, value, cell))
            for reference, value in assigned.items()
            if reference not in begun
        ]
        outputs = [*computed, *begun.values()]
        if holds is not None:
            outputs.append(holds)
        self._demand_several(several, outputs, updates)
        function = self._function(outputs, updates)
        used, lists = dict.fromkeys((*self._lowering.read, *assigned)), self._lists
        marked = [at for at, x in enumerate(self._unit.outputs) if x in self._unit.marked]
        sizes = [at for at in marked if at not in lists and _is_size(given[at])]
        find = self._lowering.store.variables.find
        return Compiled(
            self._places, function, *self._placed(given), list(begun), {x: find(x) for x in used},
            self._is_open, holds is not None, lists, sizes,
        )  # fmt: skip

    def _given(self, value: Value) -> Any:
        """A value that others take: a tensor, what is known, or what is handed on."""
        found = self._values.get(value, ABSENT)
        if isinstance(found, ArrayHandle | StackHandle):
            raise NotCompiledError("an array that others use")
        if isinstance(found, ListHandle):
            return self._lowering.items(found)
        if isinstance(found, Tensor) and found in self._holes:
            place, part = self._places[self._holes.index(found)]
            is_list = is_handle(self._unit.inputs[place])  # what is given are its rows
            return found if is_list or part is not None else HandedOn(place)
        return found

    def _placed(self, given: list[Any]) -> tuple[list[Any], list[int]]:
        """What is known of what's given; and where each is: see `Compiled`."""
        count = sum(isinstance(each, Tensor) for each in given)
        results, known, places = iter(range(count)), list[Any](), list[int]()
        for value, each in zip(self._unit.outputs, given, strict=True):
            if isinstance(each, Tensor):
                places.append(next(results))
            elif isinstance(each, HandedOn):
                places.append(count + each.place)
            else:
                places.append(count + len(self._unit.inputs) + len(known))
                is_marked = isinstance(each, np.ndarray) and value in self._unit.marked
                known.append(each.view(Known) if is_marked else each)
        return known, places

    @property
    def _lists(self) -> list[int]:
        """The outputs that are lists, by number."""
        pairs = enumerate(map(self._values.get, self._unit.outputs))
        return [at for at, value in pairs if isinstance(value, ListHandle)]

    def _cell(self, reference: Reference) -> Any:
        return self._lowering.store.variables.cell(reference)

    def _begun(self, assigned: dict[Any, Tensor]) -> dict[Reference, Tensor]:
        """What is assigned to variables that have no value yet, or one of another shape."""
        variables = self._lowering.store.variables
        begun = {
            reference: value
            for reference, value in assigned.items()
            if reference not in variables
            or tuple(self._cell(reference).shape) != tuple(value.shape)
        }
        if self._is_open and any(None in value.shape for value in begun.values()):
            raise UnknownSizeError("a variable's new shape")
        return begun


def _is_size(value: Any) -> bool:
    """Whether it's computed of sizes alone, and holds as few integers as sizes are."""
    if not isinstance(value, Tensor) or not value.dtype.is_integer or None in value.shape:
        return False
    return math.prod(sizes_of(value)) < MANY and is_of_sizes(value)


def _is_slight(outputs: list[Tensor], updates: list[Any]) -> bool:
    """Whether other engines take longer to begin than the embedded one takes for all of it."""
    if updates:
        return False
    for node in walk(outputs):
        if node.primitive in (VARIABLE, SOURCE) or node.primitive.bodies:
            return False
        if any(math.prod(size or 1 for size in x.shape) > SLIGHT for x in node.results):
            return False
    return True


def _many(value: Any, at: int) -> np.ndarray:
    """As many bools as a number says; or, from the last on, as an axis has elements."""
    return np.zeros(np.ravel(value)[at] if at >= 0 else np.shape(value)[~at], bool)


def _if(condition: Tensor, value: Tensor, otherwise: Tensor) -> Tensor:
    """One of two values, as one bool says."""
    return E.select(M.broadcast_to(condition, sizes_of(value)), value, otherwise)
