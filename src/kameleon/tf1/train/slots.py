"""Variables that accompany others: an optimizer's accumulators, a variable's average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...errors import ShapeError
from ...ir.context import built_for
from ...ir.node import Node
from ..scopes import name_free, variable_scope
from ..variables import made


def plain_name(x: Any) -> str:
    """The name of a tensor, without ':0'."""
    return str(x.name).partition(":")[0]


def create_slot(primary: Any, value: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A variable with a value, named after another: 'w/NAME', 'w/NAME_1' …

    Control dependencies in force don't concern it.
    """
    with variable_scope(None, f"{plain_name(primary)}/{name}", auxiliary_name_scope=False) as at:
        full = at.name
    return built_for(None, _made, value, full)


def _made(value: Any, name: str) -> Any:
    with name_free():
        return made(value, False, name=name)


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Any:
    """A slot of zeros, shaped like the variable."""
    return create_slot(primary, np.zeros(known_shape(primary), dtype or primary.dtype), name)


def create_average(variable: Any, name: str) -> Any:
    """A slot that begins with the variable's own first value."""
    slot = create_slot(variable, K.get_value(variable), name)
    first = vars(variable).get("initial")
    if isinstance(first, Node):
        slot.initial = first
    return slot


def known_shape(x: Any) -> tuple[int, ...]:
    """The sizes of a tensor, which must be known."""
    shape: Sequence[int | None] = K.int_shape(x)
    if None in shape:
        raise ShapeError(f"{x!r} must have known sizes for a variable that accompanies it")
    return tuple(size for size in shape if size is not None)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"python.training.slot_creator.{function.__name__}": function
    for function in (create_slot, create_zeros_slot)
}
