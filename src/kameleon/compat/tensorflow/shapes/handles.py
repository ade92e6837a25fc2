"""What is behind handles: shapes and types of variables, and of what lists hold."""

from __future__ import annotations

import importlib
from typing import Any

from ..graph import PASSING, Operation, Shape, shape_of
from .known import value_at
from .rules import known_sizes

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


def message() -> Any:
    """The class of the message that tells what is behind a handle."""
    module: Any = importlib.import_module(
        "tensorflow_core.python.framework.cpp_shape_inference_pb2"
    )
    return module.CppShapeInferenceResult.HandleData


def behind(operation: Operation, index: int = 0) -> list[tuple[Shape, int]]:
    """The shapes and types behind a handle that an operation gives; none where nothing is known."""
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
        if operation.type not in PASSING and operation.type not in CHANGING:
            return []
        if not operation.inputs:
            return []
        operation, index = operation.inputs[0]


def shape_behind(operation: Operation, place: int = 0) -> Shape:
    """The shape behind a handle that an operation takes; None where it isn't known."""
    pairs = behind(*operation.inputs[place])
    return pairs[0][0] if pairs else None


def held_shape(operation: Operation, place: int) -> Shape:
    """The shape that an input holds; None where it isn't known."""
    value = value_at(operation, place)
    return None if value is None or value.ndim == 0 else known_sizes(value)
