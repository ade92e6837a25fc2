"""Tensors whose elements are all one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..ir.context import rewriting
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
    """As `full_like`, for an operand: of like tensors it's one node, which only nodes read."""
    dims = dims_of(x)
    key = (repr(value), x.dtype, *dims)  # 0.0 == -0.0
    found = _numbers.get(key)
    if found is None:
        found = _numbers[key] = rewriting(_number, value, x.dtype, dims)
    return found


def _number(value: float, dtype: DType, dims: Sequence[Size]) -> Node:
    return broadcast_to(constant(value, dtype), dims)


# By the text of a number, a dtype and sizes.
_numbers: WeakValueDictionary[tuple[str | Size, ...], Node] = WeakValueDictionary()


def zeros(dims: Sequence[Size], dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, number_like(x, factor))
