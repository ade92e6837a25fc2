"""Reductions by segments, counts, places in sorted rows. They run on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import limits
from ..failures import invalid
from ..graph import Operation
from .table import fold
from .values import Kind

Array = np.ndarray


# By segments ------------------------------------------------------------------------------------

# What is combined how, and what an empty segment is.
COMBINED: dict[str, tuple[Any, Callable[[np.dtype[Any]], Any]]] = {
    "Sum": (np.add, lambda dtype: 0),
    "Mean": (np.add, lambda dtype: 0),
    "Prod": (np.multiply, lambda dtype: 1),
    "Max": (np.maximum, lambda dtype: limits(dtype)[0]),
    "Min": (np.minimum, lambda dtype: limits(dtype)[1]),
}


@fold("SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin")
def _sorted_segments(operation: Operation, given: Array, at: Array) -> Array:
    if at.shape != given.shape[:1]:
        raise invalid("segment_ids should be the same size as dimension 0")
    if np.any(np.diff(at) < 0):
        raise invalid("segment ids are not increasing")
    if at.size and at[0] < 0:
        raise invalid("segment ids must be >= 0")
    name, count = operation.type[7:], int(at[-1]) + 1 if at.size else 0
    function = {"Max": np.fmax, "Min": np.fmin}.get(name, COMBINED[name][0])
    found = np.full((count, *given.shape[1:]), name == "Prod", given.dtype)
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    if at.size:
        found[at[starts]] = function.reduceat(given, starts, axis=0)
    if name == "Mean":
        counts = np.maximum(np.bincount(at, minlength=count), 1)
        found = found / counts.reshape(-1, *[1] * (given.ndim - 1))
    return found.astype(given.dtype)


@fold("UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd")
def _segments(operation: Operation, given: Array, at: Array, size: int) -> Array:
    """What has a number below zero counts nowhere."""
    if np.any(at >= size):
        place, number = int(np.argmax(at.ravel() >= size)), int(at.max())
        raise invalid(f"segment_ids[{place}] = {number} is out of range [0, {size})")
    function, empty = COMBINED[operation.type[15:]]
    rest = given.shape[at.ndim :]
    found = np.full((size, *rest), empty(given.dtype), given.dtype)
    kept = at.ravel() >= 0
    function.at(found, at.ravel()[kept], given.reshape(at.size, *rest)[kept])
    return found


# Counts -----------------------------------------------------------------------------------------


@fold("Bincount")
def _counts(x: Array, count: int, given: Array) -> Array:
    numbers = x.ravel()
    if np.any(numbers < 0):
        raise invalid("Input arr must be non-negative!")
    kept = numbers < count
    shares = np.ravel(given)[kept] if given.size else None
    found = np.bincount(numbers[kept], shares, count)
    return found.astype(given.dtype)


@fold("HistogramFixedWidth")
def _histogram(x: Array, ends: Array, count: int, *, dtype: Kind) -> Array:
    values, (low, high) = x.ravel(), ends
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'")
    if low >= high:
        about = f"value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        raise invalid(f"value_range should satisfy {about}")
    step = (high - low) / values.dtype.type(count)
    places = np.minimum((np.maximum(values - low, 0) / step).astype(np.int64), count - 1)
    return np.bincount(places, minlength=count).astype(dtype)


@fold("PopulationCount")
def _ones(x: Array) -> Array:
    given = np.ascontiguousarray(x)
    bits = np.unpackbits(given.view(np.uint8).reshape(*given.shape, given.itemsize), axis=-1)
    return np.asarray(bits.sum(-1, dtype=np.uint8))


@fold("CompareAndBitpack")
def _packed(given: Array, threshold: Any) -> Array:
    return np.packbits(given if given.dtype == bool else given > threshold, axis=-1)


# Sorted rows ------------------------------------------------------------------------------------


@fold("LowerBound UpperBound")
def _places(operation: Operation, lines: Array, wanted: Array, *, out_type: Kind) -> Array:
    side: Any = "left" if operation.type == "LowerBound" else "right"
    if len(lines) != len(wanted):
        raise invalid("Leading dim_size of both tensors must match.")
    found = [np.searchsorted(a, b, side) for a, b in zip(lines, wanted, strict=True)]
    return np.reshape(found, wanted.shape).astype(out_type)
