"""What all chapters of the K surface share: from users' arguments to nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config
from ..errors import ArgumentError, DTypeError, ShapeError
from ..graph.ir.context import context, unique_name
from ..graph.ir.node import Node, Variable
from ..graph.ir.node import Tensor as Tensor
from ..graph.ir.types import (
    INT32,
    Default,
    DType,
    as_dtype,
    normalize_axes,
    normalize_axis,
    promote,
)
from ..graph.primitives.control import identity
from ..graph.primitives.elementwise import cast, constant
from ..graph.primitives.filling import number_like
from ..graph.primitives.movement import concatenate, reshape, slice_axis
from ..graph.primitives.sizes import Size, dims_of
from ..graph.primitives.stretching import stretched_together
from ..runtime.feeds import as_numpy
from ..runtime.pipelines import require_numbers
from ._conversions import converted, described, is_convertible
from ._known import known_int, scalar_behind
from .sparse_tensor import SparseTensor

TensorLike = Any
Array = np.ndarray[Any, np.dtype[Any]]  # and NumPy's scalars, where there are no axes
# Of a tensor; None where a size is known only at run time, which type checkers let pass.
StaticShape = tuple[int | Any, ...]


def floatx() -> DType:
    """The default float dtype."""
    return as_dtype(config.floatx())


Default.float = staticmethod(floatx)


def dtype_or_floatx(dtype: Any) -> DType:
    """`dtype`, or the default float dtype for None."""
    return floatx() if dtype is None else as_dtype(dtype)


def array_of(value: Any, dtype: DType, what: str) -> np.ndarray:
    """A new array of a dtype with the numbers that were given, in an array of any library, say.

    Raises:
        ArgumentError: there's something else among them, or what the dtype doesn't hold.
    """
    try:
        given = as_numpy(value)
        require_numbers(np.asarray(given))
        return np.array(given, dtype=dtype)
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:  # RuntimeError: PyTorch's
        raise ArgumentError(f"{what}: {value!r} is no array of {dtype}: {error}") from None


def as_tensor(x: TensorLike, what: str, dtype: Any = None) -> Node:
    """`x` as a tensor: a number, an array, or a list of numbers and tensors.

    Python floats get the default float dtype and Python ints int32, in lists, too; NumPy's arrays
    and scalars keep their dtype.

    Raises:
        DTypeError: `x` is nothing of the kind; `what` names the function in the message.
        ArgumentError: `x` is a sparse tensor.
    """
    if isinstance(x, Node):
        return x if dtype is None else cast(x, dtype)
    made = converted(x, dtype)
    if made is not x:
        return as_tensor(made, what, dtype)
    if isinstance(x, SparseTensor):
        raise ArgumentError(
            f"{what} isn't defined for sparse tensors; K.to_dense(x) makes it dense"
        )
    if isinstance(x, (list, tuple)) and any(_is_part(i) for i in x):
        return _stacked(x, what, dtype)
    try:
        array = np.asarray(as_numpy(x))
        as_dtype(array.dtype)  # raises where these aren't numbers or bools
    except (ValueError, TypeError, RuntimeError) as error:  # PyTorch raises the last one
        raise DTypeError(
            f"{what}: {described(x)} is no tensor, number or array ({error})"
        ) from None
    return constant(array, dtype or _natural_dtype(x, array))


def _is_part(item: Any) -> bool:
    """Whether an item of a list makes it a list of tensors, or of lists."""
    return isinstance(item, (Node, list, tuple)) or is_convertible(item)


def _natural_dtype(x: Any, array: np.ndarray) -> DType:
    if isinstance(x, (np.ndarray, np.generic)):
        return as_dtype(array.dtype)
    if array.dtype.kind == "f":
        return floatx()
    return INT32 if array.dtype.kind in "iu" else as_dtype(array.dtype)


def _stacked(items: Sequence[Any], what: str, dtype: Any) -> Node:
    """A nested list with tensors in it, as one tensor."""
    nodes = [as_tensor(i, what, dtype) for i in items]
    common = (
        promote(*(n.dtype for n in nodes if n.type.rank or n.operands))
        if any(n.operands for n in nodes)
        else promote(*(n.dtype for n in nodes))
    )
    rows = [reshape(cast(n, common), [1, *dims_of(n)]) for n in nodes]
    return concatenate(rows, 0)


def as_float(x: TensorLike, what: str) -> Node:
    """`x` as a float tensor; integers and bools are cast to the default float dtype."""
    x = as_tensor(x, what)
    return x if x.dtype.is_float else cast(x, floatx())


def as_number(x: TensorLike, what: str) -> Node:
    """`x` as a tensor of integers or floats; bools are refused."""
    tensor = as_tensor(x, what)
    if tensor.dtype.is_bool:
        raise DTypeError(
            f"{what}: numbers were expected, {tensor!r} holds bools; K.cast(x, 'int32') makes them"
            " 0 and 1"
        )
    return tensor


def broadcast_together(operands: Sequence[Node], what: str) -> list[Node]:
    """The operands stretched to their common shape; an unknown size may turn out to be 1."""
    return stretched_together(operands, what)


def promoted(operands: Sequence[TensorLike], what: str) -> list[Node]:
    """The operands as tensors of one dtype.

    The tensors decide that dtype, by NumPy's promotion; numbers, arrays and lists are cast to it,
    unless they are of a higher kind (where floats meet an integer tensor, it's `K.floatx()`).

    Raises:
        DTypeError: a number is out of the dtype's range.
    """
    operands = [converted(x) for x in operands]
    tensors = [as_tensor(x, what) for x in operands]
    own = [t.dtype for t, x in zip(tensors, operands, strict=True) if isinstance(x, Node)]
    dtype = promote(*(own or [t.dtype for t in tensors]))
    for tensor in tensors:
        if _KINDS[tensor.dtype.kind] > _KINDS[dtype.kind]:
            dtype = floatx() if tensor.dtype.is_float else tensor.dtype
    return [
        cast(t, dtype) if t.operands or isinstance(x, Node) else _constant_of(x, dtype, what)
        for t, x in zip(tensors, operands, strict=True)
    ]


_KINDS = {"bool": 0, "unsigned": 1, "signed": 1, "float": 2}


def _constant_of(value: Any, dtype: DType, what: str) -> Node:
    try:
        return constant(as_numpy(value), dtype)
    except OverflowError:
        raise DTypeError(f"{what}: {value!r} is out of the range of {dtype}") from None


def binary(primitive: Callable[..., Node], x: TensorLike, y: TensorLike, what: str) -> Node:
    """A primitive, or what is made of some, of two operands, promoted and broadcast."""
    if type(y) in _NUMBERS and isinstance(x, Node) and x.dtype.is_float:
        return primitive(x, number_like(x, y))
    if not (isinstance(x, Node) and isinstance(y, Node) and x.type == y.type):
        x, y = promoted((x, y), what)
    return primitive(*broadcast_together((x, y), what))


_NUMBERS = (float, int)  # these take the dtype of a float tensor whatever their value


def axes_of(x: Node, axis: Any, what: str) -> tuple[int, ...]:
    """Sorted axes counted from the front; all for None."""
    return normalize_axes(what, axis, len(x.shape))


def axis_of(x: Node, axis: Any, what: str) -> int:
    """One axis counted from the front."""
    return normalize_axis(what, axis, len(x.shape))


def size_or_node(size: Any, what: str) -> Size:
    """An int, or an integer scalar tensor, that stands for a size."""
    if isinstance(size, Node):
        if size.shape not in ((), (1,)):
            return reshape(size, ())  # which refuses it
        if (known := known_int(size)) is not None:
            return known
        scalar = scalar_behind(size)
        return reshape(size, ()) if scalar is None else scalar
    try:
        return int(size.__index__())
    except AttributeError:
        raise ShapeError(
            f"{what}: a size must be an int or a scalar tensor, not {size!r}"
        ) from None


def dims_from(shape: Any, what: str) -> list[Size]:
    """A shape as dims: a sequence of ints and scalar tensors, or a 1-D integer tensor.

    An array of whole floats is a shape, too, as NumPy's functions make them (`np.ones(2)`).
    """
    if isinstance(shape, Node):
        return unstacked(shape, what)
    if isinstance(shape, np.ndarray) and shape.dtype.kind == "f" and not np.any(shape % 1):
        shape = shape.astype(np.int64)
    if isinstance(shape, np.ndarray) or not isinstance(shape, (list, tuple)):
        shape = np.atleast_1d(shape).tolist()
    dims = [size_or_node(s, what) for s in shape if s is not None]
    if len(dims) < len(shape):
        raise ShapeError(f"{what}: shape {shape} has a None; give ints, or elements of K.shape(x)")
    return dims


def unstacked(vector: Node, what: str) -> list[Size]:
    """The elements of a 1-D integer tensor of known length, as sizes."""
    if vector.type.rank != 1 or vector.shape[0] is None or not vector.dtype.is_integer:
        raise ShapeError(f"{what}: a shape must be a 1-D integer tensor, not {vector!r}")
    return [size_or_node(slice_axis(vector, 0, i, i + 1), what) for i in range(vector.shape[0])]


def check_sizes(dims: Sequence[Size], what: str) -> list[Size]:
    """`dims`, none of them negative."""
    if any(isinstance(d, int) and d < 0 for d in dims):
        shown = tuple(d if isinstance(d, int) else "?" for d in dims)
        raise ShapeError(f"{what}: sizes must not be negative, got {shown}")
    return list(dims)


def require_variable(x: Any, what: str) -> Variable:
    """`x`, which must be a variable."""
    if not isinstance(x, Variable):
        raise ArgumentError(f"{what} needs a variable (K.variable, K.zeros …), not {x!r}")
    return x


def named(x: Node, name: str | None) -> Node:
    """`x` under a name of its own, where one is given."""
    if name is None:
        return x
    node = identity(x)
    node._name, node.graph_of = unique_name(context.scope + name), context.graph
    return node
