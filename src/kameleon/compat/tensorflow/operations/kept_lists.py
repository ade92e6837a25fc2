"""Lists of tensors where they're compiled: as arrays, or as stacks where they begin empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.sizes import size_of

from ..graph import Operation
from ..inner import Inner
from ..lowering import (
    ArrayHandle,
    ListHandle,
    Lowering,
    NotCompiledError,
    Single,
    StackHandle,
)
from .kept import number_of, numeric
from .lists import shape_in
from .table import kept
from .values import Kind, size_in


def _demand_kept(given: Any, kind: type, where: str) -> None:
    """Refuse what is no list, or one that's kept otherwise."""
    if not isinstance(given, ListHandle) or not isinstance(given.of, kind):
        raise NotCompiledError(f"a list that isn't kept {where}")


def _array_of(lowering: Lowering, given: Any) -> Any:
    """The array that a list is kept in."""
    _demand_kept(given, ArrayHandle, "in an array")
    return lowering.newest(given)


def _stack_of(lowering: Lowering, given: Any) -> Any:
    """The stack that a list is kept in."""
    _demand_kept(given, StackHandle, "on a stack")
    return lowering.newest(given)


# Making -----------------------------------------------------------------------------------------


@kept("EmptyTensorList")
def _empty(lowering: Lowering, operation: Operation, shape: Any, limit: Any) -> ListHandle:
    if isinstance(lowering, Inner):
        raise NotCompiledError("a list that's made in a loop, or in a branch")
    return lowering.moved(StackHandle(operation.name))


@kept("TensorListReserve")
def _reserve(
    lowering: Lowering, operation: Operation, shape: Any, count: Any, *, element_dtype: Kind
) -> Any:
    if isinstance(lowering, Inner):
        return Single(size_in(count))
    element = None if isinstance(shape, Tensor) else shape_in(shape)
    return _begun(lowering, operation, element_dtype, element, count)


def _begun(
    lowering: Lowering, operation: Operation, dtype: str, element: Any, count: Any
) -> ListHandle:
    if dtype == "object":
        raise NotCompiledError("texts aren't compiled")
    handle = ArrayHandle(operation.name, dtype, element)
    lowering.begin(handle, size_in(count))
    return lowering.moved(handle)


@kept("TensorListFromTensor")
def _from_tensor(
    lowering: Lowering, operation: Operation, value: Any, shape: Any, *, element_dtype: Kind
) -> ListHandle:
    rows = numeric(lowering.value(value))
    found = _begun(lowering, operation, element_dtype, None, size_of(rows, 0))
    lowering.replace(_array_of(lowering, found), rows)
    return found


@kept("ZerosLike")
def _zeros(lowering: Lowering, operation: Operation, given: Any) -> Any:
    like = _array_of(lowering, given)
    size = lowering.size(like)
    if isinstance(lowering, Inner):
        return Single(size)
    shape = lowering.elements(like).shape(like)
    return _begun(lowering, operation, like.dtype, shape, size)


# Adding, taking ---------------------------------------------------------------------------------


@kept("TensorListPushBack")
def _push(lowering: Lowering, given: Any, value: Any) -> ListHandle:
    found = lowering.value(value)
    if not isinstance(found, Tensor | np.ndarray | np.generic):
        raise NotCompiledError("a list that holds no numbers")
    stack = _stack_of(lowering, given)
    lowering.push_one(stack, found)
    return lowering.moved(stack)


@kept("TensorListPopBack")
def _pop(lowering: Lowering, given: Any, shape: Any) -> list[Any]:
    stack = _stack_of(lowering, given)
    found = lowering.pop_one(stack)
    return [lowering.moved(stack), found]


@kept("TensorListSetItem")
def _set(lowering: Lowering, given: Any, at: Any, value: Any) -> Any:
    found = numeric(lowering.value(value))
    if isinstance(given, Single) and given.value is None:
        return given._replace(at=at, value=found)
    _array_of(lowering, given)
    return lowering.set_item(given, at, found)


@kept("TensorListGetItem")
def _get(lowering: Lowering, given: Any, at: Any, shape: Any) -> Tensor:
    _demand_kept(given, ArrayHandle, "in an array")
    return lowering.item(given, at)


@kept("AddN")
def _sum(lowering: Lowering, *given: Any) -> Any:
    """The sum of lists: of one that's kept, and of gradients of its elements."""
    whole = [each for each in given if isinstance(each, ListHandle)]
    if not whole:
        raise NotCompiledError("a sum of lists that are made in a loop")
    found = whole[0]
    for each in given:
        if isinstance(each, Single) and each.value is not None:
            found = lowering.set_item(found, each.at, each.value, adds=True)
    for each in whole[1:]:
        array, other = _array_of(lowering, found), _array_of(lowering, each)
        lowering.replace(array, E.add(lowering.whole(array), lowering.whole(other)))
        found = lowering.moved(array)
    return found


# What's in them ---------------------------------------------------------------------------------


kept("TensorListStack")(lambda lowering, given, shape: lowering.whole(_array_of(lowering, given)))
kept("TensorListLength")(lambda lowering, given: number_of(_array_of(lowering, given), lowering))


@kept("TensorListElementShape")
def _element_shape(lowering: Lowering, given: Any, *, shape_type: Kind) -> np.ndarray:
    element = _array_of(lowering, given).element
    return np.array(-1 if element is None else element, shape_type)
