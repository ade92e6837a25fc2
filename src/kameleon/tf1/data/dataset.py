"""`tf.data.Dataset`: sequences of elements, and what makes other sequences of them.

Elements are lists of arrays, made by Python's generators; functions that programs give are graphs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ir.node import Node
from ...ir.types import as_dtype
from ..failures import ERRORS
from ..shapes import TensorShape
from . import batching, iterators, orders
from .elements import (
    Element,
    Spec,
    array_of,
    as_structure,
    flat,
    joined,
    mapped,
    of_spec,
    packed,
    shapes_of,
    spec_of,
)
from .functions import GraphFunction
from .groups import windowed
from .run import Run

Maker = Callable[[Run], Iterator[Element]]


class Dataset:
    """A sequence of elements, nests of tuples and dicts of arrays.

    What it's made of may be tensors, too: these have the values of the moment when an iterator is
    initialised. Each method returns another dataset.

    Args:
        spec: the types of an element's parts.
        tensors: what of the graph the elements depend on.
        elements: gives them, for a run of an iterator.

    >>> from kameleon import backend as K
    >>> numbers = Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> following = numbers.make_one_shot_iterator().get_next()
    >>> session = K.tf.Session()
    >>> session.run(following), session.run(following)
    (array([0, 1]), array([4, 9]))
    """

    def __init__(self, spec: Any, tensors: Sequence[Any], elements: Maker):
        self._spec = spec
        self.tensors: list[Any] = list(dict.fromkeys(x for x in tensors if isinstance(x, Node)))
        self.elements = elements
        self.is_endless = False  # whether it's known that there's no last element

    def derived(
        self, elements: Maker, tensors: Sequence[Any] = (), spec: Any = None,
        endless: bool | None = None,
    ) -> Dataset:  # fmt: skip
        """A dataset of what this one gives, which also depends on other tensors."""
        given = self.spec if spec is None else spec
        made = Dataset(given, [*self.tensors, *tensors], elements)
        made.is_endless = self.is_endless if endless is None else endless
        return made

    # What it's like -----------------------------------------------------------------------------

    @property
    def spec(self) -> Any:
        """The types of an element's parts."""
        if callable(self._spec):  # known from the first element
            self._spec = self._spec()
        return self._spec

    @property
    def output_types(self) -> Any:
        """The dtypes of an element's parts."""
        return mapped(lambda s: s.dtype, self.spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's parts."""
        return mapped(lambda s: TensorShape(s.shape), self.spec)

    @property
    def output_classes(self) -> Any:
        """The classes of an element's parts: tensors."""
        return mapped(lambda s: Node, self.spec)

    def __iter__(self) -> Any:
        raise RuntimeError(
            "dataset.__iter__() is only supported when eager execution is enabled: there is none;"
            " session.run(dataset.make_one_shot_iterator().get_next()) gives an element"
        )

    def __repr__(self) -> str:
        return f"<Dataset shapes: {self.output_shapes}, types: {self.output_types}>"

    # What there is at the beginning ------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element."""
        structure = mapped(lambda x: array_of(x, "from_tensors"), tensors)
        parts = flat(structure)
        return Dataset(
            mapped(spec_of, structure), parts, lambda run: iter([[run.value(x) for x in parts]])
        )

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """An element for each slice along the first axes."""
        structure = mapped(lambda x: array_of(x, "from_tensor_slices"), tensors)
        parts, types = flat(structure), flat(mapped(spec_of, structure))
        if not all(s.shape for s in types):
            raise ArgumentError("from_tensor_slices: a scalar has no axis to be sliced along")
        if len({s.shape[0] for s in types} - {None}) > 1:
            raise ArgumentError(
                f"from_tensor_slices: first sizes differ: {[s.shape[0] for s in types]}"
            )

        def elements(run: Run) -> Iterator[Element]:
            arrays = [np.asarray(run.value(x)) for x in parts]
            if len({len(a) for a in arrays}) > 1:
                raise ERRORS["InvalidArgumentError"](
                    None, None, f"first sizes differ: {[len(a) for a in arrays]}"
                )
            return ([a[i] for a in arrays] for i in range(len(arrays[0])))

        spec = mapped(lambda s: Spec(s.dtype, s.shape[1:]), mapped(spec_of, structure))
        return Dataset(spec, parts, elements)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any, output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:  # fmt: skip
        """The elements that a generator yields, in the structure of `output_types`.

        Where no shapes are given, the first element tells how many axes there are; for it the
        generator is started once when the dataset is used in a graph.
        """
        if not callable(generator):
            raise TypeError("`generator` must be callable.")
        given = [array_of(x, "from_generator") for x in args or ()]
        types = mapped(as_dtype, output_types)
        dtypes = flat(types)
        started: list[tuple[Any, Iterator[Any]]] = []

        def begun(run: Run) -> Iterator[Any]:
            if started:
                first, rest = started.pop()
                return itertools.chain([first], rest)
            return iter(generator(*(np.asarray(run.value(x)) for x in given)))

        def spec() -> Any:
            if output_shapes is not None:
                shapes = shapes_of(output_shapes, types)
                return packed(types, [Spec(d, s) for d, s in zip(dtypes, shapes, strict=True)])
            if any(isinstance(x, Node) for x in given):
                raise ArgumentError("from_generator: give output_shapes, as its args are tensors")
            rest = iter(generator(*given))
            try:
                first = next(rest)
            except StopIteration:
                return mapped(lambda d: Spec(d, ()), types)
            started.append((first, rest))
            ranks = [np.ndim(x) for x in flat(as_structure(first, types))]
            return packed(types, [Spec(d, (None,) * n) for d, n in zip(dtypes, ranks, strict=True)])

        def elements(run: Run) -> Iterator[Element]:
            wanted = flat(made.spec)
            for item in begun(run):
                parts = flat(as_structure(item, types))
                yield [of_spec(x, s) for x, s in zip(parts, wanted, strict=True)]

        made = Dataset(spec, given, elements)
        if output_shapes is not None:
            made._spec = spec()
        return made

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Numbers of int64, as of Python's range."""
        return Dataset(
            Spec(as_dtype("int64"), ()),
            args,
            lambda run: ([np.int64(i)] for i in range(*(int(run.value(x)) for x in args))),
        )

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements of several datasets together, till the shortest one ends."""
        if isinstance(datasets, list):
            raise TypeError("The argument to `Dataset.zip()` must be a nested structure of"
                            " `Dataset` objects: a tuple or a dict, not a list.")  # fmt: skip
        each: list[Dataset] = flat(datasets)
        for item in each:
            if not isinstance(item, Dataset):
                raise TypeError(f"The argument to `Dataset.zip()` must be made of datasets: {item}")

        def elements(run: Run) -> Iterator[Element]:
            for parts in zip(*(d.elements(run) for d in each), strict=False):
                yield [x for part in parts for x in part]

        spec = packed(datasets, [d.spec for d in each])
        made = Dataset(spec, [x for d in each for x in d.tensors], elements)
        made.is_endless = all(d.is_endless for d in each)
        return made

    # Elements by functions ----------------------------------------------------------------------

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """A function of each element, which is a graph, built once."""
        graph = GraphFunction(map_func, self.spec)
        if graph.is_dataset:
            raise TypeError("map: the function gives a dataset; flat_map has its elements")
        return self.derived(
            lambda run: (graph(run, parts) for parts in self.elements(run)),
            graph.captured, graph.spec,
        )  # fmt: skip

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function is true."""
        graph = GraphFunction(predicate, self.spec)
        if graph.is_dataset or [s[:] for s in flat(graph.spec)] != [("bool", ())]:
            raise ArgumentError("filter: `predicate` must return a scalar boolean tensor.")
        return self.derived(
            lambda run: (parts for parts in self.elements(run) if graph(run, parts)[0]),
            graph.captured,
        )  # fmt: skip

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that a function makes of the elements."""
        return self.interleave(map_func, 1, 1)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = 10, block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:  # fmt: skip
        """The elements of so many datasets by turns, so many of each at a time."""
        graph = GraphFunction(map_func, self.spec)
        if not graph.is_dataset:
            raise TypeError("`map_func` must return a `Dataset` object.")

        def begun(run: Run, parts: Element) -> Iterator[Element]:
            values = dict(zip(graph.outputs, graph(run, parts), strict=True))
            found: Iterator[Element] = graph.result.elements(run.within(values))
            return found

        return self.derived(
            lambda run: orders.interleaved(
                (begun(run, parts) for parts in self.elements(run)),
                int(run.value(cycle_length)), int(run.value(block_length)),
            ),
            [*graph.captured, cycle_length, block_length], graph.result.spec,
        )  # fmt: skip

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of the dataset."""
        found = transformation_func(self)
        if not isinstance(found, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset, not {found!r}.")
        return found

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last state of `reduce_func(state, element)`, a tensor."""
        return iterators.reduced(self, initial_state, reduce_func)

    # Batches ------------------------------------------------------------------------------------

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """So many elements, one behind the other along a new first axis."""
        size = None if isinstance(batch_size, Node) or not drop_remainder else int(batch_size)
        spec = mapped(lambda s: Spec(s.dtype, (size, *s.shape)), self.spec)
        return self.derived(
            lambda run: batching.batches(
                self.elements(run), int(run.value(batch_size)), bool(run.value(drop_remainder))
            ),
            [batch_size, drop_remainder], spec,
        )  # fmt: skip

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any, padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:  # fmt: skip
        """Likewise, of elements that differ in sizes: each is padded to the largest of the batch,
        or to a given size.
        """
        types: list[Spec] = flat(self.spec)
        shapes = shapes_of(padded_shapes, self.spec)
        fills = [0] * len(types)
        if padding_values is not None:
            fills = flat(as_structure(padding_values, self.spec))
        for s, shape in zip(types, shapes, strict=True):
            if len(s.shape) != len(shape):
                raise ArgumentError(
                    f"The padded shape {shape} is not compatible with the corresponding input"
                    f" component shape {TensorShape(s.shape)}."
                )
        size = None if isinstance(batch_size, Node) or not drop_remainder else int(batch_size)
        spec = packed(
            self.spec, [Spec(s.dtype, (size, *sh)) for s, sh in zip(types, shapes, strict=True)]
        )
        return self.derived(
            lambda run: batching.padded_batches(
                self.elements(run), int(run.value(batch_size)), shapes,
                [run.value(x) for x in fills], bool(run.value(drop_remainder)),
            ),
            [batch_size, drop_remainder, *fills], spec,
        )  # fmt: skip

    # Order and number ---------------------------------------------------------------------------

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order: each is drawn from the next `buffer_size`.

        Without a seed one comes of NumPy's generator, as that of `tf.set_random_seed`. The order
        isn't TensorFlow's.
        """
        again = reshuffle_each_iteration is not False
        start = int(np.random.randint(2**31)) if seed is None else seed

        def elements(run: Run) -> Iterator[Element]:
            number = abs(int(run.value(start))) % 2**32
            draw = functools.partial(np.random.RandomState, number)
            generator = run.kept(made, draw) if again else draw()
            return orders.shuffled(self.elements(run), int(run.value(buffer_size)), generator)

        made = self.derived(elements, [buffer_size, start])
        return made

    def repeat(self, count: Any = None) -> Dataset:
        """The elements so many times; for ever, if that is None or -1."""

        def elements(run: Run) -> Iterator[Element]:
            number = -1 if count is None else int(run.value(count))
            return orders.repeated(lambda: self.elements(run), number)

        forever = count is None or (not isinstance(count, Node) and int(count) < 0)
        return self.derived(elements, [count], endless=forever or self.is_endless)

    def take(self, count: Any) -> Dataset:
        """The first so many elements; all, if that is -1."""

        def elements(run: Run) -> Iterator[Element]:
            number = int(run.value(count))
            return itertools.islice(self.elements(run), None if number < 0 else number)

        return self.derived(elements, [count], endless=False)

    def skip(self, count: Any) -> Dataset:
        """All but the first so many elements; none, if that is -1."""

        def elements(run: Run) -> Iterator[Element]:
            number = int(run.value(count))
            return itertools.islice(self.elements(run), number, None) if number >= 0 else iter(())

        return self.derived(elements, [count])

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Each `num_shards`-th element, from that at `index` on."""

        def elements(run: Run) -> Iterator[Element]:
            n, i = int(run.value(num_shards)), int(run.value(index))
            if not 0 <= i < n:
                raise ERRORS["InvalidArgumentError"](None, None, f"index {i} isn't below {n}")
            return itertools.islice(self.elements(run), i, None, n)

        return self.derived(elements, [num_shards, index])

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements, then those of another dataset."""
        mine, others = flat(self.spec), flat(dataset.spec)
        if len(mine) != len(others):
            raise TypeError("concatenate: Two datasets to concatenate have different structures")
        both = [joined(a, b, "concatenate") for a, b in zip(mine, others, strict=True)]
        return self.derived(
            lambda run: itertools.chain(self.elements(run), dataset.elements(run)),
            dataset.tensors, packed(self.spec, both),
        )  # fmt: skip

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number of int64, from `start` on, and an element."""
        first = run_start = start

        def elements(run: Run) -> Iterator[Element]:
            numbers = itertools.count(int(run.value(run_start)))
            return (
                [np.int64(i), *parts] for i, parts in zip(numbers, self.elements(run), strict=False)
            )

        return self.derived(elements, [first], (Spec(as_dtype("int64"), ()), self.spec))

    def cache(self, filename: str = "") -> Dataset:
        """The elements, which are made once for an iterator and kept; a file isn't used."""
        if filename:
            raise ArgumentError("cache: elements are kept in memory; leave out the file's name")
        made = self.derived(
            lambda run: orders.kept(lambda: self.elements(run), run.kept(made, list))
        )
        return made

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Any:
        """Windows of so many elements, each a dataset; `flat_map` makes elements of them.

        Args:
            size: how many elements a window has.
            shift: how far apart windows begin; `size`, if None.
            stride: each such element is taken.
            drop_remainder: whether all windows must be whole.
        """
        return windowed(Dataset, self, size, shift, stride, drop_remainder)

    def prefetch(self, buffer_size: Any = None) -> Dataset:
        """The same: elements are made when they're asked for."""
        return self.derived(self.elements)

    def with_options(self, options: Any) -> Dataset:
        """The same: there are no options."""
        return self.derived(self.elements)

    # Iterators ----------------------------------------------------------------------------------

    def make_one_shot_iterator(self) -> Any:
        """An iterator that goes through the elements once, without being initialised."""
        return iterators.one_shot(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator that begins where its `initializer` runs."""
        return iterators.initializable(self)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"data.Dataset": Dataset, "contrib.data.Dataset": Dataset}
