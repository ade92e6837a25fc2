"""Python values as arrays, by the rules of TensorFlow's eager tensors.

A number's type follows from the first leaf of nested sequences; arrays of NumPy keep theirs, and
are cast to any type that is asked for.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..dtypes import NAMES, NUMBERS, OF_HANDLES, held, shown

Array = np.ndarray
MIXED = "Can't convert Python sequence with mixed types to Tensor."
RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
TOO_BIG = "Can't convert Python sequence with out-of-range integer to Tensor."
TOO_BIG_REAL = (
    "Can't convert Python sequence with a value out of range for a double-precision float."
)

FLOAT32, FLOAT64, FLOAT16, INT32, INT64, UINT64, BOOL, STRING, COMPLEX128 = (
    NUMBERS[name]
    for name in "float32 float64 float16 int32 int64 uint64 bool string complex128".split()
)
OBJECT = np.dtype(object)


class ConversionError(Exception):
    """A sequence that can't be a tensor of a type; the message says why, in TensorFlow's words."""


# Types ------------------------------------------------------------------------------------------

_KINDS = {"i": "integer", "u": "integer", "f": "float", "V": "float", "c": "complex"}


def _dtype(name: str) -> np.dtype[Any]:
    """What NumPy has for a type."""
    if name == "string":
        return OBJECT
    if name == "bfloat16":
        ml_dtypes: Any = importlib.import_module("ml_dtypes")
        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found
    return np.dtype(held(name))


DTYPES = {
    number: _dtype(name)
    for name, number in NUMBERS.items()
    if name not in OF_HANDLES and (name != "bfloat16" or find_spec("ml_dtypes"))
}
_NUMBERS = {dtype: number for number, dtype in DTYPES.items() if NAMES[number - 1][0] != "q"}


def number_of(dtype: np.dtype[Any]) -> int:
    """The number of the data type of an array.

    >>> number_of(np.dtype("float32"))
    1
    """
    found = _NUMBERS.get(dtype)
    if found is None and dtype.kind in "SU":
        return STRING
    if found is None and dtype.kind in "iufcb":
        found = _NUMBERS.get(dtype.newbyteorder("="))
    if found is None:
        kind = {"M": "NPY_DATETIME", "m": "NPY_TIMEDELTA", "V": "NPY_VOID"}.get(dtype.kind)
        message = f"(Unsupported numpy type: {kind or dtype})"
        raise ValueError(f"Failed to convert a NumPy array to a Tensor {message}.")
    return found


def _can_stand_for(wanted: int, given: int) -> bool:
    """Whether numbers of a type may be cast to one that is asked for, where Python gave them."""
    ranks = {"integer": 0, "float": 1, "complex": 2}
    one, other = (_KINDS.get(DTYPES[number].kind, "") for number in (wanted, given))
    return one in ranks and other in ranks and ranks[one] >= ranks[other]


# Arrays -----------------------------------------------------------------------------------------


def as_array(value: Any, wanted: int | None = None) -> tuple[Array, int]:
    """A Python value as an array, and the number of its type.

    Args:
        value: a number, a text, nested sequences, an array.
        wanted: the number of the type that it's to have.

    Raises:
        ValueError: there is no tensor like that.
        TypeError: there's none of that type.
    """
    if isinstance(value, np.ndarray | np.generic):
        return _of_numpy(np.asarray(value), wanted)
    try:
        found, number = _of_python(value, wanted)
    except ConversionError as error:
        raise ValueError(str(error)) from None
    if wanted is None or number == wanted:
        return found, number
    if not _can_stand_for(wanted, number):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {shown(wanted)}")
    with np.errstate(all="ignore"):
        return found.astype(DTYPES[wanted]), wanted


def _of_numpy(array: Array, wanted: int | None) -> tuple[Array, int]:
    if array.dtype.kind in "SU" and wanted in (None, STRING):
        array = np.asarray([_text(each) for each in array.ravel()], object).reshape(array.shape)
    elif array.dtype == OBJECT:
        if wanted not in (None, STRING):
            return array.astype(DTYPES[wanted]), wanted
        array = texts(array)
    if wanted is None:
        number = number_of(array.dtype)
        return np.array(array, DTYPES[number]), number
    if wanted != STRING or array.dtype == OBJECT:
        with np.errstate(all="ignore"):
            return np.array(array).astype(DTYPES[wanted]), wanted
    return texts(array.astype(object)), wanted


def _text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def texts(value: Any) -> Array:
    """Strings, or one, as an array of bytes."""
    array = np.asarray(value, object)
    for each in array.ravel():
        if not isinstance(each, str | bytes):
            message = f"(Unsupported object type {type(each).__name__})"
            raise ValueError(f"Failed to convert a NumPy array to a Tensor {message}.")
    found = np.empty(array.size, object)
    found[:] = [_text(each) for each in array.ravel()]
    return found.reshape(array.shape)


# Sequences --------------------------------------------------------------------------------------

_SCALARS = (bool, int, float, complex, str, bytes)


def _is_sequence(value: Any) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return False
    if kind is list or kind is tuple:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if isinstance(value, str | bytes | dict | np.generic):
        return False
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__")


def _length(value: Any) -> int:
    try:
        return len(value)
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        raise ConversionError(f"{type(error).__name__}: {error}\n{trace}\n") from None


def _plain(value: Any) -> Any:
    """A leaf without what may be around it."""
    if isinstance(value, np.ndarray):
        return value[()]
    is_dimension = type(value).__name__ == "Dimension" and hasattr(value, "value")
    return value.value if is_dimension else value


def _shape_and_first(value: Any) -> tuple[list[int], list[Any]]:
    """The shape of nested sequences by their first elements; the first leaf, if there's any."""
    shape: list[int] = []
    while _is_sequence(value):
        shape.append(_length(value))
        if not shape[-1]:
            return shape, []
        value = value[0]
    return shape, [_plain(value)]


def _leaves(value: Any, shape: list[int], depth: int, found: list[Any]) -> None:
    if depth == len(shape):
        found.append(value)
        return
    if not _is_sequence(value) or _length(value) != shape[depth]:
        raise ConversionError(RAGGED)
    if depth == len(shape) - 1 and type(value) in (list, tuple):
        found.extend(value)
        return
    for at in range(shape[depth]):
        _leaves(value[at], shape, depth + 1, found)


# Leaves -----------------------------------------------------------------------------------------

Leaves = Callable[[list[Any]], Array]


def _demand(leaves: list[Any], kinds: tuple[type, ...], but: tuple[type, ...] = ()) -> None:
    for kind in set(map(type, leaves)):
        if not issubclass(kind, kinds) or issubclass(kind, but):
            raise ConversionError(MIXED)


def _bools(leaves: list[Any]) -> Array:
    _demand(leaves, (bool, np.bool_))
    return np.array(leaves, bool)


def _whole(leaves: list[Any], *numbers: int) -> Array:
    """Integers of the first type that has all of them; else numbers with a point."""
    kinds = set(map(type, leaves))
    reals = [kind for kind in kinds if issubclass(kind, float | np.floating)]
    if reals and all(issubclass(kind, int | np.integer) for kind in kinds.difference(reals)):
        raise _FoundRealError
    _demand(leaves, (int, np.integer))
    values = [int(leaf) for leaf in leaves]
    for number in numbers:
        limits = np.iinfo(DTYPES[number])
        if all(limits.min <= each <= limits.max for each in values):
            return np.array(values, DTYPES[number])
    raise ConversionError(TOO_BIG)


class _FoundRealError(Exception):
    """There is a number with a point among integers."""


def _reals(leaves: list[Any], number: int) -> Array:
    _demand(leaves, (float, np.floating, int, np.integer))
    try:
        exact = np.array([float(leaf) for leaf in leaves])
    except OverflowError:
        raise ConversionError(TOO_BIG) from None
    with np.errstate(all="ignore"):
        found = exact.astype(DTYPES[number])
    return found


def _reals_in_range(leaves: list[Any]) -> Array:
    """What isn't asked for in 32 bits must be there."""
    exact = _reals(leaves, FLOAT64)
    with np.errstate(all="ignore"):
        found = exact.astype(np.float32)
    if np.any(np.isinf(found) & np.isfinite(exact)):
        raise ConversionError(TOO_BIG_REAL)
    return found


def _complex(leaves: list[Any]) -> Array:
    _demand(leaves, (complex, np.complexfloating))
    return np.array(leaves, np.complex128)


def _strings(leaves: list[Any]) -> Array:
    _demand(leaves, (str, bytes))
    found = np.empty(len(leaves), object)
    found[:] = [_text(leaf) for leaf in leaves]
    return found


# By number of a type, how leaves become numbers of it.
_LEAVES: dict[int, Leaves] = {
    BOOL: _bools,
    INT32: lambda leaves: _whole(leaves, INT32, INT64),
    INT64: lambda leaves: _whole(leaves, INT64),
    UINT64: lambda leaves: _whole(leaves, UINT64),
    FLOAT32: partial(_reals, number=FLOAT32),
    FLOAT64: partial(_reals, number=FLOAT64),
    FLOAT16: partial(_reals, number=FLOAT16),
    COMPLEX128: _complex,
    STRING: _strings,
}


def _inferred(first: Any) -> int:
    """The number of the type that a sequence with this first leaf gets."""
    for kinds, number in (
        ((str, bytes), STRING),
        (np.float64, FLOAT64),
        (np.float16, FLOAT16),
        ((float, np.floating), FLOAT32),
        ((bool, np.bool_), BOOL),
        ((int, np.integer), INT32),
        ((complex, np.complexfloating), COMPLEX128),
    ):
        if isinstance(first, kinds):
            return number
    message = (
        f"Attempt to convert a value ({first!r}) with an unsupported type ({type(first)!r})"
        " to a Tensor."
    )
    raise ConversionError(message)


def _of_alike(value: Any, wanted: int | None) -> tuple[Array, int] | None:
    """Numbers of one type in a row, which are frequent."""
    kinds = set(map(type, value))
    if kinds == {float} and wanted in (FLOAT32, FLOAT64, None):
        exact = np.array(value)
        if wanted == FLOAT64:
            return exact, FLOAT64
        if wanted == FLOAT32 or np.abs(exact).max() < 3e38:
            with np.errstate(all="ignore"):
                return exact.astype(np.float32), FLOAT32
    elif kinds == {int} and wanted in (INT32, INT64, None):
        try:
            whole = np.array(value, np.int64)
        except OverflowError:
            return None
        if wanted == INT64:
            return whole, INT64
        if whole.min() >= -(1 << 31) and whole.max() < 1 << 31:
            return whole.astype(np.int32), INT32
    return None


def _of_python(value: Any, wanted: int | None) -> tuple[Array, int]:
    kind = type(value)
    if kind in (list, tuple) and value:
        quick = _of_alike(value, wanted)
        if quick is not None:
            return quick
    if kind is float and -3e38 < value < 3e38 and wanted in (None, FLOAT32):
        return np.array(value, np.float32), FLOAT32
    if kind is int and -(1 << 31) <= value < 1 << 31 and wanted in (None, INT32):
        return np.array(value, np.int32), INT32
    shape, first = _shape_and_first(value)
    if not first:
        number = FLOAT32 if wanted is None else wanted
        return np.zeros(shape, DTYPES[number]), number
    inferred = _inferred(first[0])
    leaves: list[Any] = []
    _leaves(value, shape, 0, leaves)
    leaves = [_plain(leaf) for leaf in leaves]
    found = _tried(leaves, wanted, inferred)
    return found.reshape(shape), number_of(found.dtype)


def _tried(leaves: list[Any], wanted: int | None, inferred: int) -> Array:
    """The leaves as numbers of the type that is asked for, else of the one that they tell."""
    if wanted in _LEAVES:
        try:
            return _LEAVES[wanted](leaves)
        except (ConversionError, _FoundRealError):
            pass
    reals = _reals_in_range if wanted is None else _LEAVES[FLOAT64]
    try:
        return reals(leaves) if inferred == FLOAT32 else _LEAVES[inferred](leaves)
    except _FoundRealError:
        return reals(leaves)
