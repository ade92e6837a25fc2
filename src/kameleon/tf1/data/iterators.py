"""Iterators over datasets: tensors that have the next element's values at each run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Iterator as Elements
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..._locks import rlock
from ...backend import surface as K
from ...backend._supplies import Supply
from ...backend.calling import call
from ...errors import ArgumentError
from ...ir.node import Node
from ...ir.types import as_dtype
from ..failures import FailedPreconditionError, OutOfRangeError
from ..graph import effect, remember
from ..operations import Operation
from ..shapes import TensorShape
from .elements import Element, Spec, array_of, flat, mapped, pack_marks, packed, shapes_of, spec_of
from .functions import GraphFunction, captured
from .run import Run

UNINITIALIZED = (
    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the"
    " initializer operation for this iterator before getting the next element."
)
_numbers = itertools.count(1)


class State:
    """Where an iterator is: what `initializer` sets and `get_next` moves."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self._drawing = rlock()  # generators can't be entered twice
        self.elements: Elements[Sequence[Any]] | None = None
        self.begin: Callable[[], Elements[Sequence[Any]]] | None = None

    def following(self) -> Sequence[Any]:
        """The parts of the next element.

        Raises:
            OutOfRangeError: there's none.
            FailedPreconditionError: the iterator wasn't initialised.
        """
        with self._drawing:
            if self.elements is None:
                if self.begin is None:
                    raise FailedPreconditionError(None, None, UNINITIALIZED)
                self.elements = self.begin()
            found = next(self.elements, None)
            if found is None:
                raise OutOfRangeError(None, None, "End of sequence")
            return found


class Following(Supply):
    """The parts of the next element, as inputs: one `get_next`."""

    def __init__(self, state_of: Callable[[Mapping[Any, Any]], State], spec: Any):
        self.state_of, self.types = state_of, [s.type for s in flat(spec)]

    def draw(self, given: Mapping[Any, Any]) -> Sequence[Any]:
        parts = self.state_of(given).following()
        return [np.asarray(x) for x in parts]


class Iterator:
    """Goes through the elements of a dataset, one at each run of what `get_next` gave.

    Args:
        spec: the types of an element's parts.
        state: where it is.
        initializer: the operation that begins anew, or None.
        state_of: for an iterator that a fed handle chooses, what tells the state.
    """

    def __init__(
        self, spec: Any, state: State, initializer: Operation | None = None,
        state_of: Callable[[Mapping[Any, Any]], State] | None = None,
    ):  # fmt: skip
        self._spec, self._state, self._initializer = spec, state, initializer
        self._state_of = state_of or (lambda given: state)

    @property
    def initializer(self) -> Operation:
        """The operation that begins anew, with the values of this moment."""
        if self._initializer is None:
            raise ArgumentError(
                "The iterator has no initializer: a one-shot iterator begins by itself, and for"
                " one of from_structure, make_initializer(dataset) gives it"
            )
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that begins to go through a dataset of the same structure."""
        mine, others = flat(self._spec), flat(dataset.spec)
        if pack_marks(self._spec) != pack_marks(dataset.spec):
            raise ArgumentError(
                "The two structures don't have the same nested structure: the iterator's elements"
                f" are {self._spec}, the dataset's {dataset.spec}"
            )
        if [s.dtype for s in mine] != [s.dtype for s in others]:
            raise TypeError(
                f"Expected output types {[s.dtype for s in mine]!r} but got dataset with output"
                f" types {[s.dtype for s in others]!r}."
            )
        for a, b in zip(mine, others, strict=True):
            if len(a.shape) != len(b.shape) or any(
                m is not None and m != n for m, n in zip(a.shape, b.shape, strict=True)
            ):
                raise TypeError(
                    f"Expected output shapes compatible with {a.shape} but got dataset with output"
                    f" shapes {b.shape}."
                )
        return _beginning(self._state, dataset, name or "make_initializer")

    def get_next(self, name: str | None = None) -> Any:
        """The next element's parts, as tensors; another element at each run.

        A run raises `tf.errors.OutOfRangeError` where there's no more.
        """
        supply = Following(self._state_of, self._spec)
        parts = supply.inputs(supply.types, name or "IteratorGetNext")
        return packed(self._spec, [remember(x) for x in parts])

    def string_handle(self, name: str | None = None) -> Any:
        """A tensor whose value, fed for the handle of `from_string_handle`, chooses this one.

        It's a number here, as there are no tensors of strings.
        """
        _handles[self._state.number] = self._state
        return K.constant(self._state.number, dtype="int64", name=name)

    output_types = property(lambda self: mapped(lambda s: s.dtype, self._spec))
    output_shapes = property(lambda self: mapped(lambda s: TensorShape(s.shape), self._spec))
    output_classes = property(lambda self: mapped(lambda s: Node, self._spec))

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """An iterator for any dataset of these types and shapes."""
        return Iterator(_spec(output_types, output_shapes, "from_structure"), State())

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """The iterator whose handle is fed."""

        def state_of(given: Mapping[Any, Any]) -> State:
            if string_handle not in given:
                raise ArgumentError("feed the handle of an iterator: session.run("
                                    "iterator.string_handle()) gives it")  # fmt: skip
            return _handles[int(given[string_handle])]

        spec = _spec(output_types, output_shapes, "from_string_handle")
        return Iterator(spec, State(), None, state_of)


# By number, the iterators that a handle may choose.
_handles: WeakValueDictionary[int, State] = WeakValueDictionary()


def _spec(types: Any, shapes: Any, what: str) -> Any:
    kinds = mapped(as_dtype, types)
    if shapes is None:
        raise ArgumentError(f"Iterator.{what}: give output_shapes, with None for unknown sizes")
    parts = [Spec(*pair) for pair in zip(flat(kinds), shapes_of(shapes, kinds), strict=True)]
    return packed(kinds, parts)


def _beginning(state: State, dataset: Any, name: str) -> Operation:
    """The operation by which an iterator begins, with the values that tensors have then."""
    tensors = dataset.tensors

    def begin(*arrays: Any) -> None:
        state.elements = dataset.elements(Run(dict(zip(tensors, arrays, strict=True))))

    return effect(name, [call(begin, tensors, "numpy", dtypes=[], pure=False)])


def one_shot(dataset: Any) -> Iterator:
    """An iterator that begins by itself.

    Raises:
        ArgumentError: (a ValueError) the dataset needs an input, whose value nobody gives.
    """
    _without_inputs(dataset)
    state = State()
    state.begin = lambda: passed(dataset)
    return Iterator(dataset.spec, state)


def passed(dataset: Any) -> Elements[Sequence[Any]]:
    """A pass through a dataset, with the values that tensors have now: the parts of each element.

    Raises:
        ArgumentError: (a ValueError) the dataset needs an input, whose value nobody gives.
    """
    _without_inputs(dataset)
    tensors = dataset.tensors
    values = K.function([], tensors, engine="numpy")([]) if tensors else []
    found: Elements[Element] = dataset.elements(Run(dict(zip(tensors, values, strict=True))))
    return found


def _without_inputs(dataset: Any) -> None:
    found = captured(dataset.tensors, ())
    if found:
        raise ArgumentError(f"Cannot capture a placeholder (name:{found[0].name}) by value: use"
                            " make_initializable_iterator")  # fmt: skip


def initializable(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator that begins where its initializer runs."""
    state = State()
    return Iterator(dataset.spec, state, _beginning(state, dataset, "MakeIterator"))


def reduced(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """The last state of `reduce_func(state, element)`: a nest of tensors."""
    start = mapped(lambda x: array_of(x, "reduce"), initial_state)
    spec = mapped(spec_of, start)
    graph = GraphFunction(reduce_func, (spec, dataset.spec))
    firsts, tensors = flat(start), [*dataset.tensors, *graph.captured]
    tensors += [x for x in firsts if isinstance(x, Node)]

    def run(*arrays: Any) -> list[Any]:
        own = Run(dict(zip(tensors, arrays, strict=True)))
        state = [np.asarray(own.value(x)) for x in firsts]
        for parts in dataset.elements(own):
            state = graph(own, [*state, *parts])
        return [np.asarray(x) for x in state]

    types = flat(spec)
    found = call(run, tensors, "numpy", shapes=[s.shape for s in types],
                 dtypes=[s.dtype for s in types], pure=False)  # fmt: skip
    return packed(spec, found)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "data.Iterator": Iterator,
    "data.make_one_shot_iterator": lambda dataset: one_shot(dataset),
    "data.make_initializable_iterator": initializable,
    "data.get_output_types": lambda dataset_or_iterator: dataset_or_iterator.output_types,
    "data.get_output_shapes": lambda dataset_or_iterator: dataset_or_iterator.output_shapes,
    "data.get_output_classes": lambda dataset_or_iterator: dataset_or_iterator.output_classes,
    "contrib.data.Iterator": Iterator,
}
