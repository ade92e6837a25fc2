"""Shapes of what runs on the host: queues, readers, files, checkpoints, summaries, iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..formats.slices import bounds, parsed
from .known import value_at
from .rules import UNKNOWN, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape

QUEUES = "FIFOQueue PaddingFIFOQueue RandomShuffleQueue PriorityQueue".split()
READERS = (
    "WholeFileReader IdentityReader TextLineReader FixedLengthRecordReader TFRecordReader".split()
)


@shape_of(
    *(f"{kind}V2" for kind in (*QUEUES, *READERS)),
    "ReadFile ShardedFilename ShardedFilespec Timestamp StageSize MapSize MapIncompleteSize"
    " OrderedMapSize OrderedMapIncompleteSize BarrierReadySize BarrierIncompleteSize"
    " AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated IteratorV2 Iterator"
    " OneShotIterator IteratorToStringHandle IteratorFromStringHandleV2 AnonymousIterator"
    " DatasetCardinality ExperimentalDatasetCardinality ScalarSummary HistogramSummary"
    " ImageSummary AudioSummary AudioSummaryV2 TensorSummary TensorSummaryV2 MergeSummary"
    " SummaryWriter MutexV2 MutexLock OptionalFromValue OptionalNone OptionalHasValue"
    " IteratorGetNextAsOptional GetSessionHandle GetSessionHandleV2 KMC2ChainInitialization",
    *(
        f"Reader{what}{version}"
        for what in ("NumRecordsProduced", "NumWorkUnitsCompleted", "SerializeState")
        for version in ("", "V2")
    ),
)
def _scalar(operation: Operation, given: list[Shape]) -> Shape:
    return ()


@shape_of(*QUEUES, *READERS, "Barrier ConditionalAccumulator SparseConditionalAccumulator")
@shape_of("ResourceConditionalAccumulator")
def _pair(operation: Operation, given: list[Shape]) -> Shape:
    return (2,)


@shape_of("ReaderRead ReaderReadV2 AnonymousIteratorV2")
def _two_scalars(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(), ()]


@shape_of("ReaderReadUpTo ReaderReadUpToV2")
def _two_vectors(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(UNKNOWN,), (UNKNOWN,)]


@shape_of("MatchingFiles")
def _vector(operation: Operation, given: list[Shape]) -> Shape:
    return (UNKNOWN,)


@shape_of("RestoreV2 RestoreSlice")
def _restored(operation: Operation, given: list[Shape]) -> list[Shape]:
    told = value_at(operation, 2)
    if told is None:
        return [None] * len(operation.types)
    texts = [each.decode() if isinstance(each, bytes) else str(each) for each in np.ravel(told)]
    return [_part(text) for text in texts]


def _part(text: str) -> Shape:
    """The shape of the part of a tensor that a text tells."""
    if not text:
        return None
    shape, extents = parsed(text)
    return tuple(end - start for start, end in bounds(extents, shape))
