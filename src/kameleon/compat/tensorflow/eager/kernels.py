"""One operation as a compiled function, by its attributes and the types and shapes it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node

from ..dtypes import HANDLES, enumerated, shown
from ..failures import failure, invalid, is_failure
from ..graph import Graph, Operation, Shape, definitions, types_of
from ..lowering import Lowering
from ..operations import table
from ..operations.arrays import MOVED
from ..operations.demands.table import can_refuse, demand
from ..operations.drawing import is_seeded
from ..operations.elementwise import AT_ONCE, COMPARED
from ..operations.products import REDUCTIONS
from ..operations.values import NeedsValueError, is_text, origins
from ..running.expansion import is_call
from ..running.prepared import Prepared
from ..shapes import infer
from ..variables import Reference, Store
from .signatures import Signature
from .tensors import result

# Types of which NumPy computes few numbers sooner than a compiled function is called.
QUICK = frozenset(" ".join([*AT_ONCE, *COMPARED, *REDUCTIONS]).split())
SMALL = 4096  # numbers
# Types that only move numbers, which NumPy does at once whatever their sizes.
CHEAP = frozenset(" ".join(MOVED).split()) | frozenset(
    "Slice StridedSlice Unpack Tile Fill Range ZerosLike OnesLike Cast Select SelectV2"
    " DynamicStitch ParallelDynamicStitch".split()
)
KEPT = 1000  # compiled functions of an operation
# What stands for a name that nobody shares.
ANONYMOUS = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"


class Detached(Lowering):
    """Variables while one operation is compiled: their values come in, new ones go out."""

    def __init__(self, store: Store, given: list[Any]) -> None:
        super().__init__(store)
        self._given = given
        self.holes: dict[int, Node] = {}  # by place of the reference

    def value(self, given: Any) -> Any:
        """What an operation takes: where it's a variable, a hole for its value."""
        if not isinstance(given, Reference) or given in self.assigned:
            return super().value(given)
        place = self._given.index(given)
        if place not in self.holes:
            cell = self.store.variables.cell(given)
            self.holes[place] = K.placeholder(tuple(cell.shape), dtype=str(cell.dtype))
        return self.holes[place]


class Compiled:
    """An operation for some types and shapes.

    Attributes:
        places: the inputs that the function takes.
        read: the inputs whose variables it takes the values of.
        function: computes; None if there's nothing to do.
        given: by output, a value, or the number of the function's result.
        changed: the inputs whose variables get what the function gives last.
    """

    def __init__(
        self, places: list[int], holes: list[Node], lowering: Detached, found: list[Any],
        given: list[Any],
    ) -> None:  # fmt: skip
        self.places, self.read = places, list(lowering.holes)
        outputs = [value for value in found if isinstance(value, Node)]
        ways = iter(range(len(outputs)))
        self.given = [
            (next(ways), None) if isinstance(value, Node) else (-1, value) for value in found
        ]
        self.changed = [given.index(reference) for reference in lowering.assigned]
        outputs += lowering.assigned.values()
        taken = [*holes, *lowering.holes.values()]
        self.function = K.function(taken, outputs) if outputs else None

    def __call__(self, store: Store, values: list[Any]) -> list[Any]:
        taken = [values[place] for place in self.places]
        if self.read:
            taken += [store.variables.value(values[place]) for place in self.read]
        results = self.function(taken) if self.function is not None else []
        if self.changed:
            changes = results[-len(self.changed) :]
            for place, value in zip(self.changed, changes, strict=True):
                store.variables.begin(values[place], value)
        return [value if way < 0 else results[way] for way, value in self.given]


def _input(graph: Graph, place: int, number: int, shape: Shape = None) -> Operation:
    """What an operation takes from; its shape mostly isn't known."""
    made = Operation(graph, "Placeholder", f"input_{place}")
    made.definition, made.types, made.shapes = definitions()["Placeholder"], [number], [shape]
    return made


class Kernel:
    """An operation of some type, with attributes, for inputs of some types.

    Attributes:
        run: gives the values of the outputs for those of the inputs.
        counts: how many tensors each output stands for; None: one.
    """

    def __init__(
        self, context: Any, signature: Signature, pairs: tuple[Any, ...], numbers: tuple[int, ...]
    ) -> None:
        self._store: Store = context.store
        self._context, self._signature = context, signature
        graph = Graph()
        graph.functions = context.functions
        self.operation = made = Operation(graph, signature.name, signature.name)
        if "seed2" in signature.attributes or is_call(made):  # random numbers of its own
            made.name = context.unused(made.name)
        for name, value in zip(pairs[::2], pairs[1::2], strict=True):
            if name in signature.attributes:
                made.attributes[name] = signature.message(name, value)
        made.define(signature.definition)
        made.inputs = [(_input(graph, at, number), 0) for at, number in enumerate(numbers)]
        self._demand(numbers)
        made.types = types_of(made, signature.definition.output_arg)
        made.shapes = [None] * len(made.types)
        self.counts = [
            len(types_of(made, [each])) if each.number_attr or each.type_list_attr else None
            for each in signature.definition.output_arg
        ]
        folds = made.type in QUICK | CHEAP and not HANDLES.intersection(numbers)
        self._refuses = can_refuse(made.type)
        self._fold = table.FOLDS.get(made.type) if folds else None
        self._is_cheap = made.type in CHEAP
        self.run = self._chosen()
        self._prepared: Prepared | None = None
        self._cache: dict[Any, Compiled] = {}
        self._wanted: set[int] = set()

    def _demand(self, numbers: tuple[int, ...]) -> None:
        """Refuse types that the operation doesn't take."""
        made = self.operation
        for name, attribute in ((each.name, each) for each in made.definition.attr):
            allowed = attribute.allowed_values.list.type
            given = made.attribute(name) if allowed else None
            for number in given if isinstance(given, list) else [given] if given else []:
                if number not in allowed:
                    kinds = ", ".join(enumerated(each) for each in allowed)
                    message = (
                        f"Could not find valid device for node.\nNode:{{{{node {made.type}}}}}\n"
                        f"All kernels registered for op {made.type} :\n"
                        f"  device='CPU'; {name} in [{kinds}]\n"
                    )
                    raise failure("NOT_FOUND", message)
        expected = types_of(made, made.definition.input_arg)
        for place, (one, other) in enumerate(zip(expected, numbers, strict=False)):
            if one != other:
                raise invalid(
                    f"cannot compute {made.type} as input #{place}(zero-based) was expected to be a"
                    f" {shown(one)} tensor but is a {shown(other)} tensor"
                )

    def _chosen(self) -> Callable[[list[Any]], list[Any]]:
        made = self.operation
        if made.type in made.graph.functions:
            return table.to_end(self._store, made)
        if made.definition.is_stateful and any(kind in HANDLES for kind in made.types):
            return self._anew
        if is_call(made):
            return self._expanded
        # Rather on the host: what is drawn from a seed, lists, and assertions.
        on_host = made.type in table.HOST and (
            is_seeded(made) or table.is_kept(made) or made.type in table.ASSERTIONS
        )
        on_host = on_host or not table.is_compiled(made)
        return table.to_end(self._store, made) if on_host else self._compute

    def mismatch(self, tensors: Sequence[Any]) -> Exception | None:
        """Why the tensors' shapes don't go together, if they don't."""
        made = copy(self.operation)
        numbers = [number for source, _ in made.inputs for number in source.types]
        shapes = [getattr(each._value, "shape", None) for each in tensors]
        pairs = enumerate(zip(numbers, shapes, strict=True))
        made.inputs = [(_input(made.graph, at, *given), 0) for at, given in pairs]
        try:
            infer(made)
        except Exception as error:
            return error if is_failure(error) else None
        return None

    # Ways to run --------------------------------------------------------------------------------

    def __call__(self, tensors: list[Any]) -> list[Any]:
        """What the operation gives for tensors, as tensors."""
        found = self.run([each._value for each in tensors])
        return [
            result(value, kind) for value, kind in zip(found, self.operation.types, strict=True)
        ]

    def _expanded(self, values: list[Any]) -> list[Any]:
        """Run the functions that the operation calls."""
        made = self.operation
        if self._prepared is None:
            outputs = [(made, index) for index in range(len(made.types))]
            self._prepared = Prepared(made.inputs, outputs, [made])
        given = dict(zip(made.inputs, values, strict=True))
        return self._prepared.run(self._store, given)

    def _anew(self, values: list[Any]) -> list[Any]:
        """Run what makes a thing that is kept, under a name that nothing else has."""
        old = self.operation
        made = old.like(old.graph, self._context.unused(old.type))
        made.inputs = old.inputs
        if old.attribute("shared_name") == ANONYMOUS:
            made.known = {**old.known, "shared_name": made.name.encode()}
        if not table.is_compiled(made):
            return table.to_end(self._store, made)(values)
        return table.lowered(Detached(self._store, values), made, values)

    def _compute(self, values: list[Any]) -> list[Any]:
        if self._refuses:
            demand(self.operation, [self._cell(value) for value in values])
        if self._fold is not None and (
            self._is_cheap or sum([value.size for value in values]) <= SMALL
        ):
            with np.errstate(all="ignore"):
                found = self._fold(self.operation, *values)
            return found if isinstance(found, list) else [found]
        key = tuple([self._key(place, value, values) for place, value in enumerate(values)])
        compiled = self._cache.get(key)
        if compiled is None:
            compiled = self._compiled(values)
            if compiled is None:
                return self._compute(values)
            while len(self._cache) >= KEPT:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = compiled
        return compiled(self._store, values)

    def _cell(self, value: Any) -> Any:
        """A value; of a variable what holds its value, which has a shape, too."""
        if type(value) is Reference and value in self._store.variables:
            return self._store.variables.cell(value)
        return value

    # Compiling ----------------------------------------------------------------------------------

    def _key(self, place: int, value: Any, values: list[Any]) -> Any:
        if type(value) is Reference:
            known = self._store.variables
            if value not in known:
                return values.index(value)
            cell = known.cell(value)
            return (values.index(value), tuple(cell.shape), str(cell.dtype))
        if is_text(value):
            return (value.shape, tuple(value.ravel()))
        return (value.shape, value.tobytes()) if place in self._wanted else value.shape

    def _compiled(self, values: list[Any]) -> Compiled | None:
        """The operation for values like these; None once it's known that it needs more of them."""
        places: list[int] = []
        holes: list[Node] = []
        given: list[Any] = []
        for place, value in enumerate(values):
            if type(value) is Reference or is_text(value) or place in self._wanted:
                given.append(value)
                continue
            places.append(place)
            holes.append(K.placeholder(value.shape, dtype=str(value.dtype)))
            given.append(holes[-1])
        lowering = Detached(self._store, given)
        try:
            found = table.lowered(lowering, self.operation, given)
        except NeedsValueError as error:
            leaves = origins(error.value)
            new = {place for place, hole in zip(places, holes, strict=True) if hole in leaves}
            if not new:
                message = f"{self.operation.type} needs a value when it's compiled: {error}"
                raise failure("UNIMPLEMENTED", message) from None
            self._wanted |= new
            return None
        return Compiled(places, holes, lowering, found, values)
