"""Shapes of what looks up, scatters, counts and sorts."""

from __future__ import annotations

import numpy as np

from ..graph import Operation, Shape
from .handles import shape_behind
from .known import shape_value, size_value, value_at
from .notation import table
from .rules import (
    UNKNOWN,
    ShapeMismatchError,
    at_least,
    merged,
    product,
    same,
    shape_of,
    unknown,
    with_axis,
    with_rank,
)

table(
    """
    InplaceAdd InplaceSub InplaceUpdate : x -> x
    SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd : (?,*s) (?) -> (?,*s)
    Where : x -> (?,#x)
    ListDiff : (?) (?) -> (?) (?)
    Unique : x:(?) -> (?) x (?)
    UniqueWithCounts UniqueV2 UniqueWithCountsV2 : x -> (?) x (?)
    Bincount : ? =n -> (n)
    HistogramFixedWidth : ? (?) =n -> (n)
    LowerBound UpperBound : (?,?) x:(?,?) -> x
    InTopK InTopKV2 : (n,?) (n) -> (n)
    InvertPermutation : (n) -> (n)
    """
)


def starts_with(shape: Shape, first: Shape) -> None:
    """Check that a shape begins with another one."""
    if shape is not None and first is not None:
        at_least(shape, len(first))
        for size, other in zip(shape, first, strict=False):
            same(size, other)


# Looking up -------------------------------------------------------------------------------------


@shape_of("Gather GatherV2 ResourceGather")
def _gather(operation: Operation, given: list[Shape]) -> Shape:
    table = shape_behind(operation) if operation.type == "ResourceGather" else given[0]
    table, at = at_least(table, 1), given[1]
    axis = value_at(operation, 2) if operation.type == "GatherV2" else np.array(0)
    if operation.type == "GatherV2":
        with_rank(given[2], 0)
    if table is None or at is None:
        return None
    batch = operation.attribute("batch_dims") or 0
    batch += len(at) if batch < 0 else 0
    if axis is None:
        return unknown(len(table) - 1 + len(at) - batch)
    over = int(axis) % len(with_axis(table, int(axis)) or ())
    if batch > over:
        raise ShapeMismatchError(f"batch_dims {batch} is beyond axis {over}")
    merged(table[:batch], at[:batch])
    return (*table[:batch], *table[batch:over], *at[batch:], *table[over + 1 :])


@shape_of("GatherNd ResourceGatherNd")
def _gather_nd(operation: Operation, given: list[Shape]) -> Shape:
    table = shape_behind(operation) if operation.type == "ResourceGatherNd" else given[0]
    at = at_least(given[1], 1)
    if table is None or at is None or at[-1] < 0:
        return None
    if at[-1] > len(table):
        raise ShapeMismatchError("indices.shape[-1] must be <= params.rank")
    return at[:-1] + table[at[-1] :]


@shape_of("OneHot")
def _one_hot(operation: Operation, given: list[Shape]) -> Shape:
    axis, depth = operation.attribute("axis"), size_value(operation, 1)
    if axis < -1:
        raise ShapeMismatchError("axis must be >= -1")
    shape = given[0]
    if shape is None:
        return None
    at = len(shape) if axis == -1 else axis
    if at > len(shape):
        return (depth, *shape)  # its run fails
    return (*shape[:at], depth, *shape[at:])


# Scattering -------------------------------------------------------------------------------------


def _has_elements(shape: Shape) -> bool:
    return shape is not None and all(size > 0 for size in shape)


def check_scattered(at: Shape, values: Shape, shape: Shape) -> None:
    """Check the places and values of a scatter into a tensor of some shape."""
    if shape and 0 in shape and (_has_elements(at) or _has_elements(values)):
        raise ShapeMismatchError("Indices and updates specified for empty output shape")
    if at is None or values is None or shape is None or not at or at[-1] < 0:
        return
    outer = len(at) - 1
    if at[-1] > len(shape) or len(values) != outer + len(shape) - at[-1]:
        raise ShapeMismatchError(
            f"The inner {len(shape) - at[-1]} dimensions of output shape must match the inner"
            f" dimensions of updates shape"
        )
    merged(at[:-1], values[:outer])
    merged(shape[at[-1] :], values[outer:])


@shape_of("ScatterNd")
def _scatter_nd(operation: Operation, given: list[Shape]) -> Shape:
    at, values = at_least(given[0], 1), at_least(given[1], 1)
    found = shape_value(operation, 2)
    check_scattered(at, values, found)
    return found


@shape_of(
    "TensorScatterAdd TensorScatterSub TensorScatterUpdate ScatterNdNonAliasingAdd ScatterNdUpdate"
    " ScatterNdAdd ScatterNdSub"
)
def _scatter_into(operation: Operation, given: list[Shape]) -> Shape:
    check_scattered(at_least(given[1], 1), at_least(given[2], 1), given[0])
    return given[0]


@shape_of(
    "UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd"
    " UnsortedSegmentJoin"
)
def _segments(operation: Operation, given: list[Shape]) -> Shape:
    count = size_value(operation, 2)
    if given[1] is None:
        return None
    starts_with(given[0], given[1])
    return None if given[0] is None else (count, *given[0][len(given[1]) :])


@shape_of("DynamicStitch ParallelDynamicStitch")
def _stitch(operation: Operation, given: list[Shape]) -> Shape:
    half = len(given) // 2
    rest: Shape = None
    most, complete = 0, True  # as in the original, which takes nothing for one element
    for place, (at, values) in enumerate(zip(given[:half], given[half:], strict=True)):
        numbers = value_at(operation, place)
        complete = complete and numbers is not None
        if numbers is not None and numbers.size:
            most = max(most, int(numbers.max()))
        if at is not None and values is not None:
            starts_with(values, at)
            rest = merged(rest, values[len(at) :])
    return None if rest is None else (most + 1 if complete else UNKNOWN, *rest)


@shape_of("DynamicPartition")
def _partition(operation: Operation, given: list[Shape]) -> list[Shape]:
    data, parts = given
    count = len(operation.types)
    if data is None or parts is None:
        return [None] * count
    starts_with(data, parts)
    return [(UNKNOWN, *data[len(parts) :])] * count


@shape_of("TopKV2 TopK")
def _top(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape = at_least(given[0], 1)
    size = operation.attribute("k") if len(given) == 1 else size_value(operation, 1)
    if shape is None:
        return [None, None]
    if 0 <= shape[-1] < size:
        raise ShapeMismatchError(f"input must have last dimension >= k = {size} but is {shape[-1]}")
    return [(*shape[:-1], size)] * 2


@shape_of("NthElement")
def _nth(operation: Operation, given: list[Shape]) -> Shape:
    shape, size = at_least(given[0], 1), size_value(operation, 1)
    if shape is None:
        return None
    if 0 <= shape[-1] <= size:
        raise ShapeMismatchError(f"Input must have last dimension > n = {size} but is {shape[-1]}")
    return shape[:-1]


@shape_of("UnravelIndex")
def _unravel(operation: Operation, given: list[Shape]) -> Shape:
    at, dims = given[0], with_rank(given[1], 1)
    if at is None:
        return None
    return (*dims, product(at)) if at else dims
