"""Shapes of variables' operations, of control flow, and of arrays of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handles import shape_behind
from .notation import table
from .rules import UNKNOWN, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape


table(
    """
    QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2 ResourceCountUpTo VarHandleOp StackV2
        TensorArrayWriteV3 TensorArrayScatterV3 TensorArraySplitV3 ControlTrigger : -> ()
    TensorArrayV3 TensorArrayGradV3 : -> (2) ()
    Assign : x x -> x if validate_shape else ? x -> x
    AssignAdd AssignSub : x x -> x
    ApplyGradientDescent ApplyAdam ApplyMomentum ApplyRMSProp ApplyCenteredRMSProp ApplyAdagrad
        ApplyAdadelta ApplyFtrl ApplyFtrlV2 ApplyAdaMax ApplyProximalGradientDescent
        ApplyProximalAdagrad SparseApplyAdagrad SparseApplyFtrl SparseApplyMomentum
        SparseApplyRMSProp ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv CountUpTo
        StridedSliceAssign TensorStridedSliceUpdate : x -> x
    Switch RefSwitch : x -> x x
    Enter RefEnter : x -> x if is_constant else ?
    """
)


@shape_of("ReadVariableOp")
def _read(operation: Operation, given: list[Shape]) -> Shape:
    return shape_behind(operation)


@shape_of("If StatelessIf Case While StatelessWhile")
def _called(operation: Operation, given: list[Shape]) -> list[Shape]:
    """What the operation says; a loop's values else are as they come in."""
    count = len(operation.types)
    told: list[Shape] = operation.attribute("output_shapes") or []
    if not told and operation.type.endswith("While"):
        told = given
    return told if len(told) == count else [None] * count


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


@shape_of("TensorArrayGatherV3")
def _array_gather(operation: Operation, given: list[Shape]) -> Shape:
    shape: Shape = operation.attribute("element_shape")
    count = UNKNOWN if given[1] is None else given[1][0]
    return None if shape is None else (count, *shape)
