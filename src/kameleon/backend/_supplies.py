"""Inputs that get a value of their own at each call, such as the elements of iterators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakSet

from ..graph.ir.context import context, unique_name
from ..graph.ir.leaves import INPUT, input_node
from ..graph.ir.node import Node
from ..graph.ir.program import collect
from ..graph.ir.types import TensorType


class Supply:
    """Gives the values of some inputs: at each call of a function that needs one of them."""

    def draw(self, given: Mapping[Any, Any]) -> Sequence[Any]:
        """The values of all its inputs for one call.

        Args:
            given: what the call gives for other inputs.
        """
        raise NotImplementedError

    def inputs(self, types: Sequence[TensorType], name: str) -> list[Node]:
        """An input of each type."""
        made: list[Any] = [input_node(t, unique_name(context.scope + name)) for t in types]
        for i, x in enumerate(made):
            x.supply, x.effects = (self, i), ()
            x._keras_shape, x._uses_learning_phase = x.type.shape, False
        _all.add(self)
        return made


# Those whose inputs may be needed: where there are none, no graph is looked through.
_all: WeakSet[Supply] = WeakSet()


def needed(
    inputs: Sequence[Node], outputs: Sequence[Node], updates: Sequence[Any]
) -> list[Node]:  # fmt: skip
    """The inputs with a supply that a program needs, and that aren't given to it."""
    if not _all:
        return []
    unfed = collect(inputs, outputs, updates).unfed
    return [x for x in unfed if x.primitive is INPUT and "supply" in vars(x)]


def drawn(nodes: Sequence[Any], given: Mapping[Any, Any]) -> list[Any]:
    """The values of such inputs for one call; what one supply gives is drawn at once."""
    supplies = dict.fromkeys(x.supply[0] for x in nodes)
    values = {supply: supply.draw(given) for supply in supplies}
    return [values[x.supply[0]][x.supply[1]] for x in nodes]
