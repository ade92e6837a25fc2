"""What is behind handles: shapes and types of variables, and of what lists hold."""

from __future__ import annotations

import importlib
from typing import Any

from ..graph import PASSING, Operation, Shape, shape_of
from .known import shape_at, sizes_at

# Types of operations that give a list, by the number of the input that holds the elements' shape.
MAKING = {
    "EmptyTensorList": 0,
    "TensorListReserve": 0,
    "TensorListFromTensor": 1,
    "TensorListScatter": 2,
    "TensorListScatterV2": 2,
    "TensorListSplit": 1,
}
# Those that give a list like the one that they take first.
CHANGING = frozenset(
    "TensorListPushBack TensorListPopBack TensorListSetItem TensorListResize TensorListConcatLists"
    " TensorListScatterIntoExistingList ZerosLike AddN".split()
)
# Those that tell the type of one of which nothing is known.
TELLING = frozenset({"TensorListPushBack", "TensorListSetItem"})


def message() -> Any:
    """The class of the message that tells what is behind a handle."""
    module: Any = importlib.import_module(
        "tensorflow_core.python.framework.cpp_shape_inference_pb2"
    )
    return module.CppShapeInferenceResult.HandleData


def behind(operation: Operation, index: int = 0) -> list[tuple[Shape, int]]:
    """The shapes and types behind a handle that an operation gives; none where nothing is known."""
    known: list[tuple[Shape, int]] = []
    while True:
        data = operation.handles.get(index)
        if data is not None:
            entries = message().FromString(data).shape_and_type
            return [(shape_of(each.shape), each.dtype) for each in entries]
        if operation.type == "VarHandleOp":
            return [(operation.attribute("shape"), operation.attribute("dtype"))]
        if operation.type in MAKING:
            shape = held_shape(operation, MAKING[operation.type])
            return [(shape, operation.attribute("element_dtype"))]
        if operation.type in TELLING and not known:
            known = [(None, operation.attribute("element_dtype"))]
        is_handed = operation.type in PASSING or (operation.type in CHANGING and index == 0)
        if not is_handed or not operation.inputs:
            return known
        operation, index = operation.inputs[0]


def shape_behind(operation: Operation, place: int = 0) -> Shape:
    """The shape behind a handle that an operation takes; None where it isn't known."""
    pairs = behind(*operation.inputs[place])
    return pairs[0][0] if pairs else None


def held_shape(operation: Operation, place: int) -> Shape:
    """The shape that an input holds; None where it isn't known, or the input is a number."""
    return None if shape_at(operation, place) == () else sizes_at(operation, place)
