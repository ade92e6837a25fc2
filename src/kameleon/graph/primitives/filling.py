"""Tensors whose elements are all one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..ir.context import context
from ..ir.node import Node
from ..ir.types import DType
from .elementwise import constant, mul
from .movement import broadcast_to
from .sizes import Size, dims_of


def least(dtype: DType) -> float:
    """The least value of a dtype: -inf, of floats."""
    return float("-inf") if dtype.is_float else int(np.iinfo(dtype).min)


def greatest(dtype: DType) -> float:
    """The greatest value of a dtype: inf, of floats."""
    return float("inf") if dtype.is_float else int(np.iinfo(dtype).max)


def full_like(x: Node, value: float) -> Node:
    """A tensor of the type of `x`, each element `value`."""
    return broadcast_to(constant(value, x.dtype), dims_of(x))


def number_like(x: Node, value: float) -> Node:
    """As `full_like`, for an operand: of like tensors of a name scope it's one node, which only
    nodes read.
    """
    if context.control:
        return full_like(x, value)
    dims = dims_of(x)
    key = (repr(value), x.dtype, context.scope, context.graph, *dims)  # 0.0 == -0.0
    found = _numbers.get(key)
    if found is None:
        found = _numbers[key] = broadcast_to(constant(value, x.dtype), dims)
    return found


# By the text of a number, a dtype, a scope in its space of names, and sizes.
_numbers: WeakValueDictionary[tuple[Any, ...], Node] = WeakValueDictionary()


def zeros(dims: Sequence[Size], dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, number_like(x, factor))
