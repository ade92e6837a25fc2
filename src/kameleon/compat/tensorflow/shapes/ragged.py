"""Shapes of ragged tensors' parts, and of what is told of sequences of labels."""

from __future__ import annotations

from functools import reduce

from ..graph import Operation, Shape
from .known import value_at
from .notation import table
from .rules import (
    UNKNOWN,
    ShapeMismatchError,
    known_sizes,
    product,
    rank_of,
    same,
    shape_of,
    unknown,
    with_rank,
)

table(
    """
    RaggedTensorToVariant : (n) -> (n-1) if batched_input else -> ()
    RaggedTensorFromVariant : -> (?)*@output_ragged_rank ?
    """
)


@shape_of("RaggedRange")
def _range(operation: Operation, given: list[Shape]) -> list[Shape]:
    for shape in given:
        if rank_of(shape) > 1:
            raise ShapeMismatchError(f"Shape must be at most rank 1 but is rank {rank_of(shape)}")
    rows = reduce(same, [shape[0] for shape in given if shape], UNKNOWN)
    if all(shape == () for shape in given):
        rows = 1
    return [(UNKNOWN if rows < 0 else rows + 1,), (UNKNOWN,)]


@shape_of("RaggedGather")
def _gather(operation: Operation, given: list[Shape]) -> list[Shape]:
    *splits, values, _ = given
    for shape in splits:
        with_rank(shape, 1)
    inner = None if values is None else (UNKNOWN, *values[1:])
    return [*[(UNKNOWN,)] * operation.attribute("OUTPUT_RAGGED_RANK"), inner]


@shape_of("RaggedTensorToSparse")
def _to_sparse(operation: Operation, given: list[Shape]) -> list[Shape]:
    *splits, values = given
    for shape in splits:
        with_rank(shape, 1)
    if values is None:
        return [(UNKNOWN, UNKNOWN), (UNKNOWN,), (UNKNOWN,)]
    rank = len(splits) + len(values)
    count = product(values)
    return [(count, rank), (count,), (rank,)]


@shape_of("RaggedTensorToTensor")
def _to_dense(operation: Operation, given: list[Shape]) -> Shape:
    sizes = known_sizes(value_at(operation, 0))
    values, count = given[1], len(operation.attribute("row_partition_types"))
    if values is None:
        return sizes or None
    first = operation.attribute("row_partition_types")[0] == b"FIRST_DIM_SIZE"
    rank = count + (0 if first else 1) + len(values) - 1
    found = list(sizes or unknown(rank) or ())
    for at in range(len(values) - 1):
        found[rank - len(values) + 1 + at] = max(found[rank - len(values) + 1 + at], values[1 + at])
    return tuple(found)


# Sequences of labels ------------------------------------------------------------------------------


table(
    """
    GatherTree : (t,b,w) (t,b,w) (b) -> (t,b,w)
    CTCLoss : (t,b,c) (?,?) (?) (b) -> (b) (t,b,c)
    CTCGreedyDecoder : (?,b,?) (b) -> (?,2) (?) (2) (b,1)
    CTCBeamSearchDecoder : (?,b,?) (b)
        -> (?,2)*@top_paths (?)*@top_paths (2)*@top_paths (b,@top_paths)
    LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler
        LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler
        AllCandidateSampler : (n,?) -> (@num_sampled) (n,@num_true) (@num_sampled)
    ComputeAccidentalHits : (?,@num_true) -> (?)*3
    """
)


@shape_of("EditDistance")
def _distances(operation: Operation, given: list[Shape]) -> Shape:
    for shape, rank in zip(given, (2, 1, 1) * 2, strict=True):
        with_rank(shape, rank)
    one, other = (known_sizes(value_at(operation, place)) for place in (2, 5))
    if one is None or other is None:
        return None
    pairs = zip(one[:-1], other[:-1], strict=True)
    return tuple(UNKNOWN if UNKNOWN in pair else max(pair) for pair in pairs)
