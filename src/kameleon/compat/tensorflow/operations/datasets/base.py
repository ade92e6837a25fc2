"""What datasets have in common, and how they're declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import count, islice
from typing import Any, TypeVar

import numpy as np

from ...dtypes import NUMBERS, name_of
from ...failures import invalid, is_failure
from ...graph import Operation
from ...resources.base import Resource
from ...variables import Store
from ..drawing import ITERATION
from ..table import host
from ..values import is_text, texts

Element = tuple[Any, ...]
Function = Callable[..., Sequence[Any]]
ENDLESS, UNKNOWN = -1, -2
AUTOTUNE = -1
# Arguments that are numbers above 0, as complaints call them.
POSITIVE = {
    "batch_size": "Batch size",
    "block_length": "block_length",
    "buffer_output_elements": "buffer_output_elements",
    "cycle_length": "cycle_length",
    "num_parallel_calls": "num_parallel_calls",
    "num_shards": "Number of shards",
    "shift": "Window shift",
    "size": "Window size",
    "stride": "Window stride",
}
TUNED = {"cycle_length", "num_parallel_calls"}  # those in whose place `AUTOTUNE` may be
STRING, VARIANT = [NUMBERS["string"]], [NUMBERS["variant"]]


class Dataset(Resource):
    """How to give elements, as often as it's iterated.

    An iteration goes on behind an error, as TensorFlow's do. `map`, `filter`, `zip`, `Chain` and
    `iter(step, None)` do; a generator doesn't, and serves where there is nothing to go on with.

    Args:
        begin: gives the elements of an iteration.
        size: how many elements there are; `ENDLESS`, or `UNKNOWN`.
        types: the numbers of the types of an element's parts.

    Attributes:
        size, types: as above.
        shuffled: of a dataset that is shuffled anew in each iteration, how to repeat it.
        is_mapped: whether elements are what a function gives; batches of such are made at once.
    """

    def __init__(
        self,
        begin: Callable[[], Iterable[Element]],
        size: int = UNKNOWN,
        types: Sequence[int] = (),
    ) -> None:
        self._begin, self.size, self.types = begin, size, list(types)
        self.shuffled: Callable[[int], Dataset] | None = None
        self.is_mapped = False

    def __iter__(self) -> Iterator[Element]:
        return iter(self._begin())

    def typed(self, types: Sequence[int]) -> Dataset:
        """The same, with other types."""
        self.types = list(types)
        return self

    def sized(self, size: int) -> Dataset:
        """The same elements, of which there are said to be so many."""
        made = Dataset(lambda: self, size, self.types)
        made.shuffled = self.shuffled
        return made

    @property
    def dtypes(self) -> list[str]:
        """The names of the types."""
        return [name_of(number) for number in self.types]


class Chain:
    """The elements of iterations, one behind the other.

    Attributes:
        count: how many it gave.
    """

    def __init__(self, iterations: Iterable[Iterable[Element]]) -> None:
        self._outer, self._inner = iter(iterations), iter(tuple[Element, ...]())
        self.count = 0

    def __iter__(self) -> Chain:
        return self

    def __next__(self) -> Element:
        while (found := next(self._inner, None)) is None:
            self._inner = iter(next(self._outer))
        self.count += 1
        return found


class Placed:
    """An iteration of one of several datasets: which it is tells apart what is shuffled, so that
    one dataset at two places is shuffled alike.
    """

    def __init__(self, source: Iterable[Element], place: int) -> None:
        self._places = (*ITERATION.places, place)
        self._following = self._asked(lambda: iter(source))

    def __iter__(self) -> Placed:
        return self

    def __next__(self) -> Element:
        found: Element = self._asked(lambda: next(self._following))
        return found

    def _asked(self, ask: Callable[[], Any]) -> Any:
        before, ITERATION.places = ITERATION.places, self._places
        try:
            return ask()
        finally:
            ITERATION.places = before


def placed(sources: Iterable[Iterable[Element]]) -> Iterator[Placed]:
    """Iterations of several datasets, each begun when it's asked for."""
    return map(Placed, sources, count())


def ends(error: Exception) -> bool:
    """Whether an error says that there's nothing more."""
    return is_failure(error) and type(error).__name__ == "OutOfRangeError"


# Declaring --------------------------------------------------------------------------------------

Maker = TypeVar("Maker", bound=Callable[..., Dataset])


def dataset(
    *names: str, functions: str = "", attributes: str = "", types: Sequence[int] = ()
) -> Callable[[Maker], Maker]:
    """Decorates what makes a dataset of the arguments of some types of operations.

    Numbers and texts come as Python's, lists as lists. In place of what functions captured come
    these themselves.

    Args:
        names: the types of operations.
        functions: the attributes that name functions, in the order of what these captured.
        attributes: those that are arguments, too, by their names.
        types: of an element's parts; by default the operation tells them.
    """

    def add(make: Maker) -> Maker:
        @host(*names)
        def run(store: Store, operation: Operation, *given: Any) -> Dataset:
            more = {name: operation.attribute(name) for name in attributes.split()}
            made = make(*_arguments(store, operation, given, functions.split()), **more)
            return made.typed(types or types_of(operation) or made.types)

        return make

    return add


def types_of(operation: Operation) -> list[int] | None:
    """The types of an element's parts, if the operation tells them."""
    found: list[int] | None = operation.attribute("output_types")
    return operation.attribute("Toutput_types") if found is None else found


def _arguments(
    store: Store, operation: Operation, given: Sequence[Any], functions: Sequence[str]
) -> Iterator[Any]:
    """By an operation's definition, each of its arguments."""
    rest, names = iter(given), iter(functions)
    for argument in operation.definition.input_arg:
        counted_by = argument.type_list_attr or argument.number_attr
        if not counted_by:
            yield from (_checked(argument.name, _plain(value)) for value in islice(rest, 1))
            continue
        many = operation.attribute(counted_by)
        values = list(islice(rest, many if argument.number_attr else len(many)))
        is_captured = "other_arg" in argument.name
        yield function_of(store, operation, next(names), values) if is_captured else values


def _checked(name: str, value: Any) -> Any:
    """An argument, which must be above 0 where its name says so."""
    if name in POSITIVE and value <= 0 and not (name in TUNED and value == AUTOTUNE):
        raise invalid(f"{POSITIVE[name]} must be greater than zero.")
    return value


def _plain(value: Any) -> Any:
    """A number or a text as Python has it, all else as it is."""
    if isinstance(value, Resource) or np.ndim(value):
        return value
    return texts(value).item() if is_text(value) else np.asarray(value).item()


def function_of(
    store: Store, operation: Operation, attribute: str, captured: Sequence[Any]
) -> Function:
    """What an attribute names, with what it captured behind its arguments."""
    named = operation.attribute(attribute)

    @cache
    def function() -> Callable[[Sequence[Any]], list[Any]]:
        return store.function(operation.graph, named.name, named.attr)

    return lambda *values: function()([*values, *captured])


# Elements ---------------------------------------------------------------------------------------


def array(value: Any) -> np.ndarray:
    """A part of an element as an array; text as an array of objects."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bytes | Resource):
        found = np.empty((), object)
        found[()] = value
        return found
    return np.asarray(value)


def rows(parts: Sequence[Any]) -> Iterator[Element]:
    """The rows of arrays; what is no array in them as it is."""
    arrays = [array(part) for part in parts]
    for at in range(len(arrays[0])):
        found = [each[at] for each in arrays]
        yield tuple(each if isinstance(each, Resource) else array(each) for each in found)


def is_true(found: Sequence[Any]) -> bool:
    """What a function says."""
    return bool(np.asarray(found[0]))


def number_of(found: Sequence[Any]) -> int:
    """The number that a function gives, or an element is."""
    return int(np.asarray(found[0]))
