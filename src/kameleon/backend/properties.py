"""What can be asked of a tensor: what it is, its shape, its element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..graph.ir.leaves import INPUT
from ..graph.ir.node import Node, Variable
from ..graph.ir.types import INT32, as_dtype
from ..graph.primitives import elementwise as ew
from ..graph.primitives.movement import stack
from ..graph.primitives.sizes import as_node, dims_of, sizes_product
from ._conversions import described
from ._tensors import (
    StaticShape,
    Tensor,
    TensorLike,
    as_tensor,
    named,
)
from .sparse_tensor import SparseTensor

__all__ = [
    "is_keras_tensor",
    "is_tensor",
    "is_variable",
    "is_placeholder",
    "shape",
    "int_shape",
    "get_variable_shape",
    "ndim",
    "size",
    "dtype",
    "count_params",
]


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` was returned by a layer or by `Input`.

    Args:
        x: a symbolic tensor.

    Raises:
        ValueError: it's no symbolic tensor.

    >>> from kameleon import backend as K
    >>> from kameleon.compat.keras2.own_layers import Input
    >>> K.is_keras_tensor(Input([10])), K.is_keras_tensor(K.placeholder((2,)))
    (True, False)
    """
    if not is_tensor(x):
        raise ArgumentError(
            f"is_keras_tensor: expected a symbolic tensor, got {type(x)}: {described(x)}"
        )
    return hasattr(x, "_keras_history")


def is_tensor(x: Any) -> bool:
    """Whether `x` is a symbolic tensor (sparse ones and variables included).

    Args:
        x: anything.

    Returns:
        A bool.

    >>> from kameleon import backend as K
    >>> K.is_tensor(K.placeholder((2,))), K.is_tensor(1.)
    (True, False)
    """
    return isinstance(x, (Node, SparseTensor))


def is_variable(x: Any) -> bool:
    """Whether `x` is a variable.

    Args:
        x: anything.

    Returns:
        A bool.

    >>> from kameleon import backend as K
    >>> K.is_variable(K.zeros((2,))), K.is_variable(K.placeholder((2,)))
    (True, False)
    """
    return isinstance(x, Variable)


def is_placeholder(x: Any) -> bool:
    """Whether `x` is a placeholder.

    Args:
        x: anything.

    Returns:
        A bool; True for sparse placeholders, too.

    >>> from kameleon import backend as K
    >>> K.is_placeholder(K.placeholder((2,))), K.is_placeholder(K.zeros((2,)))
    (True, False)
    """
    if isinstance(x, SparseTensor):
        return is_placeholder(x.values)
    return isinstance(x, Node) and x.primitive is INPUT


def shape(x: TensorLike) -> Tensor:
    """The shape as a tensor, known at run time.

    Args:
        x: a tensor.

    Returns:
        An int32 tensor of shape (rank,).

    >>> from kameleon import backend as K
    >>> K.eval(K.shape(K.zeros((2, 3))))
    array([2, 3], dtype=int32)
    """
    if isinstance(x, SparseTensor):
        return ew.cast(x.dense_shape, INT32)
    x = as_tensor(x, "shape")
    if x.type.is_static:
        return named(ew.constant(np.array(x.shape, np.int32)), "Shape")
    return named(stack([as_node(s) for s in dims_of(x)], 0), "Shape")


def int_shape(x: Any) -> StaticShape:
    """The static shape.

    Args:
        x: a tensor (or an array).

    Returns:
        Ints, and None for unknown sizes. None where `x` has no shape at all.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.placeholder((None, 4)))
    (None, 4)
    """
    if hasattr(x, "_keras_shape"):
        return tuple(x._keras_shape)
    if isinstance(x, (Node, SparseTensor)):
        return x.shape
    shape: Any = getattr(x, "shape", None)
    return shape  # type: ignore[no-any-return]


def get_variable_shape(x: Tensor) -> StaticShape:
    """The older name of `int_shape`.

    Args:
        x: a tensor.

    Returns:
        A tuple of ints, and None for unknown sizes.

    >>> from kameleon import backend as K
    >>> K.get_variable_shape(K.zeros((2, 3)))
    (2, 3)
    """
    return int_shape(x)


def ndim(x: Any) -> int | None:
    """The number of axes.

    Args:
        x: a tensor or an array.

    Returns:
        An int.

    >>> from kameleon import backend as K
    >>> K.ndim(K.placeholder((2, 4, 5)))
    3
    """
    dims = x.shape if isinstance(x, (Node, SparseTensor)) else np.shape(x)
    return len(dims)


def size(x: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements, known at run time.

    Args:
        x: a tensor.
        name: the result's name.

    Returns:
        An int32 scalar.

    >>> from kameleon import backend as K
    >>> int(K.eval(K.size(K.zeros((2, 3)))))
    6
    """
    x = as_tensor(x, "size")
    return named(ew.cast(as_node(sizes_product(dims_of(x))), INT32), name or "Size")


def dtype(x: Any) -> str:
    """The element type, as a string.

    Args:
        x: a tensor or an array.

    Returns:
        A string, such as 'float32'.

    >>> from kameleon import backend as K
    >>> K.dtype(K.placeholder((2, 4), dtype='float64'))
    'float64'
    """
    return str(as_dtype(x.dtype))


def count_params(x: Tensor) -> int:
    """The static number of elements.

    Args:
        x: a tensor.

    Returns:
        An int.

    Raises:
        ShapeError: a size is unknown.

    >>> from kameleon import backend as K
    >>> K.count_params(K.zeros((2, 3)))
    6
    """
    dims = int_shape(x)
    if dims is None or None in dims:
        raise ShapeError(f"count_params: the shape {dims} isn't fully known; see K.size(x)")
    return int(np.prod(dims, dtype=np.int64))
