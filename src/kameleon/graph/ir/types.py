"""Types of tensors: dtypes, dims and shapes, promotion and broadcasting.

A dim is an int, or None where the size is known only at run time. Where None meets an int or
None in a primitive, the two are *taken as equal* (engines check it at run time). K functions put a
`stretch` where such a size may turn out to be 1 (`graph.primitives.stretching`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import DTypeError, ShapeError

Dim = int | None
Shape = tuple[Dim, ...]

KINDS = {"b": "bool", "u": "unsigned", "i": "signed", "f": "float"}


class DType(str):
    """The name of an element type, such as 'float32', with its properties.

    It's a string, so that it compares, prints and serves wherever NumPy takes a dtype.

    >>> DTYPES["float32"].is_float, DTYPES["float32"].itemsize, DTYPES["float32"] == "float32"
    (True, 4, True)
    """

    __slots__ = ("is_bool", "is_float", "is_integer", "itemsize", "kind")

    kind: str
    itemsize: int
    is_float: bool
    is_integer: bool
    is_bool: bool

    def __new__(cls, name: str) -> DType:
        self = super().__new__(cls, name)
        # NumPy itself doesn't know bfloat16, the upper half of a float32.
        kind, size = (
            ("f", 2) if name == "bfloat16" else (np.dtype(name).kind, np.dtype(name).itemsize)
        )
        self.kind = KINDS[kind]
        self.itemsize = size
        self.is_float = kind == "f"
        self.is_integer = kind in "iu"
        self.is_bool = kind == "b"
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (str(self),)

    @property
    def name(self) -> str:
        """The plain string, as `numpy.dtype.name` gives it."""
        return str(self)

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no reference dtypes here."""
        return self


DTYPES: dict[str, DType] = {
    name: DType(name)
    for name in (
        "bool",
        *("uint8", "uint16", "uint32", "uint64"),
        *("int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "bfloat16"),
    )
}

BOOL, INT8, INT32, INT64 = (DTYPES[n] for n in ("bool", "int8", "int32", "int64"))
UINT16, UINT32 = DTYPES["uint16"], DTYPES["uint32"]
FLOAT16, FLOAT32, FLOAT64 = (DTYPES[n] for n in ("float16", "float32", "float64"))


BFLOAT16 = DTYPES["bfloat16"]
_NUMPYS = {n: d for n, d in DTYPES.items() if d is not BFLOAT16}
_KNOWN: dict[Any, DType] = {
    **_NUMPYS,
    **{np.dtype(n): d for n, d in _NUMPYS.items()},
    **dict.fromkeys((int, "int"), INT64),
}


class Default:
    """The dtypes that settings decide on; the K surface, which knows the settings, puts it here."""

    float: Callable[[], DType] = staticmethod(lambda: FLOAT32)


def _know_bfloat16() -> None:
    """Let NumPy know the dtype, too: that needs a package."""
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None
    _KNOWN["bfloat16"] = _KNOWN[np.dtype(ml_dtypes.bfloat16)] = BFLOAT16


def as_dtype(dtype: Any) -> DType:
    """The `DType` that a string, NumPy dtype, Python type or dtype-like object names.

    Python's `float`, and 'float', are the default float dtype, as Python's numbers are; `int` is
    int64, whatever NumPy takes it for on this machine.

    >>> as_dtype(np.float64), as_dtype("int32")
    ('float64', 'int32')
    """
    if type(dtype) is DType:
        return dtype
    try:
        return _KNOWN[dtype]
    except (KeyError, TypeError):
        pass
    if dtype is float or dtype == "float":
        return Default.float()
    kind = getattr(dtype, "as_numpy_dtype", dtype)
    try:
        if getattr(kind, "__name__", str(kind)) == "bfloat16":
            _know_bfloat16()
        if kind is None:  # which NumPy takes for float64
            raise TypeError
        return DTYPES[np.dtype(kind).name]
    except (TypeError, ValueError, KeyError):
        known = ", ".join(DTYPES)
        shown = dtype if isinstance(dtype, np.dtype) else repr(dtype)
        raise DTypeError(f"dtype {shown} is not one of {known}") from None


class TensorType(NamedTuple):
    """Shape and dtype of a tensor, as far as they are known before it runs."""

    shape: Shape
    dtype: DType

    def __str__(self) -> str:
        dims = ", ".join("?" if d is None else str(d) for d in self.shape)
        return f"{self.dtype}[{dims}]"

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every size is known."""
        return None not in self.shape

    def accepts(self, shape: Sequence[Dim]) -> bool:
        """Whether an array of `shape` may stand where this type is declared."""
        return len(shape) == len(self.shape) and all(
            want is None or want == got for want, got in zip(self.shape, shape, strict=True)
        )

    def may_accept(self, shape: Sequence[Dim]) -> bool:
        """Whether it may be so, where sizes in `shape` aren't known yet."""
        return len(shape) == len(self.shape) and self.accepts(
            [want if got is None else got for want, got in zip(self.shape, shape, strict=True)]
        )


@functools.cache
def promote(*dtypes: DType) -> DType:
    """The dtype that NumPy's promotion gives for arrays of these dtypes.

    >>> promote(INT32, FLOAT32)
    'float64'
    """
    if BFLOAT16 not in dtypes:
        return DTYPES[np.result_type(*map(np.dtype, dtypes)).name]
    # bfloat16 is promoted as float16 is, which has as many bits; the two together give float32.
    others = [d for d in dtypes if d is not BFLOAT16]
    if FLOAT16 in others:
        return promote(FLOAT32, *others)
    found = promote(FLOAT16, *others)
    return BFLOAT16 if found is FLOAT16 else found


def join_dims(a: Dim, b: Dim) -> Dim:
    """The one dim for two that are taken as equal; raises ValueError where known ones differ."""
    if a is None:
        return b
    if b is None or a == b:
        return a
    raise ValueError(f"{a} != {b}")


def join_shapes(a: Shape, b: Shape, what: str) -> Shape:
    """The most specific of two shapes that must be equal."""
    try:
        return tuple(join_dims(x, y) for x, y in zip(a, b, strict=True))
    except ValueError:
        message = f"{what}: shapes {show_shape(a)} and {show_shape(b)} differ"
        raise ShapeError(message) from None


def broadcast_shapes(what: str, *shapes: Shape) -> Shape:
    """The common shape of operands, aligned at the right, where a static 1 stretches.

    >>> broadcast_shapes("add", (None, 3), (3,)), broadcast_shapes("add", (4, 1), (None, 5))
    ((None, 3), (4, 5))
    """
    rank = max(map(len, shapes))
    result: list[Dim] = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis and s[axis] != 1]
        try:
            result.append(functools.reduce(join_dims, dims) if dims else 1)
        except ValueError:
            shown = " and ".join(map(show_shape, shapes))
            sizes = sorted({d for d in dims if d is not None})
            raise ShapeError(
                f"{what}: shapes {shown} don't broadcast: sizes {sizes} meet"
                f" on axis {axis}; equal sizes were expected, or 1"
            ) from None
    return tuple(result)


def show_shape(shape: Iterable[Dim]) -> str:
    """A shape as Python writes a tuple."""
    return str(tuple(shape))


def normalize_axis(what: str, axis: Any, rank: int) -> int:
    """`axis` counted from the front; raises ShapeError where there is no such axis."""
    try:
        index = axis.__index__()
    except AttributeError:
        raise ShapeError(f"{what}: axis must be an int, not {axis!r}") from None
    if not -rank <= index < rank:
        raise ShapeError(
            f"{what}: axis {index} is out of range for a tensor with {rank} axes"
            f" (expected {-rank} <= axis < {rank})"
        )
    return int(index) % rank


def normalize_axes(what: str, axes: Any, rank: int) -> tuple[int, ...]:
    """Sorted distinct axes counted from the front; None means all of them."""
    if axes is None:
        return tuple(range(rank))
    if not isinstance(axes, (list, tuple, set, frozenset, np.ndarray, range)):
        axes = (axes,)
    return tuple(sorted({normalize_axis(what, a, rank) for a in axes}))
