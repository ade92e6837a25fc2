"""The record of a primitive, and how one is declared and applied.

A primitive is declared once: `infer` gives the result's type, `expand` its meaning in simpler
primitives (composites only). Its gradient stands in the table of `gradients/`; engines hold the
numerics. Operators on nodes are installed by the K surface; rules call primitives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import GraphError
from .node import NO_ATTRS, Node, context
from .types import TensorType

Infer = Callable[..., TensorType | tuple[TensorType, ...]]

REGISTRY: dict[str, Primitive] = {}


class Primitive:
    """One operation of the table.

    Args:
        name: its name, snake_case; the key of every table.
        infer: `(*operands, **attrs) -> TensorType`, or a tuple of them for several results;
            raises ShapeError or DTypeError. The attributes are its keyword-only parameters; what
            each may be is declared in `ir.attributes`.
        expand: `(*operands, **attrs) -> Node or tuple`, for composites.
        title: the name in the repr of a tensor.
        elementwise: operands and result have equal shapes.
    """

    __slots__ = ("doc", "elementwise", "expand", "infer", "name", "title")

    def __init__(
        self,
        name: str,
        infer: Infer,
        doc: str,
        expand: Callable[..., Any] | None = None,
        title: str | None = None,
        elementwise: bool = False,
    ):
        self.name, self.infer, self.doc = name, infer, doc
        self.expand = expand
        self.title = title or name.title().replace("_", "")
        self.elementwise = elementwise
        if name in REGISTRY:
            raise GraphError(f"primitive {name!r} is declared twice")
        REGISTRY[name] = self

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return REGISTRY.__getitem__, (self.name,)

    @property
    def tier(self) -> str:
        """'core' (every engine must do it) or 'composite' (it has an expansion)."""
        return "core" if self.expand is None else "composite"

    def __call__(self, *operands: Node, **attrs: Any) -> Node:
        """Build a node, or the one with all results of a primitive that has several."""
        if context.control:
            operands = tuple(map(current, operands))
        type = self.infer(*operands, **attrs)
        node = Node(self, operands, attrs or NO_ATTRS, type)  # type: ignore[arg-type]
        if not isinstance(type, TensorType):
            node._results = tuple(Node(ITEM, (node,), {"index": i}, t) for i, t in enumerate(type))
        return node


def current(node: Node) -> Node:
    """`node`, or the new value of the variable that the control dependencies in force update."""
    for update in context.control:
        if update.variable is node:
            return update.value
    return node


def _infer_item(producer: Node, *, index: int) -> TensorType:
    types: Any = producer.type  # of several results: a tuple
    found: TensorType = types[index]
    return found


class _Item(Primitive):
    """One of several results. Its cotangent is read by the producer's own rule."""

    __slots__ = ()

    def __call__(self, *operands: Node, **attrs: Any) -> Node:
        index: int = attrs["index"]
        return operands[0].results[index]


ITEM = _Item(
    "item",
    _infer_item,
    "result number `index` of a node that has several",
)


def leaf(name: str, doc: str, title: str | None = None) -> Primitive:
    """A primitive without operands whose nodes are made with their type."""

    def infer() -> TensorType:
        raise GraphError(f"{name} nodes are made with their type")

    return Primitive(name, infer, doc, title=title)


INPUT = leaf("input", "a value given from outside", title="Placeholder")
CONSTANT = leaf("constant", "the array `value`", title="Const")
VARIABLE = leaf("variable", "the value of a variable at the start of the call", title="Variable")
SOURCE = leaf("random_source", "the key of a random stream in this call", title="RandomSource")
LEAVES = (INPUT, CONSTANT, VARIABLE, SOURCE)


def input_node(type: TensorType, name: str | None = None) -> Node:
    """An input: a placeholder, or a parameter of a body."""
    return Node(INPUT, (), NO_ATTRS, type, name)


class Constant:
    """A hashable array: the attribute of constant nodes (equal if bits, shape and dtype are)."""

    __slots__ = ("_key", "array")

    def __init__(self, array: Any):
        self.array = array
        self._key: tuple[Any, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two constants the same."""
        if self._key is None:
            self._key = (self.array.dtype.name, self.array.shape, self.array.tobytes())
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        a = self.array
        return repr(a.item()) if a.ndim == 0 else f"<{a.dtype.name}{list(a.shape)}>"
