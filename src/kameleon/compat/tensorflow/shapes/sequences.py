"""Shapes of what is told of sequences of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .known import value_at
from .rules import UNKNOWN, known_sizes, same, shape_of, with_rank

if TYPE_CHECKING:
    from ..graph import Operation, Shape


@shape_of("GatherTree")
def _trees(operation: Operation, given: list[Shape]) -> Shape:
    pairs = zip(with_rank(given[0], 3), with_rank(given[1], 3), strict=True)
    time, batch, width = (same(*pair) for pair in pairs)
    return time, same(batch, with_rank(given[2], 1)[0]), width


@shape_of("EditDistance")
def _distances(operation: Operation, given: list[Shape]) -> Shape:
    one, other = (known_sizes(value_at(operation, place)) for place in (2, 5))
    if one is None or other is None:
        return None
    pairs = zip(one[:-1], other[:-1], strict=True)
    return tuple(UNKNOWN if UNKNOWN in pair else max(pair) for pair in pairs)


@shape_of("CTCLoss")
def _ctc(operation: Operation, given: list[Shape]) -> list[Shape]:
    time, batch, classes = with_rank(given[0], 3)
    batch = same(batch, with_rank(given[3], 1)[0])
    return [(batch,), (time, batch, classes)]


@shape_of("CTCGreedyDecoder")
def _greedy(operation: Operation, given: list[Shape]) -> list[Shape]:
    batch = same(with_rank(given[0], 3)[1], with_rank(given[1], 1)[0])
    return [(UNKNOWN, 2), (UNKNOWN,), (2,), (batch, 1)]


@shape_of("CTCBeamSearchDecoder")
def _beams(operation: Operation, given: list[Shape]) -> list[Shape]:
    batch = same(with_rank(given[0], 3)[1], with_rank(given[1], 1)[0])
    count = operation.attribute("top_paths")
    return [*[(UNKNOWN, 2)] * count, *[(UNKNOWN,)] * count, *[(2,)] * count, (batch, count)]


@shape_of(
    "LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler"
    " AllCandidateSampler"
)
def _candidates(operation: Operation, given: list[Shape]) -> list[Shape]:
    number = operation.attribute("num_sampled")
    return [(number,), (with_rank(given[0], 2)[0], operation.attribute("num_true")), (number,)]


@shape_of("ComputeAccidentalHits")
def _hits(operation: Operation, given: list[Shape]) -> list[Shape]:
    same(with_rank(given[0], 2)[1], operation.attribute("num_true"))
    return [(UNKNOWN,)] * 3
