"""Shapes of lists of tensors, and of what is taken from them."""

from __future__ import annotations

from ..graph import Operation, Shape
from .handles import shape_behind, told_shape
from .notation import table
from .rules import UNKNOWN, merged, rank_of, shape_of


def _element(operation: Operation, place: int) -> Shape:
    """What is known of an element of the list that an operation takes first."""
    return merged(told_shape(operation, place), shape_behind(operation))


table(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListScatter TensorListScatterV2
        TensorListSplit TensorListPushBack TensorListSetItem TensorListResize
        TensorListConcatLists TensorListLength TensorListScatterIntoExistingList : -> ()
    """
)


@shape_of("TensorListPopBack")
def _pop(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [(), _element(operation, 1)]


@shape_of("TensorListGetItem")
def _get(operation: Operation, given: list[Shape]) -> Shape:
    return _element(operation, 2)


@shape_of("TensorListStack")
def _stack(operation: Operation, given: list[Shape]) -> Shape:
    shape, count = _element(operation, 1), operation.attribute("num_elements")
    return None if shape is None else (UNKNOWN if count is None else count, *shape)


@shape_of("TensorListGather")
def _gather(operation: Operation, given: list[Shape]) -> Shape:
    shape = _element(operation, 2)
    return None if shape is None or given[1] is None else (*given[1], *shape)


@shape_of("TensorListElementShape")
def _element_shape(operation: Operation, given: list[Shape]) -> Shape:
    return (rank_of(shape_behind(operation)),)


@shape_of("TensorListConcat TensorListConcatV2")
def _concatenate(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape = _element(operation, 1) if operation.inputs[1:] else shape_behind(operation)
    return [None if not shape else (UNKNOWN, *shape[1:]), (UNKNOWN,)]
