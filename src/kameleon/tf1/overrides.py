"""Gradients of a program's own for types of operations: `RegisterGradient`, and where they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._scopes import Scope
from ..errors import ArgumentError
from ..gradients import pullback
from ..gradients.sweep import Replaced
from ..ir.context import context
from ..ir.node import ITEM, Node, walk
from ..ir.node import REGISTRY as PRIMITIVES
from ..ir.program import Graph
from ..prims.control import cond, with_gradient
from ..runtime.workspace import workspace
from .operations import TYPES, Operation, operation_of

REGISTERED: dict[str, Callable[..., Any]] = {}
# The types of operations that have gradients: those of the primitives that have rules.
DIFFERENTIATED = {TYPES.get(p.title, p.title) for p in PRIMITIVES.values()} | {
    "Relu",
    "BatchMatMulV2",
}


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


class Registry(dict[str, dict[str, Any]]):
    """TensorFlow's registry of gradients, as programs look into it and change it.

    For a type of operation, or a name that `RegisterGradient` was given, it holds an entry whose
    "type" is the gradient, a function of an operation and its cotangent, and whose "location" is
    where that is written. Another function put there holds for `tf.gradients`, as long as it's
    there.
    """

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in REGISTERED or name in DIFFERENTIATED

    def __missing__(self, name: str) -> dict[str, Any]:
        if name not in self:
            raise KeyError(name)
        gradient = REGISTERED.get(name, gradient_of)
        entry = self[name] = {"type": gradient, "location": _written(gradient)}
        return entry

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, or what stands for it where there's none."""
        try:
            return self[name]
        except KeyError:
            return default

    def replaced(self) -> dict[str, Callable[..., Any]]:
        """By type of operation, the functions that programs have put there."""
        return {
            kind: entry["type"]
            for kind, entry in self.items()
            if entry["type"] is not REGISTERED.get(kind, gradient_of)
        }


def _written(function: Callable[..., Any]) -> tuple[str, int, str, str]:
    """Where a function is written, as an entry of a stack: file, line, name, text."""
    code = getattr(function, "__code__", None)
    if code is None:
        return "UNKNOWN", 0, "UNKNOWN", "UNKNOWN"
    return code.co_filename, code.co_firstlineno, code.co_name, ""


REGISTRY = Registry()


def gradient_of(operation: Operation, *cotangents: Any) -> Any:
    """The cotangents of an operation's inputs: a list, or one where it has but one."""
    assert operation.node is not None
    inputs = operation.inputs
    distinct = list(dict.fromkeys(inputs))
    flowing = pullback([operation.node], cotangents, distinct, distinct)
    given = dict(zip(distinct, flowing, strict=True))
    parts = [given.pop(x, None) for x in inputs]
    return parts if len(parts) > 1 else parts[0]


def replaced_gradients(outputs: Sequence[Node]) -> Replaced | None:
    """What stands for the gradients of nodes whose entries a program has replaced.

    It stands for those that these outputs need where the learning phase is 0: in TensorFlow, too,
    programs that explain networks find out what training alone needs, and leave it as it is.
    """
    functions = REGISTRY.replaced()
    if not functions:
        return None
    needed = _needed_in_tests(outputs)

    def parts(node: Node, cotangent: Node) -> list[tuple[Node, Node]] | None:
        if node.primitive is ITEM or node not in needed:  # of an item, what makes it is asked
            return None
        operation = operation_of(node.results[0])
        function = functions.get(operation.type)
        if function is None:
            return None
        found = function(operation, cotangent)
        listed = found if isinstance(found, (list, tuple)) else [found]
        pairs = zip(operation.inputs, listed, strict=False)
        return [(x, part) for x, part in pairs if part is not None]

    return parts


def _needed_in_tests(outputs: Sequence[Node]) -> set[Node]:
    """The nodes before these outputs, less those that only branches for training take."""
    phase, seen, stack = workspace.learning_phase, set[Node](), list(outputs)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.primitive is cond and phase in walk(node.operands[:1]):
            branch: Graph = node.attrs["otherwise"]
            taken = set(walk(branch.outputs))
            pairs = zip(node.operands[1:], branch.inputs, strict=True)
            stack += [x for x, inside in pairs if inside in taken]
        else:
            stack += node.operands
    return seen


class _Gradients:
    """What programs ask of TensorFlow's own registry."""

    def __init__(self) -> None:
        self._registry = REGISTRY

    def lookup(self, name: str) -> Callable[..., Any]:
        """The gradient of a name; LookupError where there's none."""
        if name not in REGISTRY:
            raise LookupError(f"gradient registry has no entry for: {name}")
        found: Callable[..., Any] = REGISTRY[name]["type"]
        return found


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


def is_backpropagatable(tensor: Any) -> bool:
    """Whether cotangents flow to tensors of this dtype."""
    return bool(tensor.dtype.is_float)


PLAIN: dict[str, Any] = {
    "RegisterGradient": RegisterGradient,
    "NotDifferentiable": no_gradient,
    "python._gradient_registry": _Gradients(),
    "python._IsBackpropagatable": is_backpropagatable,
}
NAMES: dict[str, Any] = {}
