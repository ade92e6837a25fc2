"""Functions of TensorFlow 1 over K functions: sums of products, scattered and segmented sums."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, promoted
from ..errors import ArgumentError, ShapeError
from ..ir.types import normalize_axes
from ..prims.indexing import argsort, falling, scatter_add
from ..prims.linalg import contract
from ..prims.movement import transpose
from ..prims.sizes import size_of
from .arrays import unit_matrix

# Sums ------------------------------------------------------------------------------------------


def add_n(inputs: Any, name: str | None = None) -> Any:
    return functools.reduce(operator.add, [as_tensor(x, "tf.add_n") for x in inputs])


def l2_loss(t: Any, name: str | None = None) -> Any:
    return K.sum(K.square(t)) / 2


def einsum(equation: str, *inputs: Any, name: str | None = None) -> Any:
    """Sums of products over axes with letters; each operand has a letter once.

    Source: the summation convention of Einstein, "Die Grundlage der allgemeinen
    Relativitätstheorie" (1916).
    """
    what = "tf.einsum"
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not all(re.fullmatch(r"[A-Za-z]*", t) and len(set(t)) == len(t) for t in (*terms, result)):
        raise ArgumentError(f"{what}: {equation!r}: each operand has letters, each of them once")
    if not arrow:
        letters = sorted(set("".join(terms)))
        result = "".join(c for c in letters if "".join(terms).count(c) == 1)
    tensors = promoted(inputs, what)
    for term, x in zip(terms, tensors, strict=True):
        if len(term) != len(x.shape):
            raise ShapeError(f"{what}: {term!r} has {len(term)} letters, {x!r} {len(x.shape)} axes")
    pairs = list(zip(terms, tensors, strict=True))
    while len(pairs) > 1:
        first, second, *rest = pairs
        wanted = {*result, *"".join(t for t, _ in rest)}
        pairs = [_product(first, second, wanted), *rest]
    term, x = _summed(*pairs[0], set(result))
    if set(term) != set(result):
        raise ArgumentError(f"{what}: {equation!r}: the result has letters that no operand has")
    return transpose(x, [term.index(c) for c in result])


def _summed(term: str, x: Any, wanted: set[str]) -> tuple[str, Any]:
    """Without the axes that nothing else has."""
    alone = [i for i, c in enumerate(term) if c not in wanted]
    return "".join(c for c in term if c in wanted), K.sum(x, axis=alone) if alone else x


def _product(a: tuple[str, Any], b: tuple[str, Any], wanted: set[str]) -> tuple[str, Any]:
    (p, x), (q, y) = _summed(*a, wanted | set(b[0])), _summed(*b, wanted | set(a[0]))
    shared = [c for c in p if c in q]
    over, batch = [c for c in shared if c not in wanted], [c for c in shared if c in wanted]
    free = [c for c in p + q if c not in shared]
    return "".join([*batch, *free]), contract(x, y, _axes(over, p, q), _axes(batch, p, q))


def _axes(letters: list[str], p: str, q: str) -> tuple[list[int], list[int]]:
    return [p.index(c) for c in letters], [q.index(c) for c in letters]


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """`axes`: how many last axes of a and first ones of b, or two lists of axes."""
    x, y = promoted((a, b), "tf.tensordot")
    ranks = len(x.shape), len(y.shape)
    if isinstance(axes, int):
        axes = range(ranks[0] - axes, ranks[0]), range(axes)
    lists = (e if isinstance(e, Sequence) else [e] for e in axes)
    over = [normalize_axes("tf.tensordot", e, r) for e, r in zip(lists, ranks, strict=True)]
    return contract(x, y, (over[0], over[1]))


# Places ----------------------------------------------------------------------------------------


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros, with `updates` added at the indices that the rows of `indices` hold."""
    what = "tf.scatter_nd"
    index, values = K.cast(as_tensor(indices, what), "int64"), as_tensor(updates, what)
    depth = index.shape[-1]
    if depth is None:
        raise ShapeError(f"{what}: the last axis of the indices must have a known size")
    sizes = [shape[i] for i in range(K.int_shape(as_tensor(shape, what))[0])]
    flat: Any = index[..., 0]
    for i in range(1, depth):
        flat = flat * sizes[i] + index[..., i]
    count = functools.reduce(operator.mul, sizes[:depth])
    rows = K.reshape(values, (-1, *sizes[depth:]))
    summed = scatter_add(rows, K.reshape(flat, (-1,)), count, 0)
    return K.reshape(summed, sizes)


def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Sums of the slices with equal numbers."""
    x, ids = (as_tensor(v, "tf.unsorted_segment_sum") for v in (data, segment_ids))
    return scatter_add(x, ids, num_segments, 0)


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Sums of the slices with equal numbers, which ascend: as many as the last one says."""
    ids = as_tensor(segment_ids, "tf.segment_sum")
    return unsorted_segment_sum(data, ids, K.cast(K.max(ids), "int32") + 1)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    x = as_float(data, "tf.segment_mean")
    ones = K.ones_like(x)
    counts = segment_sum(ones, segment_ids)
    return segment_sum(x, segment_ids) / K.maximum(counts, 1.0)


def diag(diagonal: Any, name: str | None = None) -> Any:
    """A matrix with a vector on its diagonal."""
    return matrix_diag(diagonal, "tf.diag")


def matrix_diag(diagonal: Any, what: str) -> Any:
    """Matrices with vectors on their diagonals: (..., n) -> (..., n, n)."""
    x = as_tensor(diagonal, what)
    return K.expand_dims(x, -1) * unit_matrix(size_of(x, -1), size_of(x, -1), x.dtype)


def diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonals of matrices: (..., n, n) -> (..., n)."""
    x = as_tensor(input, "tf.diag_part")
    return K.sum(x * unit_matrix(size_of(x, -2), size_of(x, -1), x.dtype), axis=-1)


# Grids and orders ------------------------------------------------------------------------------


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The slices along the first axis in random order."""
    x = as_tensor(value, "tf.random_shuffle")
    places = argsort(K.random_uniform((size_of(x, 0),), seed=seed), axis=0)
    return K.gather(x, places)


def argsort_(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    x = as_tensor(values, "tf.argsort")
    (along,) = normalize_axes("tf.argsort", axis, len(x.shape))
    return K.cast(argsort(falling(x) if direction == "DESCENDING" else x, axis=along), "int32")
