"""What is computed of datasets."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from ...checkpoints import reported
from ...failures import invalid
from ...formats.records import Writer
from ...graph import Operation
from ...variables import Store
from ..table import host
from ..values import texts
from .base import AUTOTUNE, Dataset, function_of


@host("ReduceDataset")
def _reduced(store: Store, operation: Operation, source: Dataset, *given: Any) -> list[Any]:
    count = len(operation.attribute("Tstate"))
    function, state = function_of(store, operation, "f", given[count:]), list(given[:count])
    for element in source:
        state = list(function(*state, *element))
    return state


@host("DatasetToSingleElement")
def _single(source: Dataset) -> list[Any]:
    following = iter(source)
    found = next(following, None)
    if found is None:
        raise invalid("Dataset was empty.")
    if next(following, None) is not None:
        raise invalid("Dataset had more than one element.")
    return list(found)


@host("DatasetToTFRecord ExperimentalDatasetToTFRecord")
def _written(source: Dataset, path: str, packing: str) -> list[Any]:
    """Write the elements, which are strings, as records."""
    with reported(path), closing(Writer(path, packing)) as writer:
        for (record,) in source:
            writer.write(texts(record).item())
    return []


host("DatasetCardinality ExperimentalDatasetCardinality")(lambda source: np.int64(source.size))


@host("PrefetchDataset")
def _ahead(source: Dataset, size: Any) -> Dataset:
    if size < AUTOTUNE:
        raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return Dataset(lambda: source, source.size, source.types) if size else source


# What changes how fast elements come, not which.
_WAYS = (
    "MaxIntraOpParallelism PrivateThreadPool ThreadPool NonSerializable AssertNext AutoShard"
    " LatencyStats BytesProducedStats SetStatsAggregator Sleep"
)
host(
    "ModelDataset OptimizeDataset SnapshotDataset WrapDatasetVariant UnwrapDatasetVariant",
    *(f"{by}{way}Dataset" for by in ("", "Experimental") for way in _WAYS.split()),
)(lambda source, *rest: source)
