"""Tensors whose elements are all one number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..ir.context import rewriting
from ..ir.node import Node
from ..ir.types import DType, TensorType
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
    if not x.type.is_static:
        return full_like(x, value)
    return _number(value, repr(value), x.type)  # 0.0 == -0.0


@lru_cache(1024)
def _number(value: float, text: str, type: TensorType) -> Node:
    return rewriting(broadcast_to, rewriting(constant, value, type.dtype), type.shape)


def zeros(dims: Sequence[Size], dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, number_like(x, factor))
