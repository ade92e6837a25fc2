"""Ragged tensors, on the host: how many elements there are follows from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import ragged as R
from ..failures import invalid
from ..graph import Operation
from ..resources.base import Resource
from .table import fold
from .values import dtype_of, objects, result_type

Array = np.ndarray


@fold("RaggedRange")
def _range(operation: Operation, *bounds: Any) -> list[Array]:
    starts, limits, steps = (np.asarray(bound) for bound in bounds)
    if not np.all(steps):
        raise invalid("Requires delta != 0")
    return R.ranges(starts, limits, steps, dtype_of(operation, "Tsplits"))


@fold("RaggedGather")
def _gather(operation: Operation, *values: Any) -> list[Array]:
    *splits, dense, at = (np.asarray(value) for value in values)
    rows = len(splits[0]) - 1
    if ((at < 0) | (at >= rows)).any():
        raise invalid(f"indices {at.ravel().tolist()} are not in [0, {rows})")
    return R.gathered(splits, dense, at)


@fold("RaggedTensorToSparse")
def _to_sparse(operation: Operation, *values: Any) -> list[Array]:
    *splits, dense = (np.asarray(value) for value in values)
    if any(not len(each) or each[0] or (np.diff(each) < 0).any() for each in splits):
        raise invalid("First value of ragged splits must be 0, and splits must rise.")
    if splits[-1][-1] != len(dense):
        raise invalid("Final value of ragged splits must match the length of the values.")
    indices, sizes = R.places_of(splits, dense.shape[1:])
    return [indices, dense.ravel(), np.array(sizes, np.int64)]


@fold("RaggedTensorToTensor")
def _to_dense(
    operation: Operation, shape: Any, values: Any, default: Any, *partition: Any
) -> Array:
    kinds = [kind.decode() for kind in operation.attribute("row_partition_types")]
    splits = _splits(kinds, [np.asarray(part) for part in partition])
    dense = np.asarray(values)
    told, inner = [int(size) for size in np.ravel(shape)], dense.shape[1:]
    indices, sizes = R.places_of(splits, ())
    wanted = told or [-1] * (len(sizes) + len(inner))
    box = [size if n < 0 else n for n, size in zip(wanted, (*sizes, *inner), strict=True)]
    found = np.empty(box, dense.dtype)
    found[...] = default
    kept = (indices < box[: len(sizes)]).all(1)
    found[tuple(indices[kept].T)] = dense[: len(indices)][kept]
    return found


def _splits(kinds: list[str], parts: list[Array]) -> list[Array]:
    if kinds[0] == "FIRST_DIM_SIZE":
        rows, kinds, parts = int(parts[0]), kinds[1:], parts[1:]
    else:
        rows = len(parts[0]) - 1
    found = []
    for kind, part in zip(kinds, parts, strict=True):
        if kind == "VALUE_ROWIDS":
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
def _encode(operation: Operation, *values: Any) -> Any:
    *splits, dense = (np.asarray(value) for value in values)
    if not operation.attribute("batched_input"):
        return Ragged(splits, dense)
    return objects([Ragged(*row) for row in R.rows_of(splits, dense)])


@fold("RaggedTensorFromVariant")
def _decode(operation: Operation, encoded: Any) -> list[Array]:
    kind = dtype_of(operation, "Tsplits")
    given = np.asarray(encoded, object)
    parts = [(each.splits, each.values) for each in given.flat]
    if not given.ndim:
        splits, values = parts[0]
        return [*splits, values]
    if not parts:
        count = operation.attribute("output_ragged_rank")
        nothing = np.zeros(0, result_type(operation, count))
        return [*[np.zeros(1, kind)] * count, nothing]
    found, values = R.stacked(parts, kind)
    for axis in reversed(range(1, given.ndim)):
        size = given.shape[axis]
        rows = int(np.prod(given.shape[:axis]))
        found.insert(0, (np.arange(rows + 1) * size).astype(kind))
    return [*found, values]
