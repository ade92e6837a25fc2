"""What is known of a tensor before any graph runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._known import known_int
from ..ir.node import Node, walk
from ..ir.program import has_effects
from ..prims.constants import known_array

# More nodes than these aren't computed while a graph is built.
MOST_NODES = 100

OPEN = frozenset({"input", "variable", "random_source"})


def static_value(node: Node) -> Any:
    """The value of a tensor that hangs on constants and known sizes alone; None of any other.

    >>> static_value(K.constant([1, 2], "int32") * 3)
    array([3, 6], dtype=int32)
    """
    found = known_array(node)
    if found is None and node.dtype.is_integer and node.type.shape == ():
        number = known_int(node)
        found = None if number is None else np.asarray(number, node.dtype)
    if found is not None:
        return found
    needed = walk([node])
    if len(needed) > MOST_NODES or any(map(_is_open, needed)):
        return None
    return K.function([], [node], engine="numpy")([])[0]


def _is_open(node: Node) -> bool:
    """Whether a node's value hangs on something that's fed, stored or drawn, or does something."""
    return node.primitive.name in OPEN or has_effects(node) or bool(node.effects)
