"""Pure graphs traced by JAX as a part of its own programs: all of a graph must be traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from jax import lax

from ...engines._lowering import Rule, made
from ...engines.jax.engine import JaxEngine
from ...engines.jax.executable import large_constants
from ...engines.jax.lowering import HOST, NOTHING, Tracing, as_array
from ...engines.jax.rules import RULES
from ...errors import EngineError, EvaluationError
from ...graph.ir.node import ITEM, Node
from ...graph.ir.program import Graph, bodies
from ...graph.primitives.shaping import shape_operands
from ...runtime.compiler import prepared
from ...runtime.stages import Levels
from .pure import Pure

Value = Any
Values = Sequence[Any]


class TracedEngine(JaxEngine):
    """JAX where nothing runs between compiled parts: functions of Python are called back, and what
    values don't hold isn't told.
    """

    unchecked = ()

    def refusal(self, node: Node, inside: bool = False) -> str | None:
        """See `Engine.refusal`."""
        if not node.primitive.host_callback:
            return super().refusal(node, inside)
        return None if self.native(node) or _has_known_results(node) else UNKNOWN_RESULT


ENGINE = TracedEngine()
UNKNOWN_RESULT = (
    "nothing tells the sizes of its results beforehand: declare them by shapes= or like="
)


def _has_known_results(node: Node) -> bool:
    """Whether the shapes of a function's results follow from those of what it's given."""
    origin = node.attrs["callee"].origin
    return all(
        size is not None or origin(number, axis) is not None
        for number, y in enumerate(node.results)
        for axis, size in enumerate(y.shape)
    )


class _Whole(Levels):
    """What can't be part of one piece. Conditions needn't be known: where both branches have the
    same shapes, which is seen while code is made, XLA chooses.
    """

    def _level(self, node: Node, known: set[Node]) -> int:
        if node.primitive is ITEM:
            return 0
        if self._is_declined(node, known):
            self.declined.add(node)
        return int(not known.issuperset(shape_operands(node, outer=False)))


def check(graph: Graph, name: str, engine: TracedEngine) -> None:
    """Refuse what can't be traced.

    Raises:
        EngineError: names the node, its line, and what to do.
    """
    levels = _Whole(graph, engine)
    for node in graph.nodes:
        if node in levels.declined:
            _refuse(node, name, engine)
        if levels.of[node]:
            raise EngineError(
                f"{name}: sizes in {node.primitive.name} follow from values, and JAX traces known"
                " shapes alone; make what decides them an input that is given as a number, or pad"
                f" to a size that is known{made(node)}"
            )


def _refuse(node: Node, name: str, engine: TracedEngine) -> NoReturn:
    reason = engine.refusal(node)
    if reason is None:
        for inner in (x for body in bodies(node) for x in body.nodes):
            if engine.refusal(inner, inside=True) is not None or bodies(inner):
                _refuse(inner, name, engine)
        reason = "sizes inside of it follow from values, or change from step to step"
    raise EngineError(
        f"{name}: JAX can't trace {node.primitive.name}: {reason}. Leave it out of the function,"
        f" and compute it by a K.function of its own{made(node)}"
    )


class Inside(Tracing):
    """See `Tracing`; what's known of sizes is checked while code is made, for later is too late."""

    def _is_early(self, node: Node) -> bool:
        """Whether a node decides shapes, or is arithmetic or a comparison of sizes."""
        compares = node.primitive.elementwise and node.shape == () and node.dtype.is_bool
        return compares or super()._is_early(node)


class Traced:
    """A pure graph as a function of JAX's arrays: it has no gradient.

    Args:
        pure: the graph. It can be traced where the values of no input decide shapes.
        name: what errors call it.

    Attributes:
        graph: what is traced, in primitives that have rules.
        engine: for which it's prepared.
        tracing: what gives its nodes their values, by `rules`.

    Raises:
        EngineError: something in it can't be traced.
    """

    engine = ENGINE
    tracing: type[Tracing] = Inside
    rules: Mapping[str, Rule]

    def __init__(self, pure: Pure, name: str):
        self.graph = prepared(pure.graph, self.engine)
        check(self.graph, name, self.engine)
        self._rounds = NOTHING in large_constants(self.graph)
        self.__name__ = "kameleon"  # in what JAX shows

        def kameleon(*arguments: Value) -> tuple[Value, ...]:
            return self.outputs(arguments)

        # Compiled where it's called outside of `jax.jit`; there, as if it were written out.
        self._code: Any = jax.jit(kameleon, inline=True)

    def __call__(self, *arguments: Value) -> tuple[Value, ...]:
        found: tuple[Value, ...] = self._code(*arguments)
        return found

    def outputs(self, arguments: Values) -> tuple[Value, ...]:
        """The outputs over tracers."""
        given = {NOTHING: _nothing(arguments)} if self._rounds else {}
        found = self.tracing(self.graph, arguments, self.rules, given).run()
        return tuple(map(as_array, found))


def _nothing(arguments: Values) -> Value:
    """A zero that the compiler doesn't know, of what is given: one of two neighbours is even."""
    for x in arguments:
        if 0 not in np.shape(x):
            first = lax.reshape(lax.slice(x, (0,) * x.ndim, (1,) * x.ndim), ())
            bits = _bits(first)
            return lax.bitwise_and(lax.mul(bits, lax.add(bits, np.uint16(1))), np.uint16(1))
    return NOTHING.attrs["value"].array


def _bits(x: Value) -> Value:
    if x.dtype != np.bool_:
        x = lax.bitcast_convert_type(x, np.dtype(f"uint{8 * x.dtype.itemsize}"))
    return lax.convert_element_type(x, np.uint16)


# Over meshes ------------------------------------------------------------------------------------


def _axes(x: Value) -> frozenset[str]:
    """The axes of a mesh along which shards of x differ, inside of `jax.shard_map`."""
    type: Any = jax.typeof(x)
    if hasattr(type, "manual_axis_type"):
        return frozenset(type.manual_axis_type.varying)
    return frozenset(getattr(type, "vma", ()))  # before JAX 0.10


def varying(values: Values, like: Values | None = None) -> list[Value]:
    """Values that may differ along each axis of a mesh along which any does, of them or `like`."""
    axes = frozenset[str]().union(*map(_axes, values if like is None else like))
    return [_over(x, axes - _axes(x)) for x in values] if axes else list(values)


def _over(x: Value, axes: frozenset[str]) -> Value:
    if not axes:
        return x
    names = tuple(sorted(axes))
    older = getattr(lax, "pvary", None)  # before JAX 0.9
    return lax.pcast(x, names, to="varying") if older is None else older(x, names)


def _loop(name: str) -> Rule:
    """JAX's rule for a loop, whose states differ along the axes that anything in it does."""
    rule = RULES[name]

    def whole(e: Tracing, node: Node, *operands: Value) -> Any:
        traced = [x for x in operands if not isinstance(x, HOST)]
        if not any(map(_axes, traced)):
            return rule(e, node, *operands)
        first = node.attrs["consts"]
        last = first + node.attrs["carry"] if "carry" in node.attrs else len(operands)
        states = varying([as_array(x) for x in operands[first:last]], traced)
        return rule(e, node, *operands[:first], *states, *operands[last:])

    return whole


def _checked(e: Tracing, node: Node, x: Value, holds: Value) -> Value:
    """A check of sizes, which are known. What values don't hold isn't told by traced code."""
    if isinstance(holds, HOST) and not np.all(holds):
        raise EvaluationError(f"{node.attrs['message']}{made(node)}")
    return x


WHOLE: dict[str, Rule] = {
    **RULES,
    **{name: _loop(name) for name in ("scan", "while")},
    "check": _checked,
}
Traced.rules = WHOLE
