"""Shapes of what runs on the host: queues, readers, files, checkpoints, summaries, iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..formats.slices import bounds, parsed
from .known import value_at
from .notation import table
from .rules import shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape

table(
    """
    FIFOQueue PaddingFIFOQueue RandomShuffleQueue PriorityQueue Barrier WholeFileReader
        IdentityReader TextLineReader FixedLengthRecordReader TFRecordReader
        ConditionalAccumulator SparseConditionalAccumulator ResourceConditionalAccumulator : -> (2)
    FIFOQueueV2 PaddingFIFOQueueV2 RandomShuffleQueueV2 PriorityQueueV2 WholeFileReaderV2
        IdentityReaderV2 TextLineReaderV2 FixedLengthRecordReaderV2 TFRecordReaderV2
        ReaderNumRecordsProduced ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted
        ReaderNumWorkUnitsCompletedV2 ReaderSerializeState ReaderSerializeStateV2
        ReadFile ShardedFilename ShardedFilespec Timestamp StageSize MapSize MapIncompleteSize
        OrderedMapSize OrderedMapIncompleteSize BarrierReadySize BarrierIncompleteSize
        AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated IteratorV2 Iterator
        OneShotIterator IteratorToStringHandle IteratorFromStringHandleV2 AnonymousIterator
        DatasetCardinality ExperimentalDatasetCardinality ScalarSummary HistogramSummary
        ImageSummary AudioSummary AudioSummaryV2 TensorSummary TensorSummaryV2 MergeSummary
        SummaryWriter MutexV2 MutexLock OptionalFromValue OptionalNone OptionalHasValue
        IteratorGetNextAsOptional GetSessionHandle GetSessionHandleV2
        KMC2ChainInitialization : -> ()
    ReaderRead ReaderReadV2 AnonymousIteratorV2 : -> () ()
    ReaderReadUpTo ReaderReadUpToV2 : -> (?) (?)
    MatchingFiles : -> (?)
    """
)


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
