"""Ragged tensors, on the host: how many elements there are follows from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import ragged as R
from ..failures import invalid
from ..graph import Operation
from ..resources.base import Resource
from .table import fold
from .values import Kind, objects, result_type

Array = np.ndarray


@fold("RaggedRange")
def _range(starts: Array, limits: Array, steps: Array, *, Tsplits: Kind) -> list[Array]:
    if not np.all(steps):
        raise invalid("Requires delta != 0")
    return R.ranges(starts, limits, steps, Tsplits)


@fold("RaggedGather")
def _gather(*values: Array) -> list[Array]:
    *splits, dense, at = values
    rows = len(splits[0]) - 1
    if ((at < 0) | (at >= rows)).any():
        raise invalid(f"indices {at.ravel().tolist()} are not in [0, {rows})")
    return R.gathered(splits, dense, at)


@fold("RaggedTensorToSparse")
def _to_sparse(*values: Array) -> list[Array]:
    *splits, dense = values
    if any(not len(each) or each[0] or (np.diff(each) < 0).any() for each in splits):
        raise invalid("First value of ragged splits must be 0, and splits must rise.")
    if splits[-1][-1] != len(dense):
        raise invalid("Final value of ragged splits must match the length of the values.")
    indices, sizes = R.places_of(splits, dense.shape[1:])
    return [indices, dense.ravel(), np.array(sizes, np.int64)]


@fold("RaggedTensorToTensor")
def _to_dense(
    full: list[int], dense: Array, default: Any, *partition: Array, row_partition_types: list[bytes]
) -> Array:
    splits, inner = _splits(row_partition_types, list(partition)), dense.shape[1:]
    indices, sizes = R.places_of(splits, ())
    wanted = full or [-1] * (len(sizes) + len(inner))
    box = [size if n < 0 else n for n, size in zip(wanted, (*sizes, *inner), strict=True)]
    found = np.empty(box, dense.dtype)
    found[...] = default
    kept = (indices < box[: len(sizes)]).all(1)
    found[tuple(indices[kept].T)] = dense[: len(indices)][kept]
    return found


def _splits(kinds: list[bytes], parts: list[Array]) -> list[Array]:
    if kinds[0] == b"FIRST_DIM_SIZE":
        rows, kinds, parts = int(parts[0]), kinds[1:], parts[1:]
    else:
        rows = len(parts[0]) - 1
    found = []
    for kind, part in zip(kinds, parts, strict=True):
        if kind == b"VALUE_ROWIDS":
            part = R.splits_of(np.bincount(part, minlength=rows))
        found.append(part)
        rows = int(part[-1])
    return found


# As one value -----------------------------------------------------------------------------------


class Ragged(Resource):
    """A ragged tensor as one value.

    Attributes:
        splits: of each ragged axis.
        values: the innermost values.
    """

    def __init__(self, splits: list[Array], values: Array) -> None:
        self.splits, self.values = splits, values


@fold("RaggedTensorToVariant")
def _encode(*values: Array, batched_input: bool) -> Any:
    *splits, dense = values
    if not batched_input:
        return Ragged(splits, dense)
    return objects([Ragged(*row) for row in R.rows_of(splits, dense)])


@fold("RaggedTensorFromVariant")
def _decode(
    operation: Operation, encoded: Any, *, Tsplits: Kind, output_ragged_rank: int
) -> list[Array]:
    given = np.asarray(encoded, object)
    parts = [(each.splits, each.values) for each in given.flat]
    if not given.ndim:
        splits, values = parts[0]
        return [*splits, values]
    if not parts:
        nothing = np.zeros(0, result_type(operation, output_ragged_rank))
        return [*[np.zeros(1, Tsplits)] * output_ragged_rank, nothing]
    found, values = R.stacked(parts, Tsplits)
    for axis in reversed(range(1, given.ndim)):
        size = given.shape[axis]
        rows = int(np.prod(given.shape[:axis]))
        found.insert(0, (np.arange(rows + 1) * size).astype(Tsplits))
    return [*found, values]
