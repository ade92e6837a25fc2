"""Elements put at places in TensorFlow 1: `scatter_…` of variables and tensors, stitching."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_number, as_tensor, promoted
from ..errors import ShapeError
from ..prims.filling import full_like, zeros
from ..prims.indexing import argsort, scatter_add
from ..prims.movement import broadcast_to
from ..prims.sizes import Size, dims_of, size_of
from .arrays import ints_in, known
from .calling import called
from .elementwise import chosen
from .tensors import extreme
from .variables import changed, of_variable

Update = Callable[[Any, Any, Any], Any]


# Rows -----------------------------------------------------------------------------------------


def replaced(x: Any, at: Any, rows: Any) -> Any:
    """`x` with rows put at some indices; of several for one place the last counts."""
    order = argsort(at, axis=0)  # stable: of equal indices the last comes last
    places, values = K.gather(at, order), K.gather(rows, order)
    ends = K.cast(K.not_equal(places[1:], places[:-1]), "int32")
    last = K.concatenate([ends, full_like(K.cast(places[:1], "int32"), 1)], axis=0)
    counted = scatter_add(last, places, size_of(x, 0), 0)
    wide = K.reshape(last, [-1, *[1] * (len(rows.shape) - 1)])
    kept = chosen(K.equal(wide, 1), values, full_like(values, 0))
    put = scatter_add(kept, places, size_of(x, 0), 0)
    there = K.reshape(counted, [-1, *[1] * (len(x.shape) - 1)])
    return chosen(K.greater(there, 0), put, x)


def added(x: Any, at: Any, rows: Any) -> Any:
    return x + scatter_add(rows, at, size_of(x, 0), 0)


def subtracted(x: Any, at: Any, rows: Any) -> Any:
    return x - scatter_add(rows, at, size_of(x, 0), 0)


def _combined(combine: Callable[[Any, Any], Any], reduce: Any, neutral: Any) -> Update:
    """`x` with rows combined with those at some indices, all rows for one place together."""

    def call(x: Any, at: Any, rows: Any) -> Any:
        same = K.equal(K.expand_dims(at, 1), K.expand_dims(at, 0))
        wide = K.reshape(same, [*dims_of(same), *[1] * (len(rows.shape) - 1)])
        each = K.expand_dims(rows, 0)
        together = reduce(chosen(wide, each, full_like(each, neutral(x.dtype))), axis=1)
        return replaced(x, at, combine(K.gather(x, at), together))

    return call


COMBINATIONS: dict[str, Update] = {
    "update": replaced,
    "add": added,
    "sub": subtracted,
    "mul": _combined(operator.mul, K.prod, lambda dtype: 1),
    "div": _combined(operator.truediv, K.prod, lambda dtype: 1),
    "max": _combined(K.maximum, K.max, lambda dtype: extreme(dtype, largest=False)),
    "min": _combined(K.minimum, K.min, lambda dtype: extreme(dtype, largest=True)),
}


# Of variables ---------------------------------------------------------------------------------


def _rows_of(ref: Any, indices: Any, updates: Any, what: str) -> tuple[Any, Any]:
    """Indices as a vector, and a row for each."""
    at = K.reshape(K.cast(as_tensor(indices, what), "int64"), (-1,))
    rows, own = as_tensor(updates, what, ref.dtype), dims_of(ref)[1:]
    if not len(rows.shape):
        return at, broadcast_to(rows, [size_of(at, 0), *own])
    return at, K.reshape(rows, [-1, *own])


def _scatter(combine: Update) -> Callable[..., Any]:
    """`tf.scatter_…`: rows of a variable changed at some indices."""

    @of_variable
    def call(ref: Any, indices: Any, updates: Any, what: str) -> Any:
        return changed(K.update(ref, combine(ref, *_rows_of(ref, indices, updates, what))))

    return call


@of_variable
def batch_scatter_update(ref: Any, indices: Any, updates: Any, what: str) -> Any:
    """For each index of the first axes, rows of the next one put at places of its own."""
    index = as_tensor(indices, what)
    depth = len(index.shape) - 1
    whole, rest = dims_of(ref)[: depth + 1], dims_of(ref)[depth + 1 :]
    flat = K.reshape(ref, [-1, *rest])
    at = K.cast(K.reshape(index, [-1, size_of(index, -1)]), "int64")
    blocks = K.expand_dims(K.arange(size_of(at, 0), dtype="int64"), 1)
    at = K.reshape(at + blocks * K.cast(as_tensor(whole[-1], what), "int64"), (-1,))
    put = replaced(flat, at, K.reshape(as_tensor(updates, what, ref.dtype), [-1, *rest]))
    return changed(K.update(ref, K.reshape(put, dims_of(ref))))


# Of tensors -----------------------------------------------------------------------------------


def _at_points(combine: Update) -> Callable[..., Any]:
    """A tensor changed at the indices that the rows of `indices` hold."""

    def call(x: Any, indices: Any, updates: Any, what: str) -> Any:
        index = K.cast(as_tensor(indices, what), "int64")
        depth, dims = known(index, -1, what), dims_of(x)
        if depth > len(dims):
            raise ShapeError(f"{what}: indices of {depth} axes for {x!r}")
        flat: Any = index[..., 0]
        for axis in range(1, depth):
            flat = flat * _wide(dims[axis]) + index[..., axis]
        whole = functools.reduce(operator.mul, dims[:depth])
        rows = K.reshape(as_tensor(updates, what, x.dtype), [-1, *dims[depth:]])
        lines = K.reshape(x, [whole, *dims[depth:]])
        return K.reshape(combine(lines, K.reshape(flat, (-1,)), rows), dims)

    return call


def _wide(size: Size) -> Any:
    return size if isinstance(size, int) else K.cast(size, "int64")


def _tensor_scatter(name: str) -> Callable[..., Any]:
    at = _at_points(COMBINATIONS[name])

    def call(tensor: Any, indices: Any, updates: Any, what: str) -> Any:
        return at(as_tensor(tensor, what), indices, updates, what)

    return call


def _scatter_nd(name: str) -> Callable[..., Any]:
    at = _at_points(COMBINATIONS[name])

    @of_variable
    def call(ref: Any, indices: Any, updates: Any, what: str) -> Any:
        return changed(K.update(ref, at(ref, indices, updates, what)))

    return call


# Stitching ------------------------------------------------------------------------------------


def dynamic_stitch(indices: Any, data: Any, what: str) -> Any:
    """Slices of several tensors put together, each at its index; the last of several counts."""
    places = [K.cast(as_tensor(i, what), "int64") for i in indices]
    parts = promoted(data, what)
    rest = dims_of(parts[0])[len(places[0].shape) :]
    at = K.concatenate([K.reshape(i, (-1,)) for i in places], axis=0)
    rows = K.concatenate([K.reshape(p, [-1, *rest]) for p in parts], axis=0)
    if all(not K.is_tensor(i) for i in indices):
        count: Size = max(n for i in indices for n in [-1, *ints_in(_flat(i), what)]) + 1
    else:
        count = K.cast(K.max(at), "int32") + 1
    return replaced(zeros([count, *rest], rows.dtype), at, rows)


def _flat(index: Any) -> list[int]:
    found = index if isinstance(index, (list, tuple)) else getattr(index, "tolist", lambda: index)()
    if isinstance(found, int):
        return [found]
    return [n for part in found for n in _flat(part)]


def _segment_means(power: float) -> Callable[..., Any]:
    """Sums of the slices with equal numbers, over a power of how many there are."""

    def call(data: Any, segment_ids: Any, num_segments: Any, what: str) -> Any:
        x, ids = as_number(data, what), as_tensor(segment_ids, what)
        lead = len(ids.shape)
        rows = K.reshape(x, [-1, *dims_of(x)[lead:]])
        at = K.reshape(ids, (-1,))
        counts = scatter_add(K.cast(full_like(at, 1), x.dtype), at, num_segments, 0)
        wide = K.reshape(K.maximum(counts, 1.0), [-1, *[1] * (len(rows.shape) - 1)])
        return scatter_add(rows, at, num_segments, 0) / K.pow(wide, power)

    return call


def sparse_segments(power: float | None) -> Callable[..., Any]:
    """Sums of chosen slices with equal, ascending numbers; over a power of how many there are."""

    def call(data: Any, indices: Any, segment_ids: Any, num_segments: Any, what: str) -> Any:
        rows, ids = K.gather(as_tensor(data, what), indices), as_tensor(segment_ids, what)
        count = K.cast(K.max(ids), "int32") + 1 if num_segments is None else num_segments
        if power is None:
            return scatter_add(rows, ids, count, 0)
        return _segment_means(power)(rows, ids, count, what)

    return call


PLAIN = called({
        **{f"scatter_{name}": _scatter(combine) for name, combine in COMBINATIONS.items()},
        **{f"scatter_nd_{name}": _scatter_nd(name) for name in ("update", "add", "sub")},
        "tensor_scatter_nd_update": _tensor_scatter("update"),
        "tensor_scatter_add": _tensor_scatter("add"),
        "tensor_scatter_nd_sub": _tensor_scatter("sub"),
        "batch_scatter_update": batch_scatter_update, "dynamic_stitch": dynamic_stitch,
        "unsorted_segment_mean": _segment_means(1.0),
        "unsorted_segment_sqrt_n": _segment_means(0.5),
        "sparse_segment_sum": sparse_segments(None), "sparse_segment_mean": sparse_segments(1.0),
        "sparse_segment_sqrt_n": sparse_segments(0.5),
})  # fmt: skip
