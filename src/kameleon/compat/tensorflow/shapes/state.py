"""Shapes of what is kept or runs on the host: variables, control flow, arrays of tensors, lookup
tables, queues, readers, files, checkpoints, summaries, iterators.
"""

from __future__ import annotations

import numpy as np

from ..dtypes import NUMBERS
from ..formats.slices import bounds, parsed
from ..graph import PASSING, Operation, Shape
from .handles import shape_behind
from .known import value_at
from .notation import table
from .rules import UNKNOWN, merged, same, shape_of, with_rank

RESOURCE = NUMBERS["resource"]

table(
    """
    QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2 ResourceCountUpTo VarHandleOp
        TensorArrayWriteV3 TensorArrayScatterV3 TensorArraySplitV3 ControlTrigger : -> ()
    TensorArrayV3 TensorArrayGradV3 : -> (2) ()
    TensorArrayConcatV3 : -> ? (?)
    TensorArrayGatherV3 : -> (?,*@element_shape)
    StackV2 : -> (2)
    StackPushV2 : ? x -> x
    Assign : x x -> x if validate_shape else ? x -> x
    AssignAdd AssignSub : x x -> x
    AssignVariableOp AssignAddVariableOp AssignSubVariableOp : &x x ->
    ReadVariableOp : &x -> x
    VariableShape : &x -> (#x)
    CountUpTo StridedSliceAssign TensorStridedSliceUpdate : x -> x
    Switch RefSwitch : x () -> x x
    Enter RefEnter : x -> x if is_constant else ?
    ZeroInitializer : x -> x
    ZeroVarInitializer : ? -> ()
    """
)


SCATTERING = " ".join(
    f"{by}Scatter{way}"
    for by in ("", "Resource")
    for way in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
)


@shape_of(SCATTERING)
def _scatter(operation: Operation, given: list[Shape]) -> Shape | list[Shape]:
    variable, at, values = given
    whole = variable if operation.types else shape_behind(operation)
    if whole is not None and at is not None and values != ():
        merged(values, at + whole[1:])
    return whole if operation.types else []


def steps(name: str) -> str:
    """The types of a step of an optimizer: of whole variables, or of some rows; by reference, or by
    handle.
    """
    return " ".join(
        f"{by}{which}Apply{name}" for by in ("", "Resource") for which in ("", "Sparse")
    )


_OPTIMIZERS = (
    "AdaMax Adadelta Adagrad AdagradDA AdagradV2 Adam AdamWithAmsgrad AddSign CenteredRMSProp"
    " Ftrl FtrlV2 GradientDescent KerasMomentum Momentum PowerSign ProximalAdagrad"
    " ProximalGradientDescent RMSProp"
).split()


@shape_of(" ".join(map(steps, _OPTIMIZERS)))
def _step(operation: Operation, given: list[Shape]) -> Shape | list[Shape]:
    """That of a variable, of all that's kept beside it, and of its gradient, but for how many rows
    of it are given; what else is told are single numbers.
    """
    found: Shape = None
    for place, argument in enumerate(operation.definition.input_arg):
        shape = given[place]
        if argument.is_ref or argument.type == RESOURCE:
            found = merged(found, shape if argument.is_ref else shape_behind(operation, place))
        elif argument.name in ("grad", "delta"):
            found = merged(found, _slope(operation, place, given))
        elif argument.name != "indices":
            with_rank(shape, 0)
    return found if operation.types else []


def _slope(operation: Operation, place: int, given: list[Shape]) -> Shape:
    """The shape of a gradient; of one for some rows, with any number of them."""
    shape = given[place]
    if shape is None or "Sparse" not in operation.type:
        return shape
    [count] = with_rank(given[place + 1], 1)
    same(count, with_rank(shape[:1], 1)[0])
    return (UNKNOWN, *shape[1:])


@shape_of(
    "If StatelessIf Case While StatelessWhile IteratorGetNext IteratorGetNextSync OptionalGetValue"
    " DatasetToSingleElement ReduceDataset"
)
def _called(operation: Operation, given: list[Shape]) -> list[Shape]:
    """What the operation says; a loop's values else are as they come in."""
    count = len(operation.types)
    shapes: list[Shape] = operation.attribute("output_shapes") or []
    if not shapes and operation.type.endswith("While"):
        shapes = given
    return shapes if len(shapes) == count else [None] * count


@shape_of("SymbolicGradient")
def _slopes(operation: Operation, given: list[Shape]) -> list[Shape]:
    """Those of the arguments, and of what is behind handles among them."""
    places = range(len(operation.types))
    return [
        shape_behind(operation, place) if _is_handle(operation, place) else given[place]
        for place in places
    ]


def _is_handle(operation: Operation, place: int) -> bool:
    source, index = operation.inputs[place]
    return source.types[index] == RESOURCE


@shape_of("Merge RefMerge")
def _merge(operation: Operation, given: list[Shape]) -> list[Shape]:
    first = given[0]
    if operation.inputs[0][0].type in ("Enter", "RefEnter"):
        return [first, ()]
    for shape in given[1:]:
        if first is None or shape is None or len(first) != len(shape):
            return [None, ()]
        first = tuple(a if a == b else UNKNOWN for a, b in zip(first, shape, strict=True))
    return [first, ()]


# Lookup tables ------------------------------------------------------------------------------------


table(
    """
    LookupTableSize LookupTableSizeV2 HashTableV2 MutableHashTableV2 MutableHashTableOfTensorsV2
        MutableDenseHashTableV2 : -> ()
    """
)


def _entry(operation: Operation) -> tuple[Shape, Shape]:
    """The shapes of a table's keys and values, whose handle an operation takes first."""
    source, _ = operation.inputs[0]
    while source.type in PASSING and source.inputs:
        source, _ = source.inputs[0]
    if not source.type.endswith("V2"):
        return None, None
    keys: Shape = ()
    if source.type == "MutableDenseHashTableV2":
        maker, index = source.inputs[0]
        keys = maker.shapes[index]
    return keys, tuple(source.attribute("value_shape") or ())


@shape_of("LookupTableFindV2")
def _find(operation: Operation, given: list[Shape]) -> Shape:
    keys, values = _entry(operation)
    if keys is None or values is None or given[1] is None:
        return None
    return given[1][: len(given[1]) - len(keys)] + values


@shape_of("LookupTableExportV2")
def _export(operation: Operation, given: list[Shape]) -> list[Shape]:
    _, values = _entry(operation)
    return [(UNKNOWN,), None if values is None else (UNKNOWN, *values)]


# The host -----------------------------------------------------------------------------------------


table(
    """
    FIFOQueue PaddingFIFOQueue RandomShuffleQueue PriorityQueue Barrier WholeFileReader
        IdentityReader TextLineReader FixedLengthRecordReader TFRecordReader
        ConditionalAccumulator SparseConditionalAccumulator ResourceConditionalAccumulator : -> (2)
    FIFOQueueV2 PaddingFIFOQueueV2 RandomShuffleQueueV2 PriorityQueueV2 WholeFileReaderV2
        IdentityReaderV2 TextLineReaderV2 FixedLengthRecordReaderV2 TFRecordReaderV2
        ReaderNumRecordsProduced ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted
        ReaderNumWorkUnitsCompletedV2 ReaderSerializeState ReaderSerializeStateV2
        ReadFile Timestamp StageSize MapSize MapIncompleteSize
        OrderedMapSize OrderedMapIncompleteSize BarrierReadySize BarrierIncompleteSize
        AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated IteratorV2 Iterator
        OneShotIterator IteratorToStringHandle IteratorFromStringHandleV2 AnonymousIterator
        DatasetCardinality ExperimentalDatasetCardinality ScalarSummary HistogramSummary
        ImageSummary AudioSummary AudioSummaryV2 TensorSummary TensorSummaryV2 MergeSummary
        SummaryWriter MutexV2 MutexLock OptionalFromValue OptionalNone OptionalHasValue
        IteratorGetNextAsOptional GetSessionHandle GetSessionHandleV2
        KMC2ChainInitialization : -> ()
    ShardedFilename : () () () -> ()
    ShardedFilespec : () () -> ()
    ReaderRead ReaderReadV2 AnonymousIteratorV2 : -> () ()
    ReaderReadUpTo ReaderReadUpToV2 : -> (?) (?)
    MatchingFiles : -> (?)
    GenerateVocabRemapping : () () -> (@num_new_vocab) ()
    LoadAndRemapMatrix : () () (?) (?) -> (@num_rows,@num_cols)
    SdcaFprint : (n) -> (n,2)
    BoostedTreesEnsembleResourceHandleOp BoostedTreesQuantileStreamResourceHandleOp
        IsBoostedTreesEnsembleInitialized IsBoostedTreesQuantileStreamResourceInitialized
        BoostedTreesCenterBias : -> ()
    BoostedTreesGetEnsembleStates : -> () () () () (2)
    BoostedTreesSerializeEnsemble : -> () ()
    BoostedTreesTrainingPredict : () (?) (?) (n) (n)* -> (n,@logits_dimension) (n) (n)
    BoostedTreesPredict : () (n) (n)* -> (n,@logits_dimension)
    BoostedTreesExampleDebugOutputs : () (n) (n)* -> (n)
    BoostedTreesMakeStatsSummary : (n) (n,d) (n,d) (n)*
        -> (@num_features,@max_splits,@num_buckets,2*d)
    BoostedTreesMakeQuantileSummaries BoostedTreesFlushQuantileSummaries
        : -> (?,4)*@num_features
    BoostedTreesQuantileStreamResourceGetBucketBoundaries : -> (?)*@num_features
    BoostedTreesCalculateBestGainsPerFeature
        : -> (?)*@num_features (?)*@num_features (?)*@num_features (?,1)*@num_features
        (?,1)*@num_features
    """
)


@shape_of("BoostedTreesBucketize")
def _bucketized(operation: Operation, given: list[Shape]) -> list[Shape]:
    """For each feature a bucket of each of its numbers."""
    return [(UNKNOWN,) if shape is None else shape[:1] for shape in given[: len(operation.types)]]


@shape_of("SdcaOptimizer SdcaOptimizerV2")
def _ascended(operation: Operation, given: list[Shape]) -> list[Shape]:
    """A state of each example; and a change of all weights, which come before the states."""
    return [(UNKNOWN, 4), *given[-len(operation.types) : -1]]


@shape_of("RestoreV2 RestoreSlice")
def _restored(operation: Operation, given: list[Shape]) -> list[Shape]:
    extents = value_at(operation, 2)
    if extents is None:
        return [None] * len(operation.types)
    texts = [each.decode() if isinstance(each, bytes) else str(each) for each in np.ravel(extents)]
    return [_part(text) for text in texts]


def _part(text: str) -> Shape:
    """The shape of the part of a tensor that a text tells."""
    if not text:
        return None
    shape, extents = parsed(text)
    return tuple(end - start for start, end in bounds(extents, shape))
