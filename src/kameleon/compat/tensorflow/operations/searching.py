"""What gives as much as the data say: places, parts, differences. It runs on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.sizes import Size

from ..failures import invalid
from ..graph import Operation, shape_text
from .table import compiled_if, fold, pure
from .values import (
    Kind,
    are_sizes_open,
    array,
    follows_from_shapes,
    may_be_sizes,
    result_type,
    sizes_in,
    sizes_of,
    tensor,
    vector_of,
)

Array = np.ndarray


@fold("Where")
def _where(condition: Array) -> list[Any]:
    if not 0 < condition.ndim <= 8:
        raise invalid(f"WhereOp : Unhandled input dimensions: {condition.ndim}")
    return [np.argwhere(condition).astype(np.int64)]


@fold("ListDiff")
def _difference(given: Array, others: Array, *, out_idx: Kind) -> list[Any]:
    kept = np.flatnonzero(~np.isin(given, others))
    return [given[kept], kept.astype(out_idx)]


@fold("Unique UniqueWithCounts UniqueV2 UniqueWithCountsV2")
def _unique(operation: Operation, given: Array, *axes: Any, out_idx: Kind) -> list[Any]:
    """The distinct values, in the order in which they come first."""
    if axes and np.ndim(axes[0]) != 1:
        raise invalid("axis expects a 1D vector.")
    if given.ndim != 1 and not (axes and np.size(axes[0])):
        raise invalid("unique expects a 1D vector.")
    axis = int(np.ravel(axes[0])[0]) if axes and np.size(axes[0]) else 0
    wide: dict[str, Any] = {"axis": axis} if given.ndim > 1 else {}
    values, first, inverse, counts = np.unique(
        given, return_index=True, return_inverse=True, return_counts=True, equal_nan=False, **wide
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    places = [rank[np.ravel(inverse)].astype(out_idx), counts[order].astype(out_idx)]
    found = [np.take(values, order, axis), *places]
    return found if "Counts" in operation.type else found[:2]


@fold("DynamicStitch ParallelDynamicStitch")
def stitched(*values: Any) -> Array:
    """Rows, each at its place: first all places, then the rows for them; the last one stays."""
    half = len(values) // 2
    places, parts = values[:half], values[half:]
    rest = np.shape(parts[0])[np.ndim(places[0]) :]
    count = max((int(np.max(at)) + 1 for at in places if np.size(at)), default=0)
    found = np.zeros((count, *rest), np.asarray(parts[0]).dtype)
    for number, (at, part) in enumerate(zip(places, parts, strict=True)):
        for bad in np.flatnonzero(np.ravel(at) < 0):
            raise invalid(f"indices[{bad}] is out of range")
        if np.shape(part) != (*np.shape(at), *rest):
            shapes = [shape_text(np.shape(each)) for each in (part, at)]
            about = f"data[{number}].shape = {shapes[0]} does not start with"
            raise invalid(f"{about} indices[{number}].shape = {shapes[1]}")
        found[np.ravel(at)] = np.reshape(part, (-1, *rest))
    return found


@compiled_if("DynamicStitch ParallelDynamicStitch")
def _has_known_places(operation: Operation) -> bool:
    return all(follows_from_shapes(operation, at) for at in range(len(operation.inputs) // 2))


@pure("DynamicStitch ParallelDynamicStitch")
def _stitch(operation: Operation, *values: Any) -> Any:
    half = len(values) // 2
    places, parts = [array(value) for value in values[:half]], values[half:]
    if are_sizes_open() and all(may_be_sizes(tensor(part)) for part in parts):
        return _stitched_sizes(places, [sizes_in(part) for part in parts], result_type(operation))
    rest = sizes_of(parts[0])[places[0].ndim :]
    rows = [
        M.reshape(tensor(part), [at.size, *rest]) for at, part in zip(places, parts, strict=True)
    ]
    nothing = tensor(np.zeros((1, *rest), str(rows[0].dtype)))
    order = 1 + np.arange(sum(at.size for at in places), dtype=np.int32)  # 0: nothing is written
    numbers = np.split(order, np.cumsum([at.size for at in places])[:-1])
    shaped = [part.reshape(at.shape) for part, at in zip(numbers, places, strict=True)]
    written = stitched(*places, *shaped)
    return I.gather(M.concatenate([nothing, *rows], 0), tensor(written), 0)


def _stitched_sizes(places: list[np.ndarray], parts: list[list[Size]], dtype: str) -> Any:
    """Numbers by numbers, so that each is known for what it is."""
    found: dict[int, Size] = {}
    for at, part in zip(places, parts, strict=True):
        found.update(zip(np.ravel(at).tolist(), part, strict=True))
    return vector_of([found.get(at, 0) for at in range(max(found, default=-1) + 1)], dtype)


@fold("DynamicPartition")
def _partition(data: Array, parts: Array, *, num_partitions: int) -> list[Any]:
    for at in np.argwhere((parts < 0) | (parts >= num_partitions))[:1]:
        about = f"partitions[{','.join(map(str, at))}] = {parts[tuple(at)]}"
        raise invalid(f"{about} is not in [0, {num_partitions})")
    return [data[parts == part] for part in range(num_partitions)]
