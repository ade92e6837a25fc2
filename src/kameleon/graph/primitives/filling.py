"""Tensors whose elements are all one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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


def zeros(dims: Sequence[Size], dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, full_like(x, factor))
