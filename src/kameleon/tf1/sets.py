"""Different elements and sets of TensorFlow 1: by sorting, so in n log n steps."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..backend.sparse import to_dense
from ..backend.sparse_tensor import SparseTensor
from ..errors import ShapeError
from ..ir.node import Node
from ..ir.types import as_dtype
from ..prims.indexing import argsort, nonzero, scatter_add, take_along
from ..prims.sizes import size_of
from .tensors import boolean_mask


class Unique(NamedTuple):
    """The different elements in the order in which they appear, and which each element is."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """As `Unique`, and how often each of the different elements is there."""

    y: Any
    idx: Any
    count: Any


def _begins(ordered: Node) -> Node:
    """Where along the last axis of a sorted tensor another element begins: 1 there, else 0."""
    first = K.ones_like(ordered[..., :1], dtype="int64")
    return K.concatenate([first, K.cast(K.not_equal(ordered[..., 1:], ordered[..., :-1]), "int64")])


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Unique:
    values = as_tensor(x, "tf.unique")
    if len(values.shape) != 1:
        raise ShapeError(f"tf.unique: x must be a vector, but is {values!r}")
    order = argsort(values, axis=0)  # stable: of equal elements the first comes first
    ordered = K.gather(values, order)
    begins = _begins(ordered)
    first = K.gather(order, nonzero(begins)[:, 0])  # where each different element appears first
    appears = scatter_add(K.ones_like(first), first, size_of(values, 0), 0)
    found = boolean_mask(values, K.not_equal(appears, 0))
    number = K.gather(K.cumsum(appears) - 1, K.gather(first, K.cumsum(begins) - 1))
    index = K.gather(number, argsort(order, axis=0))
    return Unique(found, K.cast(index, as_dtype(out_idx)))


def unique_with_counts(x: Any, out_idx: Any = "int32", name: str | None = None) -> UniqueWithCounts:
    found, index = unique(x, out_idx)
    counts = scatter_add(K.ones_like(index, dtype=index.dtype), index, size_of(found, 0), 0)
    return UniqueWithCounts(found, index, counts)


# Sets: the rows along the last axis ----------------------------------------------------------


def _rows(a: Any, what: str) -> Node:
    x = to_dense(a) if isinstance(a, SparseTensor) else as_tensor(a, what)
    if len(x.shape) != 2:
        raise ShapeError(
            f"{what}: sets are the rows of a matrix here; K.reshape makes one of {x!r}"
        )
    return x


def _sparse(ordered: Node, held: Node) -> SparseTensor:
    """The elements of sorted rows at which `held` isn't 0, moved to the rows' begin."""
    row = nonzero(held)[:, :1]
    column = boolean_mask(K.cumsum(held, axis=1), K.not_equal(held, 0)) - 1
    indices = K.concatenate([row, K.expand_dims(K.cast(column, "int64"), 1)])
    values = boolean_mask(ordered, K.not_equal(held, 0))
    counts = K.sum(held, axis=1)
    longest = K.max(K.concatenate([K.zeros((1,), "int64"), counts]))
    sizes = K.stack([K.cast(K.shape(ordered)[0], "int64"), longest])
    return SparseTensor(indices, values, sizes, (ordered.shape[0], None), "set")


def _held(x: Node, others: Node) -> Node:
    """For each element of the rows of x whether the same row of `others` has it: 1 or 0."""
    same = K.equal(K.expand_dims(x, 2), K.expand_dims(others, 1))
    return K.cast(K.any(same, axis=2), "int64")


def _sorted(x: Node) -> Node:
    return take_along(x, argsort(x, axis=1), 1)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What a row of `a` and the same row of `b` both have, in order, each once."""
    x, others = _sorted(_rows(a, "tf.sets.set_intersection")), _rows(b, "tf.sets.set_intersection")
    return _sparse(x, _begins(x) * _held(x, others))


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """What a row of `a` has and the same row of `b` hasn't; the other way if not `aminusb`."""
    x, others = (_rows(s, "tf.sets.set_difference") for s in ((a, b) if aminusb else (b, a)))
    x = _sorted(x)
    return _sparse(x, _begins(x) * (1 - _held(x, others)))


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What a row of `a` or the same row of `b` has, in order, each once."""
    parts = [_rows(s, "tf.sets.set_union") for s in (a, b)]
    x = _sorted(K.concatenate(parts, axis=1))
    return _sparse(x, _begins(x))


def set_size(a: Any, validate_indices: bool = True) -> Any:
    """How many different elements each row has."""
    if isinstance(a, SparseTensor):
        ones = K.ones_like(a.values, dtype="int32")
        return scatter_add(ones, a.indices[:, 0], a.dense_shape[0], 0)
    return K.cast(K.sum(_begins(_sorted(_rows(a, "tf.sets.set_size"))), axis=1), "int32")


NAMES: dict[str, Any] = {"unique": unique, "unique_with_counts": unique_with_counts}
PLAIN: dict[str, Any] = {
    "sets.intersection": set_intersection,
    "sets.difference": set_difference,
    "sets.union": set_union,
    "sets.size": set_size,
}
