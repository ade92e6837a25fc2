"""Shapes of what is told of sequences of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .known import value_at
from .notation import table
from .rules import UNKNOWN, known_sizes, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape


table(
    """
    GatherTree : (t,b,w) (t,b,w) (b) -> (t,b,w)
    CTCLoss : (t,b,c) ? ? (b) -> (b) (t,b,c)
    CTCGreedyDecoder : (?,b,?) (b) -> (?,2) (?) (2) (b,1)
    CTCBeamSearchDecoder : (?,b,?) (b)
        -> (?,2)*@top_paths (?)*@top_paths (2)*@top_paths (b,@top_paths)
    LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler
        AllCandidateSampler : (n,?) -> (@num_sampled) (n,@num_true) (@num_sampled)
    ComputeAccidentalHits : (?,@num_true) -> (?)*3
    """
)


@shape_of("EditDistance")
def _distances(operation: Operation, given: list[Shape]) -> Shape:
    one, other = (known_sizes(value_at(operation, place)) for place in (2, 5))
    if one is None or other is None:
        return None
    pairs = zip(one[:-1], other[:-1], strict=True)
    return tuple(UNKNOWN if UNKNOWN in pair else max(pair) for pair in pairs)
