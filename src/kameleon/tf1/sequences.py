"""Functions of TensorFlow 1 over K functions: parts, orders, sequences, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, promoted
from ..errors import ArgumentError
from ..ir.node import Node
from ..prims.filling import full_like
from ..prims.indexing import argsort, falling, nonzero, scatter_add, take_along
from ..prims.sizes import dims_of, size_of
from .calling import called
from .tensors import extreme


class ListDiff(NamedTuple):
    """Elements, and where they are."""

    out: Any
    idx: Any


def setdiff1d(x: Any, y: Any, index_dtype: Any, what: str) -> ListDiff:
    """The elements of a vector that aren't in another one."""
    a, b = promoted((x, y), what)
    held = K.any(K.equal(K.expand_dims(a, 1), K.expand_dims(b, 0)), axis=1)
    places = nonzero(K.equal(K.cast(held, "int32"), 0))[:, 0]
    return ListDiff(K.gather(a, places), K.cast(places, index_dtype))


def sequence_mask(lengths: Any, maxlen: Any, dtype: Any, what: str) -> Any:
    """Which of so many steps each of some sequences has."""
    n = as_tensor(lengths, what)
    if maxlen is None:
        maxlen = K.max(n) if isinstance(lengths, Node) else int(np.max(lengths))
    steps = K.arange(maxlen if isinstance(maxlen, int) else K.cast(maxlen, "int32"))
    held = K.less(K.cast(steps, n.dtype), K.expand_dims(n, -1))
    return held if dtype == "bool" else K.cast(held, dtype)


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any, batch_axis: Any, what: str
) -> Any:
    """The first steps of each sequence in reverse order, the others as they are."""
    x, n = as_tensor(input, what), K.cast(as_tensor(seq_lengths, what), "int32")
    rank = len(x.shape)
    axis, batch = (0 if a is None else a % rank for a in (seq_axis, batch_axis))
    order = [batch, axis, *(i for i in range(rank) if i not in (batch, axis))]
    moved = K.permute_dimensions(x, order)
    count = n.shape[0]
    if count is not None and moved.shape[0] is None:
        moved = K.reshape(moved, [count, *dims_of(moved)[1:]])
    steps = K.expand_dims(K.arange(size_of(moved, 1)), 0)
    last = K.expand_dims(n, 1)
    places = K.switch(K.less(steps + last * 0, last), last - 1 - steps, steps + last * 0)
    rows = K.expand_dims(K.arange(size_of(moved, 0)), 1) * size_of(moved, 1)
    flat = K.reshape(moved, [-1, *(size_of(moved, i) for i in range(2, rank))])
    taken = K.gather(flat, K.reshape(rows + places, (-1,)))
    back = K.reshape(taken, [size_of(moved, i) for i in range(rank)])
    return K.permute_dimensions(back, np.argsort(order).tolist())


def invert_permutation(x: Any, what: str) -> Any:
    v = as_tensor(x, what)
    return K.cast(argsort(v, axis=0), v.dtype)


def sort(values: Any, axis: int, direction: str, what: str) -> Any:
    x = as_tensor(values, what)
    along = axis % len(x.shape)
    order = argsort(falling(x) if direction == "DESCENDING" else x, axis=along)
    return take_along(x, order, along)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any, dtype: Any, weights: Any, what: str
) -> Any:
    """How often each class (down) was taken for each other (across)."""
    y, p = (K.reshape(K.cast(as_tensor(v, what), "int32"), (-1,)) for v in (labels, predictions))
    count = num_classes
    if count is None:
        count = K.max(K.concatenate([y, p], axis=0)) + 1
    ones = full_like(y, 1) if weights is None else K.reshape(as_tensor(weights, what), (-1,))
    summed = scatter_add(K.cast(ones, dtype), y * count + p, K.cast(count * count, "int32")
                         if K.is_tensor(count) else count * count, 0)  # fmt: skip
    return K.reshape(summed, [count, count])


def bincount(arr: Any, weights: Any, minlength: Any, maxlength: Any, dtype: Any, what: str) -> Any:
    """How often each number appears."""
    v = K.reshape(K.cast(as_tensor(arr, what), "int32"), (-1,))
    count = K.max(v) + 1
    count = count if minlength is None else K.maximum(count, minlength)
    ones = full_like(v, 1) if weights is None else K.reshape(as_tensor(weights, what), (-1,))
    found = scatter_add(K.cast(ones, dtype) if weights is None else ones, v, count, 0)
    return found if maxlength is None else found[:maxlength]


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, what: str) -> list[Any]:
    """The slices by the numbers that they bear."""
    x, numbers = as_tensor(data, what), as_tensor(partitions, what)
    lead = len(numbers.shape)
    rows = K.reshape(x, [-1, *(size_of(x, i) for i in range(lead, len(x.shape)))])
    flat = K.reshape(numbers, (-1,))
    return [K.gather(rows, nonzero(K.equal(flat, i))[:, 0]) for i in range(num_partitions)]


def segments(unsorted: bool, combine: str) -> Callable[..., Any]:
    """The largest, smallest element or product of slices with equal numbers."""
    function = {"max": K.max, "min": K.min, "prod": K.prod}[combine]

    def call(data: Any, segment_ids: Any, num_segments: Any, what: str) -> Any:
        x, ids = as_tensor(data, what), K.cast(as_tensor(segment_ids, what), "int32")
        count = num_segments if unsorted else K.max(ids) + 1
        mine = K.equal(K.expand_dims(K.arange(count), 1), K.expand_dims(ids, 0))
        wide = K.reshape(mine, [K.shape(mine)[0], K.shape(mine)[1], *[1] * (len(x.shape) - 1)])
        start = 1 if combine == "prod" else extreme(x.dtype, largest=combine == "min")
        rows = K.switch(wide, K.expand_dims(x, 0) + 0 * K.cast(wide, x.dtype),
                        full_like(x, start) + 0 * K.cast(wide, x.dtype))  # fmt: skip
        found = function(rows, axis=1)
        if unsorted:
            return found
        there = K.reshape(K.any(mine, axis=1), [-1, *[1] * (len(x.shape) - 1)])
        nothing = full_like(found, 1 if combine == "prod" else 0)
        return K.switch(K.equal(there, K.ones_like(found, "bool")), found, nothing)

    if unsorted:
        return call
    return lambda data, segment_ids, what: call(data, segment_ids, None, what)


def batch_gather(params: Any, indices: Any, what: str) -> Any:
    """The elements along the last common axis, by indices that differ from row to row."""
    x, index = as_tensor(params, what), as_tensor(indices, what)
    axis = len(index.shape) - 1
    if len(x.shape) != len(index.shape):
        raise ArgumentError(f"{what}: params and indices must have the same axes")
    return take_along(x, index, axis)


PLAIN = called(
    {
        "setdiff1d": setdiff1d,
        "sequence_mask": sequence_mask,
        "reverse_sequence": reverse_sequence,
        "invert_permutation": invert_permutation,
        "sort": sort,
        "confusion_matrix": confusion_matrix,
        "bincount": bincount,
        "dynamic_partition": dynamic_partition,
        "segment_max": segments(False, "max"),
        "segment_min": segments(False, "min"),
        "segment_prod": segments(False, "prod"),
        "unsorted_segment_max": segments(True, "max"),
        "unsorted_segment_min": segments(True, "min"),
        "unsorted_segment_prod": segments(True, "prod"),
        "batch_gather": batch_gather,
    }
)
