"""Shapes of variables' operations, of control flow, and of arrays of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handles import shape_behind
from .rules import UNKNOWN, merged, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape


@shape_of(
    "QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2"
    " ResourceCountUpTo VarHandleOp StackV2 TensorArrayWriteV3 TensorArrayScatterV3"
    " TensorArraySplitV3 ControlTrigger"
)
def _scalar(operation: Operation, given: list[Shape]) -> Shape:
    return ()


@shape_of("ReadVariableOp")
def _read(operation: Operation, given: list[Shape]) -> Shape:
    return shape_behind(operation)


@shape_of("Assign")
def _assign(operation: Operation, given: list[Shape]) -> Shape:
    if operation.attribute("validate_shape"):
        return merged(given[0], given[1])
    return given[1]


@shape_of("AssignAdd AssignSub")
def _assign_sum(operation: Operation, given: list[Shape]) -> Shape:
    return merged(given[0], given[1])


@shape_of(
    "ApplyGradientDescent ApplyAdam ApplyMomentum ApplyRMSProp ApplyCenteredRMSProp ApplyAdagrad"
    " ApplyAdadelta ApplyFtrl ApplyFtrlV2 ApplyAdaMax ApplyProximalGradientDescent"
    " ApplyProximalAdagrad SparseApplyAdagrad SparseApplyFtrl SparseApplyMomentum"
    " SparseApplyRMSProp ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterNdUpdate"
    " ScatterNdAdd ScatterNdSub CountUpTo StridedSliceAssign TensorStridedSliceUpdate"
)
def _step(operation: Operation, given: list[Shape]) -> Shape:
    return given[0]


@shape_of("If StatelessIf Case While StatelessWhile")
def _called(operation: Operation, given: list[Shape]) -> list[Shape]:
    """What the operation says; a loop's values else are as they come in."""
    count = len(operation.types)
    told: list[Shape] = operation.attribute("output_shapes") or []
    if not told and operation.type.endswith("While"):
        told = given
    return told if len(told) == count else [None] * count


@shape_of("Switch RefSwitch")
def _switch(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [given[0], given[0]]


@shape_of("Enter RefEnter")
def _enter(operation: Operation, given: list[Shape]) -> Shape:
    """What changes in a loop may get another shape there: TensorFlow's files say which it has."""
    return given[0] if operation.attribute("is_constant") else None


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


@shape_of("TensorArrayV3 TensorArrayGradV3")
def _array(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(2,), ()]


@shape_of("TensorArrayGatherV3")
def _array_gather(operation: Operation, given: list[Shape]) -> Shape:
    shape: Shape = operation.attribute("element_shape")
    count = UNKNOWN if given[1] is None else given[1][0]
    return None if shape is None else (count, *shape)
