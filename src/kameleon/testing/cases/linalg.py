"""Cases of contractions, and of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...graph.primitives import linalg, sparse
from .case import CUBE, Array, Case, SizesOf, einsum, normal, uses, whole

BY_ROWS, BATCH = ((1,), (0,)), ((0,), (0,))
CONTRACT = uses(
    "contract",
    lambda a, b, spec, over, batch=((), ()): linalg.contract(a, b, over, batch),
    lambda a, b, spec, *axes: einsum(spec)(a, b),
    ("matmul", (normal(2, 3), normal(3, 4)), "ij,jk->ik", BY_ROWS),
    ("first-by-first", (normal(3, 2), normal(3, 4)), "ji,jk->ik", ((0,), (0,))),
    ("last-by-last", (normal(2, 3), normal(4, 3)), "ij,kj->ik", ((1,), (1,))),
    ("vectors", (normal(5), normal(5, seed=1)), "i,i->", ((0,), (0,))),
    ("outer", (normal(2), normal(3)), "i,j->ij", ((), ())),
    ("scalars", (normal(), normal(seed=1)), ",->", ((), ())),
    ("matrix-vector", (normal(2, 3), normal(3)), "ij,j->i", BY_ROWS),
    ("dense", (CUBE, normal(4, 2)), "aij,jk->aik", ((2,), (0,))),
    ("two-axes", (CUBE, normal(4, 3, 2)), "aij,jia->", ((0, 1, 2), (2, 1, 0))),
    ("crossed", (CUBE, normal(4, 2, 5)), "aij,jak->ik", ((2, 0), (0, 1))),
    ("batch", (CUBE, normal(2, 4, 3)), "aij,ajk->aik", ((2,), (1,)), BATCH),
    ("batch-last", (CUBE, normal(5, 3, 4)), "ija,kja->aik", ((1,), (1,)), ((2,), (2,))),
    (
        "two-batches",
        (normal(2, 3, 2, 2), normal(3, 2, 2, 4)),
        "abij,bajk->abik",
        ((3,), (2,)),
        ((0, 1), (1, 0)),
    ),
    ("batch-alone", (normal(2, 3), normal(2, 3, seed=1)), "ai,ai->ai", ((), ()), ((0, 1), (0, 1))),
    ("batch-dots", (normal(2, 3), normal(2, 3, seed=1)), "ai,ai->a", ((1,), (1,)), BATCH),
    ("over-nothing", (normal(2, 0), normal(0, 3)), "ij,jk->ik", BY_ROWS),
    ("empty", (normal(0, 2), normal(2, 3)), "ij,jk->ik", BY_ROWS),
    ("empty-batch", (normal(0, 2, 3), normal(0, 3, 1)), "aij,ajk->aik", ((2,), (1,)), BATCH),
    (
        "wraps",
        (np.full((2, 3), 100, "int8"), np.full((3, 1), 7, "int8")),
        "ij,jk->ik",
        BY_ROWS,
    ),
    ("int64", (whole(2, 3, dtype="int64"), whole(3, 2, dtype="int64")), "ij,jk->ik", BY_ROWS),
    *(
        (d, (normal(2, 3, dtype=d), normal(3, 2, dtype=d)), "ij,jk->ik", BY_ROWS)
        for d in ("float16", "float32")
    ),
    wrt=(0, 1),
    units=64,
)

# Sparse tensors ----------------------------------------------------------------------------

# Elements of a matrix in no order, one of them twice.
DIMS = (3, 4)
WHERE, VALUES = np.array([[2, 3], [0, 1], [2, 3], [1, 0]]), normal(4)


def scattered(where: Array, values: Array, dims: Sequence[int] = DIMS) -> Array:
    out = np.zeros(dims, values.dtype)
    for (i, j), value in zip(where.tolist(), values, strict=True):
        out[i, j] += value
    return out


FEW, NONE = (WHERE, VALUES), (WHERE[:0], VALUES[:0])
to_dense = partial(
    uses,
    "sparse_to_dense",
    sparse.sparse_to_dense,
    scattered,
    rigid=(0,),
)
dot = partial(
    uses,
    "sparse_dense_dot",
    lambda i, v, y: sparse.sparse_dense_dot(i, v, y, 3),
    lambda i, v, y: einsum("ij,jk->ik")(scattered(i, v), y),
    rigid=(0,),
)
SPARSE: list[Case] = [
    *to_dense(("few", FEW, DIMS), wrt=(1,)),
    *to_dense(
        ("none", NONE, DIMS),
        ("few-sizes-from-another", FEW, SizesOf(DIMS)),
        ("none-sizes-from-another", NONE, SizesOf(DIMS)),
    ),
    *dot(("few", (*FEW, normal(4, 2))), wrt=(1, 2)),
    *dot(("none", (*NONE, normal(4, 2)))),
]

CASES: list[Case] = [*CONTRACT, *SPARSE]
