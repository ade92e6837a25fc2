"""Arrays of tensors, and the stacks of loops' gradients, where they're compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.filling import zeros
from kameleon.graph.primitives.indexing import gather

from ..graph import Operation
from ..lowering import ArrayHandle, Lowering, NotCompiledError, Places, StackHandle
from .table import kept
from .values import Kind, array, is_text, size_in, sizes_of, tensor

Array = np.ndarray

FLOW = np.float32(0)


def number_of(handle: ArrayHandle, lowering: Lowering) -> Any:
    """How many elements an array has, as a program is told."""
    size = lowering.size(handle)
    return np.int32(size) if isinstance(size, int) else size


def numeric(value: Any) -> Tensor:
    """A value as a tensor of K's, which holds no texts."""
    if is_text(value):
        raise NotCompiledError("texts aren't compiled")
    return tensor(value)


# Arrays of tensors ------------------------------------------------------------------------------


@kept("TensorArrayV3")
def _array(
    lowering: Lowering, operation: Operation, size: Any,
    *, dtype: Kind, element_shape: Any, dynamic_size: bool, clear_after_read: bool,
) -> list[Any]:  # fmt: skip
    if dtype == "object":
        raise NotCompiledError("texts aren't compiled")
    clears = clear_after_read is not False
    handle = ArrayHandle(operation.name, dtype, element_shape, grows=dynamic_size, clears=clears)
    lowering.begin(handle, size_in(size))
    return [handle, FLOW]


@kept("TensorArrayGradV3")
def _gradient(lowering: Lowering, handle: ArrayHandle, flow: Any, *, source: str) -> list[Any]:
    """An array for gradients, made when it's first asked for; elements begin as zeros."""
    key = f"{handle.key}/{source}"
    found = ArrayHandle(key, handle.dtype, handle.element, handle, clears=False)
    if not lowering.knows(found):
        lowering.begin_beside(found, handle)
    return [found, FLOW]


# What doesn't fit is refused where it's run: it may be in a branch that isn't taken.


def _demand_room(lowering: Lowering, handle: ArrayHandle, at: Any, dtype: str) -> None:
    """Leave to the host what isn't of the array's type, or may have no place in it."""
    size = lowering.size(handle)
    if dtype != handle.dtype:
        raise NotCompiledError("another type than the array's")
    if isinstance(at, Tensor) or not np.size(at):
        return
    if np.min(at) < 0 or (not handle.grows and isinstance(size, int) and np.max(at) >= size):
        raise NotCompiledError("places that an array doesn't have")


@kept("TensorArrayWriteV3")
def _write(
    lowering: Lowering, handle: ArrayHandle, at: Any, value: Any, flow: Any, *, T: Kind
) -> Any:
    _demand_room(lowering, handle, at, T)
    is_known = handle.of is None and not isinstance(at, Tensor)
    if is_known and int(at) in lowering.elements(handle).rows:
        raise NotCompiledError("an element that's written twice")
    if is_known and int(at) in lowering.seen.get(handle, ()):
        raise NotCompiledError("an element that's written when it was read")
    lowering.write(handle, at, numeric(lowering.value(value)))
    return FLOW


@kept("TensorArrayReadV3")
def _read(lowering: Lowering, handle: ArrayHandle, at: Any, flow: Any) -> Any:
    _demand_room(lowering, handle, at, handle.dtype)
    lowering.see(handle, Places([at if isinstance(at, Tensor) else int(at)]))
    return lowering.element(handle, at)


kept("TensorArraySizeV3")(lambda lowering, handle, flow: number_of(handle, lowering))


@kept("TensorArrayScatterV3")
def _scatter(
    lowering: Lowering, handle: ArrayHandle, at: Any, value: Any, flow: Any, *, T: Kind
) -> Any:
    _demand_room(lowering, handle, at, T)
    rows = numeric(lowering.value(value))
    if isinstance(at, Tensor) and at.primitive.name == "iota":
        lowering.put_from(handle, 0, rows)
    else:
        lowering.put(handle, array(at), rows)
    return FLOW


def _demand_alike(lowering: Lowering, handle: ArrayHandle, rank: int = 0) -> None:
    """Leave to the host an array whose elements are of several shapes, or of a lower rank."""
    shapes = {row.shape for row in lowering.elements(handle).rows.values()}
    columns = zip(*shapes, strict=False)
    are_alike = len({*map(len, shapes)}) < 2 and all(len({*each} - {None}) < 2 for each in columns)
    if not are_alike or any(len(shape) < rank for shape in shapes):
        raise NotCompiledError("elements of several shapes")


@kept("TensorArrayGatherV3")
def _gather(
    lowering: Lowering, handle: ArrayHandle, at: Any, flow: Any, *, element_shape: Any
) -> Any:
    if isinstance(at, Tensor):
        lowering.see(handle, Places([None if at.primitive.name == "iota" else at]))
        return gather(lowering.whole(handle), at, 0)
    if not len(at):
        return _no_rows(element_shape, handle.dtype)
    _demand_room(lowering, handle, at, handle.dtype)
    places = [int(place) for place in at]
    if handle.clears and len(set(places)) < len(places):
        raise NotCompiledError("an element that's read twice")
    lowering.see(handle, Places(places))
    _demand_alike(lowering, handle)
    return lowering.rows(handle, np.asarray(at))


def _no_rows(shape: Any, dtype: str) -> Tensor:
    """No elements, of a shape that must be known."""
    if shape is None or -1 in shape:
        raise NotCompiledError("what the shape of no elements is")
    return zeros([0, *shape], dtype)


@kept("TensorArrayConcatV3")
def _concatenated(
    lowering: Lowering, handle: ArrayHandle, flow: Any, *, element_shape_except0: Any
) -> list[Any]:
    lowering.see(handle, Places([None]))
    if lowering.size(handle) == 0:
        return [_no_rows(element_shape_except0, handle.dtype), np.zeros(0, np.int64)]
    _demand_alike(lowering, handle, 1)
    whole = lowering.whole(handle)
    count, rows, *rest = sizes_of(whole)
    joined = M.reshape(whole, [count * rows, *rest])
    return [joined, np.full(count, rows, np.int64)]


@kept("TensorArraySplitV3")
def _split(
    lowering: Lowering, handle: ArrayHandle, value: Any, sizes: Array, flow: Any, *, T: Kind
) -> Any:
    _demand_room(lowering, handle, np.arange(len(sizes)), T)
    if len(set(sizes.tolist())) > 1:
        raise NotCompiledError("elements of several shapes")
    node = numeric(lowering.value(value))
    if node.shape[0] != sizes.sum():
        raise NotCompiledError("lengths that aren't those of the rows")
    rows = M.reshape(node, [len(sizes), int(sizes[0]) if len(sizes) else 0, *sizes_of(node, 1)])
    lowering.put(handle, np.arange(len(sizes)), rows)
    return FLOW


kept("StackCloseV2 StackClose")(lambda handle: [])


# Stacks -----------------------------------------------------------------------------------------


kept("StackV2 Stack")(lambda operation, *size: StackHandle(operation.name))
kept("StackPopV2 StackPop")(lambda lowering, handle: lowering.pop_one(handle))


@kept("StackPushV2 StackPush")
def _push(lowering: Lowering, handle: StackHandle, value: Any) -> list[Any]:
    value = lowering.value(value)
    if is_text(value) or not isinstance(value, Tensor | np.ndarray | np.generic | ArrayHandle):
        raise NotCompiledError("a stack that holds no numbers")
    lowering.push_one(handle, value)
    return [value]
