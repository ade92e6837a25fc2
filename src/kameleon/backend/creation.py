"""Placeholders, variables, constants; tensors that are filled, copied, or of another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..graph.ir.context import context, unique_name
from ..graph.ir.leaves import input_node
from ..graph.ir.node import Node, Variable
from ..graph.ir.types import TensorType, as_dtype
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import identity as identity_primitive
from ..graph.primitives.movement import broadcast_to
from ..graph.primitives.sizes import dims_of
from ..runtime.state import variable_of
from ..runtime.workspace import workspace
from ._tensors import (
    Tensor,
    TensorLike,
    array_of,
    as_tensor,
    check_sizes,
    dims_from,
    dtype_or_floatx,
    named,
)
from .sparse_tensor import SparseTensor

__all__ = [
    "variable",
    "constant",
    "placeholder",
    "zeros",
    "ones",
    "eye",
    "zeros_like",
    "ones_like",
    "identity",
    "cast",
]


def variable(
    value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None
) -> Variable:
    """A tensor with state.

    Args:
        value: the initial value: a number, an array, a SciPy sparse matrix, or a tensor, which
            is evaluated once.
        dtype: element type; `K.floatx()`, if None.
        name: its name; made unique in the session.
        constraint: a projection that optimizers apply after an update; kept as an attribute.

    Returns:
        A variable; for a sparse matrix, a sparse tensor whose three parts are variables.

    Raises:
        ArgumentError: (a ValueError) `value` isn't made of numbers: None, say, or a text.

    >>> import numpy as np
    >>> from kameleon import backend as K
    >>> v = K.variable(np.array([[1, 2], [3, 4]]), dtype='float64', name='example_var')
    >>> K.dtype(v), print(v)
    example_var
    ('float64', None)
    """
    if hasattr(value, "tocoo"):
        from .sparse import sparse_variable

        return sparse_variable(value, dtype_or_floatx(dtype), name)  # type: ignore[return-value]
    initial = value if isinstance(value, Node) else None
    if initial is not None:
        from .functions import evaluate

        value, dtype = evaluate(initial), dtype or initial.dtype
    kind = dtype_or_floatx(dtype)
    array = array_of(value, kind, "variable")
    made = variable_of(array, unique_name(context.scope + (name or "Variable")))
    made._keras_shape = array.shape
    made._uses_learning_phase = False
    made.constraint = constraint
    made.initial = initial
    made.graph_of = context.graph
    workspace.variables.add(made)
    return made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that never changes.

    Args:
        value: a number, list or array.
        dtype: element type; `K.floatx()`, if None.
        shape: the shape of the result; a single number fills it.
        name: its name.

    Raises:
        ArgumentError: (a ValueError) `value` isn't made of numbers.
        ShapeError: the values are neither one nor as many as the shape holds.

    >>> from kameleon import backend as K
    >>> K.eval(K.constant(2, shape=(2, 2)))
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    if isinstance(value, Node):
        return named(as_tensor(value, "constant", dtype), name)
    kind = dtype_or_floatx(dtype)
    array = array_of(value, kind, "constant")
    if shape is not None:
        array = _filled(array, tuple(np.atleast_1d(shape).tolist()) if shape != () else ())
    node = ew.constant(array, kind)
    if name is not None:
        node._name, node.graph_of = unique_name(context.scope + name), context.graph
    return node


def _filled(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    if array.size not in (1, count):
        raise ShapeError(f"constant: {array.size} values don't fill shape {shape}")
    return np.full(shape, array) if array.size == 1 else array.reshape(shape)


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """An input: a tensor whose value is given at each call.

    Args:
        shape: sizes of the axes; None for one that may differ from call to call.
        ndim: number of axes, all of unknown size; used where `shape` is None.
        dtype: element type; `K.floatx()`, if None.
        sparse: whether its values are sparse matrices.
        name: its name.

    Raises:
        ValueError: neither `shape` nor `ndim` is given.

    >>> from kameleon import backend as K
    >>> K.placeholder(shape=(2, None), name='x')._keras_shape
    (2, None)
    """
    if shape is None and ndim is None:
        raise ArgumentError("placeholder: give `shape` or `ndim`")
    dims = _placeholder_dims((None,) * ndim if shape is None else shape)  # type: ignore[operator]
    kind = dtype_or_floatx(dtype)
    if sparse:
        from .sparse import sparse_placeholder

        made: Any = sparse_placeholder(dims, kind, name)
    else:
        label = unique_name(context.scope + name) if name else None
        made = input_node(TensorType(dims, kind), label)
        made.effects = ()
    made._keras_shape = dims
    made._uses_learning_phase = False
    return made  # type: ignore[no-any-return]


def _placeholder_dims(shape: Any) -> tuple[int | None, ...]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    sizes = (getattr(d, "value", d) for d in shape)  # those of TensorFlow are objects
    dims = tuple(None if d is None else int(d) for d in sizes)
    if any(d is not None and d < 0 for d in dims):
        raise ShapeError(f"placeholder: sizes must not be negative, got {dims}; None is unknown")
    return dims


# Filled tensors ----------------------------------------------------------------------------


def _filled_variable(value: float, shape: Any, dtype: Any, name: str | None, what: str) -> Tensor:
    dims = check_sizes(dims_from(shape, what), what)
    kind = dtype_or_floatx(dtype)
    if all(isinstance(d, int) for d in dims):
        return variable(np.full(dims, value, kind), kind, name)
    return named(broadcast_to(ew.constant(value, kind), dims), name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A variable filled with 0.

    Args:
        shape: ints; where some are tensors, the result is a tensor and no variable.
        dtype: element type; `K.floatx()`, if None.
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.zeros((2, 2)))
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _filled_variable(0, shape, dtype, name, "zeros")


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A variable filled with 1.

    Args:
        shape: ints; where some are tensors, the result is a tensor and no variable.
        dtype: element type; `K.floatx()`, if None.
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.ones((2, 2)))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _filled_variable(1, shape, dtype, name, "ones")


def eye(size: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A variable that holds an identity matrix.

    Args:
        size: number of rows and columns, or a pair of them.
        dtype: element type; `K.floatx()`, if None.
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows, columns = size if isinstance(size, (tuple, list)) else (size, size)
    return variable(np.eye(rows, columns), dtype_or_floatx(dtype), name)


def _filled_like(value: float, x: Any, dtype: Any, name: str | None, what: str) -> Tensor:
    x = as_tensor(x, what)
    return named(broadcast_to(ew.constant(value, dtype_or_floatx(dtype)), dims_of(x)), name)


def zeros_like(x: TensorLike, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of `x`.

    Args:
        x: a tensor.
        dtype: element type; `K.floatx()`, if None (whatever that of `x`).
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.zeros_like(K.constant([1., 2.])))
    array([0., 0.], dtype=float32)
    """
    return _filled_like(0, x, dtype, name, "zeros_like")


def ones_like(x: TensorLike, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones in the shape of `x`.

    Args:
        x: a tensor.
        dtype: element type; `K.floatx()`, if None (whatever that of `x`).
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.ones_like(K.constant([1., 2.])))
    array([1., 1.], dtype=float32)
    """
    return _filled_like(1, x, dtype, name, "ones_like")


def identity(x: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with the same content.

    Args:
        x: a tensor.
        name: its name.

    >>> from kameleon import backend as K
    >>> K.eval(K.identity(K.constant([1., 2.])))
    array([1., 2.], dtype=float32)
    """
    return (
        named(as_tensor(x, "identity"), name)
        if name
        else identity_primitive(as_tensor(x, "identity"))
    )


def cast(x: TensorLike, dtype: Any) -> Tensor:
    """Cast `x` to another element type. Floats become integers by dropping the fraction.

    A number that the new type doesn't hold wraps around: -1.5 is 255 as 'uint8'. NaN, infinite and
    too large floats count as the least 'int32' (as 'int64' and 'uint32': the least 'int64') on
    x86-64 processors; on others, and for 'uint64', the engine decides what they become.

    Args:
        x: a tensor.
        dtype: the new element type.

    >>> from kameleon import backend as K
    >>> K.eval(K.cast(K.constant([1.9, -1.9]), 'int32'))
    array([ 1, -1], dtype=int32)
    """
    kind = as_dtype(dtype)
    if isinstance(x, SparseTensor):
        return SparseTensor(  # type: ignore[return-value]
            x.indices, ew.cast(x.values, kind), x.dense_shape, x.shape, unique_name("Cast")
        )
    if not isinstance(x, Node):
        array = np.asarray(x)
        x = ew.constant(array)
    return ew.cast(x, kind)
