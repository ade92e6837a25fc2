"""The class of eager tensors: a value that is there, and its type."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..capi.exports import export
from ..dtypes import HANDLES, NUMBERS, name_of
from ..graph import DEVICE
from .conversion import as_array, texts

_numbers = itertools.count()
next_id = export("TFE_Py_UID")(_numbers.__next__)


class Kind:
    """The class of eager tensors, once TensorFlow's files have told its base."""

    tensor: Any = None


@export("TFE_Py_InitEagerTensor")
def begin(base: Any) -> type:
    """The class, which derives from one of TensorFlow's."""

    class EagerTensor(base):  # type: ignore[misc]
        """A tensor whose value is there."""

        _value: Any
        _number: int
        _tensor_shape = _keras_mask = _handle_data = None
        device = backing_device = property(lambda self: DEVICE)

        def __init__(self, value: Any, device: Any, dtype: int | None = None) -> None:
            if isinstance(value, EagerTensor):
                value = value._numpy() if dtype not in (None, value._number) else value._value
            self._value, self._number = as_array(value, dtype)
            self._id = next_id()

        def _numpy(self) -> Any:
            if self._number in HANDLES:
                kind = name_of(self._number)
                raise ValueError(f"Cannot convert a Tensor of dtype {kind} to a NumPy array.")
            return self._value if self._value.ndim else self._value[()]

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            found = np.asarray(self._numpy())
            return np.array(found, dtype) if copy or dtype is not None else found

        def _datatype_enum(self) -> Any:
            return self._number

        def _shape_tuple(self) -> Any:
            return self._value.shape if isinstance(self._value, np.ndarray) else ()

        def _rank(self) -> int:
            return len(self._shape_tuple())

        def _num_elements(self) -> int:
            return self._value.size if isinstance(self._value, np.ndarray) else 1

        def _copy_to_device(self, name: str) -> Any:
            return tensor(self._value, self._number)

    EagerTensor.__module__ = base.__module__
    EagerTensor.__qualname__ = "EagerTensor"
    Kind.tensor = EagerTensor
    return EagerTensor


def kind_of(value: Any) -> str:
    """The name of a value's class as messages have it: with its module, if that isn't Python's."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def tensor(value: Any, number: int) -> Any:
    """An eager tensor with a value: an array of its type, or what is behind a handle."""
    kind = Kind.tensor
    made = kind.__new__(kind)
    made._value, made._number, made._id = value, number, next_id()
    return made


def result(value: Any, number: int) -> Any:
    """An eager tensor of what an operation gave."""
    if number == NUMBERS["string"]:
        value = texts(value)
    elif number not in HANDLES and type(value) is not np.ndarray:
        value = np.asarray(value)
    return tensor(value, number)
