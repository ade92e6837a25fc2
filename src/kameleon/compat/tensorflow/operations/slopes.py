"""Gradients of what an operation gives, where a type of its own computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.movement import broadcast_to
from kameleon.graph.primitives.sizes import Size


def slopes(function: Callable[..., Node], xs: Sequence[Node], g: Node) -> list[Node]:
    """The gradients of tensors, given that of what a function makes of them."""
    holes = [K.identity(x) for x in xs]
    found = K.gradients(K.sum(function(*holes) * g), holes)
    return [full_like(x, 0) if y is None else y for x, y in zip(holes, found, strict=True)]


def slope(function: Callable[[Node], Node], shape: Sequence[Size], dtype: Any, g: Node) -> Node:
    """The gradient of a linear function of a tensor of that shape."""
    return slopes(function, [broadcast_to(constant(0, dtype), shape)], g)[0]
