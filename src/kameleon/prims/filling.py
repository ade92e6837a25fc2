"""Tensors whose elements are all one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.node import Node
from .elementwise import constant, mul
from .movement import broadcast_to
from .sizes import Size, dims_of


def full_like(x: Node, value: float) -> Node:
    """A tensor of the type of `x`, each element `value`."""
    return broadcast_to(constant(value, x.dtype), dims_of(x))


def zeros(dims: Sequence[Size], dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def scaled(x: Node, factor: float) -> Node:
    """`factor * x`."""
    return mul(x, full_like(x, factor))
