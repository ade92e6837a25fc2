"""Datasets, by their operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import NUMBERS
from ..failures import failure
from ..resources.datasets import elements, groups, mixing, orders, sources
from ..resources.datasets.base import ENDLESS, UNKNOWN, Dataset
from .files import matching, text
from .table import host
from .values import texts

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store

STRING, VARIANT = [NUMBERS["string"]], [NUMBERS["variant"]]


def _types(operation: Operation) -> list[int]:
    found: list[int] | None = operation.attribute("output_types")
    return operation.attribute("Toutput_types") if found is None else found


def _paths(value: Any) -> list[str]:
    return [text(each) for each in texts(value).ravel()]


# Functions --------------------------------------------------------------------------------------


def function_of(
    store: Store, operation: Operation, attribute: str, captured: Sequence[Any] = ()
) -> Callable[..., list[Any]]:
    """What an attribute names, with what it captured behind its arguments."""
    told, graph = operation.attribute(attribute), operation.graph

    def call(*values: Any) -> list[Any]:
        return store.call(store, graph, told.name, [*values, *captured], told.attr)

    return call


def _making(
    store: Store, operation: Operation, attribute: str, captured: Sequence[Any] = ()
) -> Callable[..., Dataset]:
    call = function_of(store, operation, attribute, captured)

    def make(*values: Any) -> Dataset:
        [found] = call(*values)
        made: Dataset = found
        return made

    return make


def _parted(operation: Operation, given: Sequence[Any], *attributes: str) -> list[list[Any]]:
    """What several functions captured, one after the other."""
    rest, found = list(given), []
    for attribute in attributes:
        count = len(operation.attribute(attribute))
        found.append(rest[:count])
        rest = rest[count:]
    return [*found, rest]


# Sources ----------------------------------------------------------------------------------------


@host("TensorDataset")
def _whole(store: Store, operation: Operation, *values: Any) -> Dataset:
    return Dataset(_types(operation), sources.whole(values), 1)


@host("TensorSliceDataset")
def _slices(store: Store, operation: Operation, *values: Any) -> Dataset:
    return Dataset(_types(operation), sources.slices(values), len(np.asarray(values[0])))


@host("SparseTensorSliceDataset")
def _sparse_slices(
    store: Store, operation: Operation, indices: Any, values: Any, shape: Any
) -> Dataset:
    begin = sources.sparse_slices(indices, values, shape)
    return Dataset(VARIANT, begin, int(np.asarray(shape)[0]))


@host("RangeDataset")
def _range(store: Store, operation: Operation, *bounds: Any) -> Dataset:
    start, stop, step = map(int, bounds)
    if not step:
        raise failure("INVALID_ARGUMENT", "step must be a non-zero integer.")
    size = len(range(start, stop, step))
    return Dataset(_types(operation), sources.numbers(start, stop, step), size)


@host("RandomDataset ExperimentalRandomDataset")
def _random(store: Store, operation: Operation, seed: Any, second: Any) -> Dataset:
    return Dataset(_types(operation), sources.random(int(seed), int(second)), ENDLESS)


@host("GeneratorDataset")
def _generated(store: Store, operation: Operation, *given: Any) -> Dataset:
    names = ("init", "next", "finalize")
    parted = _parted(operation, given, *(f"T{name}_func_args" for name in names))
    calls = [
        function_of(store, operation, f"{name}_func", captured)
        for name, captured in zip(names, parted, strict=False)
    ]
    return Dataset(_types(operation), sources.generated(*calls))


@host("TextLineDataset")
def _lines(store: Store, operation: Operation, paths: Any, packing: Any, size: Any) -> Dataset:
    return Dataset(STRING, sources.lines(_paths(paths), text(packing)))


@host("TFRecordDataset")
def _records(store: Store, operation: Operation, paths: Any, packing: Any, size: Any) -> Dataset:
    return Dataset(STRING, sources.records(_paths(paths), text(packing)))


@host("FixedLengthRecordDataset FixedLengthRecordDatasetV2")
def _fixed(
    store: Store, operation: Operation, paths: Any, header: Any, size: Any, footer: Any,
    buffer: Any, packing: Any = b"",
) -> Dataset:  # fmt: skip
    sizes = [int(header), int(size), int(footer)]
    return Dataset(STRING, sources.fixed(_paths(paths), sizes, text(packing)))


@host("MatchingFilesDataset ExperimentalMatchingFilesDataset")
def _files(store: Store, operation: Operation, patterns: Any) -> Dataset:
    found = np.empty(len(matching(patterns)), object)
    found[:] = matching(patterns)
    return Dataset(STRING, sources.slices([found]), len(found))


# Elements ---------------------------------------------------------------------------------------


@host("MapDataset ExperimentalMapDataset ParallelMapDataset")
def _mapped(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    captured = given[:-1] if operation.type.startswith("Parallel") else given
    function = function_of(store, operation, "f", captured)
    whole = bool(operation.attribute("preserve_cardinality"))
    return Dataset(_types(operation), elements.mapped(source, function, whole), source.size)


@host("MapAndBatchDataset ExperimentalMapAndBatchDataset")
def _mapped_batches(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    *captured, size, _, drop = given
    function = function_of(store, operation, "f", captured)
    mapped = Dataset(_types(operation), elements.mapped(source, function), source.size)
    return _batches(mapped, int(size), bool(drop))


@host("FilterDataset")
def _filtered(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    holds = function_of(store, operation, "predicate", given)
    return Dataset(source.types, elements.filtered(source, holds))


@host("FilterByLastComponentDataset")
def _filtered_by_last(store: Store, operation: Operation, source: Dataset) -> Dataset:
    return Dataset(source.types[:-1], elements.without_last(source))


@host("TakeWhileDataset ExperimentalTakeWhileDataset")
def _while(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    holds = function_of(store, operation, "predicate", given)
    return Dataset(source.types, elements.while_holds(source, holds))


@host("ScanDataset ExperimentalScanDataset")
def _scanned(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    state, captured = _parted(operation, given, "Tstate")
    function = function_of(store, operation, "f", captured)
    return Dataset(_types(operation), elements.scanned(source, state, function))


@host("TakeDataset")
def _taken(store: Store, operation: Operation, source: Dataset, count: Any) -> Dataset:
    number, size = int(count), source.size
    if number >= 0 and size != UNKNOWN:
        size = number if size == ENDLESS else min(number, size)
    return Dataset(source.types, elements.taken(source, number), size)


@host("SkipDataset")
def _skipped(store: Store, operation: Operation, source: Dataset, count: Any) -> Dataset:
    number, size = int(count), source.size
    size = 0 if number < 0 else max(size - number, 0) if size >= 0 else size
    return Dataset(source.types, elements.skipped(source, number), size)


@host("ShardDataset")
def _shard(store: Store, operation: Operation, source: Dataset, count: Any, at: Any) -> Dataset:
    shards, index, size = int(count), int(at), source.size
    if not 0 <= index < shards:
        message = f"index must be between 0 and {shards - 1} (currently index = {index})."
        raise failure("INVALID_ARGUMENT", message)
    size = len(range(index, size, shards)) if size >= 0 else size
    return Dataset(source.types, elements.each_of(source, shards, index), size)


@host("IgnoreErrorsDataset ExperimentalIgnoreErrorsDataset")
def _without_errors(store: Store, operation: Operation, source: Dataset) -> Dataset:
    return Dataset(source.types, elements.without_errors(source))


@host("UniqueDataset ExperimentalUniqueDataset")
def _distinct(store: Store, operation: Operation, source: Dataset) -> Dataset:
    return Dataset(source.types, elements.distinct(source))


# Batches ----------------------------------------------------------------------------------------


def _batches(source: Dataset, size: int, drop: bool) -> Dataset:
    begin = elements.batched(source, size, drop)
    return Dataset(source.types, begin, _count(source.size, size, drop))


def _count(total: int, size: int, drop: bool) -> int:
    """How many batches there are."""
    if total < 0:
        return total
    return total // size if drop else -(-total // size)


@host("BatchDataset BatchDatasetV2")
def _batched(
    store: Store, operation: Operation, source: Dataset, size: Any, drop: Any = False
) -> Dataset:
    return _batches(source, int(size), bool(drop))


@host("PaddedBatchDataset PaddedBatchDatasetV2")
def _padded(store: Store, operation: Operation, source: Dataset, size: Any, *given: Any) -> Dataset:
    count = len(_types(operation))
    shapes, fills, rest = given[:count], given[count : 2 * count], given[2 * count :]
    drop = bool(rest and rest[0])
    begin = elements.padded_batches(source, int(size), shapes, fills, drop)
    return Dataset(source.types, begin, _count(source.size, int(size), drop))


@host("DenseToSparseBatchDataset ExperimentalDenseToSparseBatchDataset")
def _sparse(store: Store, operation: Operation, source: Dataset, size: Any, shape: Any) -> Dataset:
    begin = elements.sparse_batches(source, int(size), shape)
    return Dataset(VARIANT, begin, _count(source.size, int(size), False))


@host("UnbatchDataset ExperimentalUnbatchDataset")
def _unbatched(store: Store, operation: Operation, source: Dataset) -> Dataset:
    return Dataset(source.types, elements.unbatched(source))


# Orders -----------------------------------------------------------------------------------------


@host("RepeatDataset")
def _repeated(store: Store, operation: Operation, source: Dataset, count: Any) -> Dataset:
    number, size = int(count), source.size
    if number < 0:
        size = ENDLESS if size else 0
    elif size == ENDLESS:
        size = ENDLESS if number else 0
    else:
        size = size * number if size >= 0 else size
    return Dataset(source.types, orders.repeated(source, number), size)


@host("ShuffleDataset")
def _shuffled(
    store: Store, operation: Operation, source: Dataset, size: Any, seed: Any, second: Any
) -> Dataset:
    anew = operation.attribute("reshuffle_each_iteration")
    return orders.shuffled(source, int(size), int(seed), int(second), anew)


@host("ShuffleAndRepeatDataset")
def _shuffled_and_repeated(
    store: Store, operation: Operation, source: Dataset, *given: Any
) -> Dataset:
    size, seed, second, count = map(int, given)
    begin = orders.shuffled_and_repeated(source, size, seed, second, count)
    total = ENDLESS if count < 0 else source.size * count if source.size >= 0 else source.size
    return Dataset(source.types, begin, total)


@host("CacheDataset CacheDatasetV2")
def _kept(store: Store, operation: Operation, source: Dataset, path: Any, *cache: Any) -> Dataset:
    return Dataset(source.types, orders.kept(source, text(path)), source.size)


@host(
    "PrefetchDataset ModelDataset OptimizeDataset MaxIntraOpParallelismDataset"
    " PrivateThreadPoolDataset ThreadPoolDataset NonSerializableDataset AssertNextDataset"
    " AutoShardDataset LatencyStatsDataset BytesProducedStatsDataset SetStatsAggregatorDataset"
    " SleepDataset SnapshotDataset ExperimentalMaxIntraOpParallelismDataset"
    " ExperimentalPrivateThreadPoolDataset ExperimentalThreadPoolDataset"
    " ExperimentalNonSerializableDataset ExperimentalAssertNextDataset"
    " ExperimentalAutoShardDataset ExperimentalLatencyStatsDataset"
    " ExperimentalBytesProducedStatsDataset ExperimentalSetStatsAggregatorDataset"
    " ExperimentalSleepDataset WrapDatasetVariant UnwrapDatasetVariant"
)
def _same(store: Store, operation: Operation, source: Dataset, *rest: Any) -> Dataset:
    """What changes how fast elements come, not which."""
    return source


# Mixing -----------------------------------------------------------------------------------------


def _smallest(sizes: Sequence[int]) -> int:
    known = [size for size in sizes if size != ENDLESS]
    if UNKNOWN in known:
        return UNKNOWN
    return min(known, default=ENDLESS)


@host("ZipDataset")
def _zipped(store: Store, operation: Operation, *given: Dataset) -> Dataset:
    size = _smallest([each.size for each in given])
    return Dataset(_types(operation), mixing.zipped(given), size)


@host("ConcatenateDataset")
def _concatenated(store: Store, operation: Operation, one: Dataset, other: Dataset) -> Dataset:
    sizes = (one.size, other.size)
    size = ENDLESS if ENDLESS in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return Dataset(_types(operation), mixing.concatenated(one, other), size)


@host("FlatMapDataset")
def _flat(store: Store, operation: Operation, source: Dataset, *captured: Any) -> Dataset:
    make = _making(store, operation, "f", captured)
    return Dataset(_types(operation), mixing.flat(source, make))


@host(
    "InterleaveDataset ParallelInterleaveDataset ParallelInterleaveDatasetV2"
    " ExperimentalParallelInterleaveDataset"
)
def _by_turns(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    captured, rest = _parted(operation, given, "Targuments")
    count, length = int(rest[0]), int(rest[1])
    if min(count, length) <= 0:
        what = "cycle_length" if count <= 0 else "block_length"
        raise failure("INVALID_ARGUMENT", f"`{what}` must be > 0")
    make = _making(store, operation, "f", captured)
    return Dataset(_types(operation), mixing.by_turns(source, make, count, length))


@host("DirectedInterleaveDataset ExperimentalDirectedInterleaveDataset")
def _chosen(store: Store, operation: Operation, selector: Dataset, *given: Dataset) -> Dataset:
    return Dataset(_types(operation), mixing.chosen(selector, given))


@host("ChooseFastestDataset ExperimentalChooseFastestDataset")
def _first(store: Store, operation: Operation, *given: Dataset) -> Dataset:
    return given[0]


# Groups -----------------------------------------------------------------------------------------


@host("WindowDataset")
def _windows(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    size, shift, stride = map(int, given[:3])
    drop, total = bool(given[3]), source.size
    begin = groups.windows(source, size, shift, stride, drop)
    if total >= 0:
        total = (
            max((total - (size - 1) * stride - 1) // shift + 1, 0) if drop else -(-total // shift)
        )
    return Dataset(_types(operation), begin, total)


@host("SlidingWindowDataset ExperimentalSlidingWindowDataset")
def _sliding(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    return Dataset(source.types, groups.sliding_batches(source, *map(int, given)))


@host("GroupByWindowDataset ExperimentalGroupByWindowDataset")
def _by_key(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    names = ("key", "reduce", "window_size")
    captured = _parted(operation, given, *(f"T{name}_func_other_arguments" for name in names))
    begin = groups.by_key(
        source,
        function_of(store, operation, "key_func", captured[0]),
        _making(store, operation, "reduce_func", captured[1]),
        function_of(store, operation, "window_size_func", captured[2]),
    )
    return Dataset(_types(operation), begin)


@host("GroupByReducerDataset ExperimentalGroupByReducerDataset")
def _reduced_by_key(store: Store, operation: Operation, source: Dataset, *given: Any) -> Dataset:
    names = ("key", "init", "reduce", "finalize")
    captured = _parted(operation, given, *(f"T{name}_func_other_arguments" for name in names))
    calls = [
        function_of(store, operation, f"{name}_func", each)
        for name, each in zip(names, captured, strict=False)
    ]
    return Dataset(_types(operation), groups.reduced_by_key(source, *calls))


# Values of datasets -----------------------------------------------------------------------------


@host("ReduceDataset")
def _reduced(store: Store, operation: Operation, source: Dataset, *given: Any) -> list[Any]:
    state, captured = _parted(operation, given, "Tstate")
    function, following = function_of(store, operation, "f", captured), source.begin()
    while (element := following()) is not None:
        state = list(function(*state, *element))
    return state


@host("DatasetToSingleElement")
def _single(store: Store, operation: Operation, source: Dataset) -> list[Any]:
    following = source.begin()
    found = following()
    if found is None:
        raise failure("INVALID_ARGUMENT", "Dataset was empty.")
    if following() is not None:
        raise failure("INVALID_ARGUMENT", "Dataset had more than one element.")
    return list(found)


@host("DatasetCardinality ExperimentalDatasetCardinality")
def _size(store: Store, operation: Operation, source: Dataset) -> np.int64:
    return np.int64(source.size)
