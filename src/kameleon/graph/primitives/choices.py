"""Which choices (nodes of `select`) arithmetic can make without a branch."""

from __future__ import annotations

import numpy as np

from ..ir.node import Node
from ..ir.types import FLOAT32, FLOAT64, INT32, INT64
from .constants import is_zero
from .division import is_guarded

# Integers of the size of floats.
SAME_WIDTH = {FLOAT32: INT32, FLOAT64: INT64}
# For fewer elements, leaving out the branch isn't worth three more nodes.
LARGE = 1024


def needs_no_branch(node: Node) -> bool:
    """Whether a choice, of many elements, is between integers of 8 bits or a float and 0. (A choice
    that guards a divisor stays, for `is_guarded` knows it by its form.)
    """
    _, a, b = node.operands
    if node.type.is_static and np.prod(np.array(node.shape)) < LARGE:
        return False
    if node.dtype.is_integer:
        return node.dtype.itemsize == 1 and not is_guarded(node)
    return node.dtype in SAME_WIDTH and (is_zero(a) or is_zero(b))
