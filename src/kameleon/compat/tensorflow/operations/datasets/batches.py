"""Datasets of several elements in one, and of one's rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...failures import failure, invalid
from ...graph import shape_text
from ...resources.queues import padded, stacked
from ..values import objects
from .base import VARIANT, Chain, Dataset, Element, Function, array, dataset, rows
from .elements import computed

Join = Callable[[list[Element]], Element]


def _batches(source: Dataset, size: int, drop: bool, join: Join) -> Dataset:
    """So many elements at a time, joined; fewer at the end, unless they are dropped."""

    def begin() -> Iterator[Element]:
        following = iter(source)
        batches = iter(lambda: list(itertools.islice(following, size)), [])
        return map(join, filter(lambda found: len(found) == size or not drop, batches))

    total = source.size
    if total >= 0:
        total = total // size if drop else -(-total // size)
    return Dataset(begin, total)


# What is said of shapes that differ in a batch; of elements that a function gives.
UNLIKE = {
    False: "Cannot batch tensors with different shapes in component {place}. First element had"
    " shape {first} and element {number} had shape {it}.",
    True: "Cannot add tensor to the batch: number of elements does not match. Shapes are:"
    " [tensor]: {it}, [batch]: {first}",
}


@dataset("BatchDataset BatchDatasetV2")
def batched(source: Dataset, size: int, drop: bool = False) -> Dataset:
    """Elements in batches."""
    return _batches(source, size, drop, lambda found: joined(source, found))


def joined(source: Dataset, found: list[Element]) -> Element:
    """Elements as one, whose parts have one more axis."""
    parts = []
    for place, dtype in enumerate(source.dtypes):
        arrays = [array(element[place]) for element in found]
        for number, each in enumerate(arrays):
            if source.is_mapped and each.size == arrays[0].size:
                arrays[number] = each.reshape(arrays[0].shape)
            elif each.shape != arrays[0].shape:
                one, other = shape_text(arrays[0].shape), shape_text(each.shape)
                raise invalid(
                    UNLIKE[source.is_mapped].format(place=place, first=one, number=number, it=other)
                )
        parts.append(stacked(arrays, dtype))
    return tuple(parts)


@dataset(
    "MapAndBatchDataset ExperimentalMapAndBatchDataset", functions="f", attributes="output_types"
)
def _mapped_batches(
    source: Dataset, function: Function, size: int, calls: int, drop: bool, output_types: list[int]
) -> Dataset:
    return batched(computed(source, function).typed(output_types), size, drop)


@dataset("PaddedBatchDataset PaddedBatchDatasetV2")
def _padded(
    source: Dataset, size: int, shapes: list[Any], fills: list[Any], drop: bool = False
) -> Dataset:
    """Elements in batches, filled up to shapes: -1, the largest in the batch."""

    def join(found: list[Element]) -> Element:
        parts = []
        for place, dtype in enumerate(source.dtypes):
            arrays = [array(element[place]) for element in found]
            sizes = _sizes(arrays, shapes[place], place)
            parts.append(padded(arrays, sizes, dtype, np.asarray(fills[place])[()]))
        return tuple(parts)

    return _batches(source, size, drop, join)


def _sizes(arrays: Sequence[np.ndarray], shape: Any, place: int) -> list[int]:
    """The sizes that all are filled up to."""
    sizes = [int(size) for size in np.ravel(shape)]
    if min(sizes, default=0) < -1:
        raise invalid(f"Dimension {min(sizes)} must be >= -1")
    for each in arrays:
        if each.ndim != len(sizes):
            raise invalid(
                f"All elements in a batch must have the same rank as the padded shape for component"
                f"{place}: expected rank {len(sizes)} but got element with rank {each.ndim}"
            )
    largest = [max(each.shape[axis] for each in arrays) for axis in range(len(sizes))]
    pairs = list(zip(sizes, largest, strict=True))
    if any(0 <= size < most for size, most in pairs):
        message = "Attempted to pad to a smaller size than the input element."
        raise failure("DATA_LOSS", message)
    return [most if size < 0 else size for size, most in pairs]


@dataset("DenseToSparseBatchDataset ExperimentalDenseToSparseBatchDataset", types=VARIANT)
def _sparse(source: Dataset, size: int, shape: Any) -> Dataset:
    """Elements in batches, as sparse tensors of rows of a shape."""

    def join(found: list[Element]) -> Element:
        arrays = [array(element[0]) for element in found]
        sizes = _sizes(arrays, shape, 0)
        places = [
            np.column_stack(
                [np.full(each.size, at), *np.indices(each.shape).reshape(each.ndim, -1)]
            )
            for at, each in enumerate(arrays)
        ]
        values = np.concatenate([each.ravel() for each in arrays])
        dense = np.array([len(arrays), *sizes], np.int64)
        return (objects([np.concatenate(places).astype(np.int64), values, dense]),)

    return _batches(source, size, False, join)


@dataset("UnbatchDataset ExperimentalUnbatchDataset")
def _unbatched(source: Dataset) -> Dataset:
    """The rows of each element."""
    return Dataset(lambda: Chain(map(rows, source)))


@dataset("RebatchDataset ExperimentalRebatchDataset")
def _divided(source: Dataset, count: int) -> Dataset:
    """The rows of each element as so many elements, of which the last ones may have fewer."""

    def parts(element: Element) -> Iterator[Element]:
        arrays = [array(part) for part in element]
        size = -(-len(arrays[0]) // count)
        for start in range(0, size * count, size) if size else [0] * count:
            yield tuple(each[start : start + size] for each in arrays)

    return Dataset(lambda: Chain(map(parts, source)))
