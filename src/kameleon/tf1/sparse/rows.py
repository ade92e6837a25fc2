"""Rows by their numbers: masks, empty rows, embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...backend.sparse import sparse_dims
from ...backend.sparse_tensor import SparseTensor
from ...errors import ArgumentError
from ...prims import elementwise as ew
from ...prims.filling import full_like
from ...prims.indexing import nonzero, scatter_add
from ..calling import called
from ..elementwise import chosen
from ..networks import look_up
from ..tensors import boolean_mask
from .tensors import made, ordered, sparse_of


def sparse_mask(a: Any, mask_indices: Any, what: str) -> Any:
    """The rows of `tf.IndexedSlices` whose numbers aren't in a list."""
    out = as_tensor(mask_indices, what)
    held = K.any(K.equal(K.expand_dims(a.indices, 1), K.expand_dims(out, 0)), axis=1)
    kept = ew.logical_not(held)
    return type(a)(boolean_mask(a.values, kept), boolean_mask(a.indices, kept), a.dense_shape)


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, what: str) -> Any:
    """A matrix that has an element in each row, and which rows had none."""
    x = sparse_of(sp_input, what)
    count = sparse_dims(x)[0]
    found = scatter_add(full_like(K.cast(x.values, "int32"), 1), x.indices[:, 0], count, 0)
    empty = K.equal(found, 0)
    missing = nonzero(empty)
    places = K.concatenate([missing, full_like(missing, 0)], axis=1)
    fill = K.cast(as_tensor(default_value, what), x.values.dtype)
    values = fill + full_like(K.cast(missing[:, 0], x.values.dtype), 0)
    indices = K.concatenate([x.indices, places], axis=0)
    whole = made(indices, K.concatenate([x.values, values], axis=0), x.dense_shape, x.shape)
    return ordered(whole), empty


def sparse_merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, already_sorted: bool, what: str
) -> SparseTensor:
    """Values at places whose last axis is what another sparse tensor holds there."""
    ids, values = sparse_of(sp_ids, what), sparse_of(sp_values, what)
    places = [ids.indices[:, :-1], K.expand_dims(K.cast(ids.values, "int64"), 1)]
    size = K.constant([int(vocab_size)], "int64")
    shape = K.concatenate([ids.dense_shape[:-1], size], axis=0)
    found = made(
        K.concatenate(places, axis=1), values.values, shape, [*ids.shape[:-1], int(vocab_size)]
    )
    return found if already_sorted else ordered(found)


COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda weights, squares: full_like(weights, 1),
    "mean": lambda weights, squares: weights,
    "sqrtn": lambda weights, squares: K.sqrt(squares),
}


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: Any, max_norm: Any, what: str
) -> Any:
    """For each row of numbers the sum, or a mean, of the rows of a matrix with these numbers."""
    ids = sparse_of(sp_ids, what)
    combiner = combiner or "mean"
    if combiner not in COMBINERS:
        raise ArgumentError(f"{what}: combiner is {combiner!r}; there are {', '.join(COMBINERS)}")
    rows = look_up(params, ids.values, "mod", max_norm, what)
    at = ids.indices[:, 0]
    weights = full_like(rows[:, 0], 1) if sp_weights is None else K.cast(
        sparse_of(sp_weights, what).values, rows.dtype)  # fmt: skip
    count = K.cast(K.max(at), "int32") + 1
    total = scatter_add(rows * K.expand_dims(weights, 1), at, count, 0)
    sums = [scatter_add(w, at, count, 0) for w in (weights, K.square(weights))]
    whole = K.expand_dims(COMBINERS[combiner](*sums), 1)
    if sp_weights is not None:
        return total / whole  # TensorFlow's 0 / 0, of a row without numbers, is NaN
    nothing = K.equal(whole, 0.0)
    shares = total / chosen(nothing, full_like(whole, 1), whole)
    return chosen(nothing, full_like(shares, 0), shares)


PLAIN = called({
    "sparse_mask": sparse_mask, "sparse_fill_empty_rows": sparse_fill_empty_rows,
    "sparse_merge": sparse_merge, "nn.embedding_lookup_sparse": embedding_lookup_sparse,
})  # fmt: skip
