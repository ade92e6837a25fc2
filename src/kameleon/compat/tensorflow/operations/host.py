"""What runs on the host: stacks, arrays of tensors, Python functions."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from itertools import count
from typing import Any, NoReturn

import numpy as np

from ..dtypes import NUMBERS, in_numpy, name_of, shown
from ..eager.tensors import result
from ..failures import failure, invalid, is_failure
from ..graph import DEVICE, Operation, shape_text
from ..resources.base import Resource
from ..shapes.rules import may_be_same, merged
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
    device = None
    arrays = [np.asarray(value) for value in values]
    taken: list[Any] = [each[()] for each in arrays]
    if operation.type == "EagerPyFunc":
        kinds = (source.types[index] for source, index in operation.inputs)
        taken, device = [*map(result, arrays, kinds)], DEVICE
    try:
        found = _registry()(token, device, taken)
    except Exception as error:
        if is_failure(error):
            raise
        code = next((c for kind, c in _RAISED.items() if isinstance(error, kind)), "UNKNOWN")
        assert error.__traceback__ is not None  # its first frame is this one
        shown = traceback.format_exception(type(error), error, error.__traceback__.tb_next)
        trace = "".join(shown)
        raise failure(code, f"{type(error).__name__}: {error}\n{trace}") from error
    results = found if isinstance(found, list | tuple) else [] if _is_none(found) else [found]
    found = [getattr(each, "_value", each) for each in results]
    for each in found:
        _demand_texts(each)
    _demand_types(operation, token, found)
    pairs = zip(found, map(name_of, operation.types), strict=False)
    return [texts(x) if kind == "string" else x for x, kind in pairs]


@cache
def _registry() -> Any:
    """What TensorFlow's Python files find functions by."""
    scripts: Any = importlib.import_module("tensorflow_core.python.ops.script_ops")
    return scripts._py_funcs


def _is_none(found: Any) -> bool:
    """Whether a function gave None, which TensorFlow's Python files may have made an array of."""
    return found is None or (isinstance(found, np.ndarray) and found[()] is None)


def _demand_texts(found: Any) -> None:
    """Refuse an array of Python's objects that aren't strings."""
    if isinstance(found, np.ndarray) and found.dtype == object:
        for each in found.flat:
            if not isinstance(each, str | bytes):
                kind = type(each)
                module = f"{kind.__module__}." if issubclass(kind, np.generic) else ""
                raise failure("INTERNAL", f"Unsupported object type {module}{kind.__name__}")


def _demand_types(operation: Operation, token: str, found: list[Any]) -> None:
    """Refuse what isn't of the types that the program told."""
    if operation.types and len(found) != len(operation.types):
        message = f"{token} returns {len(found)} values, but expects to see"
        raise invalid(f"{message} {len(operation.types)} values.")
    for place, (value, number) in enumerate(zip(found, operation.types, strict=False)):
        wanted = name_of(number)
        kind = _name_of(np.asarray(value).dtype)
        if kind != wanted:
            message = f"{place}-th value returned by {token} is {shown(NUMBERS[kind])}"
            raise invalid(f"{message}, but expects {shown(number)}")


@cache
def _name_of(dtype: np.dtype[Any]) -> str:
    return "string" if dtype.kind in "OSU" else dtype.name


@host("Placeholder PlaceholderV2")
def _not_fed(operation: Operation, *, dtype: Kind, shape: Any) -> NoReturn:
    about = f"You must feed a value for placeholder tensor '{operation.name}'"
    about = f"{about} with dtype {shown(operation.types[0])}"
    raise invalid(f"{about} and shape {shape_text(shape)}" if shape else about)


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
    "StackCloseV2 StackClose": lambda handle: None,
})  # fmt: skip


# Arrays of tensors ------------------------------------------------------------------------------


_NOT_WRITTEN = (
    "Could not read from TensorArray index {}.  Furthermore, the element shape is not fully"
    " defined: {}.  It is possible you are working with a resizeable TensorArray and"
    " stop_gradients is not allowing the gradients to be written.  If you set the full"
    " element_shape property on the forward TensorArray, the proper all-zeros tensor will be"
    " returned instead of incurring this error."
)


class TensorArray(Resource):
    """An array of tensors: each is written once, gradients are added up.

    Attributes:
        values: the tensors; None where nothing was written.
        seen: which of them were read.
        dtype: of the tensors.
        element: the shape of a tensor, as far as it's known.
        alike: whether all have the same shape, that of the first one that's written.
        grows: whether it gets larger as it's written.
        clears: whether what was read is gone.
        of: the array whose gradients these are.
        gradients: by source, the arrays of their gradients.
        name: of the operation that made it, and its number.
        is_closed: whether it's of no use any more.
    """

    def __init__(
        self,
        size: int,
        dtype: str,
        name: str,
        element: Any = None,
        *,
        alike: bool = False,
        grows: bool = False,
        clears: bool = True,
        of: TensorArray | None = None,
    ) -> None:
        self.values: list[Any] = [None] * size
        self.seen, self.is_closed = set[int](), False
        self.grows, self.clears, self.name = grows, clears, name
        self.dtype, self.of, self.element, self.alike = dtype, of, element, alike
        self.gradients: dict[str, TensorArray] = {}

    @property
    def open(self) -> TensorArray:
        """The array, unless it's closed."""
        if self.is_closed:
            raise invalid(f"TensorArray {self.name} has already been closed.")
        return self

    def close(self) -> None:
        """Let nobody use it any more."""
        self.is_closed = True

    def write(self, at: int, value: Any) -> None:
        """Set a tensor; of gradients, the sum."""
        count, is_gradient = len(self.values), self.of is not None
        if at < 0 or (at >= count and not self.grows):
            message = f"to index {at} but array is not resizeable and size is: {count}"
            raise self._no(f"Tried to write {message}")
        self.values += [None] * (at + 1 - count)
        known, value = self.values[at], self.array(value)
        if at in self.seen:
            raise self._no_write(at, "it has already been read.")
        if known is not None and not is_gradient:
            raise self._no_write(at, "it has already been written to.")
        if not is_gradient and not may_be_same(self.element, value.shape):
            about = f"the value shape is {shape_text(value.shape)} which is incompatible with"
            raise self._no_write(
                at, f"{about} the TensorArray's inferred element shape: {shape_text(self.element)}"
            )
        self.values[at] = value if known is None else known + value
        if self.alike:
            self.element = value.shape

    def _no(self, why: str) -> Exception:
        return invalid(f"TensorArray {self.name}: {why}")

    def _no_write(self, at: int, why: str) -> Exception:
        return self._no(f"Could not write to TensorArray index {at} because {why}")

    def array(self, value: Any) -> Array:
        """A tensor as NumPy has it."""
        return texts(value) if self.dtype == "string" else np.asarray(value)

    def read(self, at: int) -> Any:
        """A tensor; zeros where nobody wrote, if a tensor's shape is known."""
        if not 0 <= at < len(self.values):
            raise invalid(f"Tried to read from index {at} but array size is: {len(self.values)}")
        if self.clears and at in self.seen:
            why = "it was cleared after a previous read (perhaps try setting clear_after_read ="
            raise self._no(f"Could not read index {at} twice because {why} false?).")
        self.seen.add(at)
        value = self.values[at]
        return self._nothing_at(at) if value is None else value

    def _nothing_at(self, at: int) -> Array:
        if self.of is not None and self.of.values[at] is not None:
            return np.zeros_like(np.asarray(self.of.values[at]))
        if self.element is None or -1 in self.element:
            raise self._no(_NOT_WRITTEN.format(at, shape_text(self.element)))
        if self.dtype == "string":
            raise invalid("tensor_array::TensorSetZero type not supported: string")
        return np.zeros(self.element, self.dtype)


FLOW = np.float32(0)
_NUMBERS = count()  # of all arrays, from 0 on


@host("TensorArrayV3")
def _array(
    operation: Operation, size: int, *, dtype: Kind, element_shape: Any,
    identical_element_shapes: bool, dynamic_size: bool, clear_after_read: bool,
) -> list[Any]:  # fmt: skip
    made = TensorArray(
        size, dtype, f"{operation.name}_{next(_NUMBERS)}", element_shape,
        alike=bool(identical_element_shapes), grows=bool(dynamic_size),
        clears=clear_after_read is not False,
    )  # fmt: skip
    return [made, FLOW]


@host("TensorArrayGradV3")
def _array_gradient(array: TensorArray, flow: Any, *, source: str) -> list[Any]:
    if source not in array.open.gradients:
        name = f"{array.name}@{source}"
        made = TensorArray(len(array.values), array.dtype, name, array.element, of=array)
        array.gradients[source] = made
    return [array.gradients[source], FLOW]


def _scattered(array: TensorArray, at: Any, value: Any) -> Any:
    places, count = np.ravel(at), len(array.values)
    if places.size and places.max() >= count and not array.grows:
        raise invalid(f"Max scatter index must be < array size ({places.max()} vs. {count})")
    return places, array.array(value)


def _cut(array: TensorArray, value: Any, lengths: Any) -> Any:
    ends, rows = np.cumsum(lengths), array.array(value)
    if np.sum(lengths) != len(rows):
        message = f"but sum of lengths is {np.sum(lengths)} and value's shape is: "
        wanted = "Expected sum of lengths to be equal to values.shape[0]"
        raise invalid(f"{wanted}, {message}{shape_text(rows.shape)}")
    parts = [rows[end - size : end] for end, size in zip(ends, lengths, strict=True)]
    return np.arange(len(parts)), parts


# By type, where which tensors are written.
_WRITTEN: dict[str, Callable[..., Any]] = {
    "TensorArrayWriteV3": lambda array, at, value: ([int(at)], [value]),
    "TensorArrayScatterV3": _scattered,
    "TensorArraySplitV3": _cut,
}


@host(" ".join(_WRITTEN))
def _write(
    operation: Operation, array: TensorArray, one: Any, other: Any, flow: Any, *, T: Kind
) -> Any:
    if array.dtype != T:
        types = [shown(NUMBERS[each]) for each in (array.dtype, T)]
        raise invalid(f"TensorArray dtype is {types[0]} but Op is trying to write dtype {types[1]}")
    for place, value in zip(*_WRITTEN[operation.type](array, one, other), strict=True):
        array.open.write(int(place), value)
    return FLOW


on_handles({
    "TensorArrayReadV3": lambda array, at, flow: [array.open.read(int(at))],
    "TensorArraySizeV3": lambda array, flow: np.int32(len(array.open.values)),
    "TensorArrayCloseV3": TensorArray.close,
})  # fmt: skip


def _no_rows(array: TensorArray, shape: Any, name: str, doing: str) -> Array:
    """No tensors, of a shape that must be known."""
    if shape is None or -1 in shape:
        about = f"TensorArray has size zero, but {name} {shape_text(shape)} is not fully defined."
        only = f"Currently only static shapes are supported when {doing} zero-size TensorArrays."
        raise failure("UNIMPLEMENTED", f"{about} {only}")
    return np.zeros((0, *shape), in_numpy(array.dtype))


def _demand_alike(shapes: Iterable[Any], name: str) -> None:
    """Refuse tensors of several shapes."""
    first, *others = map(shape_text, shapes)
    for at, other in enumerate(others, 1):
        if other != first:
            about = f"Index 0 has {name}: {first} but index {at} has {name}: {other}"
            raise invalid(f"TensorArray has inconsistent shapes.  {about}")


@host("TensorArrayGatherV3")
def _gather(array: TensorArray, at: list[int], flow: Any, *, element_shape: Any) -> Array:
    if element_shape is not None and may_be_same(array.open.element, element_shape):
        array.element = merged(array.element, element_shape)  # where nobody wrote, zeros are read
    if not at:
        return _no_rows(array, element_shape, "element shape", "packing")
    found = [array.array(array.open.read(place)) for place in at]
    _demand_alike((each.shape for each in found), "shape")
    return np.stack(found)


@host("TensorArrayConcatV3")
def _concatenated(array: TensorArray, flow: Any, *, element_shape_except0: Any) -> list[Any]:
    if not array.open.values:
        none = _no_rows(array, element_shape_except0, "element_shape_except0", "concatenating")
        return [none, np.zeros(0, np.int64)]
    parts = [array.array(array.read(place)) for place in range(len(array.values))]
    if any(not each.ndim for each in parts):
        which = [each.ndim for each in parts].index(0)
        about = f"Concat saw a scalar shape at index {which} but requires at least vectors."
        raise invalid(f"{about}  Did you mean to call pack?")
    _demand_alike((each.shape[1:] for each in parts), "(excepting dimension 0) shape")
    return [np.concatenate(parts), np.array([len(each) for each in parts], np.int64)]
