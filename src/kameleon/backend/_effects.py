"""Tensors whose values are shown to Python: printed, or kept as statistics."""

from __future__ import annotations

from typing import Any

from ..graph.ir.node import Node, Print
from ..graph.primitives.control import identity
from ..runtime.inspection.watching import DONE
from ._bodies import is_in_body
from .calling import call


def shown(x: Node, kind: type[Print], name: str) -> Node:
    """A tensor equal to `x`, at whose computing the value is shown; in a body, once in each step.

    A body gives what it gives from step to step, so there the value is shown by a function of
    Python; elsewhere it's one more result of the program.
    """
    if not is_in_body():
        made = identity(x)
        made.effects = (*made.effects, kind(name, x))
        return made

    def look(value: Any) -> Any:
        DONE[kind](name, value)
        return value

    found: Node = call(look, x, like=x, gradient=lambda x, cotangent: cotangent, pure=False)
    return found
