"""Sparse and ragged tensors: some are made, and turned into tensors again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .calls import is_fixed
from .draft import FLOATS, NUMBERS, Dim, Draft, T

# Expressions of `{s}`, which stands for a tensor `{n}` with the last axis `{a}`, and the sizes that
# they give.
Dims = Callable[[Draft, T], list[Dim]]


def _same(d: Draft, x: T) -> list[Dim]:
    return list(x.dims)


def _twice(d: Draft, x: T) -> list[Dim]:
    first = x.dims[0]
    return [2 * first if isinstance(first, int) else d.size(), *x.dims[1:]]


def _fewer(d: Draft, x: T) -> list[Dim]:
    return [d.size(), *x.dims[1:]]


def _open(d: Draft, x: T) -> list[Dim]:
    return [x.dims[0], d.size(), *x.dims[2:]]


SPARSE: list[tuple[str, Dims]] = [
    ("{s}", _same),
    ("tf.sparse.transpose({s}, range({a}, -1, -1))", lambda d, x: [*x.dims[::-1]]),
    ("tf.sparse.retain({s}, {s}.values > 0)", _same),
    ("tf.sparse.reorder({s})", _same),
    ("tf.sparse.concat(0, [{s}, {s}])", _twice),
    ("tf.sparse.add({s}, {s})", _same),
    ("tf.sparse.maximum({s}, tf.sparse.retain({s}, {s}.values > 0))", _same),
    ("tf.SparseTensor({s}.indices, {s}.values * {s}.values, {s}.dense_shape)", _same),
    ("{s} * {n}", _same),
    ("tf.sparse.reshape({s}, [-1, 1])", lambda d, x: [d.size(), 1]),
    ("tf.sparse.fill_empty_rows({s}, tf.cast(7, {s}.dtype))[0]", _same),
    ("tf.sparse.slice({s}, [0] * {a} + [0], {s}.dense_shape - 1)", lambda d, x: [
        n - 1 if is_fixed(n) else d.size() for n in x.dims  # type: ignore[operator]
    ]),
    ("tf.sparse.expand_dims({s}, 0)", lambda d, x: [1, *x.dims]),
    ("tf.sparse.reset_shape({s})", lambda d, x: [d.size() for _ in x.dims]),
]  # fmt: skip
OF_SPARSE: list[tuple[str, str, Dims]] = [
    ("tf.sparse.to_dense({s})", "", _same),
    ("tf.sparse.to_dense({s}, tf.cast(9, {s}.dtype))", "", _same),
    ("tf.sparse.reduce_sum({s}, 0)", "", lambda d, x: [*x.dims[1:]]),
    ("tf.sparse.reduce_sum({s}, -1, keepdims=True)", "", lambda d, x: [*x.dims[:-1], 1]),
    ("tf.sparse.reduce_max({s}, 0)", "", lambda d, x: [*x.dims[1:]]),
    ("{s}.values", "", lambda d, x: [d.size()]),
    ("{s}.indices", "int64", lambda d, x: [d.size(), x.rank]),
    ("{s}.dense_shape", "int64", lambda d, x: [x.rank]),
    ("tf.sparse.add({s}, tf.sparse.to_dense({s}))", "", _same),
]
RAGGED: list[tuple[str, Dims]] = [
    ("{s}", _same),
    ("{s}[1:]", _fewer),
    ("{s}[:, :1]", _open),
    ("{s}[:, 1:]", _open),
    ("tf.concat([{s}, {s}], 0)", _twice),
    ("tf.concat([{s}, {s}], 1)", _open),
    ("tf.ragged.map_flat_values(tf.abs, {s})", _same),
    ("{s} + {s}", _same),
    ("tf.ragged.map_flat_values(tf.add, {s}, {s})", _same),
    ("tf.gather({s}, tf.range({s}.nrows())[::-1])", _same),
    ("tf.ragged.boolean_mask({s}, {s} > 0)", _open),
    ("tf.RaggedTensor.from_row_splits({s}.values, {s}.row_splits)", _same),
]
OF_RAGGED: list[tuple[str, str, Dims]] = [
    ("{s}.to_tensor()", "", _open),
    ("tf.reduce_sum({s}, 1)", "", lambda d, x: [x.dims[0], *x.dims[2:]]),
    ("tf.reduce_mean({s}, 0)", "", lambda d, x: [d.size(), *x.dims[2:]]),
    ("{s}.flat_values", "", lambda d, x: [d.size() for _ in x.dims[1:]]),
    ("{s}.row_lengths()", "int64", lambda d, x: [x.dims[0]]),
    ("{s}.value_rowids()", "int64", lambda d, x: [d.size()]),
    ("{s}.bounding_shape()", "int64", lambda d, x: [x.rank]),
    ("tf.sparse.to_dense({s}.to_sparse())", "", _open),
]


def _through(d: Draft, x: T, name: str, steps: list[Any], ends: list[Any]) -> None:
    """Some steps from what has a name, which stands for a tensor, to a tensor."""
    for _ in range(d.int(0, 2)):
        text, dims = d.choice(steps)
        following, known = d.name("s"), text.format(s=name, n=x.name, a=x.rank - 1)
        d.line(f"{following} = {known}")
        name, x = following, T(x.name, x.dtype, tuple(dims(d, x)))
    text, dtype, dims = d.choice(ends)
    d.add(text.format(s=name), dtype or x.dtype, dims(d, x))


def sparse(d: Draft) -> None:
    """A tensor's elements that aren't 0, or some indices of it."""
    x, name = d.pick(NUMBERS, 1, 3), d.name("s")
    d.line(f"{name} = sparse({x.name})")
    y = d.pick([x.dtype], 2, 2, lambda y: y.dims[:1] == x.dims[-1:])
    if x.rank == 2 and x.dtype in FLOATS and y.dims[:1] == x.dims[-1:] and d.flag(0.3):
        text = f"tf.sparse.sparse_dense_matmul({name}, {y.name})"
        d.add(text, x.dtype, (x.dims[0], y.dims[1]))
    else:
        _through(d, x, name, SPARSE, OF_SPARSE)


def ragged(d: Draft) -> None:
    """The rows of a tensor, each with a length of its own."""
    x, name = d.pick(NUMBERS, 2, 3), d.name("s")
    lengths = f"tf.range(tf.shape({x.name})[0]) % (tf.shape({x.name})[1] + 1)"
    d.line(f"{name} = tf.RaggedTensor.from_tensor({x.name}, {lengths})")
    _through(d, x, name, RAGGED, OF_RAGGED)


COLLECTED = {sparse: 1.5, ragged: 1}
