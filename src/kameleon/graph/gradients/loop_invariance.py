"""Which sizes in a loop's body are the same in each step: only such tensors can be stacked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..ir.node import Node, producer
from ..ir.sizes import Sizes
from ..ir.types import TensorType
from ..primitives.sizes import size_origin


class LoopInvariantShapes:
    """What of a body doesn't change its shape from step to step.

    Args:
        params: the body's parameters, whose shapes are those of the loop's operands.
        varying: nodes that depend on the carry or on sequences.
    """

    def __init__(self, params: Collection[Node], varying: Collection[Node]):
        self._params, self._varying = params, varying
        self._sizes = Sizes(size_origin)

    def __contains__(self, node: Node) -> bool:
        """Whether `node` is one tensor of the same shape in each step.

        What a function of Python gives counts as such: it isn't called once more instead.
        """
        if not isinstance(node.type, TensorType):
            return False
        if node not in self._varying or node in self._params:
            return True
        return all(self._is_same(self._sizes.of(node, i)) for i in range(len(node.shape)))

    def _is_same(self, size: Any) -> bool:
        """Whether a size is the same in each step: an int, the size of an axis, or a number."""
        pending, seen = [size], set()
        while pending:
            root = pending.pop()
            if isinstance(root, int) or root in seen:
                continue
            seen.add(root)
            if isinstance(root, tuple):
                if not self._has_own_shape(root[0]):
                    return False
            elif root in self._params and root in self._varying:
                return False
            elif root in self._varying and root.primitive.name == "size":
                pending.append(self._sizes.of(root.operands[0], root.attrs["axis"]))
            elif root in self._varying:
                pending.extend(root.operands)
        return True

    def _has_own_shape(self, node: Node) -> bool:
        made = producer(node)
        return node in self._params or node not in self._varying or made.primitive.host_callback
