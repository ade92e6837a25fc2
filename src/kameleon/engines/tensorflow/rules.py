"""The TensorFlow engine's table: what each primitive is made of."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.ir.node import Node
from .._lowering import Rule
from . import control, elementwise, movement, networks, windows
from .carriers import Carriers

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **control.RULES,
    **networks.RULES,
    **windows.RULES,
}
# Dtypes that their operations have no kernels for are carried.
CARRIERS = Carriers(elementwise.OPERATIONS | movement.OPERATIONS | networks.OPERATIONS)
# Rules that don't hold for every node: where they do. Elsewhere passes rewrite the node.
WHERE: dict[str, Callable[[Node], bool]] = {
    **elementwise.WHERE,
    **movement.WHERE,
    **networks.WHERE,
    **windows.WHERE,
    **control.WHERE,
}
# Kernels that give wrong sizes, or fail, where windows see nothing. The rule of maxima allows for
# windows without a place; without samples or channels oneDNN's gradient of them ends the process.
NEEDS = {
    **dict.fromkeys(
        "conv conv_input conv_kernel depthwise_conv depthwise_input depthwise_kernel sum_pool"
        " sum_unpool".split(),
        ("samples", "places", "channels"),
    ),
    **dict.fromkeys(("max_pool", "unpool"), ("samples", "channels")),
}
