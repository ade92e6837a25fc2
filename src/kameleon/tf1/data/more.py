"""What `tf.data.experimental` and `tf.contrib.data` have: functions for `Dataset.apply`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...errors import ArgumentError
from ...ir.types import as_dtype
from ..failures import OpError
from . import batching
from .dataset import Dataset
from .elements import Element, Spec, array_of, flat, mapped, packed, shapes_of, spec_of
from .functions import GraphFunction
from .groups import Group
from .run import Run

Transformation = Callable[[Dataset], Dataset]
AUTOTUNE = -1


def unbatch() -> Transformation:
    """Each slice of an element along the first axes is an element."""
    return lambda d: d.flat_map(lambda *parts: Dataset.from_tensor_slices(_one(parts)))


def _one(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts


def map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None,
    drop_remainder: Any = False, num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """`map`, then `batch`."""
    return lambda d: d.map(map_func).batch(batch_size, drop_remainder)


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches that are whole."""
    return lambda d: d.batch(batch_size, True)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle`, then `repeat`."""
    return lambda d: d.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
) -> Transformation:  # fmt: skip
    """`interleave`."""
    return lambda d: d.interleave(map_func, cycle_length, block_length)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """`enumerate`."""
    return lambda d: d.enumerate(start)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """The same: the engine places its own work."""
    return lambda d: d


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The same: the engine places its own work."""
    return lambda d: d


def ignore_errors() -> Transformation:
    """The elements before and behind those that fail."""

    def elements(d: Dataset, run: Run) -> Iterator[Element]:
        rest = d.elements(run)
        while True:
            try:
                yield next(rest)
            except StopIteration:
                return
            except (OpError, ArithmeticError, ValueError):
                continue

    return lambda d: d.derived(functools.partial(elements, d))


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first one for which a function is false."""

    def apply(d: Dataset) -> Dataset:
        graph = GraphFunction(predicate, d.spec)
        return d.derived(
            lambda run: itertools.takewhile(lambda p: bool(graph(run, p)[0]), d.elements(run)),
            graph.captured,
        )

    return apply


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """The outputs of `scan_func(state, element) -> (new state, output)`."""

    def apply(d: Dataset) -> Dataset:
        start = mapped(lambda x: array_of(x, "scan"), initial_state)
        graph = GraphFunction(scan_func, (mapped(spec_of, start), d.spec))
        firsts, (_, spec) = flat(start), graph.spec or ((), ())

        def elements(run: Run) -> Iterator[Element]:
            state = [run.value(x) for x in firsts]
            for parts in d.elements(run):
                found = graph(run, [*state, *parts])
                state = found[: len(firsts)]
                yield found[len(firsts) :]

        return d.derived(elements, [*firsts, *graph.captured], spec)

    return apply


def unique() -> Transformation:
    """Each element once."""

    def elements(d: Dataset, run: Run) -> Iterator[Element]:
        seen: set[Any] = set()
        for parts in d.elements(run):
            key = tuple(np.asarray(x).tobytes() for x in parts)
            if key not in seen:
                seen.add(key)
                yield parts

    return lambda d: d.derived(functools.partial(elements, d))


# Groups -------------------------------------------------------------------------------------


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:  # fmt: skip
    """The elements of datasets that `reduce_func(key, dataset)` makes of elements of equal key.

    Args:
        key_func: gives the key of an element, a scalar of int64.
        reduce_func: takes a key and a dataset of at most `window_size` elements.
        window_size_func: gives the size for a key, in place of `window_size`.
    """
    if (window_size is None) == (window_size_func is None):
        raise ArgumentError("group_by_window: give window_size or window_size_func")
    key_spec = Spec(as_dtype("int64"), ())

    def apply(d: Dataset) -> Dataset:
        keys = GraphFunction(lambda *parts: K.cast(key_func(*parts), "int64"), d.spec)
        sizes = GraphFunction(window_size_func or (lambda key: window_size), key_spec)
        group = Group(Dataset, d.spec, reduce_func, key_spec)

        def elements(run: Run) -> Iterator[Element]:
            held: dict[int, list[Element]] = {}
            for parts in d.elements(run):
                key = int(keys(run, parts)[0])
                rows = held.setdefault(key, [])
                rows.append(parts)
                if len(rows) >= int(sizes(run, [np.int64(key)])[0]):
                    yield from group.elements(run, held.pop(key), [np.int64(key)])
            for key in sorted(held):
                yield from group.elements(run, held[key], [np.int64(key)])

        return d.derived(
            elements, [*keys.captured, *sizes.captured, *group.captured], group.result.spec
        )

    return apply


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
    pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
) -> Transformation:  # fmt: skip
    """Padded batches of elements whose lengths lie between the same two boundaries.

    Args:
        element_length_func: gives the length of an element.
        bucket_boundaries: where the next bucket begins.
        bucket_batch_sizes: the size of a batch of each bucket, one more than boundaries.
        padded_shapes, padding_values: as `padded_batch` takes them.
        pad_to_bucket_boundary: unknown sizes become those of the boundary, less 1.
        no_padding: elements of a batch must be alike.
        drop_remainder: whether all batches must be whole.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ArgumentError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")

    def apply(d: Dataset) -> Dataset:
        lengths = GraphFunction(element_length_func, d.spec)
        types: list[Spec] = flat(d.spec)
        shapes = [s.shape for s in types]
        if padded_shapes is not None:
            shapes = shapes_of(padded_shapes, d.spec)
        fills = [0] * len(types) if padding_values is None else flat(padding_values)

        def batch(run: Run, bucket: int, rows: list[Element]) -> Iterator[Element]:
            size, wanted = bucket_batch_sizes[bucket], shapes
            if pad_to_bucket_boundary:
                if bucket == len(bucket_boundaries):
                    raise ArgumentError("an element is longer than the last bucket boundary")
                edge = bucket_boundaries[bucket] - 1
                wanted = [tuple(edge if n is None else n for n in s) for s in shapes]
            if no_padding:
                return batching.batches(iter(rows), size, drop_remainder)
            values = [run.value(x) for x in fills]
            return batching.padded_batches(iter(rows), size, wanted, values, drop_remainder)

        def elements(run: Run) -> Iterator[Element]:
            held: dict[int, list[Element]] = {}
            for parts in d.elements(run):
                length = int(lengths(run, parts)[0])
                bucket = int(np.searchsorted(bucket_boundaries, length, side="right"))
                rows = held.setdefault(bucket, [])
                rows.append(parts)
                if len(rows) == bucket_batch_sizes[bucket]:
                    yield from batch(run, bucket, held.pop(bucket))
            for bucket in sorted(held):
                yield from batch(run, bucket, held[bucket])

        spec = [Spec(s.dtype, (None, *shape)) for s, shape in zip(types, shapes, strict=True)]
        return d.derived(elements, [*lengths.captured, *fills], packed(d.spec, spec))

    return apply


# Datasets of several ------------------------------------------------------------------------


def counter(start: Any = 0, step: Any = 1, dtype: Any = "int64") -> Dataset:
    """Numbers without end."""
    kind = as_dtype(dtype)
    return Dataset(
        Spec(kind, ()),
        (),
        lambda run: ([np.asarray(i, kind)] for i in itertools.count(int(start), int(step))),
    )


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: int | None = None
) -> Dataset:
    """Elements of datasets drawn at random, by weights; a dataset that has ended is left out."""
    start = int(np.random.randint(2**31)) if seed is None else seed
    count = len(datasets)
    given = [1.0 / count] * count if weights is None else weights

    def elements(run: Run) -> Iterator[Element]:
        draw = np.random.RandomState(start % 2**32)
        rests: list[Any] = [d.elements(run) for d in datasets]
        left = np.asarray(given, "float64").copy()
        while left.sum() > 0:
            at = int(draw.choice(count, p=left / left.sum()))
            found = next(rests[at], None)
            if found is None:
                left[at] = 0
            else:
                yield found

    return datasets[0].derived(elements, [x for d in datasets for x in d.tensors])


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Elements of datasets, each by the index that another dataset gives."""

    def elements(run: Run) -> Iterator[Element]:
        rests: list[Any] = [d.elements(run) for d in datasets]
        for (index,) in choice_dataset.elements(run):
            found = next(rests[int(index)], None)
            if found is not None:
                yield found

    every = [*datasets, choice_dataset]
    return datasets[0].derived(elements, [x for d in every for x in d.tensors])


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset, as tensors."""
    return dataset.make_one_shot_iterator().get_next()


BOTH: dict[str, Any] = {
    "unbatch": unbatch,
    "map_and_batch": map_and_batch,
    "shuffle_and_repeat": shuffle_and_repeat,
    "parallel_interleave": parallel_interleave,
    "enumerate_dataset": enumerate_dataset,
    "prefetch_to_device": prefetch_to_device,
    "copy_to_device": copy_to_device,
    "ignore_errors": ignore_errors,
    "scan": scan,
    "unique": unique,
    "group_by_window": group_by_window,
    "bucket_by_sequence_length": bucket_by_sequence_length,
    "Counter": counter,
    "sample_from_datasets": sample_from_datasets,
    "choose_from_datasets": choose_from_datasets,
    "get_single_element": get_single_element,
    "AUTOTUNE": AUTOTUNE,
}
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"data.experimental.{name}": value for name, value in BOTH.items()},
    **{f"contrib.data.{name}": value for name, value in BOTH.items()},
    "data.experimental.take_while": take_while,
    "contrib.data.batch_and_drop_remainder": batch_and_drop_remainder,
}
