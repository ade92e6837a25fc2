"""The TensorFlow engine's table: what each primitive is made of."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.node import Node
from .._lowering import Rule
from . import control, elementwise, movement, networks, windows

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **control.RULES,
    **networks.RULES,
    **windows.RULES,
}
# Rules that don't hold for every node: where they do. Elsewhere the graph has others.
WHERE: dict[str, Callable[[Node], bool]] = {**elementwise.WHERE, **networks.WHERE, **windows.WHERE}
