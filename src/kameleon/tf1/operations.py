"""Operations of TensorFlow 1: what made a tensor, and what a session runs for its effects alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backend import surface as K
from ..errors import MissingNameError
from ..ir.context import context
from ..ir.node import ITEM, Node, Update
from ..runtime.workspace import workspace

# By the title of a primitive, TensorFlow's type of operation, where the two differ.
TYPES = {
    "Input": "Placeholder", "Constant": "Const", "Variable": "VariableV2", "Contract": "MatMul",
    "Conv": "Conv2D", "Identity": "Identity", "Gather": "GatherV2", "Concatenate": "ConcatV2",
    "BroadcastTo": "BroadcastTo", "Div": "RealDiv", "Gt": "Greater", "Ge": "GreaterEqual",
    "Lt": "Less", "Le": "LessEqual", "Eq": "Equal", "Ne": "NotEqual", "Logistic": "Sigmoid",
    "Call": "PyFunc", "truediv": "RealDiv", "Size": "Shape",
}  # fmt: skip


def _producer(node: Node) -> Node:
    """The node itself; for one of several results, what makes them."""
    return node.operands[0] if node.primitive is ITEM else node


def _type_of(node: Node) -> str:
    node = _producer(node)
    title = node.primitive.title
    if title == "Maximum" and _is_zero(node.operands[1]):
        return "Relu"
    if title == "Contract" and len(node.shape) > 2:
        return "BatchMatMulV2"
    return TYPES.get(title, title)


# Operations of TensorFlow 1 broadcast by themselves: here nodes do, which programs don't see.
BROADCASTS = ("broadcast", "broadcast_to")


def _before_broadcast(x: Node) -> Node:
    while x.primitive.name in BROADCASTS:
        x = x.operands[0]
    return x


def _is_zero(x: Node) -> bool:
    x = _before_broadcast(x)
    value = x.attrs.get("value") if x.primitive.name == "constant" else None
    return value is not None and not value.array.any()


class NodeDef:
    """The name, the type and the operands' names of an operation."""

    def __init__(self, operation: Operation):
        self.name, self.op = operation.name, operation.type
        self.input = [x.name[:-2] for x in operation.inputs]
        self.attr: dict[str, Any] = {}
        self.device = ""


Deferred = tuple[Sequence[Node], Callable[[Sequence[Any]], None]]


class Operation:
    """What makes a tensor; or a set of effects that a session performs, at once.

    Args:
        name: its name.
        effects: what running it needs: updates of variables, other operations, and tensors that
            are computed and thrown away.
        node: the tensor that it makes, if it makes one.
        checks: pairs of a bool tensor and a message, for what comes after it
            (`tf.control_dependencies`).
        deferred: pairs of tensors and of what a session does with their values when it has run.

    >>> v = K.variable(1.)
    >>> operation = Operation("step", [K.update_add(v, 2.)])
    >>> operation.run(), float(K.get_value(v))
    (None, 3.0)
    """

    def __init__(
        self,
        name: str,
        effects: Sequence[Any] = (),
        node: Node | None = None,
        checks: Sequence[tuple[Any, str]] = (),
        deferred: Sequence[Deferred] = (),
    ):
        self._name, self.node, self._effects = name, node, effects
        inner = [e for e in effects if isinstance(e, Operation)]
        self.checks: list[tuple[Any, str]] = [*checks, *(c for e in inner for c in e.checks)]
        self.deferred: list[Deferred] = [*deferred, *(d for e in inner for d in e.deferred)]

    @property
    def name(self) -> str:
        """The name, without the ':0' of its tensor."""
        return self._name if self.node is None else self.node.name[:-2]

    @property
    def type(self) -> str:
        """TensorFlow's name for the kind of operation."""
        return "NoOp" if self.node is None else _type_of(self.node)

    @property
    def needed(self) -> list[Node]:
        """The tensors that are computed when it runs; updates among them are performed."""
        if self.node is not None:
            return [self.node]
        found: dict[Node, None] = {}
        for effect in self._effects:
            parts = effect.needed if isinstance(effect, Operation) else [effect]
            found.update(dict.fromkeys(x for x in parts if isinstance(x, Node)))
        return list(found)

    @property
    def inputs(self) -> list[Node]:
        """The tensors that it takes."""
        operands = () if self.node is None else _producer(self.node).operands
        found = [_before_broadcast(x) for x in operands]
        return found[:1] if self.type == "Relu" else found

    @property
    def outputs(self) -> list[Node]:
        """The tensor that it makes, in a list."""
        return [] if self.node is None else [self.node]

    def values(self) -> list[Node]:
        """The tensor that it makes, in a list."""
        return self.outputs

    @property
    def control_inputs(self) -> list[Operation]:
        """Operations that come before it."""
        effects = () if self.node is None else self.node.effects
        return [operation_of(x) for x in effects if isinstance(x, Update)]

    @property
    def graph(self) -> Any:
        """The graph in force."""
        return context.graph or workspace.graph

    @property
    def op(self) -> Operation:
        """The operation itself, for code that takes tensors and operations."""
        return self

    @property
    def node_def(self) -> NodeDef:
        """Name, type and operands' names."""
        return NodeDef(self)

    @property
    def device(self) -> str:
        """Nothing: the engine places its own work."""
        return ""

    def get_attr(self, name: str) -> Any:
        """An attribute of the primitive behind it."""
        attrs = {} if self.node is None else _producer(self.node).attrs
        if name in ("T", "dtype") and self.node is not None:
            return self.node.dtype
        if name not in attrs:
            raise MissingNameError(
                f"{self!r} has no attribute {name!r}: it's made by {self.type}, with"
                f" {sorted(attrs) or 'none'}"
            )
        return attrs[name]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Perform it."""
        tensors = [list(tensors) for tensors, _ in self.deferred]
        _, found = K.get_session().run([self.needed, tensors], feed_dict)
        for (_, act), values in zip(self.deferred, found, strict=True):
            act(values)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Derived:
    """What a session gives that is no tensor: made in Python from the values of tensors.

    Args:
        name: its name.
        tensors: what has to be computed.
        value: makes the result from their values.
    """

    def __init__(self, name: str, tensors: Sequence[Any], value: Callable[[Sequence[Any]], Any]):
        self.name, self.tensors, self.value = f"{name}:0", list(tensors), value

    @property
    def op(self) -> Derived:
        """It itself, for code that takes tensors and operations."""
        return self

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The result."""
        return self.value(K.get_session().run(self.tensors, feed_dict))


def operation_of(x: Node) -> Operation:
    """The operation that makes a tensor: the same object for the same tensor."""
    found = x.__dict__.get("_operation")
    if found is None:
        found = x.__dict__["_operation"] = Operation("", node=x)
    return found
