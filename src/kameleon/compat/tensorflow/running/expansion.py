"""Puts the bodies of functions in the place of what calls them: all is planned as one graph.

Operations are copied; the graph of the program stays as it is. A branch becomes Switch and Merge,
a loop Enter and Exit, as programs wrote them before there were functions for these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dtypes import NUMBERS, REFERENCE
from ..graph import Graph, Operation, Value, is_handle
from ..library import Body, body_of
from ..symbolic import gradient_of

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall"})
DEPTH = 8  # how often a function is expanded in itself; deeper calls run when they're reached
PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
BOOL = NUMBERS["bool"]


@dataclass
class Scope:
    """What a graph, or the body of a call, has been copied to.

    Attributes:
        prefix: of names.
        begin: what runs before operations that nothing else precedes; none outside of functions.
        calls: the functions that are being expanded, the outermost first.
        values: by value of the original, the copy's.
        ends: by operation, what stands for "it has run".
    """

    prefix: str = ""
    begin: Operation | None = None
    calls: tuple[Body, ...] = ()
    values: dict[Value, Value] = field(default_factory=dict)
    ends: dict[Operation, Operation] = field(default_factory=dict)


class Expansion:
    """A part of a graph without calls.

    Args:
        operations: of the part, in the order of their making.
        fed: values that are given.
        replaced: those of them whose operations may run all the same, for others.

    Attributes:
        targets: what must run, though nothing may be fetched of it: effects in loops of functions.
    """

    def __init__(
        self,
        operations: Iterable[Operation],
        fed: Collection[Value],
        replaced: Iterable[Value] = (),
    ) -> None:
        self._graph, self._fed, self._root = Graph(), fed, Scope()
        self.targets: list[Operation] = []
        self._pending: list[tuple[Operation, Scope, list[Value], list[Operation]]] = []
        for operation in operations:
            self._graph.like(operation.graph)
            self._add(self._root, operation)
        for value in replaced:
            self._root.values[value] = self._placeholder(value), 0
        for made, scope, inputs, control in self._pending:
            made.inputs += [scope.values[value] for value in inputs]
            made.control += [scope.ends[before] for before in control]
            if scope.begin is not None and not made.inputs and not made.control:
                made.control.append(scope.begin)

    def value(self, value: Value) -> Value:
        """What stands for a value of the original."""
        return self._root.values[value]

    def end(self, operation: Operation) -> Operation:
        """What runs last of what stands for an operation."""
        return self._root.ends[operation]

    def _placeholder(self, value: Value) -> Operation:
        """What takes the place of a value that is fed."""
        source, index = value
        made = self.make("Placeholder", f"{source.name}/fed_{index}")
        made.types, made.shapes = [source.types[index] % REFERENCE], [source.shapes[index]]
        return made

    def _add(self, scope: Scope, operation: Operation) -> None:
        is_fed = operation.type in PLACEHOLDERS and (operation, 0) in self._fed
        is_named = operation.type in operation.graph.functions
        expand = _named_call if is_named else EXPANDED.get(operation.type)
        if expand is None or expand(self, scope, operation) is False:
            self._copy(scope, operation, keep=is_fed)

    def _copy(self, scope: Scope, operation: Operation, keep: bool) -> None:
        made = self._like(operation, scope.prefix + operation.name)
        if scope.calls and operation.attribute("frame_name"):
            frame = scope.prefix.encode() + operation.attribute("frame_name")
            made.known = {**operation.known, "frame_name": frame}
        for index in range(len(operation.types)):
            scope.values[operation, index] = made, index
        scope.ends[operation] = made
        if not keep:
            self._pending.append((made, scope, operation.inputs, operation.control))

    def _like(self, operation: Operation, name: str) -> Operation:
        made = operation.like(self._graph, name)
        made.serial = len(self._graph.operations)
        self._graph.operations.append(made)
        return made

    # New operations -----------------------------------------------------------------------------

    def make(
        self, kind: str, name: str, inputs: Sequence[Value] = (), control: Sequence[Operation] = ()
    ) -> Operation:
        """An operation that isn't in the original; its inputs are of the copy."""
        made = Operation(self._graph, kind, name)
        made.inputs, made.control = list(inputs), list(control)
        kinds = [source.types[index] for source, index in inputs]
        made.types = {
            "NoOp": [],
            "ControlTrigger": [],
            "Switch": kinds[:1] * 2,
            "Merge": [*kinds[:1], 3],
        }.get(kind, kinds[:1])
        made.shapes = [None] * len(made.types)
        made.definition = self._graph.definitions().get(kind)
        made.serial = len(self._graph.operations)
        self._graph.operations.append(made)
        return made

    def taken(self, scope: Scope, operation: Operation, first: int = 0) -> list[Value]:
        """The inputs of an operation, from one on, each through an Identity."""
        found = []
        for place in range(first, len(operation.inputs)):
            source, index = operation.inputs[place]
            made = self.make("Identity", f"{scope.prefix}{operation.name}/input_{place}")
            made.types, made.shapes = [source.types[index]], [source.shapes[index]]
            self._pending.append((made, scope, [(source, index)], []))
            found.append((made, 0))
        return found

    def begun(self, scope: Scope, operation: Operation, inputs: Sequence[Value]) -> Operation:
        """What runs when all that an operation waits for is there."""
        made = self.make("NoOp", f"{scope.prefix}{operation.name}/begin")
        made.control = [source for source, _ in inputs]
        self._pending.append((made, scope, [], operation.control))
        return made

    def inline(
        self, scope: Scope, name: str, body: Body, inputs: Sequence[Value], begin: Operation
    ) -> tuple[list[Value], Operation]:
        """Copy a body; its results, and what runs last of it."""
        inner = Scope(f"{scope.prefix}{name}/", begin, (*scope.calls, body))
        for argument, value in zip(body.arguments, inputs, strict=True):
            inner.values[argument, 0], inner.ends[argument] = value, value[0]
        for operation in body.operations:
            self._add(inner, operation)
        results = [inner.values[value] for value in body.results]
        end = self.make("NoOp", f"{inner.prefix}end", (), [begin])
        self._await(inner, body, end)
        if body.effects:
            results = self.behind(inner.prefix, results, end)
        return results, end

    def behind(self, prefix: str, results: Iterable[Value], before: Operation) -> list[Value]:
        """Values that are there once something has run, too."""
        return [
            (self.make("Identity", f"{prefix}output_{place}", [value], [before]), 0)
            for place, value in enumerate(results)
        ]

    def _await(self, inner: Scope, body: Body, end: Operation) -> None:
        """Let the end of a body wait for its effects; also where some lie in branches not taken."""
        effects = [inner.ends[each] for each in body.effects if each not in body.in_loops]
        self.targets += [inner.ends[each] for each in body.in_loops]
        if effects and any(each.type == "Switch" for each in body.operations):
            trigger = self.make("ControlTrigger", f"{inner.prefix}effects", (), effects)
            effects = [trigger]
        end.control += effects

    def ended(
        self,
        scope: Scope,
        operation: Operation,
        results: Sequence[Value],
        end: Operation,
    ) -> None:
        """Say what stands for the outputs of an operation, and for its end."""
        for index, value in enumerate(results):
            scope.values[operation, index] = value
        scope.ends[operation] = end


# Calls ------------------------------------------------------------------------------------------


def _body(operation: Operation, attribute: str) -> Body:
    return _function(operation, operation.attribute(attribute))


def _function(operation: Operation, function: Any) -> Body:
    is_lowered = operation.attribute("_lower_using_switch_merge")
    return body_of(operation.graph, function.name, function.attr, not is_lowered)


def is_call(operation: Operation) -> bool:
    """Whether an operation calls functions that are put in its place."""
    return operation.type in EXPANDED or operation.type in operation.graph.functions


def _named_call(made: Expansion, scope: Scope, operation: Operation) -> Any:
    body = body_of(operation.graph, operation.type, operation.attributes)
    return _called(made, scope, operation, body)


def _called(made: Expansion, scope: Scope, operation: Operation, body: Body) -> Any:
    if scope.calls.count(body) >= DEPTH:
        return False
    inputs = made.taken(scope, operation, int(operation.type == "RemoteCall"))
    taken = {source for each in body.operations for source, _ in each.inputs}
    taken.update(source for source, _ in body.results)
    pairs = zip(body.arguments, inputs, strict=True)
    needed = [value for argument, value in pairs if argument in taken]  # others aren't computed
    begin = made.begun(scope, operation, needed or inputs)  # which say in which loop it is
    # What it reads by handles may change until then.
    inputs = [
        made.behind(f"{begin.name}/{place}/", [value], begin)[0] if is_handle(value) else value
        for place, value in enumerate(inputs)
    ]
    results, end = made.inline(scope, operation.name, body, inputs, begin)
    if not body.effects:  # all that it takes is computed for each of its results
        results = made.behind(f"{scope.prefix}{operation.name}/", results, end)
    made.ended(scope, operation, results, end)
    return True


# Branches ---------------------------------------------------------------------------------------


def _two_ways(made: Expansion, scope: Scope, operation: Operation) -> Any:
    inputs = made.taken(scope, operation)
    begin = made.begun(scope, operation, inputs[:1])  # others may be of a branch not taken
    way = _truth(made, f"{scope.prefix}{operation.name}/way", inputs[0], begin)
    ways = [(way, 0, _body(operation, "else_branch")), (way, 1, _body(operation, "then_branch"))]
    return _branches(made, scope, operation, inputs[1:], ways)


def _many_ways(made: Expansion, scope: Scope, operation: Operation) -> Any:
    inputs = made.taken(scope, operation)
    begin = made.begun(scope, operation, inputs[:1])  # others may be of a branch not taken
    branches = operation.attribute("branches")
    ways = []
    for number, function in enumerate(branches):
        way = made.make("IsBranch", f"{operation.name}/way_{number}", inputs[:1], [begin])
        way.types, way.known = [BOOL], {"number": number, "count": len(branches)}
        ways.append(((way, 0), 1, _function(operation, function)))
    return _branches(made, scope, operation, inputs[1:], ways)


def _branches(
    made: Expansion,
    scope: Scope,
    operation: Operation,
    inputs: list[Value],
    ways: list[tuple[Value, int, Body]],
) -> Any:
    """All bodies behind Switch, their results before Merge."""
    results, ends = [], []
    for number, (way, side, body) in enumerate(ways):
        label = f"{operation.name}/branch_{number}"
        name = f"{scope.prefix}{label}"
        pivot = made.make("Switch", f"{name}/pivot", [way, way])
        enter = made.make("Identity", f"{name}/begin", [(pivot, side)])
        values = [(made.make("Switch", f"{name}/switch", [each, way]), side) for each in inputs]
        found, end = made.inline(scope, label, body, values, enter)
        results.append(found)
        ends.append((made.make("Identity", f"{name}/ended", [(enter, 0)], [end]), 0))
    name = f"{scope.prefix}{operation.name}"
    merged = [(made.make("Merge", f"{name}/merge", pair), 0) for pair in zip(*results, strict=True)]
    made.ended(scope, operation, merged, made.make("Merge", f"{name}/end", ends))
    return True


def _truth(made: Expansion, name: str, value: Value, begin: Operation) -> Value:
    """The value as one of true and false."""
    kind = "Identity" if value[0].types[value[1]] == BOOL else "ToBool"
    found = made.make(kind, name, [value], [begin])
    found.types = [BOOL]
    return found, 0


# Loops ------------------------------------------------------------------------------------------


def _loop(made: Expansion, scope: Scope, operation: Operation) -> Any:
    """The condition and the body between Merge and NextIteration."""
    inputs = made.taken(scope, operation)
    begin = made.begun(scope, operation, [])  # what no turn needs isn't computed
    name = f"{scope.prefix}{operation.name}"
    frame = name.encode()
    enters = [made.make("Enter", f"{name}/enter", [value], [begin]) for value in inputs]
    for enter in enters:
        enter.known = {"frame_name": frame, "is_constant": False}
        enter.attributes = {}
    merges = [made.make("Merge", f"{name}/merge", [(enter, 0)] * 2) for enter in enters]
    around = [(merge, 0) for merge in merges]
    started = made.make("NoOp", f"{name}/turn", (), merges[:1])
    found, end = made.inline(
        scope, f"{operation.name}/cond", _body(operation, "cond"), around, started
    )
    goes_on = _truth(made, f"{name}/cond", found[0], end)
    condition = made.make("LoopCond", f"{name}/condition", [goes_on])
    switches = [made.make("Switch", f"{name}/switch", [value, (condition, 0)]) for value in around]
    values = [(made.make("Identity", f"{name}/value", [(each, 1)]), 0) for each in switches]
    enter_body = made.make("NoOp", f"{name}/body/begin", (), [values[0][0]])
    found, end = made.inline(
        scope, f"{operation.name}/body", _body(operation, "body"), values, enter_body
    )
    for merge, value in zip(merges, found, strict=True):
        merge.inputs[1] = made.make("NextIteration", f"{name}/next", [value], [end]), 0
    exits = [made.make("Exit", f"{name}/exit", [(each, 0)]) for each in switches]
    end = made.make("NoOp", f"{name}/end", (), exits)
    made.ended(scope, operation, [(each, 0) for each in exits], end)
    return True


EXPANDED: dict[str, Callable[[Expansion, Scope, Operation], Any]] = {
    **dict.fromkeys(CALLS, lambda made, scope, call: _called(made, scope, call, _body(call, "f"))),
    "SymbolicGradient": lambda made, scope, call: _called(
        made, scope, call, gradient_of(call.graph, call.attribute("f"))
    ),
    "If": _two_ways,
    "StatelessIf": _two_ways,
    "Case": _many_ways,
    "While": _loop,
    "StatelessWhile": _loop,
}
