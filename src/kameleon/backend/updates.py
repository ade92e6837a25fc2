"""Updates of variables: tensors with the new values, which are performed by evaluating them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ArgumentError
from ..graph.ir.context import context
from ..graph.ir.node import Node, Update, Variable, current
from ..graph.ir.types import broadcast_shapes
from ..graph.primitives.control import identity
from ..graph.primitives.elementwise import add, cast, constant, neg
from ..graph.primitives.movement import broadcast_like
from ..runtime.feeds import value_for
from ..runtime.updates import check
from ._tensors import Tensor, TensorLike, as_tensor, require_variable

__all__ = ["update", "update_add", "update_sub", "moving_average_update"]


def pairs_of(updates: Iterable[Any]) -> list[Update | tuple[Variable, Node]]:
    """Updates as update objects, or pairs of a variable and a new value; all else is refused.

    An operation that performs several (it has `needed`) counts as these.
    """
    found: list[Update | tuple[Variable, Node]] = []
    for update in updates:
        parts = getattr(update, "needed", (update,))
        found += [u if isinstance(u, Update) else _pair(u) for u in parts]
    return found


def _pair(update: Any) -> tuple[Variable, Node]:
    if not is_pair(update):
        raise ArgumentError(
            "updates: expected update objects (K.update …) or pairs (variable, new value),"
            f" got {update!r}"
        )
    return update[0], new_value(*update)


def is_pair(update: Any) -> bool:
    """Whether `update` is a pair of a variable and its new value."""
    two = isinstance(update, (tuple, list)) and len(update) == 2
    return two and isinstance(update[0], Variable)


# A new value is cast to its variable's kind only if that is the same or a later one: a cast to an
# earlier kind would change numbers.
_KINDS = ("bool", "unsigned", "signed", "float")


def new_value(variable: Variable, value: Any) -> Node:
    """What a pair gives as the new value of a variable, as a tensor of its type.

    Raises:
        FeedError: an array or a number doesn't fit the variable.
        ShapeError, DTypeError: a tensor doesn't fit the variable, or a cast would change it.
    """
    if not isinstance(value, Node):
        value = constant(value_for(variable, value, "updates"), variable.dtype)
    tensor: Node = value
    if _KINDS.index(tensor.dtype.kind) <= _KINDS.index(variable.dtype.kind):
        tensor = cast(tensor, variable.dtype)
    check(variable, tensor, "updates")
    return tensor


def _make(x: Any, value: Node, what: str, increment: Node | None = None) -> Update:
    variable = require_variable(x, what)
    check(variable, value, what)
    node = Update(identity, (value,), {}, value.type)
    node.variable, node.value, node.increment = variable, value, increment
    node.effects = context.control
    return node


def _value(variable: Variable, new: TensorLike, what: str) -> Node:
    return cast(current(as_tensor(new, what)), variable.dtype)


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
    increment = cast(current(increment), variable.dtype)
    # An unknown size isn't stretched: a variable's new value has the variable's shape.
    shape = broadcast_shapes(what, variable.shape, increment.shape)
    total = add(*(broadcast_like(x, shape, (variable, increment)) for x in (variable, increment)))
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
