"""Cases of contractions, and of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.primitives import linalg, sparse
from ...graph.primitives.sizes import dims_of
from .case import (
    CUBE,
    Array,
    Build,
    Case,
    einsum,
    normal,
    whole,
)


def contract_case(
    label: str, spec: str, a: Array, b: Array, over: Any, batch: Any = ((), ())
) -> Case:
    return Case(
        primitive="contract",
        label=label,
        build=lambda a, b: linalg.contract(a, b, over, batch),
        operands=(a, b),
        oracle=einsum(spec),
        wrt=(0, 1) if a.dtype == "float64" else (),
        units=64,
    )


CONTRACT: list[Case] = [
    contract_case("matmul", "ij,jk->ik", normal(2, 3), normal(3, 4), ((1,), (0,))),
    contract_case("first-by-first", "ji,jk->ik", normal(3, 2), normal(3, 4), ((0,), (0,))),
    contract_case("last-by-last", "ij,kj->ik", normal(2, 3), normal(4, 3), ((1,), (1,))),
    contract_case("vectors", "i,i->", normal(5), normal(5, seed=1), ((0,), (0,))),
    contract_case("outer", "i,j->ij", normal(2), normal(3), ((), ())),
    contract_case("scalars", ",->", normal(), normal(seed=1), ((), ())),
    contract_case("matrix-vector", "ij,j->i", normal(2, 3), normal(3), ((1,), (0,))),
    contract_case("dense", "aij,jk->aik", CUBE, normal(4, 2), ((2,), (0,))),
    contract_case("two-axes", "aij,jia->", CUBE, normal(4, 3, 2), ((0, 1, 2), (2, 1, 0))),
    contract_case("crossed", "aij,jak->ik", CUBE, normal(4, 2, 5), ((2, 0), (0, 1))),
    contract_case("batch", "aij,ajk->aik", CUBE, normal(2, 4, 3), ((2,), (1,)), ((0,), (0,))),
    contract_case("batch-last", "ija,kja->aik", CUBE, normal(5, 3, 4), ((1,), (1,)), ((2,), (2,))),
    contract_case(
        "two-batches",
        "abij,bajk->abik",
        normal(2, 3, 2, 2),
        normal(3, 2, 2, 4),
        ((3,), (2,)),
        ((0, 1), (1, 0)),
    ),
    contract_case(
        "batch-alone", "ai,ai->ai", normal(2, 3), normal(2, 3, seed=1), ((), ()), ((0, 1), (0, 1))
    ),
    contract_case(
        "batch-dots", "ai,ai->a", normal(2, 3), normal(2, 3, seed=1), ((1,), (1,)), ((0,), (0,))
    ),
    contract_case("over-nothing", "ij,jk->ik", normal(2, 0), normal(0, 3), ((1,), (0,))),
    contract_case("empty", "ij,jk->ik", normal(0, 2), normal(2, 3), ((1,), (0,))),
    contract_case(
        "empty-batch", "aij,ajk->aik", normal(0, 2, 3), normal(0, 3, 1), ((2,), (1,)), ((0,), (0,))
    ),
    contract_case(
        "wraps", "ij,jk->ik", np.full((2, 3), 100, "int8"), np.full((3, 1), 7, "int8"), ((1,), (0,))
    ),
    contract_case(
        "int64", "ij,jk->ik", whole(2, 3, dtype="int64"), whole(3, 2, dtype="int64"), ((1,), (0,))
    ),
    *(
        contract_case(d, "ij,jk->ik", normal(2, 3, dtype=d), normal(3, 2, dtype=d), ((1,), (0,)))
        for d in ("float16", "float32")
    ),
]

# Sparse tensors ----------------------------------------------------------------------------

# Elements of a (3, 4) matrix in no order, one of them twice.
WHERE, VALUES = np.array([[2, 3], [0, 1], [2, 3], [1, 0]]), normal(4)


def scattered(where: Array, values: Array) -> Array:
    out = np.zeros((3, 4), values.dtype)
    for (i, j), value in zip(where.tolist(), values, strict=True):
        out[i, j] += value
    return out


def sparse_case(name: str, label: str, build: Build, *operands: Array) -> Case:
    def oracle(where: Array, values: Array, *dense: Array) -> Array:
        matrix = scattered(where, values)
        return einsum("ij,jk->ik")(matrix, dense[0]) if name == "sparse_dense_dot" else matrix

    floats = tuple(i for i, x in enumerate(operands) if x.size and x.dtype == "float64")
    return Case(
        primitive=name,
        label=label,
        build=build,
        operands=operands,
        oracle=oracle,
        wrt=floats if label == "few" else (),
        rigid=(0,),
    )


SPARSE: list[Case] = [
    case
    for label, where, values in (("few", WHERE, VALUES), ("none", WHERE[:0], VALUES[:0]))
    for case in (
        sparse_case(
            "sparse_to_dense",
            label,
            lambda i, v: sparse.sparse_to_dense(i, v, (3, 4)),
            where,
            values,
        ),
        sparse_case(
            "sparse_to_dense",
            f"{label}-sizes-from-another",
            lambda i, v, like: sparse.sparse_to_dense(i, v, dims_of(like)),
            where,
            values,
            np.zeros((3, 4)),
        ),
        sparse_case(
            "sparse_dense_dot",
            label,
            lambda i, v, y: sparse.sparse_dense_dot(i, v, y, 3),
            where,
            values,
            normal(4, 2),
        ),
    )
]

CASES: list[Case] = [*CONTRACT, *SPARSE]
