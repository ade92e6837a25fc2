"""Functions of Python as nodes: the one primitive whose meaning isn't in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..ir.node import Node, Primitive
from ..ir.types import TensorType


class Callee(Protocol):
    """What a `call` node knows of its function; `runtime.calls.callee` says what its parts are."""

    pure: bool

    def infer(self, given: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """The types of the results for operands of these types."""
        ...

    def origin(self, index: int, axis: int) -> tuple[int, int] | None:
        """The operand and its axis that have the size of an axis of a result, if that is known."""
        ...

    def back(
        self, node: Node, gs: Sequence[Node | None], needed: Sequence[bool]
    ) -> Sequence[Node | None]:
        """The operands' cotangents, given those of the results: see `gradients.rules`."""
        ...


def _infer_call(*operands: Node, callee: Any) -> tuple[TensorType, ...]:
    found: tuple[TensorType, ...] = callee.infer([x.type for x in operands])
    return found


call = Primitive(
    "call",
    _infer_call,
    "the results of a function of Python, given arrays of its own library; see docs/calls.md",
    host_callback=True,
    accuracy="moved",
)
