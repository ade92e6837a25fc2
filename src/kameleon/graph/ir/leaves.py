"""Nodes without operands: inputs, constants, variables, sources of random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import GraphError
from .kinds import Kind, is_int
from .node import NO_ATTRS, Node, Primitive
from .types import TensorType


def leaf(
    name: str, doc: str, title: str | None = None, kinds: Mapping[str, Kind] | None = None
) -> Primitive:
    """A primitive without operands whose nodes are made with their type."""

    def infer() -> TensorType:
        raise GraphError(f"{name} nodes are made with their type")

    return Primitive(name, infer, doc, title=title, kinds=kinds, accuracy="moved")


class Constant:
    """A hashable array: the attribute of constant nodes (equal if bits, shape and dtype are)."""

    __slots__ = ("_key", "array")

    def __init__(self, array: Any):
        self.array = array
        self._key: tuple[Any, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for constants of equal bits, shape and dtype."""
        if self._key is None:
            self._key = (self.array.dtype, self.array.shape, self.array.tobytes())
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        a = self.array
        return repr(a.item()) if a.ndim == 0 else f"<{a.dtype.name}{list(a.shape)}>"


INPUT = leaf("input", "a value given from outside", title="Placeholder")
CONSTANT = leaf(
    "constant",
    "the array `value`",
    title="Const",
    kinds={"value": Kind("an array", lambda v, use: isinstance(v, Constant))},
)
VARIABLE = leaf("variable", "the value of a variable at the start of the call", title="Variable")
SOURCE = leaf(
    "random_source",
    "the key of a random stream in this call",
    title="RandomSource",
    kinds={"seed": Kind("an int of 32 bits", lambda v, use: is_int(v, 0, 2**32))},
)
LEAVES = (INPUT, CONSTANT, VARIABLE, SOURCE)


def input_node(type: TensorType, name: str | None = None) -> Node:
    """An input: a placeholder, or a parameter of a body."""
    return Node(INPUT, (), NO_ATTRS, type, name)
