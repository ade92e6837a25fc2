"""Sparse tensors as strings, or kept by the session, so that queues hand them on; crosses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from ..arithmetic import hashes as H
from ..arithmetic import sparse as A
from ..dtypes import in_numpy
from ..failures import invalid
from ..graph import Operation, shape_text
from ..variables import Store
from .keeping import kept
from .parsing import parsed, serialized
from .sequences import of_batch
from .sparse import checked, sparse_inputs
from .table import fold, host
from .values import Kind, dtype_of, objects, plain, result_type

Array = np.ndarray


def _stacked(parts: list[A.Sparse], kind: str) -> A.Sparse:
    """Sparse tensors along a new first axis; sizes are the largest of all."""
    if not parts:
        return A.Sparse(np.zeros((0, 1), np.int64), np.zeros(0, kind), np.zeros(1, np.int64))
    if len({len(part.shape) for part in parts}) > 1:
        ranks = [len(part.shape) for part in parts]
        at = next(at for at, rank in enumerate(ranks) if rank != ranks[0])
        raise invalid(
            f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{at}] was:"
            f" {ranks[0]} but rank of SparseTensor[{at}] is: {ranks[at]}"
        )
    indices = [np.insert(part.indices, 0, at, 1) for at, part in enumerate(parts)]
    sizes = np.max([part.shape for part in parts], 0)
    values = np.concatenate([part.values for part in parts])
    return A.Sparse(np.concatenate(indices), values, np.array([len(parts), *sizes], np.int64))


# As strings -------------------------------------------------------------------------------------


def _packed(operation: Operation, x: A.Sparse) -> Array:
    as_text = operation.attribute("out_type") in (None, 7)  # else as a variant
    return objects([serialized(part) for part in x.parts()] if as_text else x.parts())


def _unpacked(operation: Operation, row: Array) -> A.Sparse:
    kind = dtype_of(operation, "dtype")
    dtypes = ("int64", kind, "int64")
    return A.sparse(*(
        parsed(part, name) if isinstance(part, bytes) else part
        for part, name in zip(row, dtypes, strict=True)
    ))  # fmt: skip


# It asks nothing of the parts.
fold("SerializeSparse")(
    lambda operation, *parts: _packed(operation, A.Sparse(*map(np.asarray, parts)))
)


@fold("SerializeManySparse")
def _pack_rows(operation: Operation, *parts: Any) -> Array:
    x = A.sparse(*parts)
    if len(x.shape) < 2:
        raise invalid("Rank of input SparseTensor should be > 1, but saw rank: 1")
    rows = [_packed(operation, row) for row in A.rows(checked(x))]
    return np.stack(rows) if rows else np.empty((0, 3), object)


@fold("DeserializeManySparse DeserializeSparse")
def _unpack(operation: Operation, packed: Any) -> list[Array]:
    given = np.asarray(packed, object)
    if not given.ndim or given.shape[-1] != 3:
        raise invalid(f"Serialized sparse should have 3 columns: {given.shape}")
    if 0 in given.shape:
        about = "should have at least 1 serialized tensor, but has a zero dimension"
        raise invalid(f"Serialized sparse {about} {shape_text(given.shape)}")
    rows = [_unpacked(operation, row) for row in given.reshape(-1, 3)]
    if given.ndim == 1:
        return rows[0].parts()
    found = _stacked(rows, in_numpy(result_type(operation, 1)))
    outer = given.shape[:-1]
    shape = np.array([*outer, *found.shape[1:]], np.int64)
    return [A.reshaped(found.indices, found.shape.tolist(), shape.tolist()), found.values, shape]


# Kept by the session ----------------------------------------------------------------------------


def _kept(store: Store, operation: Operation) -> dict[int, A.Sparse]:
    return kept(store, operation, "sparse tensors", dict)


def _add(store: Store, operation: Operation, x: A.Sparse) -> int:
    numbers = kept(store, operation, "numbers of sparse tensors", itertools.count)
    number = next(numbers)
    _kept(store, operation)[number] = x
    return number


@host("AddSparseToTensorsMap")
def _keep(store: Store, operation: Operation, *parts: Any) -> np.int64:
    return np.int64(_add(store, operation, A.sparse(*parts)))


@host("AddManySparseToTensorsMap")
def _keep_rows(store: Store, operation: Operation, *parts: Any) -> Array:
    rows = A.rows(checked(A.sparse(*parts)))
    return np.array([_add(store, operation, row) for row in rows], np.int64)


@host("TakeManySparseFromTensorsMap")
def _take(store: Store, operation: Operation, numbers: list[int], *, dtype: Kind) -> list[Array]:
    found = _kept(store, operation)
    try:
        rows = [found.pop(number) for number in numbers]
    except KeyError as error:
        raise invalid(f"Unable to find SparseTensor: {error} in map") from None
    return _stacked(rows, in_numpy(dtype)).parts()


# Crosses ----------------------------------------------------------------------------------------

JOINT = b"_X_"


def _features(operation: Operation, values: tuple[Any, ...]) -> list[list[list[Any]]]:
    """By column and row of the batch, its values."""
    count = operation.attribute("N")
    found = []
    for x in sparse_inputs(values, count):
        rows: list[list[Any]] = [[] for _ in range(int(x.shape[0]))]
        for at, value in zip(x.indices[:, 0], x.values.tolist(), strict=True):
            rows[at].append(value)
        found.append(rows)
    for dense in values[3 * count :]:
        array = plain(dense)
        found.append(array.reshape(len(array), -1).tolist())
    return found


@fold("SparseCross SparseFeatureCross SparseFeatureCrossV2")
def _cross(operation: Operation, *values: Any) -> list[Array]:
    columns = _features(operation, values)
    if len({len(rows) for rows in columns}) > 1:
        raise invalid("Expected batch sizes of all columns to be equal")
    hashed = operation.attribute("hashed_output")
    make = _hash if hashed else _joined
    rows = [list(make(operation, row)) for row in zip(*columns, strict=True)]
    return of_batch(rows, "int64" if hashed else "object").parts()


def _joined(operation: Operation, row: tuple[list[Any], ...]) -> Iterator[bytes]:
    for chosen in itertools.product(*row):
        parts = [x if isinstance(x, bytes) else str(x).encode() for x in chosen]
        yield JOINT.join(parts)


def _hash(operation: Operation, row: tuple[list[Any], ...]) -> Iterator[int]:
    buckets, key = operation.attribute("num_buckets"), operation.attribute("hash_key")
    join, first = (_by_sign, H.SEED) if key is None else (H.joined, key % 2**64)
    numbers = [[H.fingerprint(x) if isinstance(x, bytes) else x % 2**64 for x in r] for r in row]
    for chosen in itertools.product(*numbers):
        yield reduce(join, chosen, first) % (buckets or 2**63 - 1)


def _by_sign(found: int, number: int) -> int:
    """The hash so far, which has a sign, with that of one more value, as it was without a key."""
    return H.combined(found - (found >> 63 << 64), number) % 2**64
