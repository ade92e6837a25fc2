"""Static shapes of operations' outputs, and values that are known when the graph is built.

    rules        the table of shape functions, and what they share
    notation     shape functions as lines: most are
    handles      what is behind handles
    known        values that follow from constants and from shapes
    the others   shape functions, by subject

A type without a shape function has outputs of unknown rank.
"""

from __future__ import annotations

from ..dtypes import NUMBERS
from ..failures import invalid
from ..graph import Operation, Shape, shape_text
from . import (  # noqa: F401
    arrays,
    contributed,
    diagonals,
    elementwise,
    lists,
    networks,
    pictures,
    places,
    ragged,
    sparse,
    state,
    strings,
    sums,
)
from .known import first_failure, known_value
from .rules import RULES, ShapeMismatchError, merged

VARIANT = NUMBERS["variant"]

__all__ = ["ShapeMismatchError", "infer", "known_value", "merged"]


def infer(operation: Operation) -> list[Shape]:
    """The shapes of an operation's outputs.

    Raises:
        InvalidArgumentError: (TensorFlow's) the shapes of its inputs don't go together.
    """
    rule = RULES.get(operation.type)
    count = len(operation.types)
    if rule is None:
        is_dataset = operation.type.removesuffix("V2").endswith("Dataset")
        return [() if is_dataset and kind == VARIANT else None for kind in operation.types]
    given = [source.shapes[index] for source, index in operation.inputs]
    try:
        found = rule(operation, given)
    except ShapeMismatchError:
        about = f"for '{operation.name}' (op: '{operation.type}') with input shapes"
        shown = ", ".join(map(shape_text, given))
        message, values = first_failure(operation, lambda: rule(operation, given))
        raise invalid(f"{message} {about}: {shown}{values}.") from None
    shapes: list[Shape] = found if isinstance(found, list) else [found]
    return (shapes + [None] * count)[:count]
