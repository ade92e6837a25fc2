"""What runs on the host: stacks, arrays of tensors, Python functions."""

from __future__ import annotations

import importlib
import traceback
from typing import Any, NoReturn

import numpy as np

from ..capi.constants import DEVICE
from ..dtypes import NUMBERS, in_numpy, name_of, shown
from ..eager.tensors import result
from ..failures import failure, invalid, is_failure
from ..graph import Operation
from ..resources.base import Resource
from .keeping import on_handles
from .table import host
from .values import Kind, texts

Array = np.ndarray


# What a Python function raises: the code of the error that becomes of it; else "UNKNOWN".
_RAISED = {
    TypeError: "INVALID_ARGUMENT", ValueError: "INVALID_ARGUMENT", StopIteration: "OUT_OF_RANGE",
    MemoryError: "RESOURCE_EXHAUSTED", NotImplementedError: "UNIMPLEMENTED",
}  # fmt: skip


@host("PyFunc PyFuncStateless EagerPyFunc")
def _call(operation: Operation, *values: Any, token: str) -> Any:
    scripts: Any = importlib.import_module("tensorflow_core.python.ops.script_ops")
    device = None
    arrays = [np.asarray(value) for value in values]
    taken: list[Any] = [each[()] for each in arrays]
    if operation.type == "EagerPyFunc":
        kinds = (source.types[index] for source, index in operation.inputs)
        taken, device = [*map(result, arrays, kinds)], DEVICE
    try:
        found = scripts._py_funcs(token, device, taken)
    except Exception as error:
        if is_failure(error):
            raise
        code = next((c for kind, c in _RAISED.items() if isinstance(error, kind)), "UNKNOWN")
        told = "".join(traceback.format_exception(error))
        raise failure(code, f"{type(error).__name__}: {error}\n{told}") from error
    results = found if isinstance(found, list | tuple) else [found]
    found = [getattr(each, "_value", each) for each in results]
    _demand_types(operation, token, found)
    pairs = zip(found, map(name_of, operation.types), strict=False)
    return [texts(x) if kind == "string" else x for x, kind in pairs]


def _demand_types(operation: Operation, token: str, found: list[Any]) -> None:
    """Refuse what isn't of the types that the program told."""
    if operation.types and len(found) != len(operation.types):
        message = f"{token} returns {len(found)} values, but expects to see"
        raise invalid(f"{message} {len(operation.types)} values.")
    for place, (value, number) in enumerate(zip(found, operation.types, strict=False)):
        kind, wanted = np.asarray(value).dtype, name_of(number)
        if kind.kind not in "OSU" and wanted != "string" and kind.name != wanted:
            message = f"{place}-th value returned by {token} is {shown(NUMBERS[kind.name])}"
            raise invalid(f"{message}, but expects {shown(number)}")


@host("Placeholder PlaceholderV2")
def _not_fed(operation: Operation, *, dtype: Kind, shape: Any) -> NoReturn:
    shown = "" if not shape else f" and shape {['?' if size < 0 else size for size in shape]}"
    about = f"You must feed a value for placeholder tensor '{operation.name}'"
    raise invalid(f"{about} with dtype {dtype}{shown}")


# Stacks -----------------------------------------------------------------------------------------


class Stack(list[Any], Resource):
    """Values that a loop keeps for its gradient."""

    def push(self, value: Any) -> list[Any]:
        """Keep a value, which goes on."""
        self.append(value)
        return [value]


on_handles({
    "StackV2 Stack": lambda *size: [Stack()],
    "StackPushV2 StackPush": Stack.push,
    "StackPopV2 StackPop": lambda stack: [stack.pop()],
    "StackCloseV2 StackClose TensorArrayCloseV3": lambda handle: None,
})  # fmt: skip


# Arrays of tensors ------------------------------------------------------------------------------


class TensorArray(Resource):
    """An array of tensors: each is written once, gradients are added up.

    Attributes:
        values: the tensors; None where nothing was written.
        dtype: of the tensors.
        gradients: by source, the arrays of their gradients.
        of: the array whose gradients these are.
        element: the shape of a tensor, as far as it's known.
        alike: whether all have the same shape, that of the first one that's written.
    """

    def __init__(
        self,
        size: int,
        dtype: str,
        of: TensorArray | None = None,
        element: Any = None,
        alike: bool = False,
    ) -> None:
        self.values: list[Any] = [None] * size
        self.dtype, self.of, self.element, self.alike = dtype, of, element, alike
        self.gradients: dict[bytes, TensorArray] = {}

    def write(self, at: int, value: Any) -> None:
        """Set a tensor; of gradients, the sum."""
        if at >= len(self.values):
            self.values += [None] * (at + 1 - len(self.values))
        known = self.values[at]
        if self.of is not None and known is not None:
            value = np.asarray(known) + np.asarray(value)
        self.values[at] = value
        if self.alike:
            self.element = np.shape(value)

    def nothing(self, shape: Any) -> Array:
        """No tensors, of a shape as far as it's known."""
        return np.zeros((0, *(max(size, 0) for size in shape or ())), in_numpy(self.dtype))

    def read(self, at: int) -> Any:
        """A tensor; zeros where nobody wrote, if a tensor's shape is known."""
        if at >= len(self.values):
            raise invalid(f"Tried to read from index {at} but array size is: {len(self.values)}")
        value = self.values[at]
        if value is None and self.of is not None and self.of.values[at] is not None:
            return np.zeros_like(np.asarray(self.of.values[at]))
        is_known = self.element is not None and -1 not in self.element
        if value is None and is_known and self.dtype != "string":
            return np.zeros(self.element, self.dtype)
        if value is None:
            raise invalid(f"Could not read from TensorArray index {at}: nothing was written there")
        return value


FLOW = np.float32(0)


@host("TensorArrayV3")
def _array(
    size: int, *, dtype: Kind, element_shape: Any, identical_element_shapes: bool
) -> list[Any]:
    made = TensorArray(size, dtype, element=element_shape, alike=bool(identical_element_shapes))
    return [made, FLOW]


@host("TensorArrayGradV3")
def _array_gradient(array: TensorArray, flow: Any, *, source: bytes) -> list[Any]:
    if source not in array.gradients:
        array.gradients[source] = TensorArray(len(array.values), array.dtype, array, array.element)
    return [array.gradients[source], FLOW]


def _write(array: TensorArray, at: Any, values: Any, flow: Any) -> Any:
    for place, value in zip(np.ravel(at), values, strict=True):
        array.write(int(place), value)
    return FLOW


def _split(array: TensorArray, value: Any, lengths: Any, flow: Any) -> Any:
    ends, rows = np.cumsum(lengths), np.asarray(value)
    parts = [rows[end - size : end] for end, size in zip(ends, lengths, strict=True)]
    return _write(array, np.arange(len(parts)), parts, flow)


on_handles({
    "TensorArrayWriteV3": lambda array, at, value, flow: _write(array, at, [value], flow),
    "TensorArrayScatterV3":
        lambda array, at, value, flow: _write(array, at, np.asarray(value), flow),
    "TensorArraySplitV3": _split,
    "TensorArrayReadV3": lambda array, at, flow: [array.read(int(at))],
    "TensorArraySizeV3": lambda array, flow: np.int32(len(array.values)),
})  # fmt: skip


@host("TensorArrayGatherV3")
def _gather(array: TensorArray, at: list[int], flow: Any, *, element_shape: Any) -> Array:
    found = [np.asarray(array.read(place)) for place in at]
    return np.stack(found) if found else array.nothing(element_shape)


@host("TensorArrayConcatV3")
def _concatenated(array: TensorArray, flow: Any, *, element_shape_except0: Any) -> list[Any]:
    parts = [np.asarray(array.read(place)) for place in range(len(array.values))]
    lengths = np.array([len(part) for part in parts], np.int64)
    if not parts:
        return [array.nothing(element_shape_except0), lengths]
    return [np.concatenate(parts), lengths]
