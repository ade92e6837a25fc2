"""What runs on the host: stacks, arrays of tensors, Python functions."""

from __future__ import annotations

import importlib
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import NUMBERS, name_of, shown
from ..eager.tensors import DEVICE, result
from ..failures import failure, is_failure
from ..resources.base import Resource
from .table import host
from .values import dtype_of

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store

Array = np.ndarray


# What a Python function raises: the code of the error that becomes of it; else "UNKNOWN".
_RAISED = {
    TypeError: "INVALID_ARGUMENT", ValueError: "INVALID_ARGUMENT", StopIteration: "OUT_OF_RANGE",
    MemoryError: "RESOURCE_EXHAUSTED", NotImplementedError: "UNIMPLEMENTED",
}  # fmt: skip


@host("PyFunc PyFuncStateless EagerPyFunc")
def _call(store: Store, operation: Operation, *values: Any) -> Any:
    scripts: Any = importlib.import_module("tensorflow_core.python.ops.script_ops")
    token, device = operation.attribute("token").decode(), None
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
    return found


def _demand_types(operation: Operation, token: str, found: list[Any]) -> None:
    """Refuse what isn't of the types that the program told."""
    if operation.types and len(found) != len(operation.types):
        message = f"{token} returns {len(found)} values, but expects to see"
        raise failure("INVALID_ARGUMENT", f"{message} {len(operation.types)} values.")
    for place, (value, number) in enumerate(zip(found, operation.types, strict=False)):
        kind, wanted = np.asarray(value).dtype, name_of(number)
        if kind.kind not in "OSU" and wanted != "string" and kind.name != wanted:
            message = f"{place}-th value returned by {token} is {shown(NUMBERS[kind.name])}"
            raise failure("INVALID_ARGUMENT", f"{message}, but expects {shown(number)}")


@host("Placeholder PlaceholderV2")
def _not_fed(store: Store, operation: Operation) -> list[Any]:
    kind, shape = dtype_of(operation, "dtype"), operation.attribute("shape")
    shown = "" if not shape else f" and shape {['?' if size < 0 else size for size in shape]}"
    message = (
        f"You must feed a value for placeholder tensor '{operation.name}' with dtype {kind}{shown}"
    )
    raise failure("INVALID_ARGUMENT", f"{message}\n\t [[{{{{node {operation.name}}}}}]]")


# Stacks -----------------------------------------------------------------------------------------


class Stack(list[Any], Resource):
    """Values that a loop keeps for its gradient."""


@host("StackV2 Stack")
def _stack(store: Store, operation: Operation, *size: Any) -> list[Any]:
    return [Stack()]


@host("StackPushV2 StackPush")
def _push(store: Store, operation: Operation, stack: Stack, value: Any) -> list[Any]:
    stack.append(value)
    return [value]


@host("StackPopV2 StackPop")
def _pop(store: Store, operation: Operation, stack: Stack) -> list[Any]:
    return [stack.pop()]


@host("StackCloseV2 StackClose TensorArrayCloseV3")
def _close(store: Store, operation: Operation, handle: Any) -> list[Any]:
    return []


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
        kind = "object" if self.dtype == "string" else self.dtype
        return np.zeros((0, *(max(size, 0) for size in shape or ())), kind)

    def read(self, at: int) -> Any:
        """A tensor; zeros where nobody wrote, if a tensor's shape is known."""
        if at >= len(self.values):
            message = f"Tried to read from index {at} but array size is: {len(self.values)}"
            raise failure("INVALID_ARGUMENT", message)
        value = self.values[at]
        if value is None and self.of is not None and self.of.values[at] is not None:
            return np.zeros_like(np.asarray(self.of.values[at]))
        is_known = self.element is not None and -1 not in self.element
        if value is None and is_known and self.dtype != "string":
            return np.zeros(self.element, self.dtype)
        if value is None:
            message = f"Could not read from TensorArray index {at}: nothing was written there"
            raise failure("INVALID_ARGUMENT", message)
        return value


FLOW = np.float32(0)


@host("TensorArrayV3")
def _array(store: Store, operation: Operation, size: Any) -> list[Any]:
    shape = operation.attribute("element_shape")
    alike = bool(operation.attribute("identical_element_shapes"))
    kind = dtype_of(operation, "dtype")
    return [TensorArray(int(size), kind, element=shape, alike=alike), FLOW]


@host("TensorArrayGradV3")
def _array_gradient(store: Store, operation: Operation, array: TensorArray, flow: Any) -> list[Any]:
    source = operation.attribute("source")
    if source not in array.gradients:
        array.gradients[source] = TensorArray(len(array.values), array.dtype, array, array.element)
    return [array.gradients[source], FLOW]


@host("TensorArrayWriteV3")
def _write(
    store: Store, operation: Operation, array: TensorArray, at: Any, value: Any, flow: Any
) -> Any:
    array.write(int(at), value)
    return FLOW


@host("TensorArrayReadV3")
def _read(store: Store, operation: Operation, array: TensorArray, at: Any, flow: Any) -> Any:
    return array.read(int(at))


@host("TensorArraySizeV3")
def _size(store: Store, operation: Operation, array: TensorArray, flow: Any) -> Any:
    return np.int32(len(array.values))


@host("TensorArrayScatterV3")
def _scatter(
    store: Store, operation: Operation, array: TensorArray, at: Any, value: Any, flow: Any
) -> Any:
    for place, part in zip(np.asarray(at), np.asarray(value), strict=True):
        array.write(int(place), part)
    return FLOW


@host("TensorArrayGatherV3")
def _gather(store: Store, operation: Operation, array: TensorArray, at: Any, flow: Any) -> Array:
    found = [np.asarray(array.read(int(place))) for place in np.asarray(at)]
    if found:
        return np.stack(found)
    return array.nothing(operation.attribute("element_shape"))


@host("TensorArraySplitV3")
def _split(
    store: Store, operation: Operation, array: TensorArray, value: Any, lengths: Any, flow: Any
) -> Any:
    ends = np.cumsum(lengths)
    for place, end in enumerate(ends):
        array.write(place, np.asarray(value)[end - lengths[place] : end])
    return FLOW


@host("TensorArrayConcatV3")
def _concatenated(store: Store, operation: Operation, array: TensorArray, flow: Any) -> list[Any]:
    parts = [np.asarray(array.read(place)) for place in range(len(array.values))]
    lengths = np.array([len(part) for part in parts], np.int64)
    if not parts:
        return [array.nothing(operation.attribute("element_shape_except0")), lengths]
    return [np.concatenate(parts), lengths]
