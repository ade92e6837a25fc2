"""Updates of variables. An update is a tensor with the new value; who evaluates it performs it."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..ir.node import Node, Update, Variable, context
from ..prims.control import identity
from ..prims.elementwise import add, cast, neg
from ._tensors import Tensor, TensorLike, as_tensor, binary, require_variable

__all__ = ["update", "update_add", "update_sub", "moving_average_update"]


def _make(x: Any, value: Node, what: str, increment: Node | None = None) -> Update:
    variable = require_variable(x, what)
    if len(value.shape) != len(variable.shape) or any(
        a is not None and a != b for a, b in zip(value.shape, variable.shape, strict=True)
    ):
        raise ShapeError(
            f"{what}: variable '{variable}' has shape {variable.shape}, the new value"
            f" {value.shape}; they must be equal"
        )
    node = Update(identity, (value,), {}, value.type)
    node.variable, node.value, node.increment = variable, value, increment
    node.effects = context.control
    return node


def _value(variable: Variable, new: TensorLike, what: str) -> Node:
    return cast(as_tensor(new, what), variable.dtype)


def update(x: Tensor, new_x: TensorLike) -> Update:
    """Set a variable to a new value.

    Args:
        x: a variable.
        new_x: a tensor of the shape of `x`; it's cast to the dtype of `x`.

    Returns:
        The update: a tensor with the new value. It's performed by `K.function(…, updates=[u])`
        and by whatever evaluates it.

    Raises:
        ShapeError: the shapes differ.

    >>> from kameleon import backend as K
    >>> v = K.variable(1.)
    >>> _ = K.function([], [], updates=[K.update(v, v * 5.)])([])
    >>> float(K.get_value(v))
    5.0
    """
    return _make(x, _value(require_variable(x, "update"), new_x, "update"), "update")


def update_add(x: Tensor, increment: TensorLike) -> Update:
    """Add to a variable; several such updates of one variable in one call add up.

    Args:
        x: a variable.
        increment: a tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> v = K.variable(1.)
    >>> _ = K.function([], [], updates=[K.update_add(v, 2.)])([])
    >>> float(K.get_value(v))
    3.0
    """
    return _added(x, as_tensor(increment, "update_add"), "update_add")


def update_sub(x: Tensor, decrement: TensorLike) -> Update:
    """Subtract from a variable; several such updates of one variable in one call add up.

    Args:
        x: a variable.
        decrement: a tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> v = K.variable(1.)
    >>> _ = K.function([], [], updates=[K.update_sub(v, 2.)])([])
    >>> float(K.get_value(v))
    -1.0
    """
    return _added(x, neg(as_tensor(decrement, "update_sub")), "update_sub")


def _added(x: Any, increment: Node, what: str) -> Update:
    variable = require_variable(x, what)
    increment = cast(increment, variable.dtype)
    total = binary(add, variable, increment, what)
    return _make(x, total, what, increment if increment.type == total.type else None)


def moving_average_update(x: Tensor, value: TensorLike, momentum: TensorLike) -> Update:
    """Move a variable towards a value: x * momentum + value * (1 - momentum).

    Args:
        x: a variable.
        value: a tensor of the shape of `x`.
        momentum: how much of the old value stays, 0 … 1.

    >>> from kameleon import backend as K
    >>> v = K.variable(1.)
    >>> _ = K.function([], [], updates=[K.moving_average_update(v, 2., 0.75)])([])
    >>> float(K.get_value(v))
    1.25
    """
    variable = require_variable(x, "moving_average_update")
    off = _value(variable, value, "moving_average_update") - variable
    return _added(x, off * (1.0 - momentum), "moving_average_update")
