"""Shapes of lists of tensors, and of what is taken from them."""

from __future__ import annotations

from ..graph import Operation, Shape
from .handles import held_shape, shape_behind
from .notation import table
from .rules import UNKNOWN, merged, shape_of

table(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListScatter TensorListScatterV2
        TensorListSplit TensorListPushBack TensorListSetItem TensorListResize
        TensorListConcatLists TensorListLength TensorListScatterIntoExistingList : -> ()
    TensorListPopBack : &e =*e -> () e
    TensorListGetItem : &e ? =*e -> e
    TensorListStack : &e =*e -> (@num_elements,*e)
    TensorListGather : &e i =*e -> (*i,*e)
    TensorListElementShape : &e -> (#e)
    """
)


@shape_of("TensorListConcat TensorListConcatV2")
def _concatenate(operation: Operation, given: list[Shape]) -> list[Shape]:
    element = held_shape(operation, 1) if operation.inputs[1:] else None
    shape = merged(element, shape_behind(operation))
    return [None if not shape else (UNKNOWN, *shape[1:]), (UNKNOWN,)]
