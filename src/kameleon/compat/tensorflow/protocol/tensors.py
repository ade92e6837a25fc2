"""Arrays and shapes as messages, and of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import NUMBERS, in_numpy, name_of
from .messages import message

Array = np.ndarray

# By type: the field of a TensorProto that holds its numbers, where it isn't `int_val`.
_FIELDS = {
    "float16": "half_val", "bfloat16": "half_val", "float32": "float_val",
    "float64": "double_val", "string": "string_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "int64": "int64_val", "bool": "bool_val",
    "uint32": "uint32_val", "uint64": "uint64_val",
}  # fmt: skip


def number_of(values: Array) -> int:
    """The number of an array's type."""
    return NUMBERS["string" if values.dtype.kind in "OSU" else values.dtype.name]


def numpy_dtype(number: int) -> np.dtype[Any]:
    """NumPy's name of a type of tensors that are stored."""
    return np.dtype(in_numpy(name_of(number)))


def shape_message(shape: Sequence[int]) -> Any:
    """A shape as a message TensorShapeProto."""
    return message("TensorShapeProto")(dim=[{"size": size} for size in shape])


def sizes_of(shape: Any) -> tuple[int, ...]:
    """The sizes that a message TensorShapeProto tells."""
    return tuple(each.size for each in shape.dim)


def strings(values: Array) -> list[bytes]:
    """The strings of an array, as bytes."""
    return [each if isinstance(each, bytes) else str(each).encode() for each in values.flat]


def tensor_message(values: Array) -> Any:
    """An array as a message TensorProto: its bytes, or its strings."""
    number = number_of(values)
    made = message("TensorProto")(dtype=number, tensor_shape=shape_message(values.shape))
    if name_of(number) == "string":
        made.string_val.extend(strings(values))
    else:
        made.tensor_content = values.tobytes()
    return made


def numbers_message(values: Array) -> Any:
    """The numbers of an array, or its strings, as a message TensorProto without its shape."""
    name = name_of(number_of(values))
    field, numbers = _FIELDS.get(name, "int_val"), values.ravel()
    if field == "half_val":
        numbers = numbers.view(np.uint16)
    elif numbers.dtype.kind == "c":
        numbers = numbers.view(numbers.real.dtype)
    found = strings(values) if name == "string" else numbers.tolist()
    return message("TensorProto")(**{field: found})


def array_of(proto: Any, number: int | None = None, sizes: Sequence[int] | None = None) -> Array:
    """The array of a message TensorProto: its bytes, or its numbers, of which the last one stands
    for all that aren't there.

    Args:
        proto: the message.
        number: of the type; by default the message tells it.
        sizes: the shape; by default the message tells it.
    """
    name = name_of(proto.dtype if number is None else number)
    kind = numpy_dtype(NUMBERS[name])
    shape = sizes_of(proto.tensor_shape) if sizes is None else tuple(sizes)
    if proto.tensor_content:
        return np.frombuffer(proto.tensor_content, kind).reshape(shape).copy()
    numbers: Any = getattr(proto, _FIELDS.get(name, "int_val"))
    if kind.kind == "c":
        numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    if _FIELDS.get(name) == "half_val":
        numbers = np.array(numbers, np.uint16).view(kind)
    last = numbers[-1] if len(numbers) else b"" if name == "string" else 0
    found = np.full(int(np.prod(shape, dtype=np.int64)), last, kind)
    found[: len(numbers)] = numbers
    return found.reshape(shape)
