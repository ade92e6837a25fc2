"""What moves the elements of sparse tensors: shapes, parts, order."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...backend.sparse import sparse_dims, to_dense
from ...backend.sparse_tensor import SparseTensor
from ...ir.types import normalize_axes
from ...prims import elementwise as ew
from ...prims.filling import full_like
from ..arrays import ints_in, known
from ..calling import called
from ..tensors import boolean_mask
from .tensors import columns_of, keys_of, made, of_columns, ordered, sparse_of


def sparse_transpose(sp_input: Any, perm: Any, what: str) -> SparseTensor:
    x = sparse_of(sp_input, what)
    axes = list(range(len(x.shape)))[::-1] if perm is None else ints_in(perm, what)
    columns, sizes = columns_of(x), x.dense_shape
    indices = of_columns([columns[a] for a in axes])
    shape = K.stack([sizes[a] for a in axes])
    return ordered(made(indices, x.values, shape, [x.shape[a] for a in axes]))


def sparse_reshape(sp_input: Any, shape: Any, what: str) -> SparseTensor:
    """The same elements in row-major order in another shape, one size of which may be -1."""
    x = sparse_of(sp_input, what)
    keys, whole = keys_of(x.indices, sparse_dims(x)), K.prod(x.dense_shape)
    given = shape if not K.is_tensor(shape) else [shape[i] for i in range(known(shape, 0, what))]
    sizes = [n if K.is_tensor(n) else int(n) for n in given]
    others = [n for n in sizes if not (isinstance(n, int) and n == -1)]
    rest = whole // functools.reduce(operator.mul, others, K.constant(1, "int64"))
    dims = [rest if isinstance(n, int) and n == -1 else K.cast(K.constant(n, "int64")
            if isinstance(n, int) else n, "int64") for n in sizes]  # fmt: skip
    columns = []
    for size in reversed(dims):
        columns.append(keys % size)
        keys = keys // size
    known_sizes = [n if isinstance(n, int) and n >= 0 else None for n in sizes]
    return made(of_columns(columns[::-1]), x.values, K.stack(dims), known_sizes)


def sparse_expand_dims(sp_input: Any, axis: Any, what: str) -> SparseTensor:
    x = sparse_of(sp_input, what)
    rank = len(x.shape)
    at = -1 if axis is None else int(axis)
    at = at + rank + 1 if at < 0 else at
    columns = columns_of(x)
    columns.insert(at, full_like(columns[0], 0))
    sizes = [x.dense_shape[i] for i in range(rank)]
    sizes.insert(at, K.constant(1, "int64"))
    shape = [*x.shape[:at], 1, *x.shape[at:]]
    return made(of_columns(columns), x.values, K.stack(sizes), shape)


def sparse_retain(sp_input: Any, to_retain: Any, what: str) -> SparseTensor:
    """Those elements for which a bool is True."""
    x = sparse_of(sp_input, what)
    held = as_tensor(to_retain, what)
    return made(boolean_mask(x.indices, held), boolean_mask(x.values, held), x.dense_shape, x.shape)


def sparse_slice(sp_input: Any, start: Any, size: Any, what: str) -> SparseTensor:
    """A part that begins at some place and has some size."""
    x = sparse_of(sp_input, what)
    begin, extent = (K.cast(as_tensor(v, what), "int64") for v in (start, size))
    ends = K.minimum(begin + extent, x.dense_shape)
    inside = ew.logical_and(K.greater_equal(x.indices, begin), K.less(x.indices, ends))
    held = K.all(inside, axis=1)
    sizes = K.maximum(ends - begin, full_like(ends, 0))
    places = boolean_mask(x.indices, held) - begin
    return made(places, boolean_mask(x.values, held), sizes, [None] * len(x.shape))


def sparse_split(sp_input: Any, num_split: Any, axis: Any, what: str) -> list[SparseTensor]:
    """Parts along an axis; the first ones are larger by 1, where the size isn't a multiple."""
    x, count = sparse_of(sp_input, what), int(num_split)
    (along,) = normalize_axes(what, int(axis), len(x.shape))
    whole = known(to_dense(x), along, what)
    sizes = [whole // count + (i < whole % count) for i in range(count)]
    found, at = [], 0
    for size in sizes:
        start = [at if i == along else 0 for i in range(len(x.shape))]
        extent = K.stack([
            K.constant(size, "int64") if i == along else x.dense_shape[i]
            for i in range(len(x.shape))
        ])  # fmt: skip
        part = sparse_slice(x, start, extent, what)
        part.shape = tuple(size if i == along else n for i, n in enumerate(x.shape))
        found.append(part)
        at += size
    return found


def sparse_concat(axis: int, sp_inputs: Any, what: str) -> SparseTensor:
    xs = [sparse_of(x, what) for x in sp_inputs]
    if len(xs) == 1:
        return xs[0]
    joined: Any = K.concatenate(xs, axis=int(axis))
    return ordered(joined)


def sparse_reset_shape(sp_input: Any, new_shape: Any, what: str) -> SparseTensor:
    """In a larger shape; in the smallest one that holds all elements, by default."""
    x = sparse_of(sp_input, what)
    if new_shape is not None:
        return made(x.indices, x.values, new_shape)
    return made(x.indices, x.values, K.max(x.indices, axis=0) + 1, [None] * len(x.shape))


PLAIN = called({
    "sparse_transpose": sparse_transpose, "sparse_reshape": sparse_reshape,
    "sparse.expand_dims": sparse_expand_dims, "sparse_retain": sparse_retain,
    "sparse_slice": sparse_slice, "sparse_split": sparse_split, "sparse_concat": sparse_concat,
    "sparse_reset_shape": sparse_reset_shape,
})  # fmt: skip
