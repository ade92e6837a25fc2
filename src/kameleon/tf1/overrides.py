"""Gradients of a program's own for types of operations: `RegisterGradient`, and where they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._scopes import Scope
from ..errors import ArgumentError
from ..ir.context import context
from ..ir.node import Node
from ..prims.control import with_gradient
from .operations import operation_of

REGISTERED: dict[str, Callable[..., Any]] = {}


class RegisterGradient:
    """Decorates a gradient, a function of an operation and the cotangent of its result.

    >>> @RegisterGradient("Doubled")
    ... def doubled(op, grad):
    ...     return 2.0 * grad
    """

    def __init__(self, op_type: str):
        self.op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if self.op_type in REGISTERED:
            raise KeyError(f"Registering two gradient with name '{self.op_type}'!")
        REGISTERED[self.op_type] = f
        return f


class _Registry:
    """What programs ask of TensorFlow's own registry: whether a name is there."""

    def __init__(self) -> None:
        self._registry = REGISTERED

    def lookup(self, name: str) -> Callable[..., Any]:
        """The gradient of a name; LookupError where there's none."""
        if name not in REGISTERED:
            raise LookupError(f"gradient registry has no entry for: {name}")
        return REGISTERED[name]


def overriding(names: Mapping[str, str]) -> Scope[Any]:
    """A block in which operations of some types get registered gradients."""
    for name in names.values():
        if name not in REGISTERED:
            raise ArgumentError(f"gradient_override_map: no gradient is registered as {name!r}")
    override = _Override(names)
    return context.within("made", lambda outer: override)


class _Override:
    """Gives operations of some types another gradient."""

    def __init__(self, names: Mapping[str, str]):
        self.gradients = {kind: REGISTERED[name] for kind, name in names.items()}

    def __call__(self, node: Node) -> Node:
        gradient = self.gradients.get(operation_of(node).type)
        if gradient is None or not node.operands or node.primitive is with_gradient:
            return node
        operation = operation_of(node)
        if node.primitive.name == "call":
            count = len(node.operands)
            node.attrs["callee"].gradient = lambda *given: gradient(operation, *given[count:])
            return node

        def rule(g: Node) -> list[Node | None]:
            parts = gradient(operation, g)
            return list(parts) if isinstance(parts, (list, tuple)) else [parts]

        with context.within("made", lambda outer: None):
            return with_gradient(node, *operation.inputs, rule=rule)


def no_gradient(op_type: str) -> None:
    """Operations of this type have no gradient: nothing to say here, where types have rules."""


PLAIN: dict[str, Any] = {
    "RegisterGradient": RegisterGradient,
    "NotDifferentiable": no_gradient,
    "python._gradient_registry": _Registry(),
}
NAMES: dict[str, Any] = {}
