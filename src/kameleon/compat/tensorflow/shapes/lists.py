"""Shapes of lists of tensors, and of what is taken from them."""

from __future__ import annotations

from ..dtypes import shown
from ..graph import Operation, Shape
from .handles import behind, held_shape, shape_behind
from .notation import table
from .rules import RULES, UNKNOWN, Rule, ShapeMismatchError, merged, shape_of

table(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListScatter TensorListScatterV2
        TensorListSplit TensorListPushBack TensorListResize
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


@shape_of("TensorListSetItem")
def _replace(operation: Operation, given: list[Shape]) -> list[Shape]:
    merged(given[2], shape_behind(operation))
    return [()]


# What is said of a list that holds another type, by the number of the input.
_OF_TYPE = {
    "TensorListStack TensorListConcat TensorListConcatV2": {
        0: "Trying to read from list with wrong element dtype. List has type {held} but expected"
        " type {wanted}"
    },
    "TensorListGetItem TensorListGather TensorListScatterIntoExistingList": {
        0: "Expected list with element dtype {wanted} but got list with element dtype {held}"
    },
    "TensorListPopBack": {
        0: "Trying to read from list with wrong element dtype. List has type {held} but trying to"
        " push element with type {wanted}"
    },
    "TensorListPushBack": {
        0: "Trying to push to list with wrong element dtype. List has type {held} but trying to"
        " push element with type {wanted}"
    },
    "TensorListConcatLists": {
        0: "input_a.type != element_dtype: {held} vs. {wanted}",
        1: "input_b.type != element_dtype: {held} vs. {wanted}",
    },
}


def _of_type(rule: Rule, said: dict[int, str]) -> Rule:
    def checked(operation: Operation, given: list[Shape]) -> Shape | list[Shape]:
        wanted = operation.attribute("element_dtype")
        for place, text in said.items():
            for _, held in behind(*operation.inputs[place]):
                if held != wanted:
                    message = text.format(held=shown(held), wanted=shown(wanted))
                    raise ShapeMismatchError(message)
        return rule(operation, given)

    return checked


RULES.update(
    {
        name: _of_type(RULES[name], said)
        for types, said in _OF_TYPE.items()
        for name in types.split()
    }
)
